//! What questions have used that came to nothing (BU-07).

use super::*;
use crate::agent::{
    AgentPolicy, Allowance, LostResponse, ModelRetry, OnExhaustion, Usage, UsageReporting,
};
use crate::identity::DurationMs;
use crate::record::ModelInterrupted;
use crate::testkit::{policy, under};

fn patient(allowance: Allowance, usage: UsageReporting) -> Arc<crate::agent::Binding> {
    let retry = ModelRetry { retries: 3, first: DurationMs(1_000), longest: DurationMs(5_000) };
    let on_exhaustion = OnExhaustion::FinalAnswer;
    under(AgentPolicy { retry, allowance, usage, on_exhaustion, ..policy() })
}

fn tokens(most: u64) -> Allowance {
    Allowance { tokens: Some(most), ..policy().allowance }
}

fn broken(used: Option<Usage>) -> Answer {
    let fault = ModelFault::Unavailable(Diagnostic::cut("Reset", "the connection was reset"));
    lost(fault, used)
}

fn lost(fault: ModelFault, used: Option<Usage>) -> Answer {
    let (run, turn, purpose) = (ONE.run(), Turn(0), Purpose::Respond);
    Answer::Model { run, turn, purpose, response: Err(LostResponse { fault, used }) }
}

fn used(tokens: u64, cost_micros: u64) -> Option<Usage> {
    Some(Usage { input_tokens: tokens, cost_micros, ..Usage::default() })
}

/// Tokens and money of each question that is recorded to have come to nothing.
fn charged(effects: &[Effect]) -> Vec<(u32, u64, u64)> {
    let charges = committed(effects).into_iter().map(|record| match record {
        Record::ModelInterrupted(ModelInterrupted {
            ordinal,
            lost_tokens,
            lost_cost_micros,
            ..
        }) => (ordinal, lost_tokens, lost_cost_micros),
        other => panic!("{other:?}"),
    });
    charges.collect()
}

fn again(bench: Bench) -> Bench {
    bench.told(Input::Due(Timer::Retry(Turn(0))))
}

/// Records of a run in its order, each batch under an epoch: another run that reads them.
fn reread(bench: &Bench, binding: &Arc<crate::agent::Binding>, epoch: u64) -> Bench {
    let mut state = State::new(
        binding.clone(),
        call("1", "").conversation,
        ONE.submission(),
        Epoch(epoch),
        bench.fold().clone(),
    );
    state.now = bench.state.now;
    Bench { state, effects: Vec::new() }.told(RESUMED)
}

#[test]
fn bu_07_every_question_is_charged_by_its_last_word_and_else_by_what_is_reserved() {
    let bench = Bench::of(patient(policy().allowance, UsageReporting::Reported));
    let mut bench = bench.answered(broken(used(100, 7)));
    assert_eq!(charged(&bench.look()), [(0, 100, 7)]);
    let mut bench = again(bench).answered(broken(None));
    assert_eq!(charged(&bench.look()), [(1, 12, 0)], "the estimate of the request");
    let mut bench = again(bench).answered(broken(used(50, 1)));
    assert_eq!(charged(&bench.look()), [(2, 50, 1)]);
    let overhead = bench.state.run().map(|run| run.overhead).unwrap();
    assert_eq!((overhead.lost, overhead.tokens, overhead.cost_micros), (3, 162, 8));
    let bench = again(bench).responds(0, &[]);
    assert_eq!(bench.state.run().map(|run| run.overhead.lost), Some(0));
    assert_eq!(bench.state.run().map(|run| run.turns[0].overhead), Some(overhead));
}

#[test]
fn bu_07_where_nobody_reports_a_lost_question_takes_its_reservation() {
    let usage = UsageReporting::Unreported { tokens: 300 };
    let bench = Bench::of(patient(policy().allowance, usage));
    let mut bench = bench.answered(broken(None));
    assert_eq!(charged(&bench.look()), [(0, 300, 0)]);
    let story = Story::new().tell([ONE.input()]);
    let binding = patient(policy().allowance, usage);
    let mut after_a_crash = Bench::resting_with(binding, &story, 2).told(RESUMED);
    assert_eq!(charged(&after_a_crash.look()), [(0, 300, 0)]);
}

#[test]
fn bu_07_a_provider_that_turns_a_question_away_has_used_what_it_says() {
    let why = || Diagnostic::cut("Why", "why");
    let faults = [
        ModelFault::RateLimited { diagnostic: why(), retry_after: None },
        ModelFault::ContextLength(why()),
        ModelFault::Refused(why()),
    ];
    for fault in faults {
        let fresh = || Bench::of(patient(policy().allowance, UsageReporting::Reported));
        let mut bench = fresh().answered(lost(fault.clone(), None));
        assert_eq!(charged(&bench.look()), [], "{fault:?}");
        let mut bench = fresh().answered(lost(fault.clone(), used(9, 1)));
        assert_eq!(charged(&bench.look()), [(0, 9, 1)], "{fault:?}");
    }
}

#[test]
fn bu_07_a_question_that_ends_the_run_is_charged_as_well() {
    let fault = ModelFault::Protocol(Diagnostic::cut("StreamCut", "cut"));
    let bench = Bench::of(patient(policy().allowance, UsageReporting::Reported));
    let effects = bench.answered(lost(fault, used(40, 2))).look();
    assert_eq!(charged(&effects), [(0, 40, 2)]);
    assert_eq!(failure(&effects).tag(), "StreamCut");
}

#[test]
fn bu_07_a_response_that_is_of_no_use_is_charged_before_the_run_ends() {
    use crate::agent::{FinishReason, ModelResponse, ResponsePart};
    let says = |usage| ModelResponse { usage, ..response(&[]) };
    let ends = |finish| ModelResponse { finish, ..says(used(40, 2)) };
    let bytes = "x".repeat(crate::limits::RESPONSE_BYTES + 1);
    let parts = alloc::vec![ResponsePart::Text(bytes.into())];
    let impossible = Usage { input_tokens: 5, cache_read_tokens: 6, ..Usage::default() };
    let estimate = 12;
    for (useless, tag, tokens, cost) in [
        (ends(FinishReason::Length), "ResponseTruncated", 40, 2),
        (ends(FinishReason::Withheld), "ResponseWithheld", 40, 2),
        (ends(FinishReason::ToolCalls), "ResponseContradictory", 40, 2),
        (ModelResponse { parts, ..says(used(40, 2)) }, "ResponseTooLarge", 40, 2),
        (says(Some(impossible)), "UsageImpossible", estimate, 0),
        (says(None), "UsageMissing", estimate, 0),
    ] {
        let bench = Bench::of(patient(policy().allowance, UsageReporting::Reported));
        let effects = bench.answered(model(0, useless)).look();
        assert_eq!(charged(&effects), [(0, tokens, cost)], "{tag}");
        assert_eq!(failure(&effects).tag(), tag);
        assert!(matches!(effects[..], [Effect::Commit(_), Effect::Settle(_)]), "{tag}");
    }
}

#[test]
fn bu_07_lost_questions_use_up_tokens_and_a_final_answer_follows() {
    let binding = patient(tokens(90), UsageReporting::Reported);
    let mut bench = Bench::of(binding.clone()).answered(broken(used(91, 0)));
    bench.look();
    let mut bench = again(bench);
    let [External::CallModel(request)] = &asked(&bench.look())[..] else { panic!() };
    assert_eq!(request.tools, crate::agent::ToolChoice::Forbidden);
    let effects = bench.responds(0, &[]).look();
    let Settlement::Completed { finish, .. } = settlement(&effects) else { panic!("{effects:?}") };
    assert_eq!(*finish, crate::record::FinishKind::BudgetExhausted(Dimension::Tokens));
}

#[test]
fn bu_07_lost_questions_use_up_money_before_there_is_any_response() {
    let allowance = Allowance { cost_micros: Some(10), ..policy().allowance };
    let binding = patient(allowance, UsageReporting::Reported);
    let mut bench = Bench::of(binding.clone()).answered(broken(used(1, 6)));
    assert_eq!(charged(&bench.look()), [(0, 1, 6)]);
    let effects = again(bench).answered(broken(used(1, 5))).look();
    let Settlement::Failed { limit, .. } = settlement(&effects) else { panic!("{effects:?}") };
    assert_eq!(*limit, Some(PolicyLimit::Budget(Dimension::Cost)));
}

/// A crash loses what was not recorded and nothing else: whoever resumes counts what whoever went on
/// counts, and adds what the question in flight may have used.
#[test]
fn bu_07_a_run_that_is_resumed_counts_what_a_run_that_goes_on_counts() {
    let binding = patient(tokens(400), UsageReporting::Unreported { tokens: 150 });
    let mut bench = Bench::of(binding.clone()).answered(broken(used(100, 0)));
    bench.look();
    let mut same = reread(&bench, &binding, 1);
    assert_eq!(charged(&same.look()), [], "the epoch that was charged interrupts nobody");
    assert_eq!(same.fold(), bench.fold());
    let mut next = reread(&bench, &binding, 2);
    assert_eq!(charged(&next.look()), [(1, 150, 0)]);
    assert_eq!(next.state.run().map(|run| run.overhead.tokens), Some(250));
    let mut third = reread(&next, &binding, 3);
    assert_eq!(charged(&third.look()), [(2, 150, 0)]);
    let mut fourth = reread(&third, &binding, 4);
    let effects = fourth.look();
    assert_eq!(charged(&effects), [(3, 150, 0)]);
    let [External::CallModel(request)] = &asked(&effects)[..] else { panic!("{effects:?}") };
    assert_eq!(request.tools, crate::agent::ToolChoice::Forbidden, "550 of 400 are used");
}

/// A run of a second and a half; its input was recorded at 1 000.
fn hurried() -> Arc<crate::agent::Binding> {
    let allowance = Allowance { duration: Some(DurationMs(1_500)), ..policy().allowance };
    patient(allowance, UsageReporting::Unreported { tokens: 300 })
}

#[test]
fn bu_07_a_question_that_is_out_when_the_time_is_over_is_charged_before_the_run_ends() {
    let mut bench = Bench::of(hurried()).told(Input::Due(Timer::Deadline));
    let effects = bench.look();
    assert_eq!(charged(&effects), [(0, 300, 0)]);
    let Settlement::Failed { limit, .. } = settlement(&effects) else { panic!("{effects:?}") };
    assert_eq!(*limit, Some(PolicyLimit::Budget(Dimension::Duration)));
    assert!(matches!(effects[..], [Effect::Commit(_), Effect::Settle(_)]), "it is paid for first");
    // What comes back for it afterwards is nobody's.
    let mut bench = bench.responds(0, &[]);
    assert_eq!(bench.look(), []);
}

#[test]
fn bu_07_a_run_whose_time_ends_between_two_questions_is_charged_once() {
    let bench = Bench::of(hurried()).answered(broken(used(40, 2)));
    let effects = bench.told(Input::Due(Timer::Deadline)).look();
    assert_eq!(charged(&effects), [(0, 40, 2)]);
    assert!(matches!(settlement(&effects), Settlement::Failed { .. }));
}

#[test]
fn bu_07_who_takes_over_a_run_whose_time_is_over_charges_what_may_have_been_asked() {
    let late = Input::Resumed { now: Timestamp(5_000) };
    let story = Story::new().tell([ONE.input()]);
    let charges = |story: &Story, epoch| {
        let bench = Bench::resting_with(hurried(), story, epoch).told(late.clone());
        let effects = bench.clone().look();
        assert!(matches!(settlement(&effects), Settlement::Failed { .. }));
        charged(&effects)
    };
    assert_eq!(charges(&story, 2), [(0, 300, 0)]);
    assert_eq!(charges(&story, 1), [], "this epoch opened the way and has not asked");
    let story = story.tell([ONE.responded(0, &["look"])]);
    assert_eq!(charges(&story, 2), [], "a call was to follow");
}
