//! A whole trace, and everything that can be wrong with one.

use super::*;
use TraceFault as Fault;

const fn at(sequence: u64) -> EventSequence {
    EventSequence(sequence)
}

fn started(call: ToolCallId) -> RunEvent {
    RunEvent::ToolCallStarted { call }
}

fn succeeded(call: ToolCallId) -> RunEvent {
    RunEvent::ToolCallSucceeded { call }
}

fn failed(call: ToolCallId, kind: FailureKind) -> RunEvent {
    RunEvent::ToolCallFailed { call, kind }
}

fn stepped(call: ToolCallId) -> RunEvent {
    RunEvent::ToolStepRecorded { call, step: StepName::new("charge").unwrap() }
}

fn unknown(call: ToolCallId) -> RunEvent {
    RunEvent::ToolCallUnknown { call }
}

fn turn_done(turn: u32) -> RunEvent {
    RunEvent::TurnCompleted { turn: Turn(turn), usage: None }
}

/// A trace of these events between the beginning of a run and its end.
fn around<const N: usize>(events: [RunEvent; N]) -> Result<(), Fault> {
    let all = [begun()].into_iter().chain(events).chain([completed()]);
    check_trace(&numbered(all))
}

#[test]
fn run_002_a_whole_trace_holds() {
    let call = CALL;
    assert_eq!(
        around([
            fact(0),
            RunEvent::ModelStarted { turn: Turn(0), retry: 0 },
            RunEvent::ReasoningDelta { text: Arc::from("hm") },
            text("Let me see."),
            declared(CALL),
            declared(OTHER),
            RunEvent::ApprovalRequested { call },
            started(OTHER),
            started(CALL),
            RunEvent::progress(CALL, "half"),
            stepped(CALL),
            succeeded(CALL),
            failed(OTHER, FailureKind::Defect),
            turn_done(0),
            RunEvent::InputReceived { submission: SUBMISSION },
            RunEvent::ContextCompacted { kind: CompactionKind::Summarized },
            RunEvent::BudgetWarning {
                gauge: Gauge { dimension: Dimension::Turns, used: 4, limit: 5 }
            },
            fact(1),
            text("Done."),
            turn_done(1),
        ]),
        Ok(())
    );
    assert_eq!(around([]), Ok(()));
    assert_eq!(around([fact(5), fact(7), turn_done(7)]), Ok(()), "a turn may come to nothing");
}

#[test]
fn case_oh_07_run_002_a_run_may_be_interrupted_between_any_two_events() {
    let calls = [declared(CALL), declared(OTHER), started(CALL), started(OTHER)];
    let ends = [failed(CALL, FailureKind::Failure), unknown(OTHER), succeeded(OTHER)];
    let whole: Vec<_> = [begun(), fact(0)].into_iter().chain(calls).chain(ends).collect();
    for end in 1..=whole.len() {
        let cut = RunEvent::RunInterrupted { why: Interruption::Aborted, dropped: 0 };
        let trace = numbered(whole[..end].iter().cloned().chain([cut]));
        assert_eq!(check_trace(&trace), Ok(()), "after {end} events");
    }
}

#[test]
fn run_002_each_terminal_event_ends_a_trace() {
    for end in [
        completed(),
        RunEvent::RunFailed { tag: FailureTag::cut("x"), limit: None, dropped: 0 },
        RunEvent::RunInterrupted { why: Interruption::Aborted, dropped: 0 },
    ] {
        assert_eq!(check_trace(&numbered([begun(), end])), Ok(()));
    }
}

#[test]
fn case_pr_03_calls_of_one_turn_end_in_any_order() {
    let calls = [declared(CALL), declared(OTHER), started(CALL), started(OTHER)];
    let [a, b, c, d] = calls.clone();
    assert_eq!(around([a, b, c, d, succeeded(OTHER), succeeded(CALL)]), Ok(()));
    let [a, b, c, d] = calls;
    assert_eq!(around([a, b, c, d, succeeded(CALL), succeeded(OTHER)]), Ok(()));
}

#[test]
fn run_002_a_call_that_was_turned_down_or_fits_nothing_ends_without_a_start() {
    for kind in [FailureKind::Rejected, FailureKind::InvalidInput] {
        assert_eq!(around([declared(CALL), failed(CALL, kind)]), Ok(()));
    }
}

#[test]
fn run_014_a_call_in_doubt_may_end_or_start_again() {
    let doubted = [declared(CALL), started(CALL), unknown(CALL)];
    let with = |more: &[RunEvent]| {
        check_trace(&numbered(
            [begun()].into_iter().chain(doubted.clone()).chain(more.iter().cloned()),
        ))
    };
    assert_eq!(with(&[completed()]), Ok(()), "or nothing happens to it any more");
    assert_eq!(with(&[succeeded(CALL), completed()]), Ok(()));
    assert_eq!(with(&[failed(CALL, FailureKind::Failure), completed()]), Ok(()));
    assert_eq!(with(&[started(CALL), unknown(CALL), succeeded(CALL), completed()]), Ok(()));
    assert_eq!(with(&[RunEvent::ApprovalRequested { call: CALL }, completed()]), Ok(()));
    assert_eq!(around([declared(CALL), unknown(CALL), succeeded(CALL)]), Ok(()), "started before");
}

#[test]
fn run_032_sequence_numbers_rise_by_one_from_zero() {
    let whole = numbered([begun(), fact(0), completed()]);
    let fault = |expected, found| Err(Fault::Sequence { expected: at(expected), found: at(found) });
    assert_eq!(check_trace(&whole[1..]), fault(0, 1));
    let gap = [whole[0].clone(), whole[2].clone()];
    assert_eq!(check_trace(&gap), fault(1, 2));
    let doubled = [whole[0].clone(), whole[1].clone(), whole[1].clone()];
    assert_eq!(check_trace(&doubled), fault(2, 1));
}

#[test]
fn run_032_elsewhere_all_events_have_one_source_and_one_version() {
    let whole = numbered([begun(), fact(0), completed()]);
    let edits: [fn(&mut Enveloped); 4] = [
        |it| it.run = RunId([9; 16]),
        |it| it.conversation = ConversationId::new("other").unwrap(),
        |it| it.agent = AgentId::new("other").unwrap(),
        |it| it.version += 1,
    ];
    for edit in edits {
        let mut trace = whole.clone();
        edit(&mut trace[1]);
        assert_eq!(check_trace(&trace), Err(Fault::Elsewhere(at(1))));
    }
}

#[test]
fn run_002_not_begun_the_first_event_is_the_beginning_of_the_run() {
    assert_eq!(check_trace(&[]), Err(Fault::NotBegun));
    assert_eq!(check_trace(&numbered([fact(0), completed()])), Err(Fault::NotBegun));
    assert_eq!(check_trace(&numbered([completed()])), Err(Fault::NotBegun));
}

#[test]
fn run_002_begun_twice_a_run_begins_once() {
    assert_eq!(around([fact(0), begun()]), Err(Fault::BegunTwice(at(2))));
}

#[test]
fn run_002_not_ended_a_trace_without_a_terminal_event_is_not_whole() {
    assert_eq!(check_trace(&numbered([begun(), fact(0)])), Err(Fault::NotEnded));
}

#[test]
fn run_002_after_end_nothing_follows_the_terminal_event_and_no_second_one() {
    let ended = numbered([begun(), completed()]);
    for late in [fact(0), completed()] {
        let late = source().envelope(at(2), Timestamp(2), late);
        let trace = [ended[0].clone(), ended[1].clone(), late];
        assert_eq!(check_trace(&trace), Err(Fault::AfterEnd(at(2))));
    }
}

#[test]
fn run_031_dropped_a_trace_that_lost_events_is_not_whole() {
    let mut log = EventLog::bounded(source(), 2, 0);
    for event in [begun(), fact(0), fact(1), completed()] {
        let _ = log.push(Timestamp(0), event);
    }
    let trace = log.read(at(0), 9).events;
    assert_eq!(trace.len(), 2);
    assert_eq!(check_trace(&trace), Err(Fault::Dropped(2)));
}

#[test]
fn run_002_turn_not_above_turns_rise() {
    let fault = |turn| Err(Fault::TurnNotAbove { at: at(3), turn: Turn(turn) });
    assert_eq!(around([fact(4), turn_done(4), fact(4)]), fault(4));
    assert_eq!(around([fact(4), turn_done(4), fact(3)]), fault(3));
}

#[test]
fn run_002_turn_not_open_a_turn_is_completed_once_and_after_it_began() {
    let fault = |sequence, turn| Err(Fault::TurnNotOpen { at: at(sequence), turn: Turn(turn) });
    assert_eq!(around([turn_done(0)]), fault(1, 0));
    assert_eq!(around([fact(0), turn_done(1)]), fault(2, 1));
    assert_eq!(around([fact(0), turn_done(0), turn_done(0)]), fault(3, 0));
}

#[test]
fn run_034_declared_twice_a_call_is_declared_once() {
    assert_eq!(around([declared(CALL), declared(CALL)]), Err(Fault::DeclaredTwice(at(2))));
}

#[test]
fn run_002_not_declared_nothing_happens_to_a_call_before_its_declaration() {
    let ask = RunEvent::ApprovalRequested { call: CALL };
    let defect = failed(CALL, FailureKind::Defect);
    let events = [started(CALL), RunEvent::progress(CALL, "x"), succeeded(CALL), defect, ask];
    for event in events.into_iter().chain([unknown(CALL)]) {
        assert_eq!(around([declared(OTHER), event]), Err(Fault::NotDeclared(at(2))));
    }
}

#[test]
fn run_014_started_twice_a_call_that_runs_does_not_start_again() {
    let twice = [declared(CALL), started(CALL), started(CALL)];
    assert_eq!(around(twice), Err(Fault::StartedTwice(at(3))));
}

#[test]
fn run_002_asked_too_late_approval_comes_before_the_start() {
    let late = [declared(CALL), started(CALL), RunEvent::ApprovalRequested { call: CALL }];
    assert_eq!(around(late), Err(Fault::AskedTooLate(at(3))));
}

#[test]
fn run_002_not_started_an_end_and_progress_come_after_the_start() {
    for event in [
        succeeded(CALL),
        failed(CALL, FailureKind::Failure),
        failed(CALL, FailureKind::Defect),
        RunEvent::progress(CALL, "x"),
        stepped(CALL),
    ] {
        assert_eq!(around([declared(CALL), event]), Err(Fault::NotStarted(at(2))));
    }
    let doubted = [declared(CALL), unknown(CALL), RunEvent::progress(CALL, "x")];
    assert_eq!(around(doubted), Err(Fault::NotStarted(at(3))), "in doubt is not running");
}

#[test]
fn case_ab_07_arc_03_call_ended_nothing_happens_to_a_call_after_its_end() {
    for event in [
        started(CALL),
        succeeded(CALL),
        failed(CALL, FailureKind::Rejected),
        unknown(CALL),
        RunEvent::progress(CALL, "late"),
        stepped(CALL),
        RunEvent::ApprovalRequested { call: CALL },
    ] {
        let trace = [declared(CALL), started(CALL), succeeded(CALL), event];
        assert_eq!(around(trace), Err(Fault::CallEnded(at(4))));
    }
}
