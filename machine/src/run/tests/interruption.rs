//! A question to the model that a predecessor may have asked is said to be lost, once an epoch,
//! and never otherwise.

use super::*;
use crate::record::ModelInterrupted;

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
