//! Models that go by rules.

use everstep_machine::agent::Dimension;
use everstep_machine::identity::ToolName;

use super::super::{Fault, ModelScript, Rule, RuleScript, Scenario, Submission, ThenScript, Tool};
use super::{accepted, fault_at, refused, small_with};

/// A live model with these rules.
fn live(rules: &str) -> String {
    let model = format!("[model]\nkind = \"live\"\n{rules}\n\n[[submissions]]");
    let turns = "[[turns]]\ncalls = [{ tool = \"charge\" }]\n\n[[turns]]\ntext = \"Done.\"\n\n";
    small_with(turns, "").replacen("[[submissions]]", &model, 1)
}

#[test]
fn scenario_live_model_keeps_its_rules() {
    let scenario = accepted(&live(
        r#"
[[model.rules]]
then = { text = "Done." }

[[model.rules]]
when = { instructions_contain = "a", shows = "b", last_user_contains = "c", tool_result_of = "charge", result_contains = "d", tools_forbidden = false, output_wanted = true, status_shows = "tool-calls" }
then = { text = "t", calls = ["charge", "charge"] }
"#,
    ));
    let built = Scenario::builder("small")
        .about("small")
        .agent("agent", "Do it.")
        .tool(Tool::ordinary("charge"))
        .rule(Rule::says("Done."))
        .rule(
            Rule::calls("charge")
                .and_calls("charge")
                .if_instructed("a")
                .if_shown("b")
                .if_asked("c")
                .after_result_of("charge")
                .if_result_shows("d")
                .if_tools_forbidden(false)
                .if_output_wanted(true)
                .if_status_shows(Dimension::ToolCalls),
        )
        .submission(Submission::new("first").input("1"))
        .build()
        .expect("it is sound");
    let (ModelScript::Live(file), ModelScript::Live(rust)) = (&scenario.model, &built.model) else {
        panic!("live models")
    };
    assert_eq!(file[0], rust[0]);
    assert_eq!(file[1].when, rust[1].when);
    let charge = ToolName::new("charge").expect("a name");
    let then = ThenScript { text: Some("t".to_owned()), calls: vec![charge.clone(), charge] };
    assert_eq!(file[1], RuleScript { when: rust[1].when.clone(), then });
    assert!(scenario.submissions[0].turns.is_empty());
}

#[test]
fn scenario_live_model_has_rules_and_no_turns() {
    let both = small_with(
        "[[submissions]]",
        "[model]\nkind = \"live\"\nrules = [{ then = { text = \"\" } }]\n[[submissions]]",
    );
    let fault = fault_at(&both, 11, 1, "[[turns]]");
    assert_eq!(fault, Fault::Excluded { key: "turns", other: "rules" });
    assert_eq!(*refused(&live("")).fault(), Fault::EmptyList { key: "rules" });
    assert_eq!(*refused(&live("rules = []")).fault(), Fault::EmptyList { key: "rules" });
    let scripted = small_with("[agent]", "[model]\nrules = [{ then = { text = \"\" } }]\n[agent]");
    let word = "live";
    let fault = refused(&scripted).fault().clone();
    assert_eq!(fault, Fault::OnlyWith { key: "rules", other: "kind", word });
}

#[test]
fn scenario_rule_refers_to_tools_that_are_there() {
    let rule = |rule: &str| refused(&live(&format!("rules = [{{ {rule} }}]"))).fault().clone();
    for text in [
        "then = { calls = [\"chrge\"] }",
        "when = { tool_result_of = \"chrge\" }, then = { text = \"\" }",
    ] {
        let fault = rule(text);
        assert!(
            matches!(&fault, Fault::Unknown { nearest: Some(near), .. } if near == "charge"),
            "{fault:?}"
        );
    }
    assert_eq!(rule("when = {}"), Fault::MissingKey { key: "then", table: "[[model.rules]]" });
    let keys = &["text", "calls"][..];
    assert_eq!(rule("then = {}"), Fault::OneOf { table: "`then`", keys });
    assert_eq!(rule("then = { calls = [] }"), Fault::OneOf { table: "`then`", keys });
    let unknown = rule("when = { status_shows = \"token\" }, then = { text = \"\" }");
    assert!(matches!(unknown, Fault::UnknownWord { nearest: Some("tokens"), .. }));
}
