//! One run, told what the outside answers and shown what it asks for.

mod answers;
mod approvals;
mod batches;
mod belonging;
mod budgets;
mod checks;
mod clearance;
mod context;
mod contract;
mod ephemeral;
mod flights;
mod interruption;
mod judgement;
mod kept;
mod lost;
mod places;
mod resumption;
mod retries;
mod sequences;
mod steering;
mod steps;
mod telling;
mod turns;
mod unsure;

use alloc::sync::Arc;
use alloc::vec::Vec;

use super::*;
use crate::agent::{Diagnostic, Dimension, ModelFault, ModelResponse, Purpose, ToolOutcome};
use crate::contract::Machine;
use crate::effect::{Answer, Authorization, External, Invocation};
use crate::identity::{Epoch, RunId, Timestamp, ToolCallId, Turn};
use crate::record::{Doubt, PolicyLimit, Record, Settlement};
use crate::testkit::story::{Story, Tale, response, success};
use crate::testkit::{binding, call};

const ONE: Tale = Tale("1");

const RESUMED: Input = Input::Resumed { now: Timestamp(1_000) };

/// A run and everything that it has asked for since it was last looked at.
#[derive(Clone, Debug)]
struct Bench {
    state: State,
    effects: Vec<Effect>,
}

impl Bench {
    /// A run that rests on a log, under an epoch.
    fn resting(story: &Story, epoch: u64) -> Self {
        Self::resting_with(binding(), story, epoch)
    }

    fn resting_with(binding: Arc<crate::agent::Binding>, story: &Story, epoch: u64) -> Self {
        let conversation = call("1", "").conversation;
        let fold = story.fold.clone();
        let state = State::new(binding, conversation, ONE.submission(), Epoch(epoch), fold);
        Self { state, effects: Vec::new() }
    }

    /// A run that goes on from a log, under an epoch.
    fn live(story: &Story, epoch: u64) -> Self {
        Self::resting(story, epoch).told(Input::Resumed { now: Timestamp(1_000) })
    }

    /// A run of an agent that has its input and asks the model for the first time.
    fn of(binding: Arc<crate::agent::Binding>) -> Self {
        let story = Story::new().tell([ONE.input()]);
        let mut bench = Self::resting_with(binding, &story, 1).told(RESUMED);
        assert_eq!(questions(&bench.look()), ["model.call"]);
        bench
    }

    /// A run that has its input and asks the model for the first time.
    fn fresh() -> Self {
        Self::live(&Story::new().tell([ONE.input()]), 1)
    }

    /// Told something, in a host that says at once what it lets through: nothing is granted in it,
    /// and it has no policy. What comes of that is looked at by the tests of clearance.
    fn told(self, input: Input) -> Self {
        let mut bench = self.told_alone(input);
        let is_about_calls = |it: &Effect| matches!(it, Effect::External(External::Clear { .. }));
        while let Some(at) = bench.effects.iter().position(is_about_calls) {
            let Effect::External(question) = bench.effects.remove(at) else { unreachable!() };
            let answer = question.cleared().expect("a question about calls");
            bench = bench.told_alone(Input::Answered(answer));
        }
        bench
    }

    fn told_alone(mut self, input: Input) -> Self {
        let step = Run::step(self.state, input);
        self.state = step.state;
        // What a watched run tells is looked at by the tests of telling alone.
        let told = |effect: &Effect| matches!(effect, Effect::Tell(_));
        self.effects.extend(step.effects.into_iter().filter(|effect| !told(effect)));
        self
    }

    fn answered(self, answer: Answer) -> Self {
        self.told(Input::Answered(answer))
    }

    /// The model answers with these calls, or in words.
    fn responds(self, turn: u32, calls: &[&str]) -> Self {
        self.answered(model(turn, response(calls)))
    }

    fn authorized(self, turn: u32) -> Self {
        self.answered(authorizer(turn, Authorization::Allowed))
    }

    fn returns(self, start: Doubt) -> Self {
        self.answered(tool(start))
    }

    /// Everything that was asked for since the last look.
    fn look(&mut self) -> Vec<Effect> {
        core::mem::take(&mut self.effects)
    }

    fn fold(&self) -> &crate::projection::Projection {
        self.state.projection()
    }
}

fn model(turn: u32, response: ModelResponse) -> Answer {
    answered_with(turn, Ok(Arc::new(response)))
}

fn answered_with(turn: u32, response: Result<Arc<ModelResponse>, ModelFault>) -> Answer {
    let (purpose, response) = (Purpose::Respond, response.map_err(Into::into));
    Answer::Model { run: ONE.run(), turn: Turn(turn), purpose, response }
}

fn authorizer(turn: u32, authorization: Authorization) -> Answer {
    Answer::Authorizer { run: ONE.run(), turn: Turn(turn), authorization }
}

fn tool(start: Doubt) -> Answer {
    Answer::Tool { start, outcome: Arc::new(success("result")) }
}

/// The records of the commits among effects, in order.
fn committed(effects: &[Effect]) -> Vec<Record> {
    let records = effects.iter().filter_map(|effect| match effect {
        Effect::Commit(batch) => Some(batch.records().to_vec()),
        Effect::External(_)
        | Effect::Listen
        | Effect::Schedule { .. }
        | Effect::Tell(_)
        | Effect::Settle(_) => None,
    });
    records.flatten().collect()
}

/// What effects ask of the outside, in order.
fn asked(effects: &[Effect]) -> Vec<External> {
    let asked = effects.iter().filter_map(|effect| match effect {
        Effect::External(external) => Some(external.clone()),
        Effect::Commit(_)
        | Effect::Listen
        | Effect::Schedule { .. }
        | Effect::Tell(_)
        | Effect::Settle(_) => None,
    });
    asked.collect()
}

/// The names of what effects ask of the outside, in order.
fn questions(effects: &[Effect]) -> Vec<&'static str> {
    asked(effects).iter().map(|external| external.kind().name()).collect()
}

fn settlement(effects: &[Effect]) -> &Settlement {
    match effects.last() {
        Some(Effect::Settle(settlement)) => settlement,
        other => panic!("{other:?} is no settlement"),
    }
}

/// The diagnostic of a failure that no policy limit explains.
fn failure(effects: &[Effect]) -> &Diagnostic {
    match settlement(effects) {
        Settlement::Failed { diagnostic, limit: None } => diagnostic,
        other => panic!("{other:?} is no failure"),
    }
}

/// The calls that are asked to be authorized.
fn authorizing(external: &External) -> &[ToolCallId] {
    match external {
        External::Authorize { calls, .. } => calls,
        other => panic!("{other:?} asks no authorizer"),
    }
}
