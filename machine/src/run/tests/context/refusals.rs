//! A provider that refuses a request for its length.

use super::*;

/// A wide limit: the provider's own is narrower.
const WIDE: ContextPolicy = ContextPolicy { limit_tokens: 9_000, keep_tokens: 500 };

fn refused(turn: u32) -> Answer {
    answered_with(turn, Err(too_long()))
}

fn ends_too_long(effects: &[Effect]) {
    assert_eq!(failure(effects).tag(), "ContextLength");
    let is_paid = |it: &Record| matches!(it, Record::ModelInterrupted(_));
    assert!(committed(effects).iter().all(is_paid), "a refused request leaves nothing behind");
}

#[test]
fn run_024_a_refusal_clears_old_results_and_asks_the_same_turn_once_more() {
    let mut bench = after(desk(WIDE), &[(50, 2_000); 4]);
    let first = request(&bench.look());
    let mut bench = bench.answered(refused(0));
    let effects = bench.look();
    let [compaction] = &compactions(&committed(&effects))[..] else { panic!("{effects:?}") };
    assert_eq!(compaction.compaction, Compaction::ResultsCleared);
    let second = request(&effects);
    assert_eq!((second.turn, second.purpose), (first.turn, Purpose::Respond));
    assert!(second.messages.bytes() < first.messages.bytes() / 2);
    let answers = bench.clone().responds(0, &[]).look();
    assert!(matches!(settlement(&answers), Settlement::Completed { .. }));
    ends_too_long(&bench.answered(refused(0)).look());
}

#[test]
fn run_024_a_refusal_summarizes_what_clearing_does_not_halve() {
    let mut bench = after(desk(WIDE), &[(2_000, 500); 4]);
    bench.look();
    let mut bench = bench.answered(refused(0));
    let effects = bench.look();
    let [cleared] = &compactions(&committed(&effects))[..] else { panic!("{effects:?}") };
    assert_eq!(cleared.compaction, Compaction::ResultsCleared);
    let mut bench = bench.answered(summary(&effects, Ok(said("Four long questions."))));
    let effects = bench.look();
    assert_eq!(compactions(&committed(&effects)).len(), 1);
    let request = request(&effects);
    assert_eq!((request.turn, request.purpose), (Turn(0), Purpose::Respond));
    assert_eq!(kinds(&request.messages), ["summary", "assistant", "result", "assistant", "user"]);
    ends_too_long(&bench.answered(refused(0)).look());
}

#[test]
fn run_024_half_of_what_is_usually_kept_is_kept() {
    let kept = |context: ContextPolicy, refuses: bool| {
        let mut bench = after(desk(context), &[(390, 0); 12]);
        let mut effects = bench.look();
        if refuses {
            bench = bench.answered(refused(0));
            effects = bench.look();
        }
        let effects = bench.answered(summary(&effects, Ok(said("Questions.")))).look();
        request(&effects).messages.len()
    };
    let usual = kept(ContextPolicy { limit_tokens: 1_000, keep_tokens: 500 }, false);
    let forced = kept(WIDE, true);
    // A summary, an answer whose question is covered, whole runs, and the run's own input.
    assert_eq!((usual, forced), (3 + 5 * 2, 3 + 2 * 2));
}

#[test]
fn run_024_without_a_summary_the_run_ends_and_nothing_has_changed() {
    let mut bench = after(desk(WIDE), &[(2_000, 0); 4]);
    bench.look();
    let mut bench = bench.answered(refused(0));
    let effects = bench.look();
    assert_eq!(committed(&effects), []);
    let fault = ModelFault::Unavailable(Diagnostic::cut("Down", "for a while"));
    ends_too_long(&bench.answered(summary(&effects, Err(fault))).look());
}

#[test]
fn run_024_without_a_summary_what_was_cleared_is_tried_once() {
    let mut bench = after(desk(WIDE), &[(2_000, 500); 4]);
    bench.look();
    let mut bench = bench.answered(refused(0));
    let effects = bench.look();
    let mut bench = bench.answered(summary(&effects, Ok(said(""))));
    let effects = bench.look();
    assert_eq!((request(&effects).purpose, requests(&effects).len()), (Purpose::Respond, 1));
    ends_too_long(&bench.answered(refused(0)).look());
}

#[test]
fn run_024_where_nothing_is_old_the_run_ends_typed() {
    for bench in [
        Bench::of(desk(WIDE)),
        after(desk(WIDE), &[(100, 0)]),
        after(under(policy()), &[(9_000, 9_000); 4]),
    ] {
        let mut bench = Bench { effects: Vec::new(), ..bench };
        bench = bench.answered(refused(0));
        let effects = bench.look();
        ends_too_long(&effects);
        assert_eq!(failure(&effects).message(), "200 001 tokens");
    }
}

#[test]
fn run_024_a_turn_that_was_summarized_already_can_be_summarized_further_once() {
    let tight = ContextPolicy { limit_tokens: 1_000, keep_tokens: 700 };
    let mut bench = after(desk(tight), &[(390, 0); 12]);
    let effects = bench.look();
    let mut bench = bench.answered(summary(&effects, Ok(said("Questions."))));
    let mut records = committed(&bench.look());
    let mut bench = bench.answered(refused(0));
    let effects = bench.look();
    let mut bench = bench.answered(summary(&effects, Ok(said("More questions."))));
    records.extend(committed(&bench.look()));
    let [usual, forced] = &compactions(&records)[..] else { panic!("{records:?}") };
    assert!(usual.turn == forced.turn && usual.through < forced.through);
    assert_ne!(records[0].id(), records[1].id(), "two decisions are two records");
    ends_too_long(&bench.answered(refused(0)).look());
}

#[test]
fn run_024_each_turn_may_be_refused_once() {
    let mut runs = [(50, 2_000); 5];
    runs[4] = (390, 0);
    let bench = after(desk(WIDE), &runs);
    let bench = bench.answered(refused(0)).responds(0, &["look"]).authorized(0);
    let mut bench = bench.answered(found(900));
    assert_eq!(request(&bench.look()).turn, Turn(1));
    let mut bench = bench.answered(refused(1));
    let effects = bench.look();
    assert!(matches!(request(&effects).purpose, Purpose::Summarize { .. }), "what has become old");
    let mut bench = bench.answered(summary(&effects, Ok(said("They looked."))));
    assert_eq!(request(&bench.look()).turn, Turn(1));
}

#[test]
fn run_024_other_faults_make_nothing_smaller() {
    let why = || Diagnostic::cut("Test", "why");
    let faults = [
        ModelFault::Unavailable(why()),
        ModelFault::Protocol(why()),
        ModelFault::RateLimited { diagnostic: why(), retry_after: None },
        ModelFault::Refused(why()),
    ];
    for fault in faults {
        let mut bench = after(desk(WIDE), &[(50, 2_000); 4]);
        bench.look();
        let effects = bench.answered(answered_with(0, Err(fault))).look();
        assert_eq!((failure(&effects).tag(), requests(&effects).len()), ("Test", 0));
    }
}
