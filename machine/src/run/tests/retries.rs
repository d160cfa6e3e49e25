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
        [.., Effect::Schedule { timer: Timer::Retry(Turn(0)), after }] => *after,
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
    assert_eq!(failure(&effects).tag(), "Busy", "DUR-014: never in silence");
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

fn limited(retry_after: u64) -> ModelFault {
    let diagnostic = Diagnostic::cut("RateLimited", "slow down");
    ModelFault::RateLimited { diagnostic, retry_after: Some(DurationMs(retry_after)) }
}

#[test]
fn case_rt_01_a_provider_that_names_its_pause_is_left_alone_that_long() {
    let mut bench = fails(Bench::of(patient(1)), limited(5_000));
    assert_eq!(pause(&bench.look()), DurationMs(5_000));
    let mut bench = bench.told(Input::Due(Timer::Retry(Turn(0))));
    bench.look();
    assert_eq!(failure(&fails(bench, limited(5_000)).look()).tag(), "RateLimited");
}

/// Nobody asks earlier than the provider wants, and nobody waits longer than the policy says.
#[test]
fn run_027_a_provider_that_wants_a_longer_pause_than_the_policy_is_not_waited_for() {
    for wanted in [5_001, 86_400_000, u64::MAX] {
        let effects = fails(Bench::of(patient(3)), limited(wanted)).look();
        assert_eq!((failure(&effects).tag(), effects.len()), ("RateLimited", 1), "{wanted}");
    }
}

/// The input came at 1 000 and the run goes on since then, so 3 000 milliseconds are left.
#[test]
fn run_027_no_pause_is_begun_that_the_time_of_the_run_does_not_outlast() {
    let retry = ModelRetry { retries: 3, first: DurationMs(2), longest: DurationMs(9_000) };
    let allowance =
        crate::agent::Allowance { duration: Some(DurationMs(3_000)), ..policy().allowance };
    let short = || Bench::of(under(AgentPolicy { retry, allowance, ..policy() }));
    assert_eq!(pause(&fails(short(), limited(2_999)).look()), DurationMs(2_999));
    for wanted in [3_000, 9_000] {
        let effects = fails(short(), limited(wanted)).look();
        assert_eq!(failure(&effects).tag(), "RateLimited", "{wanted}");
    }
}

#[test]
fn run_014_what_asking_again_cannot_help_is_not_asked_again() {
    let why = Diagnostic::cut("Why", "why");
    for fault in [ModelFault::Protocol, ModelFault::Refused] {
        let effects = fails(Bench::of(patient(3)), fault(why.clone())).look();
        assert_eq!((failure(&effects), questions(&effects).len()), (&why, 0));
    }
}

#[test]
fn dur_018_a_response_ends_the_count() {
    let bench = fails(Bench::of(patient(1)), busy()).told(Input::Due(Timer::Retry(Turn(0))));
    let bench = bench.responds(0, &["look"]).authorized(0);
    let mut bench = bench.returns(ONE.start(0, 0, 1));
    bench.look();
    let effects = bench.answered(answered_with(1, Err(busy()))).look();
    let again = matches!(effects[..], [.., Effect::Schedule { timer: Timer::Retry(Turn(1)), .. }]);
    assert!(again, "{effects:?}");
}

#[test]
fn arc_03_a_reminder_counts_once_and_only_for_the_pause_it_ends() {
    let mut bench = Bench::of(patient(3)).told(Input::Due(Timer::Retry(Turn(0))));
    assert_eq!(bench.look(), [], "nobody pauses");
    let mut bench = fails(bench, busy()).told(Input::Due(Timer::Retry(Turn(1))));
    assert_eq!(questions(&bench.look()), [""; 0], "of another turn");
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
