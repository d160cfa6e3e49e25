//! Steps of a durable call: recorded, and only then gone on from.

use super::*;
use crate::effect::Onward;
use crate::testkit::{BOOK, booking, step as output};

fn start() -> Doubt {
    ONE.start(0, 0, 1)
}

/// A step that has succeeded behind so many others.
fn step(ordinal: u32, name: &str) -> Answer {
    Answer::Step { start: start(), ordinal, output: output(name) }
}

/// The record of it.
fn record(ordinal: u32, name: &str) -> Record {
    ONE.step(ONE.call(0, 0), ordinal, name)
}

fn onward(recorded: u32) -> External {
    External::NextStep(Onward { run: ONE.run(), start: start(), recorded, action: None })
}

/// A run whose durable call is out.
fn out() -> Bench {
    let mut bench = Bench::of(booking()).responds(0, &["book"]).authorized(0);
    let invoked = asked(&bench.look()).pop();
    assert!(matches!(invoked, Some(External::InvokeTool(it)) if it.steps.is_empty()));
    bench
}

#[test]
fn dur_010_a_step_is_recorded_before_its_handler_goes_on() {
    let mut bench = out();
    for (ordinal, name) in (0..).zip(BOOK) {
        bench = bench.answered(step(ordinal, name));
        let effects = bench.look();
        assert_eq!(committed(&effects), [record(ordinal, name)]);
        assert!(
            matches!(effects[0], Effect::Commit(_)),
            "the commit stands before what follows it"
        );
        assert_eq!(asked(&effects), [onward(ordinal)]);
    }
    let bench = bench.returns(start());
    let names: Vec<_> = committed(&bench.effects).iter().map(Record::id).collect();
    assert_eq!(names, [ONE.tool_settled(ONE.call(0, 0), success("result")).id()]);
    assert_eq!(bench.state.flights().steps.len(), 0);
}

#[test]
fn dur_010_a_step_counts_once_and_only_while_exactly_it_is_awaited() {
    let mut bench = out().answered(step(0, BOOK[0]));
    bench.look();
    let other = Answer::Step { start: ONE.start(0, 0, 2), ordinal: 1, output: output(BOOK[1]) };
    let ordinary = Answer::Step { start: ONE.start(0, 1, 1), ordinal: 0, output: output(BOOK[0]) };
    for late in [step(0, BOOK[0]), step(0, BOOK[1]), step(2, BOOK[2]), other, ordinary] {
        bench = bench.answered(late);
        assert_eq!(bench.look(), []);
    }
    let mut bench = bench.returns(start());
    bench.look();
    assert_eq!(bench.answered(step(1, BOOK[1])).look(), [], "the call has ended");
}

/// A step of a start that the log knows nothing of, as after a preparation that the store refused:
/// its start is the classifier's to judge, and no step of it is recorded.
#[test]
fn dur_010_a_step_of_a_start_that_is_not_the_one_running_is_not_recorded() {
    let declared = Story::new().tell([ONE.input()]).tell([ONE.responded(0, &["book"])]);
    let unprepared = declared.clone();
    let over = declared.tell([ONE.prepared(start(), "book")]).tell([ONE.unknown(start())]);
    for story in [unprepared, over] {
        let mut bench = Bench::resting_with(booking(), &story, 1);
        bench.state.flights.tools.insert(start());
        bench.state.flights.steps.insert(start(), 0);
        bench.state.liveness = Liveness::Live;
        let mut bench = bench.answered(step(0, BOOK[0]));
        let effects = bench.look();
        assert_eq!((committed(&effects), questions(&effects)), (Vec::new(), Vec::new()));
        assert_eq!(bench.state.liveness(), Liveness::Resting, "the classifier judges the start");
        assert!(bench.state.flights().tools.is_empty() && bench.state.flights().steps.is_empty());
    }
}

#[test]
fn dur_010_only_a_durable_call_has_steps() {
    let mut bench = Bench::of(booking()).responds(0, &["pay"]).authorized(0);
    bench.look();
    assert_eq!(bench.answered(step(0, BOOK[0])).look(), []);
}

#[test]
fn dur_010_a_step_that_is_canonical_already_lets_its_handler_go_on_and_is_not_recorded_again() {
    let mut bench = out().answered(step(0, BOOK[0]));
    bench.look();
    // The store refused something behind the step: what did not leave is taken back, and what was
    // answered is offered again.
    bench.state.recall(&onward(0));
    let mut bench = bench.answered(step(0, BOOK[0]));
    let effects = bench.look();
    assert_eq!((committed(&effects), asked(&effects)), (alloc::vec![], alloc::vec![onward(0)]));
}

#[test]
fn dur_010_a_handler_that_is_entered_again_is_given_what_is_recorded() {
    let story = Story::new()
        .tell([ONE.input()])
        .tell([ONE.responded(0, &["book"])])
        .tell([ONE.prepared(start(), "book")])
        .tell([record(0, BOOK[0])])
        .tell([record(1, BOOK[1])])
        .at(2);
    let mut bench = Bench::resting_with(booking(), &story, 2).told(RESUMED).authorized(0);
    let again = asked(&bench.look()).pop();
    let Some(External::InvokeTool(invocation)) = again else { panic!("{again:?}") };
    assert_eq!(invocation.epoch, Epoch(2));
    assert_eq!(invocation.steps, [output(BOOK[0]), output(BOOK[1])]);
    let start = ONE.start(0, 0, 2);
    let next = Answer::Step { start, ordinal: 2, output: output(BOOK[2]) };
    let mut bench = bench.answered(step(0, BOOK[0])).answered(next);
    assert_eq!(committed(&bench.look()), [record(2, BOOK[2])]);
}

#[test]
fn dur_010_a_step_that_breaks_the_rules_ends_its_call_as_a_defect() {
    let mut bench = out().answered(step(0, BOOK[0]));
    bench.look();
    let mut bench = bench.answered(step(1, BOOK[0]));
    let effects = bench.look();
    let [Record::ToolSettled(it)] = &committed(&effects)[..] else { panic!("{effects:?}") };
    assert!(matches!(&*it.outcome, ToolOutcome::Defect(why) if why.tag() == "StepTwice"));
    assert_eq!(questions(&effects), ["model.call"], "its handler does not go on");
    assert_eq!(bench.answered(step(1, BOOK[1])).look(), []);
}

#[test]
fn ops_03_a_run_that_drains_records_a_step_and_lets_its_handler_rest() {
    let mut bench = out();
    bench.state.drain();
    let mut bench = bench.answered(step(0, BOOK[0]));
    let effects = bench.look();
    assert_eq!((committed(&effects), asked(&effects).len()), (alloc::vec![record(0, BOOK[0])], 0));
    assert_eq!(bench.state.view().unwrap().open_starts().count(), 1, "for its next owner");
}

#[test]
fn dur_010_a_started_call_goes_on_while_its_unsure_sibling_is_waited_for() {
    let mut bench = Bench::of(booking()).responds(0, &["book", "pay"]).authorized(0);
    bench.look();
    let mut bench = bench.answered(Answer::Unsure { start: ONE.start(0, 1, 1) });
    assert_eq!(bench.look(), []);
    let mut bench = bench.answered(step(0, BOOK[0]));
    assert_eq!(questions(&bench.look()), ["tool.next_step"]);
    let bench = bench.returns(start());
    assert_eq!(bench.state.liveness(), Liveness::Resting);
}
