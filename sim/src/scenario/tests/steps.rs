//! Steps of durable tools: which files have them, and what of them is refused.

use everstep_machine::agent::ExecutionClass;
use everstep_machine::limits::{CALL_STEPS, STEP_OUTPUT_BYTES};

use super::super::{Fault, Noun, Scenario, Submission, Tool, Turn};
use super::{accepted, refused, small_with};

/// The small scenario with this in its tool.
fn tool(says: &str) -> String {
    small_with("name = \"charge\"", &format!("name = \"charge\"\n{says}"))
}

#[test]
fn dur_010_a_file_and_rust_code_make_the_same_durable_tool() {
    let steps =
        "class = \"durable\"\nsteps = [{ name = \"hold\", result = 1 }, { name = \"pay\" }]";
    let file = accepted(&tool(steps));
    let built = Scenario::builder("built")
        .about("Built.")
        .agent("a", "i")
        .tool(Tool::durable("charge").step("hold", "1").step("pay", "null"))
        .submission(
            Submission::new("s").turn(Turn::calls("charge", "{}")).turn(Turn::says("done")),
        );
    let built = built.build().unwrap();
    assert_eq!(file.tools[0].steps, built.tools[0].steps);
    assert_eq!(file.tools[0].definition.class, ExecutionClass::Durable);
    let told: Vec<_> = file.tools[0].steps.iter().map(|it| it.step.to_string()).collect();
    assert_eq!(told, ["`hold` version 1", "`pay` version 1"]);
}

#[test]
fn dur_010_a_durable_tool_has_steps_and_no_other_tool_has() {
    let fault = refused(&tool("class = \"durable\"")).fault().clone();
    assert_eq!(fault, Fault::MissingKey { key: "steps", table: "[[tools]]" });
    let fault = refused(&tool("class = \"durable\"\nsteps = []")).fault().clone();
    assert_eq!(fault, Fault::EmptyList { key: "steps" });
    let built = Scenario::builder("built")
        .about("Built.")
        .agent("a", "i")
        .tool(Tool::durable("charge"))
        .submission(Submission::new("s").turn(Turn::says("done")));
    assert_eq!(*built.build().unwrap_err().fault(), Fault::EmptyList { key: "steps" });
    let only = Fault::OnlyWith { key: "steps", other: "class", word: "durable" };
    let later = "later_steps = [{ name = \"a\" }]";
    let only_later = Fault::OnlyWith { key: "later_steps", other: "class", word: "durable" };
    assert_eq!(*refused(&tool(later)).fault(), only_later);
    for class in ["", "class = \"idempotent\"\n"] {
        let fault = refused(&tool(&format!("{class}steps = [{{ name = \"a\" }}]"))).fault().clone();
        assert_eq!(fault, only);
    }
    let built = Scenario::builder("built")
        .about("Built.")
        .agent("a", "i")
        .tool(Tool::ordinary("charge").step("hold", "1"))
        .submission(Submission::new("s").turn(Turn::says("done")));
    assert_eq!(*built.build().unwrap_err().fault(), only);
}

#[test]
fn dur_010_steps_have_names_of_their_own_and_are_bounded() {
    let steps = |list: &str| refused(&tool(&format!("class = \"durable\"\nsteps = [{list}]")));
    let twice = steps("{ name = \"a\" }, { name = \"a\", version = 2 }").fault().clone();
    assert_eq!(twice, Fault::Duplicate { noun: Noun::Step, name: "a".to_owned() });
    assert!(matches!(steps("{ name = \"\" }").fault(), Fault::BadName { key: "name", .. }));
    assert!(matches!(
        steps("{ name = \"a\", version = 4294967296 }").fault(),
        Fault::OutOfRange { key: "version", .. }
    ));
    let long = "x".repeat(STEP_OUTPUT_BYTES - 1);
    let fault = steps(&format!("{{ name = \"a\", result = \"{long}\" }}")).fault().clone();
    assert_eq!(fault, Fault::StepTooLarge);
    let many: Vec<_> = (0..=CALL_STEPS).map(|at| format!("{{ name = \"{at}\" }}")).collect();
    let fault = steps(&many.join(", ")).fault().clone();
    assert!(matches!(fault, Fault::TooMany { key: "steps", most: CALL_STEPS }), "{fault:?}");
}
