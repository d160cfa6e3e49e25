//! What the final answer has to be, and the application's word in it.

use super::*;
use crate::agent::{AgentPolicy, DispositionRule, OnExhaustion, Pointer, ResponsePart, Schema};
use crate::effect::CheckSubject;
use crate::json::CanonicalJson;
use crate::record::FinishKind;
use crate::testkit::{policy, under};

fn contract() -> AgentPolicy {
    let rule = DispositionRule {
        at: Pointer::new("/outcome").unwrap(),
        allowed: ["refunded", "declined"].map(Arc::from).to_vec(),
    };
    let output = Schema::parse(br#"{"type":"object"}"#).unwrap();
    AgentPolicy { output: Some(output), disposition: Some(rule), ..policy() }
}

fn says(turn: u32, text: &str) -> Answer {
    model(
        turn,
        ModelResponse { parts: alloc::vec![ResponsePart::Text(text.into())], ..response(&[]) },
    )
}

fn checked(bench: Bench, why: Option<&str>) -> Vec<Effect> {
    let verdicts = alloc::vec![why.map(|why| Diagnostic::cut("Schema", why))];
    let turn = bench.state.run().unwrap().turns.last().unwrap().turn;
    let (run, subject) = (ONE.run(), CheckSubject::Output);
    let mut bench = bench.answered(Answer::Checked { run, turn, subject, verdicts });
    bench.look()
}

#[test]
fn run_025_the_contract_is_shown_with_every_request_and_the_answer_held_to_it() {
    let story = Story::new().tell([ONE.input()]);
    let mut bench = Bench::resting_with(under(contract()), &story, 1).told(RESUMED);
    let External::CallModel(request) = &asked(&bench.look())[0] else { panic!("a request") };
    assert_eq!(request.output, contract().output);
    assert_eq!(request.messages.len(), 1, "it enters no history");
    let mut bench = bench.answered(says(0, r#"{ "outcome": "refunded" }"#));
    let effects = bench.look();
    assert_eq!(questions(&effects), ["schema.check"]);
    let effects = checked(bench, None);
    let Settlement::Completed { output, finish, disposition } = settlement(&effects) else {
        panic!("{effects:?}")
    };
    assert_eq!(*output, CanonicalJson::parse(br#"{"outcome":"refunded"}"#).unwrap());
    assert_eq!((*finish, disposition.as_deref()), (FinishKind::Completed, Some("refunded")));
}

#[test]
fn run_025_an_answer_that_breaks_the_contract_is_no_success() {
    let bench = Bench::of(under(contract()));
    let effects = bench.clone().answered(says(0, "refunded")).look();
    assert_eq!(failure(&effects).tag(), "OutputInvalid", "no JSON at all");
    let mut bench = bench.answered(says(0, "[]"));
    bench.look();
    let effects = checked(bench, Some("not an object"));
    assert_eq!(
        (failure(&effects).tag(), failure(&effects).message()),
        ("OutputInvalid", "not an object")
    );
}

#[test]
fn run_026_a_disposition_that_is_not_allowed_fails_the_run() {
    for answer in [r#"{"outcome":"lost"}"#, r#"{"outcome":1}"#, "{}"] {
        let mut bench = Bench::of(under(contract())).answered(says(0, answer));
        bench.look();
        assert_eq!(failure(&checked(bench, None)).tag(), "DispositionInvalid", "{answer}");
    }
}

#[test]
fn run_026_a_final_answer_on_an_exhausted_budget_has_no_disposition() {
    let mut policy = AgentPolicy { on_exhaustion: OnExhaustion::FinalAnswer, ..contract() };
    policy.allowance.turns = Some(1);
    let bench = Bench::of(under(policy)).responds(0, &["look"]).authorized(0);
    let bench = bench.returns(ONE.start(0, 0, 1));
    let mut bench = bench.answered(says(1, r#"{"outcome":"refunded"}"#));
    bench.look();
    let effects = checked(bench, None);
    let Settlement::Completed { finish, disposition, .. } = settlement(&effects) else { panic!() };
    let exhausted = FinishKind::BudgetExhausted(Dimension::Turns);
    assert_eq!((*finish, disposition), (exhausted, &None));
}

#[test]
fn d_14_whoever_takes_over_checks_the_answer_again() {
    let bench = Bench::of(under(contract())).answered(says(0, "{}"));
    let mut bench = bench.told(Input::Stopped);
    bench.look();
    bench.state = bench.state.with_flights(Flights::default());
    assert_eq!(questions(&bench.told(RESUMED).look()), ["schema.check"]);
}
