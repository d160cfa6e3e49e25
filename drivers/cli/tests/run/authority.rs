//! What an agent file grants, denies and asks about, on the built binary (AUTH-15, AUTH-17).

use super::{CHARGE, charges, desk_with, everstep, line, says};

fn with(more: &str) -> tempfile::TempDir {
    desk_with(&format!("{CHARGE}\n{more}"))
}

/// A run that fails because of what the file says, and does nothing.
fn fails(more: &str, tag: &str, why: &str) {
    let home = with(more);
    let ran = line(home.path(), &[]);
    assert_eq!((ran.code, charges(home.path())), (1, 0), "{}{}", ran.out, ran.err);
    for word in [tag, why] {
        assert!(ran.out.contains(word), "`{word}` is not in\n{}", ran.out);
    }
    says(&everstep(home.path(), &["log", "show", "run-"]), &["was turned down"]);
}

#[test]
fn auth_01_a_tool_that_takes_what_is_not_granted_does_nothing() {
    let takes = "[tool_metadata.charge]\ncapability = \"money.send\"\n";
    let why = "`charge` takes `money.send`, which the membership of the tenant does not grant";
    fails(takes, "PolicyDenied", why);
    let other = "[capabilities.defaults]\n\"fs.read\" = { scope = \"workspace\" }\n";
    fails(other, "PolicyDenied", "`charge` takes `tool.call:charge`, which the tenant's policy");
    fails(&format!("{other}{takes}"), "PolicyDenied", "`charge` takes `money.send`");
}

#[test]
fn auth_03_what_is_granted_to_a_tool_or_to_all_of_them_is_done() {
    for granted in [
        "[capabilities.defaults]\n\"tool.call:*\" = { scope = \"workspace\" }\n",
        "[capabilities.grants.\"agent/tools/charge\"]\n\"tool.call:charge\" = { scope = \"core\" }\n",
    ] {
        let home = with(granted);
        says(&line(home.path(), &[]), &["The charge went through."]);
        assert_eq!(charges(home.path()), 1);
    }
    let elsewhere = "[capabilities.grants.\"agent/tools/other\"]\n\"tool.call:charge\" = { scope = \"core\" }\n";
    fails(elsewhere, "PolicyDenied", "tool.call:charge");
}

#[test]
fn auth_06_the_strictest_word_of_any_layer_counts() {
    fails(
        "[approval]\ntools = { charge = \"deny\" }\n",
        "PolicyDenied",
        "the agent's policy denies",
    );
    let declared = "[approval]\ndefault = \"auto\"\ntools = { charge = \"auto\" }\n\n\
                    [tool_metadata.charge]\napproval_policy = \"deny\"\n";
    fails(declared, "PolicyDenied", "the tool itself denies calls of `charge`");
    let by_risk = "[approval]\nrisks = { critical = \"deny\" }\n\n[tool_metadata.charge]\nrisk = \"critical\"\n";
    fails(by_risk, "PolicyDenied", "the agent's policy denies");
}

#[test]
fn auth_14_a_run_that_nobody_can_be_asked_about_waits_and_says_how_to_decide_it() {
    let home = with("[approval]\ndefault = \"prompt\"\n");
    let at = home.path();
    let ran = line(at, &[]);
    assert_eq!((ran.code, charges(at)), (4, 0), "{}", ran.err);
    for word in ["suspended", "charge(", "everstep submissions approve"] {
        assert!(ran.out.contains(word), "`{word}` is not in\n{}", ran.out);
    }
    let (id, told) = super::approvals::shown(at);
    assert_eq!(told["asked"][0]["risk"], "medium");
    says(&everstep(at, &["submissions", "approve", &id]), &["approved"]);
    says(&line(at, &[]), &["The charge went through."]);
    let shown = everstep(at, &["log", "show", "run-"]);
    says(&shown, &["asked for by the agent's policy", "approved by operator"]);
}

#[test]
fn auth_17_doctor_says_of_every_tool_what_becomes_of_it_and_why() {
    let home = with(
        "[capabilities.defaults]\n\"money.*\" = { scope = \"core\" }\n\n[approval]\ndefault = \"prompt\"\n",
    );
    let wrong = everstep(home.path(), &["doctor", "charge.toml"]);
    assert_eq!(wrong.code, 2, "AUTH-02");
    assert!(wrong.err.contains("charge.toml:"), "{}", wrong.err);

    let home = with(
        "[capabilities.defaults]\n\"money.send\" = { scope = \"core\" }\n\n\
         [approval]\nrisks = { high = \"prompt\" }\n\n\
         [tool_metadata.charge]\ncapability = \"money.send\"\nrisk = \"high\"\n",
    );
    let told = everstep(home.path(), &["doctor", "charge.toml"]);
    says(
        &told,
        &[
            "asked    charge",
            "takes money.send: granted by [capabilities.defaults]",
            "risk high: the agent's policy wants somebody to be asked, for high risk",
            "a person decides",
        ],
    );
    let json = everstep(home.path(), &["doctor", "charge.toml", "--json"]);
    let json: serde_json::Value = serde_json::from_str(&json.out).expect("one object");
    let charge = &json["tools"][0];
    assert_eq!((&charge["tool"], &charge["verdict"]), (&"charge".into(), &"asked".into()));
    assert_eq!(charge["layer"], "the agent's policy");
    assert!(!home.path().join("everstep.db").exists(), "nothing was run");

    let home = with("[tool_metadata.charge]\ncapability = \"money.send\"\n");
    let told = everstep(home.path(), &["doctor", "charge.toml"]);
    says(&told, &["denied   charge", "not granted, for the file has no [capabilities]"]);
    let home = with("");
    says(
        &everstep(home.path(), &["doctor", "charge.toml"]),
        &["granted  charge", "takes nothing that has to be granted", "the tool itself asks nobody"],
    );
}
