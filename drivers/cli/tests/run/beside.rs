//! Sessions and agents' state from the command line, on the file of a run.

use std::path::Path;

use serde_json::Value;

use super::{charges, complains, desk, everstep, line, says, submissions};

fn json(at: &Path, args: &[&str]) -> Value {
    let ran = everstep(at, &[args, &["--json"]].concat());
    assert_eq!(ran.code, 0, "{}{}", ran.out, ran.err);
    serde_json::from_str(&ran.out).expect("one object")
}

#[test]
fn cap_012_a_session_is_made_changed_and_deleted_by_who_has_seen_its_revision() {
    let home = desk();
    let at = home.path();
    says(&line(at, &[]), &["The charge went through."]);
    let metadata = r#"{"title":"Order 7"}"#;
    let create =
        ["sessions", "create", "support", "--conversation", "talk", "--metadata", metadata];
    says(&everstep(at, &create), &["support", "revision 1, 1 conversation", "Order 7", "talk"]);
    says(&everstep(at, &create), &["revision 1"]);
    let update = ["sessions", "update", "support", "--expect", "1", "--add", "other"];
    says(&everstep(at, &update), &["revision 2, 2 conversations"]);
    complains(&everstep(at, &update), 2, &["the session is at revision 2, not 1"]);
    let shown = json(at, &["sessions", "show", "support"]);
    let session = &shown["session"];
    assert_eq!(session["conversations"], serde_json::json!(["talk", "other"]));
    assert_eq!(session["metadata"]["title"], "Order 7");
    assert_eq!((&session["revision"], &session["tenant"]), (&2.into(), &"default".into()));
    assert_eq!(json(at, &["sessions", "list"])["sessions"][0], *session);
    let delete = |n: &str| everstep(at, &["sessions", "delete", "support", "--expect", n]);
    complains(&delete("1"), 2, &["at revision 2, not 1"]);
    says(&delete("2"), &["deleted", "support"]);
    says(&everstep(at, &["sessions", "list"]), &["there are no sessions"]);
    complains(&everstep(at, &["sessions", "show", "support"]), 2, &["no such session"]);
    says(&everstep(at, &create), &["revision 3"]);
    says(&everstep(at, &["log", "verify"]), &["good"]);
}

#[test]
fn cap_012_nothing_that_was_accepted_depends_on_sessions_or_state() {
    let home = desk();
    let at = home.path();
    super::killed(at, "conversation.append:CallsDeclared/after");
    says(&everstep(at, &["sessions", "create", "s", "--conversation", "run-"]), &["revision 1"]);
    let set = ["state", "set", "--agent", "cashier", "k", "1", "--class", "uncertain"];
    says(&everstep(at, &set), &["revision 1"]);
    let listed = || json(at, &["submissions", "list", "--all"])["submissions"].clone();
    let before = listed();
    says(&everstep(at, &["sessions", "delete", "s", "--expect", "1"]), &["deleted"]);
    let remove = ["state", "remove", "--agent", "cashier", "k", "--class", "uncertain"];
    says(&everstep(at, &[&remove[..], &["--expect", "1"]].concat()), &["revision 2"]);
    assert_eq!(listed(), before);
    says(&line(at, &[]), &["The charge went through."]);
    assert_eq!((submissions(at), charges(at)), (1, 1));
    says(&everstep(at, &["log", "verify"]), &["good"]);
}

#[test]
fn cap_012_state_is_listed_shown_and_set_and_is_untouched_by_rebuild_and_import() {
    let home = desk();
    let at = home.path();
    says(&line(at, &[]), &["The charge went through."]);
    let set = |value: &str, more: &[&str]| {
        let set = ["state", "set", "--agent", "cashier", "total", value, "--class", "uncertain"];
        everstep(at, &[&set, more].concat())
    };
    says(&set("{\"cents\":7}", &[]), &["done, as revision 1"]);
    complains(&set("8", &[]), 2, &["expected nothing, found revision 1"]);
    says(&set("8", &["--expect", "1"]), &["done, as revision 2"]);
    let held = ["state", "set", "--agent", "cashier", "x", "1", "--class", "canonical"];
    complains(&everstep(at, &held), 2, &["a write that is canonical belongs to a call"]);
    complains(&everstep(at, &held[..6]), 2, &["--class"]);
    let before = json(at, &["state", "list"]);
    assert_eq!(before["entries"][0]["current"]["value"], 8);
    let exported = everstep(at, &["log", "export"]);
    std::fs::write(at.join("all.jsonl"), &exported.out).expect("it can be written");
    assert!(!exported.out.contains("total"), "state is no history");
    says(&everstep(at, &["log", "rebuild"]), &["nothing is wrong"]);
    assert_eq!(everstep(at, &["log", "import", "all.jsonl"]).code, 0);
    assert_eq!(json(at, &["state", "list"]), before);
    let remove = ["state", "remove", "--agent", "cashier", "total", "--class", "uncertain"];
    says(&everstep(at, &[&remove[..], &["--expect", "2"]].concat()), &["revision 3"]);
    says(&everstep(at, &["state", "list"]), &["no agent keeps anything"]);
    complains(&everstep(at, &["state", "show", "--agent", "cashier", "total"]), 2, &["nothing"]);
}
