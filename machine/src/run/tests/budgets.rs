//! What a run may use up: exactly at the cap is not over it, over it is never a success.

use super::*;
use crate::agent::{
    AgentPolicy, Allowance, Gauge, OnExhaustion, RejectionReason, ToolChoice, Usage, UsageReporting,
};
use crate::identity::DurationMs;
use crate::record::{FinishKind, InputRecorded};
use crate::testkit::{policy, text, under};

fn limited(allowance: Allowance, on_exhaustion: OnExhaustion) -> AgentPolicy {
    AgentPolicy { allowance, on_exhaustion, ..policy() }
}

fn gentle(allowance: Allowance) -> AgentPolicy {
    limited(allowance, OnExhaustion::FinalAnswer)
}

/// A response that declares these calls and used so many tokens and so much money.
fn used(calls: &[&str], tokens: u64, cost_micros: u64) -> ModelResponse {
    let usage = Usage { output_tokens: tokens, cost_micros, ..Usage::default() };
    ModelResponse { usage: Some(usage), ..response(calls) }
}

fn finish(effects: &[Effect]) -> FinishKind {
    match settlement(effects) {
        Settlement::Completed { finish, .. } => *finish,
        other => panic!("{other:?} is no answer"),
    }
}

fn limit(effects: &[Effect]) -> PolicyLimit {
    match settlement(effects) {
        Settlement::Failed { limit: Some(limit), .. } => *limit,
        other => panic!("{other:?} names no limit"),
    }
}

/// The request that effects end with.
fn request(effects: &[Effect]) -> Arc<crate::agent::ModelRequest> {
    match asked(effects).pop() {
        Some(External::CallModel(request)) => request,
        other => panic!("{other:?} asks no model"),
    }
}

/// One whole turn: the response, the authorization if it has calls, and their results.
fn turn(bench: Bench, turn: u32, response: ModelResponse) -> Bench {
    let calls = response.calls().count();
    let bench = bench.answered(model(turn, response));
    if calls == 0 || bench.state.flights().authorizer.is_none() {
        return bench;
    }
    (0..calls).fold(bench.authorized(turn), |bench, at| bench.returns(ONE.start(turn, at, 1)))
}

fn refusals(effects: &[Effect]) -> usize {
    let over = |record: &Record| match record {
        Record::ToolSettled(it) => {
            *it.outcome == ToolOutcome::Rejected(RejectionReason::OverBudget)
        }
        _ => false,
    };
    committed(effects).iter().filter(|record| over(record)).count()
}

#[test]
fn run_016_turns_that_are_used_up_admit_exactly_one_grace_turn_without_tools() {
    let allowance = Allowance { turns: Some(2), ..Allowance::default() };
    let mut bench = Bench::of(under(gentle(allowance)));
    for at in 0..2 {
        bench = turn(bench, at, response(&["look"]));
    }
    let effects = bench.look();
    let last = request(&effects);
    assert_eq!((last.turn, last.tools), (Turn(2), ToolChoice::Forbidden));
    let effects = bench.responds(2, &[]).look();
    assert_eq!(finish(&effects), FinishKind::BudgetExhausted(Dimension::Turns));
}

#[test]
fn run_011_a_last_turn_that_answers_by_itself_has_exhausted_nothing() {
    let allowance = Allowance { turns: Some(2), ..Allowance::default() };
    let bench = turn(Bench::of(under(gentle(allowance))), 0, response(&["look"]));
    assert_eq!(finish(&bench.responds(1, &[]).look()), FinishKind::ModelStop);
}

#[test]
fn run_017_a_call_declared_while_tools_are_forbidden_fails_the_run() {
    let allowance = Allowance { turns: Some(1), ..Allowance::default() };
    let mut bench = turn(Bench::of(under(gentle(allowance))), 0, response(&["look"]));
    bench.look();
    let effects = bench.responds(1, &["look"]).look();
    assert_eq!(failure(&effects).tag(), "ToolsForbidden");
    let [Record::ModelInterrupted(paid)] = &committed(&effects)[..] else {
        panic!("the response never becomes canonical: {effects:?}")
    };
    assert_eq!(
        (paid.turn, paid.lost_tokens),
        (Turn(1), response(&["look"]).usage.unwrap().tokens())
    );
}

#[test]
fn run_015_a_batch_over_the_budget_runs_nothing_and_is_never_declared_pending() {
    let allowance = Allowance { tool_calls: Some(2), ..Allowance::default() };
    for mode in [OnExhaustion::FinalAnswer, OnExhaustion::Fail] {
        let bench = Bench::of(under(limited(allowance, mode)));
        let mut bench = turn(bench, 0, response(&["look"]));
        bench.look();
        let effects = bench.clone().responds(1, &["pay", "look"]).look();
        let Effect::Commit(batch) = &effects[0] else { panic!("{effects:?}") };
        assert_eq!((batch.records().len(), refusals(&effects)), (3, 2), "one batch");
        match mode {
            OnExhaustion::FinalAnswer => {
                assert_eq!(request(&effects).tools, ToolChoice::Forbidden);
                let mut bench = bench.responds(1, &["pay", "look"]);
                bench.look();
                let effects = bench.responds(2, &[]).look();
                let exhausted = FinishKind::BudgetExhausted(Dimension::ToolCalls);
                assert_eq!(finish(&effects), exhausted);
            }
            OnExhaustion::Fail => {
                assert_eq!(questions(&effects), [""; 0]);
                assert_eq!(limit(&effects), PolicyLimit::Budget(Dimension::ToolCalls));
            }
        }
    }
}

#[test]
fn run_011_exactly_at_the_cap_is_not_over_it() {
    let allowance = Allowance {
        tool_calls: Some(2),
        tokens: Some(100),
        cost_micros: Some(50),
        ..Allowance::default()
    };
    let bench = Bench::of(under(limited(allowance, OnExhaustion::Fail)));
    let bench = turn(bench, 0, used(&["look", "look"], 100, 50));
    assert_eq!(finish(&bench.answered(model(1, used(&[], 0, 0))).look()), FinishKind::ModelStop);
}

#[test]
fn run_011_tokens_that_are_used_up_lead_to_a_final_answer_and_name_their_dimension() {
    let allowance = Allowance { tokens: Some(100), ..Allowance::default() };
    let mut bench = Bench::of(under(gentle(allowance))).answered(model(0, used(&["pay"], 101, 0)));
    let effects = bench.look();
    assert_eq!((refusals(&effects), request(&effects).tools), (1, ToolChoice::Forbidden));
    let effects = bench.responds(1, &[]).look();
    assert_eq!(finish(&effects), FinishKind::BudgetExhausted(Dimension::Tokens));
}

#[test]
fn run_011_a_cost_that_is_used_up_ends_the_run_at_once() {
    let allowance = Allowance { cost_micros: Some(100), ..Allowance::default() };
    for calls in [&["pay"][..], &[][..]] {
        let effects =
            Bench::of(under(gentle(allowance))).answered(model(0, used(calls, 0, 101))).look();
        assert_eq!(limit(&effects), PolicyLimit::Budget(Dimension::Cost), "{calls:?}");
        assert_eq!((refusals(&effects), questions(&effects)), (calls.len(), alloc::vec![]));
    }
}

#[test]
fn case_bu_09_a_provider_that_reports_nothing_is_charged_what_is_reserved() {
    let allowance = Allowance { tokens: Some(100), ..Allowance::default() };
    let usage = UsageReporting::Unreported { tokens: 51 };
    let silent = |calls: &[&str]| ModelResponse { usage: None, ..response(calls) };
    let binding = under(AgentPolicy { usage, ..gentle(allowance) });
    let mut bench = turn(Bench::of(binding), 0, silent(&["look"]));
    bench.look();
    let effects = bench.answered(model(1, silent(&["look"]))).look();
    assert_eq!(refusals(&effects), 1);
}

#[test]
fn run_020_a_response_that_does_not_say_what_it_used_or_cannot_have_used_it_is_refused() {
    let silent = ModelResponse { usage: None, ..response(&[]) };
    let effects = Bench::of(under(policy())).answered(model(0, silent)).look();
    assert_eq!((failure(&effects).tag(), effects.len()), ("UsageMissing", 2));
    let usage =
        Usage { input_tokens: 5, cache_read_tokens: 3, cache_write_tokens: 3, ..Usage::default() };
    let impossible = ModelResponse { usage: Some(usage), ..response(&[]) };
    let effects = Bench::of(under(policy())).answered(model(0, impossible)).look();
    assert_eq!((failure(&effects).tag(), effects.len()), ("UsageImpossible", 2));
    assert_eq!(Usage { input_tokens: 6, ..usage }.uncached_tokens(), 0);
    assert!(!Usage { cache_read_tokens: u64::MAX, ..usage }.is_possible());
}

/// A run whose time is limited and that began at 1 000.
fn hurried(now: u64) -> (Bench, Vec<Effect>) {
    let allowance = Allowance { duration: Some(DurationMs(500)), ..Allowance::default() };
    let story = Story::new().tell([ONE.input()]);
    let bench = Bench::resting_with(under(gentle(allowance)), &story, 1);
    let mut bench = bench.told(Input::Resumed { now: Timestamp(now) });
    let effects = bench.look();
    (bench, effects)
}

#[test]
fn run_027_time_counts_from_the_first_input_whoever_goes_on() {
    let (_, effects) = hurried(1_400);
    let [Effect::Schedule { timer: Timer::Deadline, after }, _] = &effects[..] else {
        panic!("{effects:?}")
    };
    assert_eq!(*after, DurationMs(100), "what is left of it");
    let (_, effects) = hurried(1_500);
    assert_eq!(limit(&effects), PolicyLimit::Budget(Dimension::Duration));
    assert_eq!(effects.len(), 1, "nothing is asked any more");
}

#[test]
fn run_027_a_run_whose_time_is_over_begins_nothing_and_keeps_what_comes_back() {
    let (bench, _) = hurried(1_000);
    let mut bench = bench.responds(0, &["pay", "look"]).authorized(0);
    bench.look();
    let mut bench = bench.told(Input::Due(Timer::Deadline));
    assert_eq!(bench.look(), [], "two calls are still out");
    let mut bench = bench.returns(ONE.start(0, 1, 1));
    assert_eq!(committed(&bench.look()).len(), 1);
    let effects = bench.returns(ONE.start(0, 0, 1)).look();
    assert_eq!(committed(&effects).len(), 1);
    assert_eq!(limit(&effects), PolicyLimit::Budget(Dimension::Duration));
}

#[test]
fn run_027_while_the_model_answers_the_end_of_time_ends_the_run() {
    let (bench, _) = hurried(1_000);
    let mut bench = bench.told(Input::Due(Timer::Deadline));
    assert_eq!(limit(&bench.look()), PolicyLimit::Budget(Dimension::Duration));
    assert_eq!(bench.responds(0, &[]).look(), [], "what it says then comes too late");
}

#[test]
fn run_018_an_allowance_only_tightens_and_never_to_nothing() {
    let policy = Allowance { turns: Some(4), tokens: Some(100), ..Allowance::default() };
    let given =
        Allowance { turns: Some(9), tokens: Some(0), tool_calls: Some(3), ..Allowance::default() };
    let expected =
        Allowance { turns: Some(4), tokens: Some(1), tool_calls: Some(3), ..Allowance::default() };
    assert_eq!(policy.tightened(&given), expected);
    assert_eq!(policy.tightened(&Allowance::default()), policy);
}

#[test]
fn run_018_what_a_caller_allows_is_canonical_and_holds_for_whoever_goes_on() {
    let Record::InputRecorded(input) = ONE.input() else { panic!("an input") };
    let allowance = Allowance { turns: Some(1), ..Allowance::default() };
    let input = Record::InputRecorded(InputRecorded { allowance, ..input });
    let story = Story::new().tell([input]).tell([ONE.responded(0, &["look"])]);
    let story = story.tell([ONE.tool_settled(ONE.call(0, 0), success("result"))]);
    let effects = Bench::live(&story, 1).look();
    assert_eq!(limit(&effects), PolicyLimit::Budget(Dimension::Turns));
}

#[test]
fn run_021_a_status_note_ends_the_request_and_enters_no_history() {
    let allowance = Allowance { turns: Some(9), tokens: Some(1_000), ..Allowance::default() };
    let policy = AgentPolicy { status_note: true, ..gentle(allowance) };
    let bench = Bench::of(under(policy)).answered(model(0, used(&["look"], 700, 0)));
    let effects = bench.authorized(0).returns(ONE.start(0, 0, 1)).look();
    let request = request(&effects);
    let gauge = |dimension, used, limit| Gauge { dimension, used, limit };
    let expected = [gauge(Dimension::Turns, 1, 9), gauge(Dimension::Tokens, 700, 1_000)];
    assert_eq!((&request.status[..], request.messages.len()), (&expected[..], 3));
}

#[test]
fn case_bu_07_a_lost_question_is_charged_for_what_it_showed() {
    let input = |text_of: &str| match ONE.input() {
        Record::InputRecorded(it) => {
            Record::InputRecorded(InputRecorded { input: text(text_of), ..it })
        }
        other => other,
    };
    let long = "x".repeat(398);
    let allowance = Allowance { tokens: Some(99), ..Allowance::default() };
    let story = Story::new().tell([input(&long)]);
    let bench = Bench::resting_with(under(gentle(allowance)), &story, 2);
    let mut bench = bench.told(RESUMED);
    let effects = bench.look();
    let [Record::ModelInterrupted(lost)] = &committed(&effects)[..] else { panic!("{effects:?}") };
    assert_eq!(lost.lost_tokens, 111, "input, instructions and tools");
    assert_eq!(request(&effects).tools, ToolChoice::Forbidden, "that used the budget up");
}

#[test]
fn run_029_failures_in_a_row_count_in_declaration_order_and_end_the_run() {
    let binding = under(AgentPolicy { repeated_failures: 3, ..policy() });
    let failed = |start| {
        let outcome = Arc::new(ToolOutcome::Failure(Diagnostic::cut("No", "no")));
        Answer::Tool { start, outcome }
    };
    // Declared: failure, success, failure, failure: two in a row, whatever returns first.
    let bench = Bench::of(binding.clone()).responds(0, &["look"; 4]).authorized(0);
    let bench = bench.answered(failed(ONE.start(0, 3, 1))).answered(failed(ONE.start(0, 0, 1)));
    let bench = bench.answered(failed(ONE.start(0, 2, 1)));
    let mut bench = bench.returns(ONE.start(0, 1, 1));
    assert_eq!(questions(&bench.look()).last(), Some(&"model.call"));
    let bench = bench.responds(1, &["look"]).authorized(1);
    let effects = bench.answered(failed(ONE.start(1, 0, 1))).look();
    assert_eq!(limit(&effects), PolicyLimit::RepeatedFailures);
    let Settlement::Failed { diagnostic, .. } = settlement(&effects) else { panic!() };
    assert_eq!(diagnostic.tag(), "RepeatedFailures");
    // Zero means any number.
    let bench = Bench::of(under(policy())).responds(0, &["look"; 5]).authorized(0);
    let mut bench = (0..5).fold(bench, |bench, at| bench.answered(failed(ONE.start(0, at, 1))));
    assert_eq!(questions(&bench.look()).last(), Some(&"model.call"));
}
