//! A call that a person has to decide about, on the command line (CAP-006, AUTH-13, AUTH-14).

use super::{CHARGE, charges, desk_with, everstep, killed, line, says};

pub(super) fn asking() -> String {
    CHARGE.replace("append =", "approval = \"ask\"\nappend =")
}

/// The id of the only submission, and what is said of it in JSON.
pub(super) fn shown(at: &std::path::Path) -> (String, serde_json::Value) {
    let listed = everstep(at, &["submissions", "list", "--all", "--json"]);
    let listed: serde_json::Value = serde_json::from_str(&listed.out).expect("one object");
    let id = listed["submissions"][0]["submission"].as_str().expect("an id").to_owned();
    let shown = everstep(at, &["submissions", "show", &id, "--json"]);
    (id, serde_json::from_str(&shown.out).expect("one object"))
}

#[test]
fn cap_006_a_run_waits_for_a_decision_and_carries_on_with_it() {
    let home = desk_with(&asking());
    let at = home.path();
    for _ in 0..2 {
        let ran = line(at, &[]);
        assert_eq!((ran.code, charges(at)), (4, 0), "{}{}", ran.out, ran.err);
        for word in ["suspended", "charge(", "submissions approve", "submissions deny"] {
            assert!(ran.out.contains(word), "`{word}` is not in\n{}", ran.out);
        }
    }
    let (id, told) = shown(at);
    assert_eq!((&told["state"], &told["asked_open"]), (&"suspended".into(), &1.into()));
    assert_eq!(told["asked"][0]["tool"], "charge");
    says(&everstep(at, &["submissions", "show", &id]), &["asked", "charge(", "open"]);
    says(&everstep(at, &["submissions", "approve", &id]), &["approved; whoever"]);
    says(&everstep(at, &["submissions", "approve", &id]), &["approved already"]);
    let late = everstep(at, &["submissions", "deny", &id]);
    assert_eq!(late.code, 2, "case AP-11");
    assert!(late.err.contains("it is approved"), "{}", late.err);
    says(&line(at, &[]), &["The charge went through."]);
    assert_eq!(charges(at), 1);
    says(&everstep(at, &["log", "show", "run-"]), &["ApprovalRequested", "approved by operator"]);
    says(&everstep(at, &["log", "verify"]), &["good"]);
    let settled = everstep(at, &["submissions", "approve", &id]);
    says(&settled, &["approved already"]);
}

#[test]
fn cap_006_a_denial_on_the_command_line_starts_nothing() {
    let home = desk_with(&asking());
    let at = home.path();
    assert_eq!(line(at, &[]).code, 4);
    let (id, told) = shown(at);
    let request = told["asked"][0]["request"].as_str().expect("an id")[..6].to_owned();
    let deny = ["submissions", "deny", &id, "--request", &request, "--by", "carol"];
    says(&everstep(at, &[&deny[..], &["--reason", "too much"]].concat()), &["denied; whoever"]);
    let ran = line(at, &[]);
    assert_eq!((ran.code, charges(at)), (1, 0), "{}", ran.err);
    assert!(ran.out.contains("ApprovalDenied"), "{}", ran.out);
    says(&everstep(at, &["log", "show", "run-"]), &["denied by carol: too much"]);
}

#[test]
fn auth_14_what_does_not_wait_or_is_not_meant_is_refused_by_name() {
    let home = desk_with(&asking());
    let at = home.path();
    killed(at, "ledger.suspend/before");
    let (id, told) = shown(at);
    assert_eq!(told["state"], "running", "nobody can decide what nobody has been told of");
    let early = everstep(at, &["submissions", "approve", &id]);
    assert_eq!(early.code, 2, "case AP-13");
    assert!(early.err.contains("does not wait for such a decision"), "{}", early.err);
    assert_eq!(line(at, &[]).code, 4, "whoever takes over suspends it");
    let other = everstep(at, &["submissions", "approve", &id, "--request", "00ff00ff00ff"]);
    assert_eq!(other.code, 2);
    says(&everstep(at, &["submissions", "abort", &id]), &["its end is asked for"]);
    let late = everstep(at, &["submissions", "approve", &id]);
    assert_eq!(late.code, 2);
    assert!(late.err.contains("an abort is intended"), "{}", late.err);
    let ran = line(at, &[]);
    assert_eq!((ran.code, ran.out.as_str(), charges(at)), (1, "aborted\n", 0));
}

#[test]
fn auth_14_only_the_approver_decides_and_nobody_after_the_expiry() {
    let agent = asking().replace(
        "[[tools]]",
        "[agent.policy]\napproval = { expiry_ms = 600000, approver = \"carol\" }\n\n[[tools]]",
    );
    let home = desk_with(&agent);
    let at = home.path();
    assert_eq!(line(at, &[]).code, 4);
    let (id, told) = shown(at);
    assert_eq!(told["asked"][0]["approver"], "carol");
    let other = everstep(at, &["submissions", "approve", &id]);
    assert_eq!(other.code, 2);
    assert!(other.err.contains("somebody else has to decide"), "{}", other.err);
    says(&everstep(at, &["submissions", "approve", &id, "--by", "carol"]), &["approved"]);
    says(&line(at, &[]), &["The charge went through."]);

    let home = desk_with(&agent.replace("600000", "1"));
    let ran = line(home.path(), &[]);
    let ran = if ran.code == 4 { line(home.path(), &[]) } else { ran };
    assert_eq!((ran.code, charges(home.path())), (1, 0), "{}{}", ran.out, ran.err);
    assert!(ran.out.contains("ApprovalDenied"), "{}", ran.out);
}
