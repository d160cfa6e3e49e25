//! Agents whose model's script stands in a file beside them.

use std::fs;

use super::{charges, complains, desk, everstep, line, says, submissions};

const SCRIPTED: &str = r#"schema = 1

[agent]
id = "cashier"
instructions = "Charge the customer once, then say so."

[[tools]]
name = "charge"
append = "charges.txt"

[model]
script = "turns.toml"
"#;

const TURNS: &str = r#"schema = 1

[[turns]]
calls = [{ tool = "charge" }]

[[turns]]
text = "Done."
"#;

#[test]
fn dur_002_the_script_belongs_to_the_name_of_what_is_submitted() {
    let home = desk();
    let at = home.path();
    let write = |name: &str, text: &str| fs::write(at.join(name), text).expect("it is written");
    write("charge.toml", SCRIPTED);
    write("turns.toml", TURNS);
    for _ in 0..2 {
        says(&line(at, &[]), &["Done."]);
        assert_eq!((charges(at), submissions(at)), (1, 1), "the same line, the same submission");
    }
    write("turns.toml", &TURNS.replace("Done.", "It is done."));
    says(&line(at, &[]), &["It is done."]);
    assert_eq!((charges(at), submissions(at)), (2, 2), "another script is another submission");
    write("turns.toml", TURNS);
    says(&line(at, &[]), &["Done."]);
    assert_eq!((charges(at), submissions(at)), (2, 2));
}

#[test]
fn dur_002_the_example_of_the_corpus_is_run_from_anywhere() {
    let home = desk();
    let agent = concat!(env!("CARGO_MANIFEST_DIR"), "/../../corpus/agents/refund.toml");
    says(&everstep(home.path(), &["run", agent, "order 7"]), &["The refund is on its way."]);
    let refunds = fs::read_to_string(home.path().join("refunds.txt")).expect("it was appended to");
    assert_eq!(refunds.lines().count(), 1, "files are appended to where the command runs");
}

#[test]
fn auth_17_what_is_wrong_with_a_script_is_told_with_its_file_line_and_column() {
    let home = desk();
    let at = home.path();
    fs::create_dir(at.join("agents")).expect("a folder");
    let write = |name: &str, text: &str| fs::write(at.join(name), text).expect("it is written");
    let run = || everstep(at, &["run", "agents/charge.toml", "order 7"]);
    write("agents/charge.toml", SCRIPTED);
    complains(&run(), 3, &["agents/turns.toml", "no such file"]);
    write("agents/turns.toml", &TURNS.replace("charge", "chrge"));
    complains(&run(), 2, &["agents/turns.toml:4:19", "chrge", "did you mean `charge`"]);
    write("agents/turns.toml", &TURNS.replace("text", "txet"));
    complains(&run(), 2, &["agents/turns.toml:7:1", "txet", "did you mean `text`"]);
    assert!(!at.join("everstep.db").exists(), "nothing is made for a wrong file");
    write("agents/turns.toml", TURNS);
    says(&run(), &["Done."]);
}
