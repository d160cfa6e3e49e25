//! A refusal always means: read again and classify. Nothing that returned is lost by it.

use alloc::vec::Vec;

use super::history;
use super::stage::{ACK_LOST, Fate, Stage};
use crate::agent::Resolution;
use crate::attempt::{Effect, End, Input};
use crate::conversation::{self, TailRef};
use crate::digest::Digest;
use crate::effect::Reconciliation;
use crate::identity::{Epoch, Sequence, Timestamp};
use crate::ledger::{self, Phase};
use crate::record::Outcome;
use crate::store::{Refusal, StoreCommand, Target};
use crate::testkit::submission;

/// Every refusal that there is.
fn refusals() -> Vec<Refusal> {
    use crate::ledger::Refusal as Ledger;
    let (actual, until) = (Epoch(9), Timestamp(9));
    let ledger = [
        Ledger::NoSuchSubmission,
        Ledger::IdempotencyConflict,
        Ledger::NotClaimable,
        Ledger::EpochMoved { actual },
        Ledger::Owned { until },
        Ledger::OwnershipLost { actual },
        Ledger::RunClosing,
        Ledger::AlreadySettled,
        Ledger::NoAbort,
        Ledger::AbortIntended,
        Ledger::UnknownOpen,
        Ledger::NotRunning,
        Ledger::ReservationConflict,
        Ledger::SettlementDiffers,
        Ledger::NoSuchDoubt,
        Ledger::ResolutionConflict,
    ];
    let actual = TailRef { next_sequence: Sequence(9), content: Digest::ZERO };
    let log = [
        conversation::Refusal::Absent,
        conversation::Refusal::Fenced { current: Epoch(9) },
        conversation::Refusal::BatchConflict,
        conversation::Refusal::TailConflict { actual },
        conversation::Refusal::DuplicateRecord,
        conversation::Refusal::RecordReused,
        conversation::Refusal::NotACreation,
        conversation::Refusal::ForeignBatch,
    ];
    ledger.map(Refusal::Ledger).into_iter().chain(log.map(Refusal::Conversation)).collect()
}

const TRANSIENT: Refusal = Refusal::Ledger(ledger::Refusal::NotRunning);

/// Goes on until the n-th pipeline that writes is about to leave. False if there are fewer.
fn until_write(stage: &mut Stage, nth: usize) -> bool {
    let mut seen = 0;
    loop {
        let commands = stage.actors[0].commands();
        if commands.iter().any(|name| !["ledger.read", "conversation.read"].contains(name)) {
            if seen == nth {
                return true;
            }
            seen += 1;
        }
        if !stage.go_on(0) {
            return false;
        }
    }
}

/// Meets every pipeline that writes, command by command, with a fate, and settles. How often.
fn everywhere(turns: &[&[&'static str]], fate: impl Fn(usize) -> Fate, check: fn(&Stage)) -> usize {
    let mut met = 0;
    for nth in 0.. {
        for executed in 0.. {
            let mut stage = Stage::new(turns);
            stage.host.outside.reconciliation = Reconciliation::Unprovable;
            if !until_write(&mut stage, nth) {
                return met;
            }
            if executed >= stage.actors[0].commands().len() {
                break;
            }
            stage.perform(0, fate(executed));
            stage.settle(&Resolution::Completed(crate::testkit::text("by hand")));
            check(&stage);
            met += 1;
        }
    }
    met
}

/// A disturbed store makes no doubt: everything that was asked for returned.
fn invoked_once_without_doubt(stage: &Stage) {
    assert_eq!(stage.invoked(), 1);
    let history = history(&stage.host);
    assert!(!history.contains(&"unknown"), "{history:?}");
    assert!(!history.contains(&"interrupted"), "{history:?}");
}

#[test]
fn store_002_every_refusal_in_mid_flight_leads_to_reading_again() {
    for why in refusals() {
        for nth in 0.. {
            let mut stage = Stage::new(&[&["pay"]]);
            if !until_write(&mut stage, nth) {
                assert!(nth > 3, "the submission has pipelines to refuse");
                break;
            }
            stage.perform(0, Fate::Refused(0, why));
            let reading = [
                StoreCommand::ReadLog { from: Sequence(0) },
                StoreCommand::ReadLane(Target::Owned(submission("1"))),
            ];
            assert_eq!(stage.actors[0].pipeline().unwrap().commands, reading, "{why}");
            let end = stage.finish(0);
            // Before the claim there is nothing to keep.
            let expected = if nth == 0 { End::Superseded } else { End::Settled };
            assert_eq!(end, Some(expected), "{why} at {nth}");
            stage.settle(&Resolution::NeverStarted);
            invoked_once_without_doubt(&stage);
        }
    }
}

#[test]
fn store_002_a_refusal_keeps_the_commands_before_it_and_loses_nothing_after_it() {
    let refused = |executed| Fate::Refused(executed, TRANSIENT);
    let met = everywhere(&[&["pay"]], refused, invoked_once_without_doubt);
    assert!(met > 10, "{met}");
}

#[test]
fn dur_007_any_prefix_may_be_committed_before_the_answer_is_lost() {
    let met = everywhere(&[&["pay"]], Fate::Lost, invoked_once_without_doubt);
    assert!(met > 10, "{met}");
    let met = everywhere(&[&["look", "file", "pay"]], Fate::Lost, |stage| {
        assert_eq!(stage.host.outside.invocations(), 3);
        assert!(!history(&stage.host).contains(&"unknown"));
    });
    assert!(met > 12, "{met}");
}

#[test]
fn arc_03_returned_siblings_are_never_turned_into_doubts_by_a_second_reading() {
    // Both return while the pipeline with the first result is refused and the log is read again.
    let mut stage = Stage::new(&[&["pay", "pay"]]);
    stage.until_out(0, "tool.invoke");
    assert_eq!(stage.actors[0].out.len(), 2);
    stage.answer(0, 1);
    assert_eq!(stage.actors[0].commands(), ["conversation.append:ToolSettled"]);
    stage.answer(0, 0);
    stage.perform(0, Fate::Refused(0, TRANSIENT));
    assert_eq!(stage.finish(0), Some(End::Settled));
    let expected = ["input", "responded", "prepared", "prepared", "tool-settled", "tool-settled"];
    assert_eq!(history(&stage.host)[..6], expected);
    assert_eq!(stage.host.outside.invocations(), 2);
}

#[test]
fn arc_03_an_answer_that_comes_while_the_log_is_read_again_is_kept() {
    let mut stage = Stage::new(&[&["pay", "pay"]]);
    stage.until_out(0, "tool.invoke");
    stage.answer(0, 0);
    stage.perform(0, Fate::Refused(0, TRANSIENT));
    assert_eq!(stage.actors[0].commands(), ["conversation.read", "ledger.read"]);
    stage.answer(0, 0);
    assert_eq!(stage.finish(0), Some(End::Settled));
    assert_eq!(stage.host.outside.invocations(), 2);
    assert!(!history(&stage.host).contains(&"unknown"));
}

#[test]
fn dur_009_a_call_that_was_prepared_and_never_left_is_not_in_doubt() {
    let mut stage = Stage::new(&[&["pay"]]);
    stage.until(0, "conversation.append:ToolPrepared");
    // Committed, and then refused: the invocation behind it never left.
    stage.perform(0, Fate::Refused(1, TRANSIENT));
    assert_eq!(stage.finish(0), Some(End::Settled));
    let prepared = history(&stage.host).iter().filter(|it| **it == "prepared").count();
    assert_eq!((prepared, stage.host.outside.invocations()), (1, 1));
    assert!(!history(&stage.host).contains(&"unknown"));
}

#[test]
fn case_ab_03_a_call_that_returned_is_recorded_though_the_abort_is_found_on_reading_again() {
    let mut stage = Stage::new(&[&["pay", "pay"]]);
    stage.until_out(0, "tool.invoke");
    stage.answer(0, 0);
    stage.abort();
    stage.perform(0, Fate::Refused(0, TRANSIENT));
    assert_eq!(stage.finish(0), Some(End::Settled));
    let expected = [
        "input",
        "responded",
        "prepared",
        "prepared",
        "tool-settled",
        "abort",
        "unknown",
        "settled",
    ];
    assert_eq!(history(&stage.host), expected, "one returned, one is in doubt");
}

#[test]
fn case_ab_03_a_call_that_returned_before_the_stop_is_kept_through_a_refusal() {
    let mut stage = Stage::new(&[&["pay"]]);
    stage.until_out(0, "tool.invoke");
    stage.actors[0].told(Input::Woken);
    stage.answer(0, 0);
    stage.abort();
    stage.perform(0, Fate::Done);
    assert_eq!(stage.actors[0].waiting.pop_front(), Some(Effect::CancelExternals));
    stage.perform(0, Fate::Refused(0, TRANSIENT));
    assert_eq!(stage.finish(0), Some(End::Settled));
    assert_eq!(history(&stage.host)[3..], ["tool-settled", "abort", "settled"]);
}

#[test]
fn dur_012_an_abort_that_nobody_was_told_of_is_found_when_the_outcome_is_reserved() {
    let mut stage = Stage::new(&[]);
    stage.until(0, "ledger.reserve");
    stage.abort();
    stage.perform(0, Fate::Done);
    assert_eq!(stage.finish(0), Some(End::Settled));
    assert_eq!(history(&stage.host), ["input", "responded", "abort", "settled"]);
    let row = stage.host.store.row(submission("1")).unwrap();
    assert!(matches!(&row.phase, Phase::Settled(it) if it.outcome == Outcome::Aborted));
}

#[test]
fn dur_002_whoever_lost_the_answer_to_its_finalization_learns_that_it_is_settled() {
    let mut stage = Stage::new(&[]);
    stage.until(0, "ledger.finalize");
    stage.perform(0, ACK_LOST);
    assert_eq!(stage.finish(0), Some(End::Settled));
    stage.settle(&Resolution::NeverStarted);
}
