//! The outside, by what it is asked.

mod fitting;
mod live;
mod schemas;
mod script;
mod silence;
mod steps;

use std::sync::Arc;

use everstep_machine::agent::{
    Diagnostic, ExecutionClass, LostResponse, Messages, ModelRequest, Purpose, Resolution,
    ToolChoice, ToolOutcome,
};
use everstep_machine::effect::{
    Answer, Authorization, Doubted, External, Invocation, Reconciliation,
};
use everstep_machine::identity::{Epoch, ToolCallId, ToolName, Turn};
use everstep_machine::json::CanonicalJson;
use everstep_machine::record::Doubt;

use super::{Deed, Outside};
use crate::cast::Cast;
use crate::defect::Defect;
use crate::profile::Profile;
use crate::scenario::{Scenario, Submission, Tool, Turn as Says};

fn json(text: &str) -> CanonicalJson {
    CanonicalJson::parse(text.as_bytes()).unwrap()
}

/// One run that calls one tool in its first turn and answers in its second.
fn cast(tool: Tool, resolution: Option<&Resolution>, defect: Option<Defect>) -> Cast {
    let scenario = Scenario::builder("outside")
        .about("One tool, called once.")
        .agent("clerk", "Do it.")
        .tool(tool)
        .submission(Submission::new("a").turn(Says::calls("ship", "{}")).turn(Says::says("done")));
    let scenario = match resolution {
        Some(resolution) => scenario.resolution("ship", resolution),
        None => scenario,
    };
    Cast::new(Arc::new(scenario.build().unwrap()), Profile::Weak, defect)
}

fn ship() -> Tool {
    Tool::ordinary("ship").returns("{\"ok\":true}").latency_ms(40)
}

fn name() -> ToolName {
    ToolName::new("ship").unwrap()
}

fn call(cast: &Cast) -> ToolCallId {
    ToolCallId::derive(cast.clients[0].run, Turn(0), 0)
}

fn invoke(outside: &mut Outside, cast: &Cast, epoch: u64) -> (Arc<ToolOutcome>, u64, Deed) {
    let invocation = Invocation {
        run: cast.clients[0].run,
        agent: cast.binding.definition.id().clone(),
        group: None,
        call: call(cast),
        epoch: Epoch(epoch),
        tool: name(),
        class: cast.binding.definition.class_of(&name()),
        parameters: json("{}"),
        steps: Vec::new(),
        action: None,
    };
    let answered = outside.perform(cast, &External::InvokeTool(invocation));
    match answered.answer {
        Answer::Tool { start, outcome } => {
            assert_eq!(start, doubt(cast, epoch));
            (outcome, answered.after.0, answered.deed)
        }
        other => panic!("a tool answers, not {other:?}"),
    }
}

fn doubt(cast: &Cast, start: u64) -> Doubt {
    Doubt { call: call(cast), start: Epoch(start) }
}

fn reconcile(outside: &mut Outside, cast: &Cast, start: u64, asking: u64) -> Reconciliation {
    let doubted = Doubted { doubt: doubt(cast, start), tool: name(), asking: Epoch(asking) };
    match outside.perform(cast, &External::Reconcile(doubted)).answer {
        Answer::Reconciler { reconciliation, .. } => reconciliation,
        other => panic!("a reconciler answers, not {other:?}"),
    }
}

fn ask(cast: &Cast, turn: u32) -> Result<(usize, String), LostResponse> {
    let request = ModelRequest {
        agent: cast.binding.definition.clone(),
        run: cast.clients[0].run,
        turn: Turn(turn),
        purpose: Purpose::Respond,
        messages: Messages::default(),
        tools: ToolChoice::Allowed,
        output: None,
        status: Vec::new(),
    };
    let asked = External::CallModel(Arc::new(request));
    match Outside::default().perform(cast, &asked).answer {
        Answer::Model { response, .. } => {
            response.map(|it| (it.calls().count(), it.texts().collect()))
        }
        other => panic!("a model answers, not {other:?}"),
    }
}

#[test]
fn a_model_answers_by_submission_and_turn_and_repeats_its_last() {
    let cast = cast(ship(), None, None);
    assert_eq!(ask(&cast, 0), Ok((1, String::new())));
    assert_eq!(ask(&cast, 1), Ok((0, "done".to_owned())));
    assert_eq!(ask(&cast, 5), ask(&cast, 1));
    assert_eq!(ask(&cast, 0), ask(&cast, 0));
}

#[test]
fn run_028_the_authorizer_denies_a_batch_with_one_denied_call() {
    let authorize = |cast: &Cast, calls| {
        let (run, turn) = (cast.clients[0].run, Turn(0));
        let asked = External::Authorize { run, turn, calls };
        match Outside::default().perform(cast, &asked).answer {
            Answer::Authorizer { authorization, .. } => authorization,
            other => panic!("an authorizer answers, not {other:?}"),
        }
    };
    let open = cast(ship(), None, None);
    assert_eq!(authorize(&open, vec![call(&open)]), Authorization::Allowed);
    let stranger = ToolCallId([9; 16]);
    assert_eq!(authorize(&open, vec![call(&open), stranger]), Authorization::Denied);
    let denied = Scenario::builder("denied")
        .about("The host turns the tool down.")
        .agent("clerk", "Do it.")
        .tool(ship())
        .deny("ship")
        .submission(Submission::new("a").turn(Says::calls("ship", "{}")));
    let denied = Cast::new(Arc::new(denied.build().unwrap()), Profile::Weak, None);
    assert_eq!(authorize(&denied, vec![call(&denied)]), Authorization::Denied);
}

#[test]
fn a_tool_counts_its_executions_and_takes_its_time() {
    let cast = cast(ship(), None, None);
    let mut outside = Outside::default();
    let (outcome, after, deed) = invoke(&mut outside, &cast, 1);
    assert_eq!(*outcome, ToolOutcome::Success(json("{\"ok\":true}")));
    assert_eq!((after, deed), (40, Deed::Executed(call(&cast))));
    invoke(&mut outside, &cast, 2);
    assert_eq!(outside.executions(call(&cast)), 2);
    assert!(outside.has_executed(doubt(&cast, 2)));
    assert!(!outside.has_executed(doubt(&cast, 3)));
}

#[test]
fn a_readonly_tool_leaves_no_trace() {
    let cast = cast(Tool::readonly("ship").returns("1"), None, None);
    assert_eq!(cast.binding.definition.class_of(&name()), ExecutionClass::Readonly);
    let mut outside = Outside::default();
    assert_eq!(invoke(&mut outside, &cast, 1).2, Deed::Nothing);
    assert!(outside.calls().is_empty());
}

#[test]
fn dur_009_a_reconciler_says_what_happened_and_buries_what_has_not() {
    let cast = cast(ship().reconciled(), None, None);
    let mut outside = Outside::default();
    assert_eq!(
        reconcile(&mut outside, &cast, 1, 3),
        Reconciliation::Proven(Resolution::NeverStarted)
    );
    assert_eq!(invoke(&mut outside, &cast, 1).2, Deed::Refused, "the late start is refused");
    assert_eq!(invoke(&mut outside, &cast, 2).2, Deed::Refused, "so is every one below who asked");
    assert_eq!(outside.executions(call(&cast)), 0);
    assert_eq!(invoke(&mut outside, &cast, 3).2, Deed::Executed(call(&cast)));
    let done = Resolution::Completed(json("{\"ok\":true}"));
    assert_eq!(reconcile(&mut outside, &cast, 3, 4), Reconciliation::Proven(done));
}

#[test]
fn a_tool_without_a_reconciler_proves_nothing() {
    let cast = cast(ship(), None, None);
    let mut outside = Outside::default();
    assert_eq!(reconcile(&mut outside, &cast, 1, 2), Reconciliation::Unprovable);
    assert_eq!(invoke(&mut outside, &cast, 1).2, Deed::Executed(call(&cast)), "nothing is buried");
}

#[test]
fn never_started_without_tombstone_lets_the_late_start_run() {
    let cast = cast(ship().reconciled(), None, Some(Defect::NeverStartedWithoutTombstone));
    let mut outside = Outside::default();
    reconcile(&mut outside, &cast, 1, 3);
    assert_eq!(invoke(&mut outside, &cast, 1).2, Deed::Executed(call(&cast)));
}

/// What the operator says of a start that ran or did not, how often the call has run then, and
/// what becomes of the same start when it comes late.
fn operated(scripted: &Resolution, ran: bool) -> (Resolution, usize, Deed) {
    let cast = cast(ship(), Some(scripted), None);
    let mut outside = Outside::default();
    if ran {
        invoke(&mut outside, &cast, 1);
    }
    let said = outside.resolve(&cast, doubt(&cast, 1), &name());
    let times = outside.executions(call(&cast));
    (said, times, invoke(&mut outside, &cast, 1).2)
}

#[test]
fn dur_017_an_operator_says_never_started_only_of_what_has_not_run() {
    let done = Resolution::Completed(json("{\"ok\":true}"));
    let never = Resolution::NeverStarted;
    assert_eq!(operated(&never, false), (never.clone(), 0, Deed::Refused));
    let (said, times, _) = operated(&never, true);
    assert_eq!((said, times), (done, 1));
}

#[test]
fn dur_017_an_operator_who_says_completed_has_done_it_by_hand_if_nobody_did() {
    let done = Resolution::Completed(json("{\"by\":\"hand\"}"));
    assert_eq!(operated(&done, false), (done.clone(), 1, Deed::Refused));
    let (said, times, _) = operated(&done, true);
    assert_eq!((said, times), (done, 1));
    let failed = Resolution::Failed(Diagnostic::cut("Lost", "it is lost"));
    assert_eq!(operated(&failed, false), (failed.clone(), 1, Deed::Refused));
}

#[test]
fn dur_017_safe_to_repeat_looks_at_nothing_and_buries_nothing() {
    let safe = Resolution::SafeToRepeat;
    let (said, times, late) = operated(&safe, false);
    assert_eq!((said, times), (safe.clone(), 0));
    assert!(matches!(late, Deed::Executed(_)));
    assert_eq!(operated(&safe, true).0, safe);
}

#[test]
fn an_operator_without_a_script_says_the_truth() {
    let cast = cast(ship(), None, None);
    let mut outside = Outside::default();
    assert_eq!(outside.resolve(&cast, doubt(&cast, 1), &name()), Resolution::NeverStarted);
    invoke(&mut outside, &cast, 2);
    let done = Resolution::Completed(json("{\"ok\":true}"));
    assert_eq!(outside.resolve(&cast, doubt(&cast, 2), &name()), done);
}
