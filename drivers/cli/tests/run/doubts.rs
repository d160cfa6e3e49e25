//! A submission that has ended and left a question behind.

use super::{CHARGE, charges, complains, desk, desk_with, everstep, killed, line, says};

#[test]
fn dur_017_a_settled_submission_with_an_open_doubt_stays_listed_until_it_is_resolved() {
    let home = desk();
    let at = home.path();
    killed(at, "tool.invoke/after");
    assert_eq!(line(at, &[]).code, 4, "nobody knows what became of the call");
    let listed = everstep(at, &["submissions", "list"]);
    says(&listed, &["unknown", "cashier"]);
    let id = listed.out.lines().nth(1).and_then(|line| line.get(..8)).expect("an id");

    says(&everstep(at, &["submissions", "abort", id]), &["its end is asked for"]);
    let ran = line(at, &[]);
    assert_eq!(ran.code, 1, "{}", ran.err);
    assert!(ran.out.starts_with("aborted\nunknown: nobody knows"), "{}", ran.out);
    let listed = everstep(at, &["submissions", "list", "--json"]);
    let listed: serde_json::Value = serde_json::from_str(&listed.out).expect("one object");
    let [only] = listed["submissions"].as_array().expect("a list").as_slice() else {
        panic!("{listed}")
    };
    assert_eq!((&only["state"], &only["unknown_open"]), (&"aborted".into(), &1.into()));
    says(&everstep(at, &["submissions", "list"]), &["aborted", id]);
    says(&everstep(at, &["submissions", "show", id]), &["aborted", "charge", "open"]);

    let resolve = ["submissions", "resolve", id, "completed", "--result", "{\"receipt\":\"R-1\"}"];
    says(&everstep(at, &resolve), &["noted"]);
    // What was said is recorded by whoever works on it next, and it ends as it had ended.
    let ran = line(at, &[]);
    assert_eq!((ran.code, ran.out.as_str()), (1, "aborted\n"), "{}", ran.err);
    says(&everstep(at, &["submissions", "list"]), &["nothing"]);
    says(&everstep(at, &["log", "show", "run-"]), &["ToolUnknown", "ToolResolved"]);
    says(&everstep(at, &["log", "verify"]), &["good"]);
    assert_eq!(charges(at), 1, "nothing was repeated");
}

#[test]
fn dur_017_what_is_to_be_typed_names_the_call_and_the_file_as_a_shell_takes_them() {
    let two =
        CHARGE.replace("calls = [", "calls = [{ tool = \"charge\", parameters = { cents = 1 } }, ");
    assert_ne!(two, CHARGE);
    let home = desk_with(&two);
    let at = home.path();
    let db = ["--db", "my db"];
    let line = |more: &[&str]| line(at, &[&db[..], more].concat());
    let mut command = super::command(at, &["--db", "my db", "--lease-ms", "100"]);
    command.env("EVERSTEP_FAILPOINT", "conversation.append:ToolPrepared/after=kill");
    assert_eq!(command.output().expect("it runs").status.code(), None);
    let ran = line(&[]);
    assert_eq!(ran.code, 4, "{}", ran.err);
    assert!(ran.out.contains("never-started --call ID --db 'my db'"), "{}", ran.out);
}

#[test]
fn store_006_a_file_that_does_not_verify_is_no_settlement_and_no_question() {
    let home = desk();
    let at = home.path();
    killed(at, "tool.invoke/after");
    assert_eq!(line(at, &[]).code, 4);
    let whole = std::fs::read(at.join("everstep.db")).expect("it is read");
    let (mut refused, mut sound) = (0, 0);
    // The page that holds the call.
    let call = whole.windows(7).position(|it| it == b"\"cents\"").expect("the log has the call");
    let page = call / 4_096 * 4_096;
    for place in (page..page + 4_096).step_by(97) {
        let mut bytes = whole.clone();
        bytes[place] ^= 4;
        std::fs::write(at.join("everstep.db"), bytes).expect("it is written");
        let ran = line(at, &[]);
        match ran.code {
            3 => {
                refused += 1;
                assert!(ran.err.contains("backup"), "{place}: {}", ran.err);
                assert!(!ran.err.contains("run the same line again once"), "{place}: {}", ran.err);
            }
            4 => {
                sound += 1;
                assert!(ran.out.contains("charge {"), "{place}: {}", ran.out);
            }
            other => panic!("{place}: {other}: {}{}", ran.out, ran.err),
        }
        assert_eq!(charges(at), 1, "{place}");
    }
    assert!(refused > 10, "{refused} refused, {sound} sound");
}

#[test]
fn sec_03_no_tool_appends_to_the_database() {
    for name in ["everstep.db", "./everstep.db-wal"] {
        let home = desk_with(&CHARGE.replace("\"charges.txt\"", &format!("\"{name}\"")));
        complains(&line(home.path(), &[]), 2, &["which is the database's", "name another file"]);
    }
}

#[test]
fn ops_02_a_call_that_could_not_be_made_is_told_to_a_person_too() {
    let home = desk_with(&CHARGE.replace("\"charges.txt\"", "\"no/such/folder\""));
    let ran = line(home.path(), &[]);
    assert!(ran.err.contains("nothing is appended to no/such/folder"), "{}{}", ran.out, ran.err);
}

#[test]
fn ops_02_a_text_may_begin_with_an_at() {
    let home = desk();
    let at = home.path();
    complains(&everstep(at, &["run", "charge.toml", "@nope"]), 3, &["@nope: ", "@@ begins a text"]);
    assert_eq!(everstep(at, &["run", "charge.toml", "@@ada"]).code, 0);
    says(&everstep(at, &["log", "show", "run-"]), &["@ada"]);
}

#[test]
fn dur_017_what_is_said_again_of_a_call_that_was_in_doubt_twice_is_answered_as_the_first_time() {
    let home = desk();
    let at = home.path();
    killed(at, "tool.invoke/before");
    assert_eq!(line(at, &["--lease-ms", "100"]).code, 4);
    let (id, _) = super::approvals::shown(at);
    says(&everstep(at, &["submissions", "resolve", &id, "never-started"]), &["noted"]);
    killed(at, "tool.invoke/after");
    assert_eq!(line(at, &["--lease-ms", "100"]).code, 4);
    let completed = ["submissions", "resolve", &id, "completed", "--result", "1"];
    for _ in 0..2 {
        let said = everstep(at, &completed);
        assert_eq!(said.code, 0, "{}{}", said.out, said.err);
    }
    says(&line(at, &[]), &["The charge went through."]);
    assert_eq!(charges(at), 1);
}
