//! A scripted model: faults on the way to a turn, and summaries.

use std::sync::Arc;

use everstep_machine::agent::{Message, ModelRequest, Purpose, ToolChoice};
use everstep_machine::effect::{Answer, External};
use everstep_machine::identity::{Sequence, Turn};
use everstep_machine::json::CanonicalJson;

use super::json;
use crate::cast::{Cast, ModelAnswer};
use crate::outside::Outside;
use crate::profile::Profile;
use crate::scenario::{Scenario, Submission, Turn as Says};

const SUMMARIZE: Purpose = Purpose::Summarize { through: Sequence(0) };

/// Two runs whose second turn is reached through two faults.
fn cast() -> Cast {
    let turn = Says::says("done").after_rate_limit("Slow", "s", 10).after_unavailable("Down", "d");
    let scenario = Scenario::builder("faults")
        .turn(Says::says("first"))
        .turn(turn)
        .submission(Submission::new("a"))
        .submission(Submission::new("b"));
    Cast::new(Arc::new(scenario.build().unwrap()), Profile::Weak, None)
}

fn ask(
    outside: &mut Outside,
    cast: &Cast,
    client: usize,
    turn: u32,
    purpose: Purpose,
) -> ModelAnswer {
    asked(outside, cast, client, turn, purpose, vec![Message::User(json("1"))])
}

fn asked(
    outside: &mut Outside,
    cast: &Cast,
    client: usize,
    turn: u32,
    purpose: Purpose,
    messages: Vec<Message>,
) -> ModelAnswer {
    let request = ModelRequest {
        agent: cast.binding.definition.clone(),
        run: cast.clients[client].run,
        turn: Turn(turn),
        purpose,
        messages: messages.into_iter().map(|message| (Sequence(0), message)).collect(),
        tools: ToolChoice::Allowed,
        output: None,
        status: Vec::new(),
    };
    match outside.perform(cast, &External::CallModel(Arc::new(request))).answer {
        Answer::Model { response, .. } => response,
        other => panic!("a model answers, not {other:?}"),
    }
}

fn told(answer: ModelAnswer) -> String {
    match answer {
        Ok(response) => response.texts().collect(),
        Err(lost) => lost.fault.diagnostic().tag().to_owned(),
    }
}

#[test]
fn the_first_who_ask_for_a_turn_meet_its_faults_one_each() {
    let (cast, mut outside) = (cast(), Outside::default());
    let mut asks = |client, turn| told(ask(&mut outside, &cast, client, turn, Purpose::Respond));
    assert_eq!([asks(0, 0), asks(0, 0)], ["first", "first"]);
    assert_eq!([asks(0, 1), asks(0, 1), asks(0, 1), asks(0, 1)], ["Slow", "Down", "done", "done"]);
    // The other run has faults of its own, and so has a turn that repeats the last one.
    assert_eq!([asks(1, 1), asks(0, 2), asks(1, 1)], ["Slow", "Slow", "Down"]);
}

#[test]
fn whether_a_fault_was_met_makes_another_world_and_nothing_else_does() {
    let (cast, print) = (cast(), |outside: &Outside| crate::fingerprint::of(outside));
    let mut outside = Outside::default();
    let start = print(&outside);
    ask(&mut outside, &cast, 0, 0, Purpose::Respond).unwrap();
    ask(&mut outside, &cast, 0, 1, SUMMARIZE).unwrap();
    assert_eq!(print(&outside), start);
    ask(&mut outside, &cast, 0, 1, Purpose::Respond).unwrap_err();
    assert_ne!(print(&outside), start);
}

#[test]
fn run_023_a_summary_repeats_the_inputs_that_it_is_shown() {
    let shown = "Keep it short.\nSummary of what came before: So far: one\n\
                 User: two\nAssistant: no\nUser: three\n";
    let (cast, mut outside) = (cast(), Outside::default());
    let question = CanonicalJson::string(shown).unwrap();
    let answer = asked(&mut outside, &cast, 0, 0, SUMMARIZE, vec![Message::User(question)]);
    assert_eq!(told(answer), "So far: one two three");
}
