//! Scenario files and the builder: what they mean, and what is refused with which words.

mod agent_scripts;
mod agents;
mod approvers;
mod authority;
mod authority_mistakes;
mod bad_files;
mod bad_references;
mod bad_values;
mod building;
mod corpus;
mod hostile_yaml;
mod live_models;
mod never_panics;
mod policies;
mod rendering;
mod schema;
mod steps;
mod values;
mod yaml;

use super::{Fault, Scenario, ScenarioError};

/// A whole scenario in few lines: one ordinary tool, two turns, one submission.
const SMALL: &str = r#"schema = 1
about = "small"

[agent]
id = "agent"
instructions = "Do it."

[[tools]]
name = "charge"

[[turns]]
calls = [{ tool = "charge" }]

[[turns]]
text = "Done."

[[submissions]]
name = "first"
input = 1
"#;

/// The small scenario with one passage replaced.
#[track_caller]
fn small_with(old: &str, new: &str) -> String {
    assert!(SMALL.contains(old), "the small scenario has no {old:?}");
    SMALL.replacen(old, new, 1)
}

/// The small scenario with something after it.
fn small_and(more: &str) -> String {
    format!("{SMALL}{more}")
}

#[track_caller]
fn accepted(text: &str) -> Scenario {
    Scenario::parse("small.toml", text).unwrap_or_else(|error| panic!("{error}"))
}

#[track_caller]
fn refused(text: &str) -> ScenarioError {
    Scenario::parse("small.toml", text).expect_err("the text is refused")
}

/// The fault of a text, which must lie exactly at `line:column` and show `meant` under its carets.
#[track_caller]
fn fault_at(text: &str, line: usize, column: usize, meant: &str) -> Fault {
    let error = refused(text);
    let super::Place::Text { source, width, .. } = error.place() else {
        panic!("no place in the text: {error}")
    };
    assert_eq!(error.line_column(), Some((line, column)), "{error}");
    let shown: String = source.chars().skip(column - 1).take(*width).collect();
    assert_eq!(shown, meant, "{error}");
    error.fault().clone()
}
