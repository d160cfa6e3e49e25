//! What comes out of a tool of an agent file is held against what the file declares.

use std::path::Path;

use super::{act, charges, desk_with, everstep, killed, line, says};

const ENDS: &str = r#"
schema = 1

[agent]
id = "clerk"
instructions = "Try everything."

[agent.policy]
repeated_failures = 0

[[tools]]
name = "tells"
success = { type = "object" }
result = "no object"

[[tools]]
name = "fails"
fails_with = { type = "object" }
failure = { tag = "X", message = "no object" }

[[tools]]
name = "walks"
class = "durable"
success = { type = "object" }
steps = [{ name = "one" }]
result = "no object"

[[tools]]
name = "fits"
success = { type = "string" }
result = "a text"

[[turns]]
calls = [{ tool = "tells" }, { tool = "fails" }, { tool = "walks" }, { tool = "fits" }]

[[turns]]
text = "done"
"#;

const PAYS: &str = r#"
schema = 1

[agent]
id = "cashier"
instructions = "Charge once."

[[tools]]
name = "charge"
append = "charges.txt"
success = { type = "object", required = ["receipt"] }
result = "R-1"

[[turns]]
calls = [{ tool = "charge", parameters = { cents = 1 } }]

[[turns]]
text = "done"
"#;

/// How the calls of the one conversation have ended, as the log has it.
fn ends(at: &Path) -> Vec<String> {
    let shown = everstep(at, &["log", "show", "run-", "--json"]);
    let shown: serde_json::Value = serde_json::from_str(&shown.out).expect("one object");
    let records = shown["records"].as_array().expect("a list").iter();
    records.filter(|it| it["kind"] == "ToolSettled").map(|it| it["record"].to_string()).collect()
}

#[track_caller]
fn is_a_defect(end: &str, tag: &str) {
    assert!(end.contains("defect") && end.contains(tag), "{tag} is not in {end}");
}

#[test]
fn cap_004_a_result_or_failure_that_a_file_does_not_declare_is_a_defect_of_the_call() {
    let home = desk_with(ENDS);
    let at = home.path();
    says(&line(at, &[]), &["done"]);
    let ends = ends(at);
    let with = |tag: &str| ends.iter().filter(|end| end.contains(tag)).collect::<Vec<_>>();
    let (outputs, failures) = (with("OutputInvalid"), with("FailureInvalid"));
    assert_eq!((ends.len(), outputs.len(), failures.len()), (4, 2, 1), "{ends:#?}");
    outputs.iter().for_each(|end| is_a_defect(end, "OutputInvalid"));
    is_a_defect(failures[0], "FailureInvalid");
    assert_eq!(with("a text").len(), 1, "what fits is told: {ends:#?}");
    assert!(with("no object").is_empty(), "nothing of the others is: {ends:#?}");
}

#[test]
fn cap_004_a_result_that_a_reconciler_finds_is_held_against_the_same() {
    let home = desk_with(&PAYS.replace("append =", "reconciler = \"truthful\"\nappend ="));
    let at = home.path();
    killed(at, "tool.invoke/after");
    says(&line(at, &[]), &["done"]);
    let ends = ends(at);
    assert!(ends.len() == 1 && ends[0].contains("OutputInvalid"), "{ends:#?}");
    assert_eq!(charges(at), 1, "nothing was repeated");
}

/// A line that was killed around its call, and what an operator says of that.
fn resolved(result: &str) -> (tempfile::TempDir, Vec<String>) {
    let home = desk_with(PAYS);
    let at = home.path();
    killed(at, "tool.invoke/after");
    assert_eq!(line(at, &[]).code, 4, "nobody knows what became of the call");
    let listed = act(at, &["list"]);
    let id = listed.out.lines().nth(1).and_then(|line| line.get(..8)).expect("an id").to_owned();
    says(&act(at, &["resolve", &id, "completed", "--result", result]), &["noted"]);
    says(&line(at, &[]), &["done"]);
    let ends = ends(at);
    assert_eq!((ends.len(), charges(at)), (1, 1), "{ends:#?}");
    (home, ends)
}

#[test]
fn cap_004_a_result_that_an_operator_names_becomes_no_success_unless_it_fits() {
    let (home, ends) = resolved("\"R-7\"");
    is_a_defect(&ends[0], "OutputInvalid");
    assert!(!ends[0].contains("R-7"), "{}", ends[0]);
    // The word itself stands as it was said.
    says(&everstep(home.path(), &["log", "show", "run-"]), &["ToolResolved", "\"R-7\""]);
    says(&everstep(home.path(), &["log", "verify"]), &["good"]);
    let (_home, ends) = resolved("{\"receipt\":\"R-7\"}");
    assert!(ends[0].contains("success") && ends[0].contains("R-7"), "{}", ends[0]);
}
