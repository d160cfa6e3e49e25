//! Grants and policies of agent files: what they mean, and what is refused with which words.

use everstep_machine::agent::Risk;
use everstep_machine::approval::Judgement;
use everstep_machine::authority::{
    CapabilityKey, ComponentPath, Grant, KeyError, Pattern, ResourceError, Scope,
};
use everstep_machine::identity::ToolName;

use super::super::{AgentFile, AuthorityFile, Fault};

pub(super) const WHOLE: &str = r#"schema = 1

[agent]
id = "cashier"
instructions = "Charge once."

[[tools]]
name = "charge"

[[turns]]
text = "Done."

[capabilities.defaults]
"fs.read" = { scope = "workspace" }
"mcp.call:*" = { scope = "core" }

[capabilities.grants."agent/output/archive"]
"fs.write" = { scope = "workspace" }

[approval]
default = "auto"
tools = { charge = "prompt" }
risks = { critical = "deny" }
capabilities = { "secret.bind:*" = "deny" }

[tool_metadata.charge]
approval_policy = "deny"
risk = "high"
capability = "tool.call:charge"
"#;

#[track_caller]
fn refused(old: &str, new: &str) -> (Fault, Option<(usize, usize)>, String) {
    assert!(WHOLE.contains(old), "the agent has no {old:?}");
    let error = AgentFile::parse("whole.toml", &WHOLE.replacen(old, new, 1)).unwrap_err();
    (error.fault().clone(), error.line_column(), error.to_string())
}

#[test]
fn auth_17_what_a_file_says_about_authority_is_read() {
    let read = AgentFile::parse("whole.toml", WHOLE).unwrap_or_else(|error| panic!("{error}"));
    let AuthorityFile { grants, approval, metadata } = read.authority;
    let (grant, grants) = (|text| Grant::new(text).unwrap(), grants.unwrap());
    assert_eq!(grants.defaults.get(&grant("fs.read")), Some(&Scope::Workspace));
    assert_eq!(grants.defaults.get(&grant("mcp.call:*")), Some(&Scope::Core));
    let path = ComponentPath::new("agent/output/archive").unwrap();
    assert_eq!(grants.components[&path].get(&grant("fs.write")), Some(&Scope::Workspace));
    assert_eq!((grants.defaults.len(), grants.components.len()), (2, 1));
    let charge = ToolName::new("charge").unwrap();
    assert_eq!(approval.default, Some(Judgement::Auto));
    assert_eq!(approval.tools.get(&charge), Some(&Judgement::Prompt));
    assert_eq!(approval.risks.get(&Risk::Critical), Some(&Judgement::Deny));
    let secrets = Pattern::new("secret.bind:*").unwrap();
    assert_eq!(approval.capabilities.get(&secrets), Some(&Judgement::Deny));
    let says = &metadata[&charge];
    assert_eq!((says.judgement, says.risk), (Some(Judgement::Deny), Some(Risk::High)));
    assert_eq!(says.capability, CapabilityKey::new("tool.call:charge").ok());
}

#[test]
fn auth_17_a_file_that_says_nothing_about_authority_grants_nothing() {
    let at = WHOLE.find("[capabilities.defaults]").unwrap();
    let read = AgentFile::parse("whole.toml", &WHOLE[..at]).unwrap();
    assert_eq!(read.authority, AuthorityFile::default());
}

#[test]
fn auth_17_a_wrong_word_is_told_with_line_key_and_the_nearest_one() {
    let (fault, place, text) = refused("default = \"auto\"", "default = \"atuo\"");
    assert!(matches!(fault, Fault::UnknownWord { key: "default", nearest: Some("auto"), .. }));
    assert_eq!(place, Some((21, 11)));
    assert!(text.contains("did you mean `auto`?") && text.contains("whole.toml:21:11"), "{text}");
    let (fault, place, _) = refused("charge = \"prompt\"", "charge = \"promt\"");
    assert!(matches!(fault, Fault::UnknownWord { key: "tools", nearest: Some("prompt"), .. }));
    assert_eq!(place, Some((22, 20)));
    let (fault, place, _) = refused("critical =", "critcal =");
    assert!(matches!(fault, Fault::UnknownKey { nearest: Some("critical"), .. }));
    assert_eq!(place, Some((23, 11)));
    let (fault, ..) = refused("scope = \"workspace\" }", "scope = \"worksapce\" }");
    assert!(matches!(fault, Fault::UnknownWord { key: "scope", nearest: Some("workspace"), .. }));
    let (fault, ..) = refused("scope = \"workspace\" }", "scpe = \"workspace\" }");
    assert!(matches!(fault, Fault::UnknownKey { nearest: Some("scope"), .. }));
    let (fault, ..) = refused("[capabilities.grants.", "[capabilities.grnts.");
    assert!(matches!(fault, Fault::UnknownKey { nearest: Some("grants"), .. }));
    let (fault, ..) = refused("approval_policy =", "aproval_policy =");
    assert!(matches!(fault, Fault::UnknownKey { nearest: Some("approval_policy"), .. }));
}

#[test]
fn auth_17_a_tool_that_is_not_there_is_told_with_the_nearest_one() {
    for (old, new, line) in [
        ("tools = { charge =", "tools = { chrge =", 22),
        ("[tool_metadata.charge]", "[tool_metadata.chrge]", 26),
    ] {
        let (fault, place, _) = refused(old, new);
        let is_near =
            matches!(&fault, Fault::Unknown { nearest: Some(near), .. } if near == "charge");
        assert!(is_near, "{fault:?}");
        assert_eq!(place.map(|(line, _)| line), Some(line));
    }
}

#[test]
fn auth_17_what_is_no_capability_is_told_where_it_stands() {
    let table = [
        ("\"fs.read\" =", "\"*\" =", "capabilities", KeyError::BareWildcard, (14, 1)),
        ("\"fs.read\" =", "\"secret.bind:*\" =", "capabilities", KeyError::SecretWildcard, (14, 1)),
        (
            "\"fs.write\" =",
            "\"fs..write\" =",
            "capabilities",
            KeyError::EmptySegment { at: 3 },
            (18, 1),
        ),
        ("\"secret.bind:*\" =", "\"*\" =", "capabilities", KeyError::BareWildcard, (24, 18)),
        (
            "\"tool.call:charge\"",
            "\"tool.call:*\"",
            "capability",
            KeyError::Wildcard { at: 10 },
            (29, 14),
        ),
    ];
    for (old, new, key, reason, at) in table {
        let (fault, place, _) = refused(old, new);
        let nearest = new.contains("fs..write").then(|| "fs.write".to_owned());
        let expected = Fault::BadCapability { key, reason, nearest };
        assert_eq!((fault, place), (expected, Some(at)), "{new}");
    }
    let (fault, ..) = refused("\"agent/output/archive\"", "\"agent/../archive\"");
    let reason = ResourceError::NotNormal;
    assert_eq!(fault, Fault::BadComponent { key: "grants", reason });
}

#[test]
fn auth_17_what_has_another_type_is_told_so() {
    for (old, new) in [
        ("\"fs.read\" = { scope = \"workspace\" }", "\"fs.read\" = true"),
        ("tools = { charge = \"prompt\" }", "tools = [\"charge\"]"),
        ("charge = \"prompt\"", "charge = 1"),
        (
            "[capabilities.grants.\"agent/output/archive\"]\n\"fs.write\" = { scope = \"workspace\" }",
            "grants = 1",
        ),
    ] {
        let fault = refused(old, new).0;
        let expected = matches!(fault, Fault::WrongType { .. } | Fault::UnknownKey { .. });
        assert!(expected, "{new}: {fault:?}");
    }
}
