//! Tools that are functions: the same rules, through every point where a process can break.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering};

use everstep_machine::agent::{Diagnostic, Resolution, ToolOutcome};
use everstep_machine::json::CanonicalJson;
use everstep_machine::record::Outcome;
use everstep_sim::explore::{Bounds, Counters};
use everstep_sim::matrix::{Plan, Report, run};
use everstep_sim::oracle::Property;
use everstep_sim::profile::Profile;
use everstep_sim::scenario::{Called, Rule, Scenario, Submission, Tool, Turn};

fn matrix(scenario: Scenario, depth: u8) -> Report {
    let plan = Plan {
        scenarios: vec![Arc::new(scenario)],
        profiles: Profile::ALL.to_vec(),
        defect: None,
        bounds: Bounds::depth(depth),
        jobs: 1,
    };
    run(&plan, &Counters::default(), &AtomicUsize::new(0)).expect("the scenario is small")
}

fn broken(report: &Report) -> Vec<String> {
    let failures = report.failures();
    failures.map(|(_, failure)| format!("{}", failure.violation)).collect()
}

fn json(text: &str) -> CanonicalJson {
    CanonicalJson::parse(text.as_bytes()).unwrap()
}

/// What is charged, doubled: one half is a fee.
fn doubled(called: &Called<'_>) -> ToolOutcome {
    let cents: u64 = match called.parameters.as_str().parse() {
        Ok(cents) => cents,
        Err(_) => return ToolOutcome::Failure(Diagnostic::cut("NoNumber", "that is no number")),
    };
    ToolOutcome::Success(json(&(2 * cents).to_string()))
}

fn charges(tool: Tool) -> Scenario {
    let by_two = [("21", "42"), ("4", "8")];
    let turns = by_two.map(|(cents, _)| Turn::calls("charge", cents));
    let [first, second] = turns;
    Scenario::builder("charges")
        .tool(tool)
        .turn(first)
        .turn(second)
        .turn(Turn::calls("charge", "\"much\""))
        .turn(Turn::says("Charged."))
        .submission(Submission::new("first").expect(Outcome::Completed))
        .build()
        .unwrap()
}

#[test]
fn cap_003_a_crash_matrix_holds_over_a_tool_that_is_a_function() {
    let tools = [
        Tool::ordinary("charge"),
        Tool::ordinary("charge").reconciled(),
        Tool::idempotent("charge"),
    ];
    for tool in tools {
        let report = matrix(charges(tool.handled_by(doubled)), 1);
        assert_eq!(broken(&report), [] as [String; 0]);
        assert!(report.schedules() > 100, "{}", report.schedules());
    }
}

/// The model answers with what it is shown, so a result that is another call's is noticed.
#[test]
fn cap_003_the_result_of_a_function_is_that_of_its_own_parameters() {
    let scenario = |expected: &str| {
        let takes = r#"{ "const": 21 }"#;
        Scenario::builder("shown")
            .tool(Tool::readonly("charge").takes(takes).handled_by(doubled))
            .rule(Rule::says("42").if_result_shows(expected))
            .rule(Rule::calls("charge").if_asked("charge"))
            .submission(Submission::new("first").input("\"charge\"").expect(Outcome::Completed))
            .build()
            .unwrap()
    };
    assert_eq!(broken(&matrix(scenario("42"), 1)), [] as [String; 0]);
    assert!(!broken(&matrix(scenario("43"), 1)).is_empty());
}

#[test]
fn cap_004_a_function_that_says_what_its_tool_does_not_declare_has_broken() {
    let run = |tool: Tool, shows: &str| {
        let scenario = Scenario::builder("wrong")
            .tool(tool)
            .rule(Rule::says("It broke.").if_result_shows(shows))
            .rule(Rule::calls("look").if_asked("look"))
            .submission(Submission::new("first").input("\"look\"").expect(Outcome::Completed))
            .build()
            .unwrap();
        assert_eq!(broken(&matrix(scenario, 1)), [] as [String; 0], "{shows}");
    };
    let look = || Tool::readonly("look");
    let text = |_: &Called<'_>| ToolOutcome::Success(json("\"seven\""));
    run(look().gives(r#"{ "type": "integer" }"#).handled_by(text), "OutputInvalid");
    let closed = |_: &Called<'_>| ToolOutcome::Failure(Diagnostic::cut("Closed", "closed"));
    run(look().declares_failure(r#"{ "const": "open" }"#).handled_by(closed), "FailureInvalid");
    run(look().handled_by(|_| panic!("a handler that breaks, on purpose")), "Panic");
}

#[test]
fn dur_019_a_function_that_is_not_pure_is_called_that() {
    let count = AtomicU64::new(0);
    let counting = move |_: &Called<'_>| {
        ToolOutcome::Success(json(&count.fetch_add(1, Ordering::Relaxed).to_string()))
    };
    let report = matrix(charges(Tool::readonly("charge").handled_by(counting)), 1);
    let (_, failure) = report.failures().next().expect("it says two things of one call");
    assert_eq!(failure.violation.property, Property::Handlers);
    assert!(failure.violation.detail.contains("no pure function"), "{}", failure.violation);
}

#[test]
fn dur_017_a_person_says_of_a_function_what_it_said() {
    let scenario = charges(Tool::ordinary("charge").handled_by(doubled));
    assert_eq!(scenario.resolutions, []);
    let report = matrix(scenario, 1);
    assert_eq!(broken(&report), [] as [String; 0]);
    let safe = Scenario::builder("safe")
        .tool(Tool::ordinary("charge").handled_by(doubled))
        .turn(Turn::calls("charge", "21"))
        .turn(Turn::says("Charged."))
        .submission(Submission::new("first").expect(Outcome::Completed))
        .resolution("charge", &Resolution::SafeToRepeat)
        .build()
        .unwrap();
    assert_eq!(broken(&matrix(safe, 1)), [] as [String; 0]);
}
