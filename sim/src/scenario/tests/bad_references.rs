//! Names that refer to nothing, to the wrong thing, or to two things.

use everstep_machine::effect::FailpointError;

use super::super::{Fault, Noun};
use super::{accepted, fault_at, refused, small_and, small_with};

fn abort(lines: &str) -> String {
    small_and(&format!("[[aborts]]\n{lines}\n"))
}

fn resolution(lines: &str) -> String {
    small_and(&format!("[[resolutions]]\n{lines}\n"))
}

#[test]
fn scenario_abort_of_an_unknown_submission_names_the_nearest() {
    let fault = fault_at(&abort("submission = \"frist\""), 21, 14, "\"frist\"");
    let nearest = Some("first".to_owned());
    assert_eq!(fault, Fault::Unknown { noun: Noun::Submission, name: "frist".to_owned(), nearest });
    let error = refused(&abort("submission = \"another\""));
    assert!(error.to_string().starts_with("error: there is no submission `another`\n"), "{error}");
}

#[test]
fn scenario_resolution_or_denial_of_an_unknown_tool_names_the_nearest() {
    let unknown = |name: &str| Fault::Unknown {
        noun: Noun::Tool,
        name: name.to_owned(),
        nearest: Some("charge".to_owned()),
    };
    let text = resolution("tool = \"chrage\"\nanswer = \"never-started\"");
    assert_eq!(fault_at(&text, 21, 8, "\"chrage\""), unknown("chrage"));
    let text = small_and("[authorizer]\ndenies = [\"charge\", \"charges\"]\n");
    assert_eq!(fault_at(&text, 21, 21, "\"charges\""), unknown("charges"));
}

#[test]
fn scenario_call_of_an_undeclared_tool_must_be_meant() {
    let text = small_with("tool = \"charge\"", "tool = \"chargee\"");
    let nearest = Some("charge".to_owned());
    let fault = fault_at(&text, 12, 19, "\"chargee\"");
    assert_eq!(fault, Fault::Undeclared { tool: "chargee".to_owned(), nearest });
    let shown = refused(&text).to_string();
    assert!(shown.contains("did you mean `charge`?"), "{shown}");
    assert!(shown.contains("let `undeclared` be true"), "{shown}");

    let meant = small_with("tool = \"charge\"", "tool = \"chargee\", undeclared = true");
    assert_eq!(accepted(&meant).submissions[0].turns.len(), 2);
    let wrong = small_with("tool = \"charge\"", "tool = \"charge\", undeclared = true");
    assert_eq!(*refused(&wrong).fault(), Fault::Declared { tool: "charge".to_owned() });
}

#[test]
fn scenario_duplicate_names_are_refused_at_the_second() {
    let text = small_and("[[submissions]]\nname = \"first\"\ninput = 2\n");
    let fault = fault_at(&text, 21, 8, "\"first\"");
    assert_eq!(fault, Fault::Duplicate { noun: Noun::Submission, name: "first".to_owned() });
    let text = small_and("[[tools]]\nname = \"charge\"\n");
    let fault = fault_at(&text, 21, 8, "\"charge\"");
    assert_eq!(fault, Fault::Duplicate { noun: Noun::Tool, name: "charge".to_owned() });
    for (noun, name, text) in [
        (Noun::Denial, "charge", small_and("[authorizer]\ndenies = [\"charge\", \"charge\"]\n")),
        (Noun::Expectation, "failed", small_and("expect = [\"failed\", \"failed\"]\n")),
        (Noun::Resolution, "charge", {
            let one = "tool = \"charge\"\nanswer = \"never-started\"\n";
            resolution(&format!("{one}[[resolutions]]\n{one}"))
        }),
    ] {
        let fault = refused(&text).fault().clone();
        assert_eq!(fault, Fault::Duplicate { noun, name: name.to_owned() });
    }
}

#[test]
fn scenario_unknown_failpoint_names_the_nearest() {
    let at = |moment: &str| abort(&format!("submission = \"first\"\nat = \"{moment}\""));
    let fault = fault_at(&at("tool.invok/after"), 22, 6, "\"tool.invok/after\"");
    let Fault::UnknownFailpoint { text, reason, nearest } = fault else { panic!("{fault:?}") };
    assert_eq!((text.as_str(), reason), ("tool.invok/after", FailpointError::UnknownEffect));
    assert_eq!(nearest.as_deref(), Some("tool.invoke/after"));
    for (moment, reason, near) in [
        ("ledger.admit/during", FailpointError::UnknownPhase, Some("ledger.admit/before")),
        ("every_moment", FailpointError::NoPhase, Some("every-moment")),
        ("whenever", FailpointError::NoPhase, None),
        (
            "conversation.append:toolprepared/after@2",
            FailpointError::UnknownEffect,
            Some("conversation.append:ToolPrepared/after"),
        ),
    ] {
        let fault = refused(&at(moment)).fault().clone();
        let Fault::UnknownFailpoint { reason: found, nearest, .. } = fault else {
            panic!("{moment}: {fault:?}")
        };
        assert_eq!((found, nearest.as_deref()), (reason, near), "{moment}");
    }
    assert!(refused(&at("whenever")).to_string().contains("as in `tool.invoke/after`"));
}

#[test]
fn scenario_occurrence_counts_from_one() {
    for count in ["0", "", "-1", "+1", "x", "1@2", "4294967296"] {
        let text = abort(&format!("submission = \"first\"\nat = \"tool.invoke/after@{count}\""));
        assert_eq!(*refused(&text).fault(), Fault::BadOccurrence { text: count.to_owned() });
    }
}

#[test]
fn scenario_submission_without_any_turns_is_refused() {
    let text = small_with("[[turns]]\ncalls = [{ tool = \"charge\" }]\n\n", "");
    let text = text.replacen("[[turns]]\ntext = \"Done.\"\n", "", 1);
    let error = refused(&text);
    assert_eq!(*error.fault(), Fault::NoTurns { submission: "first".to_owned() });
    assert!(error.to_string().contains("help: give it `turns`"), "{error}");
}

#[test]
fn scenario_resolution_needs_a_doubt_and_a_payload() {
    let readonly = resolution("tool = \"charge\"\nanswer = \"never-started\"").replacen(
        "name = \"charge\"",
        "name = \"charge\"\nclass = \"readonly\"",
        1,
    );
    assert_eq!(*refused(&readonly).fault(), Fault::NeverUnknown { tool: "charge".to_owned() });

    let failing = "name = \"charge\"\nfailure = { tag = \"No\", message = \"no\" }";
    let completed = resolution("tool = \"charge\"\nanswer = \"completed\"");
    assert!(accepted(&completed).resolutions.len() == 1, "the tool's own result serves");
    let completed = completed.replacen("name = \"charge\"", failing, 1);
    let missing = |key| Fault::MissingKey { key, table: "[[resolutions]]" };
    assert_eq!(*refused(&completed).fault(), missing("result"));

    let failed = resolution("tool = \"charge\"\nanswer = \"failed\"");
    assert_eq!(*refused(&failed).fault(), missing("failure"));
    let failed = failed.replacen("name = \"charge\"", failing, 1);
    assert!(accepted(&failed).resolutions.len() == 1, "the tool's own failure serves");
}
