//! Each mistake about authority, in both syntaxes: told with file, line, column, key and the nearest
//! valid word.

use super::super::AgentFile;
use super::authority::WHOLE;

/// What [`WHOLE`] says, in YAML.
const IN_YAML: &str = r#"schema: 1

agent:
  id: cashier
  instructions: Charge once.

tools:
  - name: charge

turns:
  - text: Done.

capabilities:
  defaults:
    fs.read: { scope: workspace }
    mcp.call:*: { scope: core }
  grants:
    agent/output/archive:
      fs.write: { scope: workspace }

approval:
  default: auto
  tools: { charge: prompt }
  risks: { critical: deny }
  capabilities: { "secret.bind:*": deny }

tool_metadata:
  charge:
    approval_policy: deny
    risk: high
    capability: tool.call:charge
"#;

/// A passage, what somebody writes instead, and where the mistake is then.
type Edit = (&'static str, &'static str, (usize, usize));

struct Mistake {
    toml: Edit,
    yaml: Edit,
    /// What is said of it, the help too.
    says: [&'static str; 2],
}

const fn mistake(toml: Edit, yaml: Edit, says: [&'static str; 2]) -> Mistake {
    Mistake { toml, yaml, says }
}

const MISTAKES: [Mistake; 20] = [
    mistake(
        ("default = \"auto\"", "default = \"atuo\"", (21, 11)),
        ("default: auto", "default: atuo", (22, 12)),
        ["`default` cannot be `atuo`", "did you mean `auto`?"],
    ),
    mistake(
        ("charge = \"prompt\"", "charge = \"promt\"", (22, 20)),
        ("charge: prompt", "charge: promt", (23, 20)),
        ["`tools` cannot be `promt`", "did you mean `prompt`?"],
    ),
    mistake(
        ("critical = \"deny\"", "critical = \"dney\"", (23, 22)),
        ("critical: deny", "critical: dney", (24, 22)),
        ["`critical` cannot be `dney`", "did you mean `deny`?"],
    ),
    mistake(
        ("bind:*\" = \"deny\"", "bind:*\" = \"no\"", (24, 36)),
        ("bind:*\": deny", "bind:*\": no", (25, 36)),
        ["`capabilities` cannot be `no`", "it is one of `auto`, `prompt`, `deny`"],
    ),
    mistake(
        ("critical =", "critcal =", (23, 11)),
        ("critical:", "critcal:", (24, 12)),
        ["unknown key `critcal`", "did you mean `critical`?"],
    ),
    mistake(
        ("tools = { charge", "tools = { chrge", (22, 11)),
        ("tools: { charge", "tools: { chrge", (23, 12)),
        ["there is no tool `chrge`", "did you mean `charge`?"],
    ),
    mistake(
        ("[tool_metadata.charge]", "[tool_metadata.chrge]", (26, 16)),
        ("  charge:\n", "  chrge:\n", (28, 3)),
        ["there is no tool `chrge`", "did you mean `charge`?"],
    ),
    mistake(
        ("risk = \"high\"", "risk = \"hgih\"", (28, 8)),
        ("risk: high", "risk: hgih", (30, 11)),
        ["`risk` cannot be `hgih`", "did you mean `high`?"],
    ),
    mistake(
        ("approval_policy = \"deny\"", "approval_policy = \"promt\"", (27, 19)),
        ("approval_policy: deny", "approval_policy: promt", (29, 22)),
        ["`approval_policy` cannot be `promt`", "did you mean `prompt`?"],
    ),
    mistake(
        ("capability =", "capabilty =", (29, 1)),
        ("capability:", "capabilty:", (31, 5)),
        ["unknown key `capabilty`", "did you mean `capability`?"],
    ),
    mistake(
        ("[capabilities.defaults]", "[capabilities.default]", (13, 15)),
        ("defaults:", "default:", (14, 3)),
        ["unknown key `default`", "did you mean `defaults`?"],
    ),
    mistake(
        ("[capabilities.grants.", "[capabilities.slots.", (17, 15)),
        ("grants:", "slots:", (17, 3)),
        ["unknown key `slots`", "the keys are `defaults`, `grants`"],
    ),
    mistake(
        ("{ scope = \"core\" }", "{ scope = \"cor\" }", (15, 26)),
        ("{ scope: core }", "{ scope: cor }", (16, 26)),
        ["`scope` cannot be `cor`", "did you mean `core`?"],
    ),
    mistake(
        ("\"fs.write\"", "\"fs..write\"", (18, 1)),
        ("fs.write", "fs..write", (19, 7)),
        ["`capabilities`: a segment of a capability cannot be empty", "did you mean `fs.write`?"],
    ),
    mistake(
        ("\"fs.read\"", "\"*\"", (14, 1)),
        ("fs.read", "\"*\"", (15, 5)),
        ["`capabilities`: a wildcard alone", "all of one kind, as `mcp.call:*` does"],
    ),
    mistake(
        ("\"fs.read\"", "\"secret.bind:*\"", (14, 1)),
        ("fs.read", "secret.bind:*", (15, 5)),
        ["`capabilities`: a secret is granted by its exact name", "name each secret"],
    ),
    mistake(
        ("\"secret.bind:*\"", "\"Secret.bind::*\"", (24, 18)),
        ("\"secret.bind:*\"", "\"Secret.bind::*\"", (25, 19)),
        ["`capabilities`: a capability is written in small", "did you mean `secret.bind:*`?"],
    ),
    mistake(
        ("\"tool.call:charge\"", "\"tool.call::charge\"", (29, 14)),
        ("tool.call:charge", "tool.call::charge", (31, 17)),
        ["`capability`: a capability has one colon", "did you mean `tool.call:charge`?"],
    ),
    mistake(
        ("\"tool.call:charge\"", "\"tool.call:*\"", (29, 14)),
        ("tool.call:charge", "tool.call:*", (31, 17)),
        ["`capability`: a wildcard is the whole subject", "name the one that is meant"],
    ),
    mistake(
        ("\"agent/output/archive\"", "\"agent/../archive\"", (17, 22)),
        ("agent/output/archive", "agent/../archive", (18, 5)),
        ["`grants`: ", "by its parts from the root on"],
    ),
];

#[test]
fn auth_17_what_is_said_about_authority_is_the_same_in_both_syntaxes() {
    let toml = AgentFile::parse("whole.toml", WHOLE).unwrap_or_else(|error| panic!("{error}"));
    let yaml = AgentFile::parse("whole.yaml", IN_YAML).unwrap_or_else(|error| panic!("{error}"));
    assert_eq!(toml, yaml);
    let grants = yaml.authority.grants.expect("it grants something");
    assert!(!grants.defaults.is_empty() && !yaml.authority.metadata.is_empty());
}

#[test]
fn auth_17_each_mistake_about_authority_is_told_in_both_syntaxes() {
    for Mistake { toml, yaml, says } in MISTAKES {
        let mut faults = Vec::new();
        for (name, whole, (old, new, (line, column))) in
            [("whole.toml", WHOLE, toml), ("whole.yaml", IN_YAML, yaml)]
        {
            assert!(whole.contains(old), "{name} has no {old:?}");
            let error = AgentFile::parse(name, &whole.replacen(old, new, 1)).expect_err(new);
            let shown = error.to_string();
            for words in says {
                assert!(shown.contains(words), "no {words:?} in\n{shown}");
            }
            assert!(shown.contains(&format!("{name}:{line}:{column}\n")), "{new}\n{shown}");
            faults.push(error.fault().clone());
        }
        assert_eq!(faults[0], faults[1], "both are the same fault");
    }
}
