//! A model that could not answer is asked again, after a pause, so often and no more.

use super::*;
use crate::agent::{AgentPolicy, ModelRetry};
use crate::identity::{DurationMs, Token};
use crate::testkit::{policy, under};

fn patient(retries: u32) -> Arc<crate::agent::Binding> {
    let retry = ModelRetry { retries, first: DurationMs(1_000), longest: DurationMs(5_000) };
    under(AgentPolicy { retry, ..policy() })
}

fn busy() -> ModelFault {
    ModelFault::Unavailable(Diagnostic::cut("Busy", "later"))
}

fn pause(effects: &[Effect]) -> DurationMs {
    match effects {
        [Effect::Schedule { timer: Timer::Retry(Turn(0)), after }] => *after,
        other => panic!("{other:?} is no pause"),
    }
}

fn fails(bench: Bench, fault: ModelFault) -> Bench {
    bench.answered(answered_with(0, Err(fault)))
}

#[test]
fn dur_018_pauses_double_and_are_drawn_and_end_after_a_finite_number() {
    let mut bench = Bench::of(patient(4));
    for (whole, again) in [(1_000, 1), (2_000, 2), (4_000, 3), (5_000, 4)] {
        bench = fails(bench, busy());
        let DurationMs(after) = pause(&bench.look());
        assert!((whole / 2..=whole).contains(&after), "{after} of {whole}");
        bench = bench.told(Input::Due(Timer::Retry(Turn(0))));
        assert_eq!(questions(&bench.look()), ["model.call"], "the time number {again}");
    }
    let effects = fails(bench, busy()).look();
    assert_eq!((failure(&effects).tag(), effects.len()), ("Busy", 1), "DUR-014: never in silence");
}

#[test]
fn dur_018_a_pause_is_drawn_from_recorded_entropy_alone() {
    let drawn = |entropy| {
        let mut bench = Bench::of(patient(1));
        bench.state = bench.state.with_entropy(Token([entropy; 16]));
        pause(&fails(bench, busy()).look())
    };
    assert_eq!(drawn(1), drawn(1));
    assert_ne!(drawn(1), drawn(2));
}

#[test]
fn case_rt_01_a_provider_that_names_its_pause_is_left_alone_that_long() {
    let diagnostic = Diagnostic::cut("RateLimited", "slow down");
    let retry_after = Some(DurationMs(30_000));
    let limited = ModelFault::RateLimited { diagnostic, retry_after };
    let mut bench = fails(Bench::of(patient(1)), limited.clone());
    assert_eq!(pause(&bench.look()), DurationMs(30_000));
    let mut bench = bench.told(Input::Due(Timer::Retry(Turn(0))));
    bench.look();
    assert_eq!(failure(&fails(bench, limited).look()).tag(), "RateLimited");
}

#[test]
fn run_014_what_asking_again_cannot_help_is_not_asked_again() {
    let why = Diagnostic::cut("Why", "why");
    for fault in [ModelFault::Protocol, ModelFault::Refused] {
        let effects = fails(Bench::of(patient(3)), fault(why.clone())).look();
        assert_eq!((failure(&effects), effects.len()), (&why, 1));
    }
}

#[test]
fn dur_018_a_response_ends_the_count() {
    let bench = fails(Bench::of(patient(1)), busy()).told(Input::Due(Timer::Retry(Turn(0))));
    let bench = bench.responds(0, &["look"]).authorized(0);
    let mut bench = bench.returns(ONE.start(0, 0, 1));
    bench.look();
    let effects = bench.answered(answered_with(1, Err(busy()))).look();
    let again = matches!(effects[..], [Effect::Schedule { timer: Timer::Retry(Turn(1)), .. }]);
    assert!(again, "{effects:?}");
}

#[test]
fn arc_03_a_reminder_counts_once_and_only_for_the_pause_it_ends() {
    let mut bench = Bench::of(patient(3)).told(Input::Due(Timer::Retry(Turn(0))));
    assert_eq!(bench.look(), [], "nobody pauses");
    let mut bench = fails(bench, busy()).told(Input::Due(Timer::Retry(Turn(1))));
    assert_eq!(bench.look().len(), 1, "of another turn");
    let mut bench = bench.told(Input::Due(Timer::Retry(Turn(0))));
    assert_eq!(questions(&bench.look()), ["model.call"]);
    assert_eq!(bench.told(Input::Due(Timer::Retry(Turn(0)))).look(), [], "doubled");
}

#[test]
fn arc_14_a_run_that_is_resumed_in_its_pause_asks_at_once() {
    let bench = fails(Bench::of(patient(3)), busy());
    let mut bench = bench.told(Input::Stopped).told(RESUMED);
    assert_eq!(questions(&bench.look()).last(), Some(&"model.call"));
}
