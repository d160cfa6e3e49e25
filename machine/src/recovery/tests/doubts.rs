//! What an ownership period knows by itself, and several doubts at once.

use super::*;

fn in_flight(indices: &[usize]) -> OwnKnowledge {
    OwnKnowledge { in_flight: starts(indices).into_iter().collect(), ..OwnKnowledge::default() }
}

fn excused(indices: &[usize]) -> OwnKnowledge {
    OwnKnowledge { excused: starts(indices).into_iter().collect(), ..OwnKnowledge::default() }
}

fn calls(indices: &[usize]) -> Decision {
    Decision::ResumeBatch(indices.iter().map(|index| ONE.call(0, *index)).collect())
}

#[test]
fn dur_009_a_start_in_flight_under_a_fence_that_holds_is_awaited() {
    let (story, row) = (prepared(2), ONE.row(RUNNING));
    let expected = classified(7, Decision::Reconcile(starts(&[1])));
    assert_eq!(decide_with(&row, &story, &in_flight(&[0])), expected);
    let resumed = classified(14, calls(&[0, 1]));
    assert_eq!(decide_with(&row, &story, &in_flight(&[0, 1])), resumed);
}

#[test]
fn dur_009_a_start_that_is_proven_harmless_may_be_followed_by_another() {
    let (story, row) = (prepared(2), ONE.row(RUNNING));
    let expected = classified(7, Decision::Reconcile(starts(&[0])));
    assert_eq!(decide_with(&row, &story, &excused(&[1])), expected);
    assert_eq!(decide_with(&row, &story, &excused(&[0, 1])), classified(14, calls(&[0, 1])));
}

#[test]
fn dur_009_an_excuse_is_for_one_start_and_not_for_the_next_one_of_the_call() {
    let story = prepared(1).at(2).tell([ONE.prepared(ONE.start(0, 0, 2), "pay")]).at(3);
    let again = alloc::vec![ONE.start(0, 0, 2)];
    let expected = classified(7, Decision::Reconcile(again));
    assert_eq!(decide_with(&ONE.row(RUNNING), &story, &excused(&[0])), expected);
}

#[test]
fn dur_009_own_knowledge_closes_no_doubt_that_is_canonical() {
    let story = prepared(1).at(2).tell([unknown(0)]);
    let row = marked(Phase::Unknown, alloc::vec![open(start(0))]);
    for own in [in_flight(&[0]), excused(&[0])] {
        let expected = classified(9, Decision::AwaitResolution);
        assert_eq!(decide_with(&row, &story, &own), expected);
    }
}

#[test]
fn dur_012_an_abort_takes_what_is_in_flight_or_excused_for_a_doubt_all_the_same() {
    let audit =
        AbortStep::Audit { request: Some(abort()), doubts: starts(&[0]), decided: Vec::new() };
    let expected = classified(6, Decision::SettleAborted(audit));
    for own in [in_flight(&[0]), excused(&[0])] {
        assert_eq!(decide_with(&aborted(RUNNING), &prepared(1), &own), expected);
    }
}

#[test]
fn dur_017_several_doubts_wait_until_every_one_is_spoken_on() {
    let story = prepared(3).at(2).tell([unknown(0), unknown(1), unknown(2)]);
    let paid = || Resolution::Completed(text("paid"));
    let mut marks = alloc::vec![open(start(0)), open(start(1)), open(start(2))];
    for index in 0..3 {
        let row = marked(Phase::Unknown, marks.clone());
        assert_eq!(decide(&row, &story), classified(9, Decision::AwaitResolution));
        marks[index] = intended(start(index), paid());
    }
    let all = starts(&[0, 1, 2]).into_iter().map(|doubt| (doubt, intent(paid()))).collect();
    let expected = classified(9, Decision::ApplyResolutions(all));
    assert_eq!(decide(&marked(Phase::Unknown, marks), &story), expected);
}

#[test]
fn dur_017_one_settled_row_records_what_was_said_of_some_doubts_and_leaves_the_others() {
    let story = prepared(2).tell([ONE.abort_requested(), unknown(0), unknown(1)]);
    let story = story.tell([ONE.settled(Settlement::Aborted)]);
    let how = Resolution::NeverStarted;
    let marks = alloc::vec![open(start(0)), intended(start(1), how.clone())];
    let row = marked(settled(&story), marks);
    let apply = Decision::ApplyResolutions(alloc::vec![(start(1), intent(how))]);
    assert_eq!(decide(&row, &story), classified(1, apply));
}

#[test]
fn dur_009_a_resolution_that_allows_it_leads_to_the_batch_and_one_that_has_a_result_past_it() {
    let doubtful = prepared(1).at(2).tell([unknown(0)]);
    for how in [Resolution::NeverStarted, Resolution::SafeToRepeat] {
        let story = doubtful.clone().tell([ONE.resolved(start(0), how.clone())]);
        let row = marked(RUNNING, alloc::vec![closed(start(0), how)]);
        assert_eq!(decide(&row, &story), classified(14, calls(&[0])));
    }
    let how = Resolution::Completed(text("paid"));
    let result = ONE.tool_settled(start(0).call, success("paid"));
    let story = doubtful.tell([ONE.resolved(start(0), how.clone()), result]);
    let row = marked(RUNNING, alloc::vec![closed(start(0), how)]);
    assert_eq!(decide(&row, &story), classified(18, Decision::ResumeTurn));
}

#[test]
fn dur_009_a_later_start_of_a_resolved_call_is_a_new_doubt() {
    let how = Resolution::NeverStarted;
    let story = prepared(1).at(2).tell([unknown(0)]).tell([ONE.resolved(start(0), how.clone())]);
    let second = ONE.start(0, 0, 2);
    let story = story.tell([ONE.prepared(second, "pay")]).at(3);
    let row = marked(RUNNING, alloc::vec![closed(start(0), how.clone())]);
    assert_eq!(decide(&row, &story), classified(7, Decision::Reconcile(alloc::vec![second])));

    let story = story.tell([ONE.unknown(second)]);
    let expected = classified(8, Decision::EnsureUnknown(alloc::vec![second]));
    assert_eq!(decide(&row, &story), expected, "the old resolution says nothing of it");
    let row = marked(Phase::Unknown, alloc::vec![closed(start(0), how), open(second)]);
    assert_eq!(decide(&row, &story), classified(9, Decision::AwaitResolution));
}
