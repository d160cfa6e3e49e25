//! What a checker answers.

use everstep_machine::agent::{
    Diagnostic, ExecutionClass, Resolution, ToolDefinition, ToolOutcome,
};
use everstep_machine::effect::{Answer, CheckSubject};
use everstep_machine::identity::{RunId, ToolName, Turn};

use super::*;

#[test]
fn cap_004_every_value_of_a_batch_gets_its_own_verdict_in_order() {
    let number = json!({"type": "number"});
    let values = [json!(1), json!("x"), json!(0.1)].map(|value| fitting(&number, &value));
    let (run, turn) = (RunId([7; 16]), Turn(3));
    let answer = Checker::new().answer(run, turn, CheckSubject::Parameters, &values);
    let Answer::Checked { run: r, turn: t, subject, verdicts } = answer else { panic!() };
    assert_eq!((r, t, subject), (run, turn, CheckSubject::Parameters));
    let said: Vec<_> = verdicts.iter().map(Option::is_some).collect();
    assert_eq!(said, [false, true, false]);
}

#[test]
fn cap_004_a_result_that_does_not_fit_is_a_defect_of_the_call() {
    let mut tool = ToolDefinition::new(ToolName::new("sum").unwrap(), ExecutionClass::Readonly);
    tool.success = schema(&json!({"type": "integer"}));
    let checker = Checker::new();
    let good = ToolOutcome::Success(canonical(&json!(3)));
    assert_eq!(checker.outcome(&tool, good.clone()), good);
    let ToolOutcome::Defect(why) =
        checker.outcome(&tool, ToolOutcome::Success(canonical(&json!("3"))))
    else {
        panic!("a text is no integer")
    };
    assert_eq!(why.tag(), "OutputInvalid");
    assert_eq!(why.message(), "at the top: value is not of type \"integer\"");
    let failed = ToolOutcome::Failure(Diagnostic::cut("Busy", "later"));
    assert_eq!(checker.outcome(&tool, failed.clone()), failed);
}

#[test]
fn cap_004_what_is_found_out_of_a_result_is_held_against_the_same_schema() {
    let mut tool = ToolDefinition::new(ToolName::new("count").unwrap(), ExecutionClass::Ordinary);
    tool.success = schema(&json!({"type": "integer"}));
    let checker = Checker::new();
    let found = |value| checker.resolution(&tool, Resolution::Completed(canonical(&value)));
    assert_eq!(found(json!(3)), Resolution::Completed(canonical(&json!(3))));
    let Resolution::Failed(why) = found(json!("3")) else { panic!("a text is no integer") };
    assert_eq!(why.tag(), "OutputInvalid");
    let others = [
        Resolution::Failed(Diagnostic::cut("Busy", "later")),
        Resolution::NeverStarted,
        Resolution::SafeToRepeat,
    ];
    for other in others {
        assert_eq!(checker.resolution(&tool, other.clone()), other);
    }
}

#[test]
fn cap_004_more_schemas_than_are_kept_change_no_answer() {
    let checker = Checker::new();
    let rules = |index: usize| json!({"maximum": index});
    for round in 0..2 {
        for index in 0..300 {
            let said = checker.check(&fitting(&rules(index), &json!(150)));
            assert_eq!(said.is_some(), index < 150, "round {round}, schema {index}");
        }
    }
}

#[test]
fn cap_004_numbers_are_compared_as_they_are() {
    fits(&json!({"const": u64::MAX}), &json!(u64::MAX));
    assert!(refusal(&json!({"const": u64::MAX}), &json!(u64::MAX - 1)).is_some());
    fits(&json!({"multipleOf": 0.01}), &json!(0.07));
    fits(&json!({"type": "integer"}), &json!(1.0));
    // `format` is a remark.
    fits(&json!({"type": "string", "format": "date-time"}), &json!("tomorrow"));
}

#[test]
fn sec_06_patterns_that_go_back_and_back_end() {
    let text = format!("{}!", "a".repeat(20_000));
    assert!(refusal(&json!({"pattern": "^(a+)+$"}), &json!(text)).is_some());
    let back = json!({"pattern": "^(a|a)*\\1c$"});
    assert!(refusal(&back, &json!(text)).is_some());
    // What cannot be told counts as not fitting, turned around or not.
    assert!(refusal(&json!({"not": back}), &json!(text)).is_some());
    let mail = json!({"pattern": "^(?!\\.)(?!.*\\.\\.)[a-z.]*[a-z]@([a-z]+\\.)+[a-z]{2,}$"});
    fits(&mail, &json!("a.b@example.org"));
    assert!(refusal(&mail, &json!("a..b@example.org")).is_some());
}

#[test]
fn sec_06_the_deepest_value_under_the_longest_row_of_schemas_needs_little_stack() {
    let mut defs = serde_json::Map::new();
    for index in 0..7 {
        let next = json!({"$ref": format!("#/$defs/{}", index + 1)});
        defs.insert(index.to_string(), json!({"anyOf": [{"type": "string"}, next]}));
    }
    let last = json!({"type": "array", "items": {"$ref": "#/$defs/0"}});
    defs.insert("7".to_owned(), last);
    let rules = json!({"$defs": defs, "$ref": "#/$defs/0"});
    let deepest = |inner| (0..63).fold(inner, |inner, _| json!([inner]));
    let check = move || {
        fits(&rules, &deepest(json!("x")));
        refusal(&rules, &deepest(json!(1)))
    };
    let thread = std::thread::Builder::new().stack_size(1024 * 1024).spawn(check).unwrap();
    assert!(thread.join().unwrap().is_some());
}
