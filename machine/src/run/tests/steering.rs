//! What is said to a run while it is going on.

use super::sequences::desk;
use super::*;
use crate::agent::{AgentPolicy, Allowance, Binding, Joins, Message};
use crate::identity::PrincipalId;
use crate::record::InputKind;
use crate::testkit::text;

const TWO: Tale = Tale("2");

fn said(words: &str, wanted: Wanted) -> Input {
    Input::Steered(Steered {
        submission: TWO.submission(),
        principal: PrincipalId::new("ada").unwrap(),
        input: text(words),
        wanted,
    })
}

fn inputs(effects: &[Effect]) -> Vec<InputKind> {
    let kinds = committed(effects).into_iter().filter_map(|record| match record {
        Record::InputRecorded(it) => Some(it.kind),
        _ => None,
    });
    kinds.collect()
}

fn last_user(effects: &[Effect]) -> Option<Message> {
    let External::CallModel(request) = asked(effects).pop()? else { return None };
    request.messages.iter().filter(|it| matches!(it, Message::User(_))).last().cloned()
}

#[test]
fn run_012_steering_comes_before_the_next_request_and_changes_nothing_in_flight() {
    let mut bench = Bench::fresh();
    bench.look();
    let mut bench = bench.told(said("stop", Wanted::Soon));
    assert_eq!(bench.look(), [], "the model is answering");
    let mut bench = bench.responds(0, &["look"]);
    assert_eq!(inputs(&bench.look()), [], "its batch finishes first");
    let mut bench = bench.authorized(0);
    bench.look();
    let effects = bench.returns(ONE.start(0, 0, 1)).look();
    let host = ONE.submission();
    assert_eq!(inputs(&effects), [InputKind::Steering { host }]);
    assert_eq!(last_user(&effects), Some(Message::User(text("stop"))), "and it is shown");
    let commit = effects.iter().rposition(|it| matches!(it, Effect::Commit(_)));
    let request = effects.iter().position(|it| matches!(it, Effect::External(_)));
    assert!(commit < request, "canonical before the request");
}

#[test]
fn run_013_a_follow_up_comes_only_when_the_run_would_otherwise_stop() {
    let mut bench = Bench::fresh();
    bench.look();
    let mut bench = bench.told(said("and then?", Wanted::AtTheEnd)).responds(0, &["look"]);
    assert_eq!(inputs(&bench.look()), []);
    let mut bench = bench.authorized(0).returns(ONE.start(0, 0, 1));
    assert_eq!(inputs(&bench.look()), [], "the run goes on by itself");
    let mut bench = bench.responds(1, &[]);
    let effects = bench.look();
    let host = ONE.submission();
    assert_eq!(inputs(&effects), [InputKind::FollowUp { host }]);
    assert_eq!(last_user(&effects), Some(Message::User(text("and then?"))));
    assert!(matches!(settlement(&bench.responds(2, &[]).look()), Settlement::Completed { .. }));
}

#[test]
fn run_012_what_is_said_when_the_run_would_stop_is_answered_all_the_same() {
    let mut bench = Bench::fresh();
    bench.look();
    let effects = bench.told(said("wait", Wanted::Soon)).responds(0, &[]).look();
    assert_eq!(inputs(&effects).len(), 1);
    assert_eq!(questions(&effects), ["model.call"]);
}

#[test]
fn case_st_07_an_input_that_joins_a_run_is_canonical_with_author_and_time() {
    let mut bench = Bench::fresh();
    bench.look();
    let effects = bench.told(said("wait", Wanted::Soon)).responds(0, &[]).look();
    let records = committed(&effects);
    let Some(Record::InputRecorded(it)) = records.last() else { panic!("{records:?}") };
    assert_eq!((it.submission, it.run, it.at), (TWO.submission(), ONE.run(), Timestamp(1_000)));
    assert_eq!(it.principal.as_str(), "ada");
}

/// A run that has a lane, before its first request.
fn listening(story: &Story, binding: Arc<Binding>) -> Bench {
    let state = Bench::resting_with(binding, story, 1).state.listening();
    Bench { state, effects: Vec::new() }
}

fn from_the_lane(key: &'static str, words: &str, wanted: Wanted) -> Steered {
    Steered {
        submission: Tale(key).submission(),
        principal: PrincipalId::new("ada").unwrap(),
        input: text(words),
        wanted,
    }
}

fn asks_the_lane(effects: &[Effect]) -> bool {
    effects.iter().any(|effect| matches!(effect, Effect::Listen))
}

#[test]
fn case_st_01_a_run_asks_its_lane_before_every_request_and_takes_in_what_it_is_told() {
    let story = Story::new().tell([ONE.input()]);
    let mut bench = listening(&story, crate::testkit::binding()).told(RESUMED);
    let effects = bench.look();
    assert!(asks_the_lane(&effects) && questions(&effects).is_empty(), "it listens first");
    let mut bench = bench.told(RESUMED);
    bench.look();
    let said = alloc::vec![from_the_lane("2", "stop", Wanted::Soon)];
    let mut bench = bench.told(Input::Heard { said, now: Timestamp(2_500) });
    let effects = bench.look();
    assert_eq!(inputs(&effects), [InputKind::Steering { host: ONE.submission() }]);
    assert_eq!(questions(&effects), ["model.call"]);
    let mut bench = bench.told(Input::Heard { said: Vec::new(), now: Timestamp(3_000) });
    assert_eq!(bench.look(), [], "nobody has asked");
    let mut bench = bench.responds(0, &["look"]).authorized(0);
    bench.look();
    let mut bench = bench.returns(ONE.start(0, 0, 1));
    assert!(asks_the_lane(&bench.look()), "and before the next one");
}

#[test]
fn run_013_only_an_agent_that_joins_asks_its_lane_before_it_ends() {
    for (joins, asks) in [(Joins::None, false), (Joins::One, true)] {
        let policy = AgentPolicy { joins, ..AgentPolicy::default() };
        let story = Story::new().tell([ONE.input()]).tell([ONE.responded(0, &[])]);
        let mut bench = listening(&story, desk(policy)).told(RESUMED);
        let effects = bench.look();
        assert_eq!(asks_the_lane(&effects), asks, "{joins:?}");
        let ends = effects.iter().any(|effect| matches!(effect, Effect::Settle(_)));
        assert_eq!(ends, !asks, "{joins:?}");
    }
}

#[test]
fn case_st_03_a_run_whose_budget_is_used_up_takes_nothing_in_at_its_end() {
    let allowance = Allowance { turns: Some(1), ..Allowance::default() };
    let policy = AgentPolicy { joins: Joins::All, allowance, ..AgentPolicy::default() };
    let story = Story::new().tell([ONE.input()]).tell([ONE.responded(0, &[])]);
    let mut bench = listening(&story, desk(policy)).told(RESUMED);
    let effects = bench.look();
    assert!(!asks_the_lane(&effects), "what waits has a run of its own");
    assert!(matches!(settlement(&effects), Settlement::Completed { .. }));
}

#[test]
fn case_st_07_what_is_taken_in_has_the_time_at_which_the_lane_was_read() {
    let story = Story::new().tell([ONE.input()]);
    let mut bench = listening(&story, crate::testkit::binding()).told(RESUMED);
    bench.look();
    let said = alloc::vec![from_the_lane("2", "stop", Wanted::Soon)];
    let effects = bench.told(Input::Heard { said, now: Timestamp(2_500) }).look();
    let times = committed(&effects).into_iter().filter_map(|record| match record {
        Record::InputRecorded(it) => Some(it.at),
        _ => None,
    });
    assert!(times.eq([Timestamp(2_500)]), "not that of the resume");
}

#[test]
fn run_012_what_comes_soon_is_not_held_up_by_what_comes_at_the_end() {
    let mut bench = Bench::fresh();
    bench.look();
    let later =
        Steered { submission: Tale("3").submission(), ..from_the_lane("3", "", Wanted::AtTheEnd) };
    let mut bench = bench.told(Input::Steered(later)).told(said("stop", Wanted::Soon));
    bench.look();
    let mut bench = bench.responds(0, &["look"]).authorized(0);
    bench.look();
    let effects = bench.returns(ONE.start(0, 0, 1)).look();
    assert_eq!(inputs(&effects), [InputKind::Steering { host: ONE.submission() }]);
}

#[test]
fn run_012_as_much_as_a_run_may_take_in_comes_in_as_many_batches_as_it_needs() {
    let large = text(&"x".repeat(crate::limits::JSON_BYTES - 2));
    let keys: Vec<alloc::string::String> = (0..32).map(|n| alloc::format!("s{n}")).collect();
    let said = keys.iter().map(|key| Steered {
        submission: crate::testkit::submission(key),
        principal: PrincipalId::new("ada").unwrap(),
        input: large.clone(),
        wanted: Wanted::Soon,
    });
    let said: Vec<Steered> = said.collect();
    let story = Story::new().tell([ONE.input()]);
    let mut bench = listening(&story, crate::testkit::binding()).told(RESUMED);
    bench.look();
    let effects = bench.told(Input::Heard { said, now: Timestamp(2_000) }).look();
    assert_eq!(inputs(&effects).len(), 32);
    let batches = effects.iter().filter(|it| matches!(it, Effect::Commit(_))).count();
    assert!((2..=8).contains(&batches), "{batches}");
    assert_eq!(questions(&effects), ["model.call"], "and the model is shown all of them");
}
