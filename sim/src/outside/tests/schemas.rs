//! Whether values fit: the outside answers as a host does.

use std::sync::Arc;

use everstep_machine::agent::{Resolution, Schema, ToolOutcome};
use everstep_machine::effect::{Answer, CheckSubject, External, Fitting, Reconciliation};
use everstep_machine::identity::Turn;

use super::{Outside, cast, invoke, json, reconcile, ship};
use crate::defect::Defect;

/// Whether values fit a schema of numbers.
fn fit(defect: Option<Defect>, values: &[&str]) -> Vec<bool> {
    let cast = cast(ship(), None, defect);
    let schema = Schema::parse(br#"{"type":"integer"}"#).unwrap();
    let fitting = |text: &&str| Fitting { schema: schema.clone(), value: json(text) };
    let values = values.iter().map(fitting).collect();
    let (run, turn, subject) = (cast.clients[0].run, Turn(4), CheckSubject::Parameters);
    let asked = External::Check { run, turn, subject, values };
    match Outside::default().perform(&cast, &asked).answer {
        Answer::Checked { run: of, turn: Turn(4), subject: about, verdicts } => {
            assert_eq!((of, about), (run, subject));
            verdicts.iter().map(Option::is_none).collect()
        }
        other => panic!("a check is answered, not {other:?}"),
    }
}

#[test]
fn cap_004_the_outside_says_what_does_not_fit() {
    assert_eq!(fit(None, &["1", "\"1\"", "2"]), [true, false, true]);
    assert_eq!(fit(Some(Defect::ChecksSkipped), &["1", "\"1\""]), [true, true], "the defect bites");
}

#[test]
fn cap_004_a_result_that_a_tool_cannot_give_is_a_defect_whoever_tells() {
    let tool = ship().gives(r#"{"type":"integer"}"#).reconciled();
    let (cast, mut outside) = (cast(tool, None, None), Outside::default());
    let tag = |outcome: Arc<ToolOutcome>| match &*outcome {
        ToolOutcome::Defect(why) => why.tag().to_owned(),
        other => panic!("an object is no number: {other:?}"),
    };
    assert_eq!(tag(invoke(&mut outside, &cast, 1).0), "OutputInvalid");
    let said = reconcile(&mut outside, &cast, 1, 2);
    let Reconciliation::Proven(Resolution::Failed(why)) = said else { panic!("{said:?}") };
    assert_eq!(why.tag(), "OutputInvalid");
}

#[test]
fn cap_004_a_passing_failure_that_a_tool_does_not_declare_is_a_defect_as_on_a_host() {
    let undeclared = ship().passing_failures(1).declares_failure(r#"{"type":"object"}"#);
    let outcome = |tool| invoke(&mut Outside::default(), &cast(tool, None, None), 1).0;
    let end = outcome(undeclared);
    let ToolOutcome::Defect(why) = &*end else { panic!("a text is no object: {end:?}") };
    assert_eq!(why.tag(), "FailureInvalid");
    let declared = outcome(ship().passing_failures(1));
    assert!(matches!(&*declared, ToolOutcome::Failure(why) if why.tag() == "Passing"));
}
