//! A question to the model that a predecessor may have asked is said to be lost, once an epoch,
//! and never otherwise.

use super::*;
use crate::record::{InputKind, InputRecorded, ModelInterrupted};

fn input() -> Story {
    Story::new().tell([ONE.input()])
}

/// The record of a lost question, which had shown the input, the instructions and the tools.
fn lost(epoch: u64) -> Record {
    lost_after(epoch, 0)
}

/// The same after so many others.
fn lost_after(epoch: u64, ordinal: u32) -> Record {
    match ONE.interrupted_again(0, epoch, ordinal) {
        Record::ModelInterrupted(it) => {
            Record::ModelInterrupted(ModelInterrupted { lost_tokens: 12, ..it })
        }
        other => panic!("{other:?}"),
    }
}

fn result(turn: u32) -> Record {
    ONE.tool_settled(ONE.call(turn, 0), success("result"))
}

#[test]
fn d_07_whoever_takes_over_says_first_that_it_asks_again() {
    let effects = Bench::live(&input(), 2).look();
    assert_eq!(committed(&effects), [lost(2)]);
    assert_eq!(questions(&effects), ["model.call"]);
    assert!(matches!(effects[0], Effect::Commit(_)), "the record comes first");
}

#[test]
fn d_07_the_epoch_that_recorded_the_input_interrupts_nobody() {
    for story in [input(), input().tell([ONE.responded(0, &["look"])]).tell([result(0)])] {
        let effects = Bench::live(&story, 1).look();
        assert_eq!(committed(&effects), []);
        assert_eq!(questions(&effects), ["model.call"]);
    }
}

#[test]
fn d_07_an_interruption_is_said_once_an_epoch() {
    let story = input().at(2).tell([ONE.interrupted(0, 2)]);
    assert_eq!(committed(&Bench::live(&story, 2).look()), []);
    assert_eq!(committed(&Bench::live(&story, 3).look()), [lost_after(3, 1)]);
    let story = story.tell([ONE.responded(0, &["look"])]).tell([result(0)]);
    assert_eq!(committed(&Bench::live(&story, 2).look()), [], "of another turn neither");
}

#[test]
fn d_07_who_goes_on_with_a_batch_interrupts_nobody() {
    let story = input().tell([ONE.responded(0, &["look"])]);
    let mut bench = Bench::live(&story, 2);
    assert_eq!(committed(&bench.look()), []);
    let effects = bench.authorized(0).returns(ONE.start(0, 0, 2)).look();
    assert_eq!(committed(&effects), [result(0)], "the next turn was asked for by nobody");
    assert_eq!(questions(&effects).last(), Some(&"model.call"));
}

#[test]
fn d_07_who_finds_the_run_over_interrupts_nobody() {
    let effects = Bench::live(&input().tell([ONE.responded(0, &[])]), 2).look();
    assert!(matches!(effects[..], [Effect::Settle(Settlement::Completed { .. })]));
}

#[test]
fn d_07_a_question_of_the_same_ownership_period_that_is_still_out_is_not_lost() {
    let flights = Flights { model: Some((Turn(0), Purpose::Respond)), ..Flights::default() };
    let mut bench = Bench::resting(&input(), 2);
    bench.state = bench.state.with_flights(flights);
    let mut bench = bench.told(Input::Resumed { now: Timestamp(1_000) });
    assert_eq!(bench.look(), []);
    let effects = bench.responds(0, &[]).look();
    assert_eq!(committed(&effects), [ONE.responded(0, &[])]);
}

/// A call of which nobody knew, until somebody said under epoch 2 how it ended.
fn resolved() -> Story {
    let start = ONE.start(0, 0, 1);
    let story = input().tell([ONE.responded(0, &["pay"])]).tell([ONE.prepared(start, "pay")]);
    let story = story.tell([ONE.unknown(start)]);
    let how = crate::agent::Resolution::Completed(crate::testkit::text("result"));
    story.at(2).tell([ONE.resolved(start, how), result(0)])
}

/// Somebody goes on with a run that has its answer.
fn follow_up() -> Record {
    let submission = Tale("2").submission();
    let kind = InputKind::FollowUp { host: ONE.submission() };
    match ONE.input() {
        Record::InputRecorded(it) => {
            Record::InputRecorded(InputRecorded { submission, kind, ..it })
        }
        other => panic!("{other:?}"),
    }
}

fn after_a_release(story: &Story, epoch: u64) -> Vec<Effect> {
    let mut bench = Bench::resting(story, epoch);
    bench.state.follow_a_release();
    bench.told(RESUMED).look()
}

#[test]
fn bu_07_who_opened_the_way_to_a_question_charges_nobody_for_it() {
    let joined = input().tell([ONE.responded(0, &[])]).at(2).tell([follow_up()]);
    for story in [resolved(), joined] {
        let effects = Bench::live(&story, 2).look();
        assert_eq!(committed(&effects), [], "before it nobody can have asked");
        assert_eq!(questions(&effects), ["model.call"]);
        let charged = |record: &Record| matches!(record, Record::ModelInterrupted(_));
        let effects = Bench::live(&story, 3).look();
        assert!(committed(&effects).iter().all(charged), "epoch 2 may have asked");
        assert_eq!(committed(&effects).len(), 1);
    }
}

#[test]
fn bu_07_who_follows_a_release_charges_nobody_for_what_that_epoch_opened() {
    assert_eq!(committed(&after_a_release(&input(), 2)), []);
    assert_eq!(questions(&after_a_release(&input(), 2)), ["model.call"]);
    assert_eq!(committed(&after_a_release(&resolved(), 3)), []);
    let charged = input().at(2).tell([ONE.interrupted(0, 2)]);
    assert_eq!(committed(&after_a_release(&charged, 3)), [], "what was out is paid for");
}

#[test]
fn bu_07_a_release_says_nothing_of_the_epochs_before_it() {
    assert_eq!(committed(&after_a_release(&input(), 3)), [lost(3)], "epoch 1 may have asked");
    let charged = input().at(2).tell([ONE.interrupted(0, 2)]);
    assert_eq!(committed(&after_a_release(&charged, 4)), [lost_after(4, 1)]);
}
