//! What is said to a run while it is going on.

use super::*;
use crate::agent::Message;
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
