//! A submission that has ended and left a question behind.

use super::{charges, desk, everstep, killed, line, says};

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
    assert_eq!((ran.code, ran.out.as_str()), (1, "aborted\n"), "{}", ran.err);
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
