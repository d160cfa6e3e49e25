//! Events that state records, and the beginning of a trace of a run that is taken over.

use alloc::vec;

use super::*;
use crate::agent::{
    Allowance, Diagnostic, FinishReason, ModelResponse, Resolution, ResponsePart, ToolCall,
    ToolOutcome,
};
use crate::digest::Digest;
use crate::identity::{Epoch, PrincipalId, Sequence, TenantId};
use crate::json::CanonicalJson;
use crate::projection::{Projection, RunView};
use crate::record::*;

fn run() -> RunId {
    RunId::derive(SUBMISSION)
}

fn call(index: usize) -> ToolCallId {
    ToolCallId::derive(run(), Turn(0), index)
}

fn principal() -> PrincipalId {
    PrincipalId::new("ada").unwrap()
}

fn json(text: &str) -> CanonicalJson {
    CanonicalJson::string(text).unwrap()
}

fn created() -> Record {
    let digest = Digest([0; 32]);
    Record::ConversationCreated(ConversationCreated {
        conversation: source().conversation,
        tenant: TenantId::new("shop").unwrap(),
        agent: source().agent,
        definition: digest,
        model: digest,
        tools: digest,
    })
}

fn input(submission: SubmissionId, kind: InputKind) -> Record {
    let (run, input, allowance) = (run(), json("refund me"), Allowance::default());
    let (principal, at) = (principal(), Timestamp(0));
    Record::InputRecorded(InputRecorded { submission, principal, run, input, kind, at, allowance })
}

fn responded(tools: &[&str]) -> Record {
    let declared = tools.iter().map(|tool| {
        let (label, tool) = (Arc::from("same"), ToolName::new(tool).unwrap());
        ResponsePart::Call(ToolCall { label, tool, parameters: json("all of it") })
    });
    let parts = [ResponsePart::Text(Arc::from("Let me."))].into_iter().chain(declared).collect();
    let response = ModelResponse { parts, finish: FinishReason::ToolCalls, usage: None };
    let (turn, response) = (Turn(0), Arc::new(response));
    Record::ModelResponded(ModelResponded { submission: SUBMISSION, turn, response })
}

fn prepared(index: usize, tool: &str) -> Record {
    Record::ToolPrepared(ToolPrepared {
        submission: SUBMISSION,
        call: call(index),
        epoch: Epoch(1),
        tool: ToolName::new(tool).unwrap(),
        parameters: json("all of it").digest(),
    })
}

fn doubt(index: usize) -> Doubt {
    Doubt { call: call(index), start: Epoch(1) }
}

fn unknown(index: usize) -> Record {
    Record::ToolUnknown(ToolUnknown { submission: SUBMISSION, doubt: doubt(index) })
}

fn resolved(index: usize) -> Record {
    Record::ToolResolved(ToolResolved {
        submission: SUBMISSION,
        doubt: doubt(index),
        resolution: Arc::new(Resolution::NeverStarted),
        principal: principal(),
        reason: Arc::from("the ledger shows nothing"),
    })
}

fn settled(index: usize) -> Record {
    let outcome = Arc::new(ToolOutcome::Success(json("done")));
    Record::ToolSettled(ToolSettled { submission: SUBMISSION, call: call(index), outcome })
}

fn compaction(compaction: Compaction) -> Record {
    let (submission, turn, through) = (SUBMISSION, Turn(0), Sequence(0));
    Record::CompactionCreated(CompactionCreated {
        submission,
        turn,
        through,
        compaction,
        usage: None,
    })
}

fn ended(submission: SubmissionId, run: Option<RunId>) -> Record {
    let settlement = Settlement::Aborted;
    Record::SubmissionSettled(SubmissionSettled { submission, run, settlement })
}

const LATE: SubmissionId = SubmissionId([0x22; 16]);

/// The run that these records make, under epoch 1.
fn fold(records: Vec<Record>) -> RunView {
    let mut fold = Projection::default();
    let first = [created(), input(SUBMISSION, InputKind::First)];
    let records = first.into_iter().chain(records).collect();
    let batch = Batch::new(&source().conversation, records).unwrap();
    fold.try_apply(Epoch(1), &batch).expect("the records follow each other");
    fold.submission(SUBMISSION).and_then(|it| it.run.clone()).expect("there is a run")
}

#[test]
fn arc_10_the_facts_of_a_run_are_told_by_its_records() {
    let declared = |index, tool| RunEvent::ToolCallDeclared {
        call: call(index),
        tool: ToolName::new(tool).unwrap(),
    };
    let received = vec![RunEvent::InputReceived { submission: LATE }];
    let compacted = |kind| vec![RunEvent::ContextCompacted { kind }];
    let told = [
        (input(SUBMISSION, InputKind::First), vec![begun()]),
        (input(LATE, InputKind::Steering { host: SUBMISSION }), received.clone()),
        (input(LATE, InputKind::FollowUp { host: SUBMISSION }), received),
        (responded(&["look", "pay"]), vec![declared(0, "look"), declared(1, "pay")]),
        (responded(&[]), vec![]),
        (settled(1), vec![RunEvent::ToolCallSucceeded { call: call(1) }]),
        (unknown(1), vec![RunEvent::ToolCallUnknown { call: call(1) }]),
        (compaction(Compaction::ResultsCleared), compacted(CompactionKind::ResultsCleared)),
        (
            compaction(Compaction::Summarized(Arc::from("long ago"))),
            compacted(CompactionKind::Summarized),
        ),
        (
            ended(SUBMISSION, Some(run())),
            vec![RunEvent::RunInterrupted { why: Interruption::Aborted, dropped: 0 }],
        ),
    ];
    for (record, events) in told {
        assert_eq!(announce(&record), events, "{record:?}");
    }
}

#[test]
fn arc_10_what_is_no_news_of_a_run_is_not_told() {
    let (submission, principal, reason) = (SUBMISSION, principal(), Arc::from("changed my mind"));
    let silent = [
        created(),
        prepared(0, "pay"),
        resolved(0),
        Record::AbortRequested(AbortRequested { submission, principal, reason }),
        Record::RecoveryDecided(RecoveryDecided { submission, epoch: Epoch(2), row: 3 }),
        Record::ModelInterrupted(ModelInterrupted {
            submission,
            turn: Turn(0),
            epoch: Epoch(2),
            ordinal: 0,
            lost_tokens: 9,
            lost_cost_micros: 0,
        }),
    ];
    for record in silent {
        assert_eq!(announce(&record), [], "{record:?}");
    }
}

#[test]
fn run_002_a_run_that_others_came_into_ends_once() {
    let (own, other) = (ended(SUBMISSION, Some(run())), ended(LATE, Some(run())));
    assert_eq!(announce(&own).len(), 1);
    assert_eq!(announce(&other), [], "a submission that came into the run of another one");
    assert_eq!(announce(&ended(SUBMISSION, None)), [], "nothing ran");
}

#[test]
fn run_032_the_records_of_a_failure_tell_its_tag_and_not_its_message() {
    let settlement = Settlement::Failed {
        diagnostic: Diagnostic::cut("CardDeclined", "card 4111 was declined"),
        limit: None,
    };
    let record = Record::SubmissionSettled(SubmissionSettled {
        submission: SUBMISSION,
        run: Some(run()),
        settlement,
    });
    let tag = FailureTag::cut("CardDeclined");
    assert_eq!(announce(&record), [RunEvent::RunFailed { tag, limit: None, dropped: 0 }]);
}

#[test]
fn run_034_calls_bear_the_ids_that_the_fold_gives_them() {
    let events = announce(&responded(&["look", "pay"]));
    let view = fold(vec![responded(&["look", "pay"])]);
    let folded = view.turns[0]
        .calls
        .iter()
        .map(|call| RunEvent::ToolCallDeclared { call: call.id, tool: call.tool.clone() });
    assert_eq!(events, folded.collect::<Vec<_>>());
}

#[test]
fn run_002_a_run_without_open_calls_begins_again_with_itself_alone() {
    assert_eq!(announce_again(&fold(vec![])), [begun()]);
    let whole = vec![responded(&["look"]), settled(0)];
    assert_eq!(announce_again(&fold(whole)), [begun()]);
}

#[test]
fn run_002_a_run_that_is_taken_over_declares_its_open_calls_again() {
    let records = vec![
        responded(&["look", "pay", "wire", "file", "mail"]),
        prepared(1, "pay"),
        prepared(2, "wire"),
        prepared(3, "file"),
        settled(0),
        unknown(2),
        unknown(3),
        resolved(3),
    ];
    let declared = |index, tool| RunEvent::ToolCallDeclared {
        call: call(index),
        tool: ToolName::new(tool).unwrap(),
    };
    let doubted = |index| RunEvent::ToolCallUnknown { call: call(index) };
    let again = announce_again(&fold(records));
    assert_eq!(
        again,
        [
            begun(),
            fact(0),
            declared(1, "pay"),
            declared(2, "wire"),
            declared(3, "file"),
            declared(4, "mail"),
            doubted(1),
            doubted(2),
            doubted(3),
        ]
    );
    // Whatever recovery comes to, the trace is whole: proven, known to repeat, turned down, new.
    let goes_on = [
        RunEvent::ToolCallSucceeded { call: call(1) },
        RunEvent::ToolCallUnknown { call: call(2) },
        RunEvent::ToolCallStarted { call: call(3) },
        RunEvent::ToolCallSucceeded { call: call(3) },
        RunEvent::ToolCallFailed { call: call(4), kind: FailureKind::Rejected },
        RunEvent::TurnCompleted { turn: Turn(0), usage: None },
        completed(),
    ];
    assert_eq!(check_trace(&numbered(again.into_iter().chain(goes_on))), Ok(()));
}
