//! The builder says the same as a file, and is refused for the same.

use everstep_machine::agent::{Diagnostic, Resolution};
use everstep_machine::effect::{CrashPhase, EffectKind, ExternalKind, Failpoint};
use everstep_machine::json::CanonicalJson;
use everstep_machine::record::Outcome;

use super::super::{Abort, Fault, Noun, Place, Retry, Scenario, Submission, Tool, Turn};
use super::accepted;

#[test]
fn scenario_builder_and_file_make_the_same_scenario() {
    let file = accepted(
        r#"
schema = 1
about = "both ways"
workers = 3
agent = { id = "desk", instructions = "Serve.", max_turns = 5 }
authorizer.denies = ["erase"]
tools = [
  { name = "look", class = "readonly", result = 1 },
  { name = "file", class = "idempotent", latency_ms = 7, failure = { tag = "T", message = "m" } },
  { name = "erase", reconciler = "truthful" },
]
[[turns]]
calls = [{ tool = "look" }, { tool = "lok", parameters = [2], undeclared = true }]
[[turns]]
text = "Done."
[[submissions]]
name = "a"
input = {}
[[submissions]]
name = "b"
conversation = "c"
principal = "p"
tenant = "t"
key = "k"
input = { x = 1 }
expect = ["failed"]
turns = [{ fault = { kind = "unavailable", tag = "F", message = "f" } }]
[[aborts]]
submission = "a"
[[aborts]]
submission = "b"
at = "tool.invoke/after@2"
principal = "q"
reason = "r"
[[retries]]
submission = "a"
[[retries]]
submission = "b"
people = 2
principal = "q"
reason = "r"
turns = [{ text = "Again." }]
expect = ["completed"]
[[resolutions]]
tool = "file"
answer = "completed"
result = "ok"
[[resolutions]]
tool = "erase"
answer = "never-started"
"#,
    );
    let ok = CanonicalJson::string("ok").expect("short");
    let after = Failpoint::new(EffectKind::External(ExternalKind::InvokeTool), CrashPhase::After);
    let built = Scenario::builder("small")
        .about("both ways")
        .workers(3)
        .agent("desk", "Serve.")
        .max_turns(5)
        .tool(Tool::readonly("look").returns("1"))
        .tool(Tool::idempotent("file").latency_ms(7).fails("T", "m"))
        .tool(Tool::ordinary("erase").reconciled())
        .deny("erase")
        .turn(Turn::calls("look", "{}").and_calls_undeclared("lok", "[2]"))
        .turn(Turn::says("Done."))
        .submission(Submission::new("a"))
        .submission(
            Submission::new("b")
                .conversation("c")
                .principal("p")
                .tenant("t")
                .key("k")
                .input(r#"{ "x": 1.0 }"#)
                .expect(Outcome::Failed)
                .turn(Turn::unavailable("F", "f")),
        )
        .abort(Abort::of("a"))
        .abort(Abort::of("b").at(after, 2).by("q").because("r"))
        .retry(Retry::of("a"))
        .retry(
            Retry::of("b")
                .people(2)
                .by("q")
                .because("r")
                .turn(Turn::says("Again."))
                .expect(Outcome::Completed),
        )
        .resolution("file", &Resolution::Completed(ok))
        .resolution("erase", &Resolution::NeverStarted)
        .build();
    assert_eq!(built, Ok(file));
}

fn small() -> super::super::ScenarioBuilder {
    Scenario::builder("small")
        .tool(Tool::ordinary("charge"))
        .turn(Turn::says("Done."))
        .submission(Submission::new("first"))
}

#[test]
fn scenario_builder_error_names_the_line_of_the_call() {
    let error = small().submission(Submission::new("first")).build().expect_err("it is there");
    let line = line!() - 1;
    let noun = Noun::Submission;
    assert_eq!(*error.fault(), Fault::Duplicate { noun, name: "first".to_owned() });
    let Place::Rust(at) = error.place() else { panic!("{error}") };
    assert_eq!((at.file(), at.line()), (file!(), line));
    assert!(error.to_string().contains(&format!("building.rs:{line}:")), "{error}");
}

#[test]
fn scenario_builder_is_refused_for_what_a_file_is_refused_for() {
    let failed = Resolution::Failed(Diagnostic::cut("T", "m"));
    let repeat = |turn: Turn, count| (0..count).fold(small(), |s, _| s.turn(turn.clone()));
    let batch = (1..129).fold(Turn::calls("charge", "{}"), |t, _| t.and_calls("charge", "{}"));
    for (builder, expected) in [
        (small().workers(9), "`workers` is between 1 and 8, not 9"),
        (small().max_turns(0), "`max_turns` is between 1 and 64, not 0"),
        (small().agent("", ""), "`id`: an identifier cannot be empty"),
        (small().tool(Tool::readonly("charge")), "there is already a tool `charge`"),
        (small().tool(Tool::readonly("b").returns("{")), "this is no JSON that the engine takes"),
        (small().tool(Tool::readonly("b").latency_ms(u64::MAX)), "`latency_ms` is between"),
        (small().tool(Tool::readonly("b").fails(&"x".repeat(300), "")), "a diagnostic's tag"),
        (small().deny("b"), "there is no tool `b`"),
        (small().turn(Turn::calls("chagre", "{}")), "the agent has no tool `chagre`"),
        (small().turn(Turn::calls_undeclared("charge", "{}")), "the tool `charge` is declared"),
        (small().turn(Turn::calls("charge", "nul")), "this is no JSON that the engine takes"),
        (small().turn(Turn::protocol("T", "m").and_calls("charge", "1")), "`fault` and `calls`"),
        (small().abort(Abort::of("second")), "there is no submission `second`"),
        (small().abort(Abort::of("first").by("")), "`principal`: an identifier cannot be empty"),
        (small().retry(Retry::of("second")), "there is no submission `second`"),
        (small().retry(Retry::of("first").people(5)), "`people` is between 1 and 4, not 5"),
        (small().resolution("b", &failed), "there is no tool `b`"),
        (small().resolution("charge", &failed).resolution("charge", &failed), "there is already a"),
        (Scenario::builder("none").turn(Turn::says("")), "`submissions` cannot be empty"),
        (Scenario::builder("mute").submission(Submission::new("a")), "the submission `a` has no"),
        (repeat(Turn::says(""), 64), "`turns` holds at most 64"),
        (small().turn(batch), "`calls` holds at most 128"),
    ] {
        let error = builder.build().expect_err(expected).to_string();
        assert!(error.starts_with(&format!("error: {expected}")), "{error}");
        assert!(error.contains("building.rs:"), "{error}");
    }
}
