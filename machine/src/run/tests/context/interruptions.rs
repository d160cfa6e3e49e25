//! A crash, an abort or a new input while context is made smaller.

use super::*;
use crate::identity::PrincipalId;
use crate::projection::Projection;
use crate::record::InputKind;

fn said_meanwhile(number: usize, wanted: Wanted) -> Input {
    Input::Steered(Steered {
        submission: tale(number).submission(),
        principal: PrincipalId::new("ada").unwrap(),
        input: text(&number.to_string()),
        wanted,
    })
}

/// A run that rests on a fold, as whoever takes over in the same epoch finds it.
fn resting(fold: &Projection) -> Bench {
    let story = Story { fold: fold.clone(), ..Story::new() };
    Bench::resting_with(desk(LIMIT), &story, 1)
}

/// A run that waits for a summary of four long questions.
fn asking() -> (Bench, Vec<Effect>) {
    let mut bench = after(desk(LIMIT), &[(1_500, 0); 4]);
    let effects = bench.look();
    (bench, effects)
}

#[test]
fn case_co_09_an_abort_during_a_summary_leaves_no_record() {
    let (bench, effects) = asking();
    let before = bench.fold().clone();
    let mut bench = bench.told(Input::Stopped);
    assert_eq!(bench.look(), []);
    let mut bench = bench.answered(summary(&effects, Ok(said("Four long questions."))));
    assert_eq!((bench.look(), bench.fold()), (alloc::vec![], &before));
}

#[test]
fn case_co_09_a_summary_that_was_lost_is_asked_for_again_and_nothing_is_shown_before_its_record() {
    let (bench, effects) = asking();
    let mut again = resting(bench.fold()).told(RESUMED);
    assert_eq!(again.look(), effects, "nothing had changed, so the same is asked");
    let lost = bench.answered(summary(&effects, Ok(said("Four long questions.")))).look();
    assert!(matches!(lost[..], [Effect::Commit(_), Effect::External(_)]), "in this order");
}

#[test]
fn case_co_09_a_summary_that_comes_late_is_not_taken_for_one_of_another_range() {
    let (bench, effects) = asking();
    let mut answer = summary(&effects, Ok(said("Four long questions.")));
    let Answer::Model { purpose: Purpose::Summarize { through }, .. } = &mut answer else {
        panic!("{answer:?}")
    };
    *through = Sequence(through.0 - 1);
    let mut bench = bench.answered(answer);
    assert_eq!(bench.look(), []);
    let respond = model(0, response(&[]));
    assert_eq!(bench.clone().answered(respond).look(), [], "nor is it a response");
    let answer = summary(&effects, Ok(said("Four long questions.")));
    assert_eq!(compactions(&committed(&bench.answered(answer).look())).len(), 1);
}

#[test]
fn arc_11_a_summary_that_is_out_is_awaited_by_whoever_reads_the_log_again() {
    let (bench, effects) = asking();
    let mut again = resting(bench.fold());
    again.state = again.state.with_flights(bench.state.flights().clone());
    let mut again = again.told(RESUMED);
    assert_eq!(again.look(), []);
    let answer = summary(&effects, Ok(said("Four long questions.")));
    assert_eq!(again.answered(answer.clone()).look(), bench.answered(answer).look());
}

#[test]
fn run_012_what_is_said_during_a_summary_comes_before_the_request_that_follows_it() {
    let (bench, effects) = asking();
    let mut bench = bench.told(said_meanwhile(7, Wanted::Soon));
    assert_eq!(bench.look(), [], "nothing changes what is in flight");
    let answer = summary(&effects, Ok(said("Four long questions.")));
    let effects = bench.answered(answer).look();
    let records = committed(&effects);
    assert!(matches!(records[..], [Record::CompactionCreated(_), Record::InputRecorded(_)]));
    let shown = request(&effects).messages.clone();
    assert_eq!(kinds(&shown), ["summary", "assistant", "user", "user"]);
    assert_eq!(shown.iter().last(), Some(&Message::User(text("7"))));
}

/// Goes on to the end of the run: every request is answered in words.
fn finish(mut bench: Bench) -> Vec<Effect> {
    let mut all = bench.look();
    let mut answered = 0;
    while let Some(request) = requests(&all).get(answered).cloned() {
        answered += 1;
        let (run, turn, purpose) = (request.run, request.turn, request.purpose);
        let response = Ok(Arc::new(said("Four long questions.")));
        bench = bench.answered(Answer::Model { run, turn, purpose, response });
        all.extend(bench.look());
    }
    all
}

#[test]
fn case_co_13_follow_ups_that_wait_stay_in_order_wherever_a_compaction_crashes() {
    let queued = |bench: Bench| {
        (7..10).fold(bench, |bench, number| bench.told(said_meanwhile(number, Wanted::AtTheEnd)))
    };
    let inputs = |records: &[Record]| {
        let inputs = records.iter().filter_map(|record| match record {
            Record::InputRecorded(it) => match it.kind {
                InputKind::FollowUp { .. } => Some(it.input.clone()),
                InputKind::First { .. } | InputKind::Steering { .. } => None,
            },
            _ => None,
        });
        inputs.collect::<Vec<_>>()
    };
    let (bench, effects) = asking();
    let live = queued(bench.clone());
    let answered = live.clone().answered(summary(&effects, Ok(said("Four long questions."))));
    // Undisturbed, crashed before the record, crashed after it.
    let undisturbed = finish(answered.clone());
    let before = finish(queued(resting(live.fold())).told(RESUMED));
    let mut after = committed(&answered.effects);
    after.extend(committed(&finish(queued(resting(answered.fold())).told(RESUMED))));
    for records in [committed(&undisturbed), committed(&before), after] {
        assert_eq!(inputs(&records), ["7", "8", "9"].map(text));
        assert_eq!(compactions(&records).len(), 1, "folded exactly once");
        assert_eq!(records, committed(&undisturbed));
    }
    assert!(matches!(settlement(&undisturbed), Settlement::Completed { .. }));
}
