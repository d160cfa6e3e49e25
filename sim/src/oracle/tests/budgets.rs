//! Budgets, places and final answers, counted by the judge.

use std::sync::Arc;

use everstep_machine::agent::{
    AgentPolicy, Allowance, Diagnostic, Dimension, OnExhaustion, RejectionReason, ToolOutcome,
    Usage,
};
use everstep_machine::identity::{DurationMs, Epoch, Turn};
use everstep_machine::json::CanonicalJson;
use everstep_machine::record::{FinishKind, ModelInterrupted, PolicyLimit, Record, Settlement};

use super::Bench;
use crate::oracle::account::Asked;
use crate::oracle::{Permits, Property, Sometimes};
use crate::scenario::{Scenario, Submission, Tool, Turn as Says, USUAL_USAGE};

/// A run that calls twice in each of two turns, then answers, and uses 15 tokens and 10 millionths
/// a turn.
fn bench(allowance: Allowance, policy: AgentPolicy) -> Bench {
    let usage = Usage { cost_micros: 10, ..USUAL_USAGE };
    let calls = || Says::calls("mail", "{}").and_calls("mail", "{}").using(usage);
    let submission = Submission::new("a")
        .allowance(allowance)
        .turn(calls())
        .turn(calls())
        .turn(Says::says("done").using(usage));
    let scenario = Scenario::builder("budgets")
        .tool(Tool::idempotent("mail"))
        .policy(policy)
        .submission(submission);
    Bench::begun(scenario.build().unwrap())
}

fn fail() -> AgentPolicy {
    AgentPolicy { on_exhaustion: OnExhaustion::Fail, ..AgentPolicy::default() }
}

fn turns(turns: u32) -> Allowance {
    Allowance { turns: Some(turns), ..Allowance::default() }
}

fn calls(calls: u32) -> Allowance {
    Allowance { tool_calls: Some(calls), ..Allowance::default() }
}

fn good() -> ToolOutcome {
    ToolOutcome::Success(CanonicalJson::parse(b"1").unwrap())
}

fn bad() -> ToolOutcome {
    ToolOutcome::Failure(Diagnostic::cut("No", "no"))
}

fn refused() -> ToolOutcome {
    ToolOutcome::Rejected(RejectionReason::OverBudget)
}

/// A turn whose two calls ended like this.
fn turn(bench: &mut Bench, turn: u32, outcomes: [ToolOutcome; 2]) {
    let mut records = vec![bench.response_to(0, turn)];
    let results = outcomes.into_iter().enumerate();
    records.extend(results.map(|(index, outcome)| bench.result(turn, index, outcome)));
    bench.records(records);
}

/// Prepares the first call of the first turn.
fn prepares(bench: &mut Bench) -> Option<Property> {
    let command = bench.append(1, vec![bench.prepared(0, 1)]);
    let permits = bench.given(1);
    bench.does_with(&command, &permits);
    bench.broken()
}

#[test]
fn run_015_a_call_that_a_budget_forbids_is_found_when_it_is_prepared() {
    let tokens = |tokens| Allowance { tokens: Some(tokens), ..Allowance::default() };
    let cost = |cost| Allowance { cost_micros: Some(cost), ..Allowance::default() };
    for (allowance, expected) in [
        (calls(2), None),
        (calls(1), Some(Property::Barred)),
        (tokens(15), None),
        (tokens(14), Some(Property::Barred)),
        (cost(10), None),
        (cost(9), Some(Property::Barred)),
        (turns(1), None),
    ] {
        let mut bench = bench(allowance, AgentPolicy::default());
        bench.records(vec![bench.response_to(0, 0)]);
        assert_eq!(prepares(&mut bench), expected, "{allowance:?}");
    }
}

#[test]
fn run_016_a_second_final_answer_is_found() {
    let mut bench = bench(calls(1), AgentPolicy::default());
    turn(&mut bench, 0, [refused(), refused()]);
    let answer = bench.response_to(0, 2);
    let as_turn = |bench: &Bench, turn| match (&answer, bench.response_to(0, turn)) {
        (
            everstep_machine::record::Record::ModelResponded(said),
            everstep_machine::record::Record::ModelResponded(mut it),
        ) => {
            it.response = Arc::clone(&said.response);
            everstep_machine::record::Record::ModelResponded(it)
        }
        _ => panic!("responses"),
    };
    bench.records(vec![as_turn(&bench, 1)]);
    assert_eq!(bench.broken(), None);
    bench.records(vec![as_turn(&bench, 2)]);
    assert_eq!(bench.broken(), Some(Property::FinalAnswer));
}

#[test]
fn run_017_a_final_answer_that_calls_is_found() {
    let mut bench = bench(turns(1), AgentPolicy::default());
    turn(&mut bench, 0, [good(), good()]);
    assert_eq!(bench.broken(), None);
    bench.records(vec![bench.response_to(0, 1)]);
    assert_eq!(bench.broken(), Some(Property::FinalAnswer));
}

#[test]
fn run_011_a_final_answer_of_an_agent_that_wants_none_is_found() {
    let mut bench = bench(turns(2), fail());
    turn(&mut bench, 0, [good(), good()]);
    turn(&mut bench, 1, [good(), good()]);
    assert_eq!(bench.broken(), None);
    bench.records(vec![bench.response_to(0, 2)]);
    assert_eq!(bench.broken(), Some(Property::FinalAnswer));
}

/// A question of the first submission for its first turn is charged under an epoch.
fn charges(bench: &mut Bench, epoch: u64, turn: u32, ordinal: u32) -> Option<Property> {
    let lost = Record::ModelInterrupted(ModelInterrupted {
        submission: bench.submission(0),
        turn: Turn(turn),
        epoch: Epoch(epoch),
        ordinal,
        lost_tokens: 1,
        lost_cost_micros: 0,
    });
    let command = bench.append(epoch, vec![lost]);
    assert!(bench.does_at(1_000, &command, &Permits::default()).answer.is_ok());
    bench.broken()
}

#[test]
fn bu_07_a_charge_for_a_question_that_nobody_can_have_asked_is_found() {
    let fresh = || bench(Allowance::default(), AgentPolicy::default());
    let wrong = Some(Property::Charged);
    assert_eq!(charges(&mut fresh(), 1, 0, 0), wrong, "epoch 1 has not asked");
    let mut asked = fresh();
    let run = asked.cast.clients[0].run;
    asked.judge.asked(0, Epoch(1), run, Asked::Something);
    assert_eq!(charges(&mut asked, 1, 0, 0), None);
    assert_eq!(charges(&mut asked, 1, 0, 1), wrong, "it asked once");
    let mut taken_over = fresh();
    taken_over.taken_over();
    assert_eq!(charges(&mut taken_over, 2, 0, 0), None, "epoch 1 may have asked");
    assert_eq!(charges(&mut taken_over, 2, 0, 1), wrong, "that was paid for");
    let mut resolved = fresh();
    resolved.records(vec![resolved.response_to(0, 0), resolved.result(0, 0, good())]);
    resolved.taken_over();
    let command = resolved.append(2, vec![resolved.result(0, 1, good())]);
    assert!(resolved.does_at(1_000, &command, &Permits::default()).answer.is_ok());
    assert_eq!(resolved.broken(), None);
    assert_eq!(charges(&mut resolved, 2, 1, 0), wrong, "epoch 2 opened the way");
}

#[test]
fn bu_07_a_question_that_came_to_nothing_and_is_not_charged_is_found() {
    let ends = |asks: Option<(u64, Asked)>, charged: bool| {
        let mut bench = bench(Allowance::default(), AgentPolicy::default());
        let run = bench.cast.clients[0].run;
        if let Some((epoch, asked)) = asks {
            bench.judge.asked(0, Epoch(epoch), run, asked);
        }
        if charged {
            assert_eq!(charges(&mut bench, 1, 0, 0), None);
        }
        let failed = Settlement::Failed { diagnostic: Diagnostic::cut("No", "no"), limit: None };
        let command = bench.append(1, vec![bench.settled(failed)]);
        bench.does_at(1_500, &command, &Permits::default());
        bench.broken()
    };
    assert_eq!(ends(Some((1, Asked::Something)), false), Some(Property::Charged));
    assert_eq!(ends(Some((1, Asked::Something)), true), None);
    assert_eq!(ends(Some((1, Asked::InVain)), false), None, "it was turned away");
    assert_eq!(ends(Some((0, Asked::Something)), false), None, "an owner that was superseded");
    assert_eq!(ends(None, false), None);
}

#[test]
fn bu_07_of_owners_who_let_go_nothing_is_charged() {
    let mut bench = bench(Allowance::default(), AgentPolicy::default());
    let submission = bench.submission(0);
    bench.judge.note_owner(0, submission, |it| it.let_go(Epoch(1)));
    bench.taken_over();
    assert_eq!(charges(&mut bench, 2, 0, 0), Some(Property::Charged));
}

fn completed(finish: FinishKind) -> Settlement {
    let output = CanonicalJson::string("done").unwrap();
    Settlement::Completed { output, finish, disposition: None }
}

fn limited(limit: PolicyLimit) -> Settlement {
    Settlement::Failed { diagnostic: Diagnostic::cut(limit.tag(), ""), limit: Some(limit) }
}

/// What the judge says of an end, after one turn with these results or after all three.
fn ends(
    allowance: Allowance,
    policy: &AgentPolicy,
    outcomes: [ToolOutcome; 2],
    settlement: Settlement,
) -> Option<Property> {
    let mut bench = bench(allowance, policy.clone());
    turn(&mut bench, 0, outcomes);
    if matches!(settlement, Settlement::Completed { .. }) {
        turn(&mut bench, 1, [good(), good()]);
        bench.records(vec![bench.response_to(0, 2)]);
    }
    assert_eq!(bench.broken(), None);
    let command = bench.append(1, vec![bench.settled(settlement)]);
    bench.does_at(1_500, &command, &Permits::default());
    bench.broken()
}

#[test]
fn run_011_a_finish_that_the_log_does_not_count_up_to_is_found() {
    let policy = AgentPolicy::default();
    let over = |dimension| completed(FinishKind::BudgetExhausted(dimension));
    let stop = || completed(FinishKind::ModelStop);
    let wrong = Some(Property::Limits);
    for (allowance, settlement, expected) in [
        (turns(3), stop(), None),
        (turns(3), over(Dimension::Turns), wrong),
        (turns(3), completed(FinishKind::Completed), wrong),
        (turns(2), over(Dimension::Turns), None),
        (turns(2), stop(), wrong),
        (turns(2), over(Dimension::ToolCalls), wrong),
        (Allowance { tool_calls: Some(3), ..turns(2) }, over(Dimension::Turns), None),
        (Allowance { tool_calls: Some(3), ..turns(3) }, over(Dimension::ToolCalls), None),
        (Allowance { tokens: Some(29), ..turns(3) }, over(Dimension::Tokens), None),
        (Allowance { tokens: Some(30), ..turns(3) }, over(Dimension::Tokens), wrong),
        (Allowance { cost_micros: Some(30), ..turns(3) }, stop(), None),
        (Allowance { cost_micros: Some(29), ..turns(3) }, stop(), wrong),
    ] {
        let found = ends(allowance, &policy, [good(), good()], settlement.clone());
        assert_eq!(found, expected, "{allowance:?} {settlement:?}");
    }
}

#[test]
fn run_011_run_027_a_limit_that_the_log_does_not_show_is_found() {
    let budget = |dimension| limited(PolicyLimit::Budget(dimension));
    let wrong = Some(Property::Limits);
    // The input was recorded at 1 000, the end is at 1 500.
    let time = |span| Allowance { duration: Some(DurationMs(span)), ..Allowance::default() };
    let cost = |cost| Allowance { cost_micros: Some(cost), ..Allowance::default() };
    for (allowance, dimension, expected) in [
        (turns(1), Dimension::Turns, None),
        (turns(2), Dimension::Turns, wrong),
        (calls(1), Dimension::ToolCalls, None),
        (calls(2), Dimension::ToolCalls, wrong),
        (calls(1), Dimension::Tokens, wrong),
        (cost(9), Dimension::Cost, None),
        (cost(10), Dimension::Cost, wrong),
        (time(500), Dimension::Duration, None),
        (time(501), Dimension::Duration, wrong),
    ] {
        let found = ends(allowance, &fail(), [good(), good()], budget(dimension));
        assert_eq!(found, expected, "{allowance:?} {dimension:?}");
    }
    // With a final answer to come, calls that are used up are no reason to fail.
    let policy = AgentPolicy::default();
    let found = ends(calls(1), &policy, [refused(), refused()], budget(Dimension::ToolCalls));
    assert_eq!(found, wrong);
}

#[test]
fn run_029_failures_that_the_log_does_not_show_are_found() {
    let policy = |most| AgentPolicy { repeated_failures: most, ..AgentPolicy::default() };
    let settlement = || limited(PolicyLimit::RepeatedFailures);
    let wrong = Some(Property::Limits);
    for (most, outcomes, expected) in [
        (2, [bad(), bad()], None),
        (3, [bad(), bad()], wrong),
        (1, [good(), bad()], None),
        (1, [bad(), good()], wrong),
        (1, [bad(), refused()], None),
        (0, [bad(), bad()], wrong),
    ] {
        let found = ends(Allowance::default(), &policy(most), outcomes.clone(), settlement());
        assert_eq!(found, expected, "{most} {outcomes:?}");
    }
}

#[test]
fn run_009_a_call_without_a_place_is_found() {
    let policy = AgentPolicy { parallel_calls: 2, ..AgentPolicy::default() };
    let mut bench = bench(Allowance::default(), policy);
    bench.judge.in_flight(&bench.cast, 1);
    assert!(!bench.judge.reached().contains(Sometimes::Full));
    bench.judge.in_flight(&bench.cast, 2);
    assert!(bench.judge.reached().contains(Sometimes::Full));
    assert_eq!(bench.broken(), None);
    bench.judge.in_flight(&bench.cast, 3);
    assert_eq!(bench.broken(), Some(Property::Places));
}
