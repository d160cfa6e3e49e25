//! Runs that end while a question of the model is out: it is paid for all the same (BU-07).

use alloc::vec::Vec;

use super::history;
use super::stage::{Fate, Stage};
use crate::agent::{AgentPolicy, UsageReporting};
use crate::attempt::{End, Input};
use crate::record::Record;
use crate::store::Refusal;
use crate::testkit::{policy, under};

const TRANSIENT: Refusal = Refusal::Ledger(crate::ledger::Refusal::NotRunning);

/// Tokens of each question that is recorded to have come to nothing.
fn charged(stage: &Stage) -> Vec<u64> {
    let records = stage.host.store.log.iter().flat_map(|stored| stored.batch().records());
    let tokens = records.filter_map(|record| match record {
        Record::ModelInterrupted(it) => Some(it.lost_tokens),
        _ => None,
    });
    tokens.collect()
}

/// The first question is out, and somebody wants the end.
fn asked() -> Stage {
    let mut stage = Stage::new(&[&["pay"]]);
    stage.until_out(0, "model.call");
    stage.abort();
    stage
}

#[test]
fn bu_07_an_abort_charges_the_question_that_is_out() {
    let mut stage = asked();
    stage.actors[0].told(Input::Woken);
    stage.actors[0].out.clear();
    assert_eq!(stage.finish(0), Some(End::Settled));
    assert_eq!(history(&stage.host), ["input", "interrupted", "abort", "settled"]);
    assert_eq!(charged(&stage), [13], "what is reserved for it");
}

#[test]
fn bu_07_an_answer_that_comes_with_the_abort_is_charged_by_what_it_says() {
    let mut stage = asked();
    stage.actors[0].told(Input::Woken);
    // The look at the lane is out when the answer comes.
    stage.answer(0, 0);
    assert_eq!(stage.finish(0), Some(End::Settled));
    assert_eq!(history(&stage.host), ["input", "interrupted", "abort", "settled"]);
    assert_eq!(charged(&stage), [0], "it says that it has used nothing");
}

#[test]
fn bu_07_a_refusal_of_the_end_charges_the_question_once() {
    for answers in [true, false] {
        let mut stage = asked();
        stage.actors[0].told(Input::Woken);
        if answers {
            stage.answer(0, 0);
        }
        stage.actors[0].out.clear();
        stage.perform(0, Fate::Done);
        stage.perform(0, Fate::Refused(0, TRANSIENT));
        assert_eq!(stage.finish(0), Some(End::Settled));
        assert_eq!(history(&stage.host), ["input", "interrupted", "abort", "settled"]);
    }
}

#[test]
fn bu_07_who_follows_an_abort_of_a_dead_owner_charges_what_that_may_have_asked() {
    let mut stage = asked();
    stage.actors.clear();
    stage.host.wait_for_lease();
    let successor = stage.enter();
    assert_eq!(stage.finish(successor), Some(End::Settled));
    let expected = ["input", "recovery", "abort", "interrupted", "settled"];
    assert_eq!(history(&stage.host), expected);
}

/// Whoever ends a run that is bound to another agent does not count by its own agent's policy.
#[test]
fn bu_07_who_ends_the_run_of_another_agent_charges_the_estimate_and_not_by_its_own_policy() {
    let mut stage = asked();
    stage.actors.clear();
    stage.host.wait_for_lease();
    let usage = UsageReporting::Unreported { tokens: 999 };
    stage.host.binding = under(AgentPolicy { usage, ..policy() });
    let successor = stage.enter();
    assert_eq!(stage.finish(successor), Some(End::Settled));
    assert_eq!(charged(&stage), [13]);
}
