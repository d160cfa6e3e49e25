use alloc::vec::Vec;

use super::*;
use crate::attempt::End;
use crate::contract::Machine;
use crate::identity::{ConversationId, DurationMs, Sequence};
use crate::limits::{DECLINED_MS, LEFT_ALONE, QUEUED_LANES, SCAN_RETRY_MS};
use crate::record::Corruption;

fn lane(name: &str) -> ConversationId {
    ConversationId::new(name).unwrap()
}

fn start(name: &str) -> Effect {
    Effect::StartAttempt { lane: lane(name) }
}

fn hint(name: &str) -> Input {
    Input::Hinted { lane: lane(name) }
}

fn ended(name: &str, end: End) -> Input {
    Input::Ended { lane: lane(name), end }
}

fn found(names: &[&str]) -> Input {
    let claimable = names.iter().map(|name| lane(name)).collect();
    Input::Scanned(Findings { claimable, ..Findings::default() })
}

const SCAN: Effect = Effect::Scan { after: None };

/// Feeds the inputs one after the other and returns the effects of the last one.
fn last(slots: usize, inputs: impl IntoIterator<Item = Input>) -> (State, Vec<Effect>) {
    let mut step = crate::Step::quiet(State::new(slots));
    for input in inputs {
        step = Scheduler::step(step.state, input);
    }
    (step.state, step.effects)
}

#[test]
fn dur_005_a_lane_is_worked_on_once_however_often_it_is_named() {
    let begin = [Input::Started, found(&["a", "a"])];
    let (state, effects) = last(4, begin);
    assert_eq!(effects, [start("a")]);
    let step = Scheduler::step(state, hint("a"));
    assert_eq!(step.effects, [Effect::WakeAttempt { lane: lane("a") }]);
    assert_eq!(step.state.running().collect::<Vec<_>>(), [&lane("a")]);
}

#[test]
fn arc_05_no_more_attempts_than_slots_and_the_others_wait_in_order() {
    let (state, effects) = last(2, [Input::Started, found(&["c", "a", "b", "d"])]);
    assert_eq!(effects, [start("c"), start("a")]);
    let step = Scheduler::step(state, ended("a", End::Settled));
    assert_eq!(step.effects, [SCAN, start("b")]);
    let step = Scheduler::step(step.state, ended("c", End::Parked));
    assert_eq!(step.effects, [start("d")], "a scan is under way already");
}

#[test]
fn arc_05_a_host_without_slots_would_never_work() {
    assert_eq!(last(0, [hint("a")]).1, [start("a")]);
}

#[test]
fn arc_05_waiting_lanes_are_bounded_and_what_does_not_fit_is_looked_for_again() {
    let names: Vec<_> = (0..QUEUED_LANES + 8).map(|n| lane(&alloc::format!("{n:05}"))).collect();
    let hints = names.iter().map(|lane| Input::Hinted { lane: lane.clone() });
    let (state, _) = last(1, hints);
    assert_eq!(state.queue.len(), QUEUED_LANES);
    let step = Scheduler::step(state, ended("00000", End::Settled));
    assert!(step.effects.contains(&SCAN));
}

#[test]
fn store_012_a_scan_goes_on_page_by_page_and_names_the_shortest_wait_once() {
    let page = |wait: Option<u64>, after: Option<&str>| {
        Input::Scanned(Findings {
            claimable: Vec::new(),
            wakes_in: wait.map(DurationMs),
            after: after.map(lane),
        })
    };
    let first = [Input::Started, page(Some(70), Some("b"))];
    assert_eq!(last(1, first.clone()).1, [Effect::Scan { after: Some(lane("b")) }]);
    let second = first.into_iter().chain([page(Some(90), Some("d")), page(None, None)]);
    assert_eq!(last(1, second).1, [Effect::ScheduleLook { after: DurationMs(70) }]);
    let due = last(1, [Input::Started, page(Some(0), None)]).1;
    assert_eq!(due, [Effect::ScheduleLook { after: DurationMs(1) }]);
    let none = last(1, [Input::Started, page(None, None)]).1;
    assert_eq!(none, [], "nothing to wait for: the host is parked");
}

#[test]
fn store_012_whoever_asks_during_a_scan_gets_another_one() {
    let (state, effects) = last(1, [Input::Started, Input::ChangedElsewhere]);
    assert_eq!(effects, []);
    let step = Scheduler::step(state, found(&[]));
    assert_eq!(step.effects, [SCAN]);
    assert_eq!(Scheduler::step(step.state, found(&[])).effects, []);
}

#[test]
fn store_012_a_change_elsewhere_wakes_everybody() {
    let begun = [hint("b"), hint("a"), hint("c"), Input::ChangedElsewhere];
    let wake = |name: &str| Effect::WakeAttempt { lane: lane(name) };
    assert_eq!(last(2, begun).1, [wake("a"), wake("b"), SCAN]);
}

#[test]
fn store_012_every_end_of_an_attempt_is_followed_by_a_look() {
    for end in [End::Idle, End::Settled, End::Parked, End::Superseded, End::Defect] {
        assert_eq!(last(1, [hint("a"), ended("a", end)]).1, [SCAN], "{end:?}");
    }
}

#[test]
fn store_012_a_change_that_an_attempt_ended_too_early_to_see_starts_another() {
    let (_, effects) = last(1, [hint("a"), hint("a"), ended("a", End::Idle)]);
    assert_eq!(effects, [SCAN, start("a")]);
}

#[test]
fn store_006_a_lane_that_does_not_verify_is_left_alone() {
    let corrupt = Corruption::Gap { expected: Sequence(1), found: Sequence(2) };
    for end in [End::Corrupt(corrupt), End::Defect] {
        let (state, _) = last(1, [hint("a"), ended("a", end), hint("a"), found(&["a", "b"])]);
        assert_eq!(state.running().collect::<Vec<_>>(), [&lane("b")]);
        assert_eq!(state.quarantined().collect::<Vec<_>>(), [&lane("a")]);
    }
}

#[test]
fn store_006_a_scan_that_fails_is_made_again_later() {
    let (state, effects) = last(1, [Input::Started, Input::ScanFailed]);
    assert_eq!(effects, [Effect::ScheduleLook { after: DurationMs(SCAN_RETRY_MS) }]);
    assert_eq!(Scheduler::step(state, Input::LookDue).effects, [SCAN]);
}

#[test]
fn ops_03_a_host_that_stops_ends_what_runs_and_begins_nothing() {
    let (state, effects) = last(1, [hint("a"), hint("b"), Input::StopRequested]);
    assert_eq!(effects, []);
    let step = Scheduler::step(state, ended("a", End::Settled));
    assert_eq!(step.effects, [Effect::Stopped]);
    let step = Scheduler::step(step.state, hint("c"));
    assert_eq!(step.effects, []);
    assert_eq!(Scheduler::step(step.state, Input::StopRequested).effects, []);
}

#[test]
fn arc_15_what_is_late_or_absurd_is_ignored() {
    for input in [found(&["a"]), Input::ScanFailed, ended("a", End::Settled)] {
        let (state, effects) = last(1, [input]);
        assert_eq!((state, effects), (State::new(1), Vec::new()));
    }
}

#[test]
fn case_rt_05_a_lane_that_is_declined_is_left_to_others_for_longer_and_longer() {
    let (mut state, _) = last(1, [hint("a")]);
    let mut waits = Vec::new();
    for _ in 0..9 {
        let step = Scheduler::step(state, Input::Declined { lane: lane("a") });
        let wait = step.effects.iter().find_map(|effect| match effect {
            Effect::ScheduleRetry { after, .. } => Some(after.0),
            _ => None,
        });
        waits.extend(wait);
        let step = Scheduler::step(step.state, found(&["a"]));
        assert!(!step.effects.contains(&start("a")), "it waits: {:?}", step.effects);
        let step = Scheduler::step(step.state, Input::RetryDue { lane: lane("a") });
        assert_eq!(step.effects, [SCAN]);
        let step = Scheduler::step(step.state, found(&["a"]));
        assert_eq!(step.effects, [start("a")]);
        state = step.state;
    }
    assert_eq!(waits[..3], [SCAN_RETRY_MS, 2 * SCAN_RETRY_MS, 4 * SCAN_RETRY_MS]);
    assert_eq!(waits.last(), Some(&DECLINED_MS));
    assert_eq!(state.quarantined().count(), 0);
    let step = Scheduler::step(state, ended("a", End::Settled));
    assert_eq!(step.state.declined.len(), 0, "what was met before is forgotten");
}

#[test]
fn arc_05_lanes_left_alone_are_bounded_and_those_beyond_are_looked_at_again_later() {
    type Way = (fn(&str) -> Input, fn(&State) -> usize);
    let ways: [Way; 2] = [
        (|name| ended(name, End::Defect), |state| state.quarantine.len()),
        (|name| Input::Declined { lane: lane(name) }, |state| state.declined.len()),
    ];
    for (way, remembered) in ways {
        let (mut state, _) = last(1, [Input::Started, found(&[])]);
        for n in 0..LEFT_ALONE {
            let name = alloc::format!("{n}");
            state = Scheduler::step(state, hint(&name)).state;
            state = Scheduler::step(state, way(&name)).state;
            state = Scheduler::step(state, found(&[])).state;
        }
        let state = Scheduler::step(state, hint("more")).state;
        let step = Scheduler::step(state, way("more"));
        let later = Effect::ScheduleLook { after: DurationMs(DECLINED_MS) };
        assert_eq!((step.effects, remembered(&step.state)), ([later].into(), LEFT_ALONE));
        // It may be met again, and others are still worked on.
        let step = Scheduler::step(step.state, Input::LookDue);
        let step = Scheduler::step(step.state, found(&["more", "0", "good"]));
        assert_eq!(step.effects, [start("more")]);
        let step = Scheduler::step(step.state, way("more"));
        assert!(step.effects.contains(&start("good")), "{:?}", step.effects);
    }
}

#[test]
fn arc_05_a_declined_lane_that_waits_no_more_makes_room_for_another() {
    let mut state = State::new(1);
    for n in 0..=LEFT_ALONE {
        let name = alloc::format!("{n}");
        let step = Scheduler::step(state, hint(&name));
        let step = Scheduler::step(step.state, Input::Declined { lane: lane(&name) });
        let retry = |effect: &Effect| matches!(effect, Effect::ScheduleRetry { .. });
        assert!(step.effects.iter().any(retry), "{n}: {:?}", step.effects);
        state = Scheduler::step(step.state, Input::RetryDue { lane: lane(&name) }).state;
    }
    assert!(state.declined.len() <= LEFT_ALONE);
}

#[test]
fn case_cr_05_a_lane_whose_run_is_bound_to_something_else_is_left_to_others() {
    let incompatible = |state: State| {
        Scheduler::step(state, Input::Ended { lane: lane("a"), end: End::Incompatible })
    };
    let wait = |effects: &[Effect]| {
        effects.iter().find_map(|effect| match effect {
            Effect::ScheduleRetry { after, .. } => Some(after.0),
            _ => None,
        })
    };
    let (state, _) = last(1, [hint("a")]);
    let step = incompatible(state);
    assert_eq!(wait(&step.effects), Some(SCAN_RETRY_MS));
    let step = Scheduler::step(step.state, found(&["a", "b"]));
    assert!(step.effects.contains(&start("b")) && !step.effects.contains(&start("a")));
    let step = Scheduler::step(step.state, Input::RetryDue { lane: lane("a") });
    let step = Scheduler::step(step.state, found(&["a"]));
    let step = Scheduler::step(step.state, ended("b", End::Settled));
    assert!(step.effects.contains(&start("a")), "and looked at again");
    let step = incompatible(step.state);
    assert_eq!(wait(&step.effects), Some(2 * SCAN_RETRY_MS), "for longer and longer");
}

#[test]
fn store_012_what_changed_while_a_run_was_found_to_be_incompatible_is_looked_at_at_once() {
    let (state, _) = last(1, [hint("a"), hint("a")]);
    let step = Scheduler::step(state, ended("a", End::Incompatible));
    assert!(step.effects.contains(&start("a")), "somebody may have had it bound anew");
}
