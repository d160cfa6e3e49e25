//! Making context smaller, before a turn and after a refusal (RUN-023, RUN-024).
//!
//! Only what earlier runs left is ever made smaller, and the records of it stay (CAP-007). What
//! has been done is read from the fold, so whoever resumes goes on where another one stopped. A
//! summary that did not come leaves nothing behind, and whoever resumes asks for it again.

use alloc::sync::Arc;

use super::context::{Old, estimate, tokens};
use super::failure::no_summary;
use super::step::Effects;
use super::{Effect, State, summary};
use crate::agent::{
    LostResponse, Messages, ModelFault, ModelRequest, ModelResponse, Purpose, ToolChoice, Usage,
};
use crate::effect::External;
use crate::identity::{Sequence, Turn};
use crate::limits::WORTHWHILE_SHARE;
use crate::record::{Compaction, CompactionCreated, Record};

/// What makes context smaller before a turn.
enum Shrink {
    Clear(Sequence),
    Summarize(Sequence),
}

impl State {
    /// The messages of the request for a turn, with as little of what is old as the agent's policy
    /// wants. None if a summary of it has to come first.
    pub(super) fn context(&mut self, turn: Turn, effects: &mut Effects) -> Option<Messages> {
        loop {
            let messages = self.projection.messages(self.submission);
            match self.shrink(turn, &messages) {
                None => return Some(messages),
                Some(Shrink::Clear(through)) => self.clear(turn, through, effects),
                Some(Shrink::Summarize(through)) => {
                    self.summarize(turn, through, effects);
                    return None;
                }
            }
        }
    }

    /// What a request over the limit wants: old results go first, and if that is not enough, old
    /// messages. Each at most once a turn, and only if it is worth it.
    fn shrink(&self, turn: Turn, messages: &Messages) -> Option<Shrink> {
        let policy = self.policy().context?;
        let request = estimate(self.agent(), messages);
        if request <= policy.limit_tokens {
            return None;
        }
        let run = self.run()?;
        let old = Old::of(messages, run.input_at, policy.keep_tokens)?;
        let is_worth_it = |bytes: u64| bytes > 0 && tokens(bytes) >= request / WORTHWHILE_SHARE;
        if run.compacted != Some(turn) && is_worth_it(old.clearable) {
            return Some(Shrink::Clear(old.through));
        }
        let has_tried = run.summarized == Some(turn) || self.no_summary == Some(turn);
        (!has_tried && is_worth_it(old.covered)).then_some(Shrink::Summarize(old.through))
    }

    /// Makes context smaller after a refusal for its length, once a turn, and whatever the policy's
    /// limit: the provider knows better. Whether the model will be asked again.
    pub(super) fn shorten(
        &mut self,
        turn: Turn,
        fault: &ModelFault,
        effects: &mut Effects,
    ) -> bool {
        match fault {
            ModelFault::ContextLength(_) if !self.shortened => {}
            ModelFault::ContextLength(_)
            | ModelFault::Unavailable(_)
            | ModelFault::RateLimited { .. }
            | ModelFault::Protocol(_)
            | ModelFault::Refused(_) => return false,
        }
        let (Some(policy), Some(run)) = (self.policy().context, self.run()) else { return false };
        let messages = self.projection.messages(self.submission);
        let Some(old) = Old::of(&messages, run.input_at, policy.keep_tokens / 2) else {
            return false;
        };
        self.shortened = old.clearable > 0 || old.covered > 0;
        if old.clearable > 0 {
            self.clear(turn, old.through, effects);
        }
        // Half of everything is enough to try again without losing more.
        let is_enough = old.clearable >= messages.bytes() / 2;
        if old.covered > 0 && !is_enough {
            self.summarize(turn, old.through, effects);
        } else if self.shortened {
            self.go_on(effects);
        }
        self.shortened
    }

    fn clear(&mut self, turn: Turn, through: Sequence, effects: &mut Effects) {
        self.compact(turn, through, Compaction::ResultsCleared, None, effects);
    }

    fn compact(
        &mut self,
        turn: Turn,
        through: Sequence,
        compaction: Compaction,
        usage: Option<Usage>,
        effects: &mut Effects,
    ) {
        let submission = self.submission;
        let record = CompactionCreated { submission, turn, through, compaction, usage };
        self.commit(alloc::vec![Record::CompactionCreated(record)], effects);
    }

    /// Asks for a summary of everything up to a record of earlier runs.
    fn summarize(&mut self, turn: Turn, through: Sequence, effects: &mut Effects) {
        let Some(run) = self.run().map(|run| run.run) else { return };
        let messages = self.projection.messages(self.submission);
        let purpose = Purpose::Summarize { through };
        let request = ModelRequest {
            agent: self.agent().without_tools(),
            run,
            turn,
            purpose,
            messages: summary::question(self.agent(), &messages, through),
            tools: ToolChoice::Forbidden,
            output: None,
            status: alloc::vec![],
        };
        self.flights.model = Some((turn, purpose));
        effects.push(Effect::External(External::CallModel(Arc::new(request))));
    }

    /// A summary has come, or has not. Without one the turn is asked all the same, unless the
    /// provider has refused it already and nothing is smaller than it was then.
    pub(super) fn summarized(
        &mut self,
        turn: Turn,
        through: Sequence,
        response: Result<Arc<ModelResponse>, LostResponse>,
        effects: &mut Effects,
    ) {
        let messages = self.projection.messages(self.submission);
        let covered = messages.entries().filter(|(at, _)| *at <= through);
        let covered: usize = covered.map(|(_, message)| message.bytes()).sum();
        let made = response.as_ref().ok();
        let made = made.and_then(|it| summary::of(it, covered, self.policy().usage));
        if made.is_none() {
            let question = summary::question(self.agent(), &messages, through);
            self.pay_for_nothing(turn, &response, &question, effects);
        }
        match made {
            Some((words, usage)) => {
                let compaction = Compaction::Summarized(words);
                let before = self.gauges();
                self.compact(turn, through, compaction, Some(usage), effects);
                self.warn(&before, effects);
            }
            None if self.shortened && !self.was_compacted(turn) => {
                return self.settle(no_summary(), effects);
            }
            None => self.no_summary = Some(turn),
        }
        self.go_on(effects);
    }

    /// What asked for a summary and brought none that could be used is paid for like any other
    /// question (BU-07).
    fn pay_for_nothing(
        &mut self,
        turn: Turn,
        response: &Result<Arc<ModelResponse>, LostResponse>,
        question: &Messages,
        effects: &mut Effects,
    ) {
        match response {
            Ok(useless) => self.charge_useless(turn, useless, question, effects),
            Err(lost) => self.charge(turn, lost, question, effects),
        }
    }

    fn was_compacted(&self, turn: Turn) -> bool {
        self.run().is_some_and(|run| run.compacted == Some(turn))
    }
}
