//! What questions of the model have used that came to nothing (BU-07).
//!
//! Each is recorded when it is known to have come to nothing, before anything else is asked. So a
//! budget counts it, and a run that is resumed counts what a run that goes on counts. What a
//! question has used is what its stream said last; where it said nothing, what is reserved for a
//! question. A provider that turns a question away has not begun with it, and uses nothing.

use super::State;
use super::context::estimate;
use super::step::Effects;
use crate::agent::{LostResponse, Messages, ModelResponse, Usage, UsageReporting};
use crate::identity::Turn;
use crate::record::{ModelInterrupted, Record};

impl State {
    /// What a question that shows these messages is taken to use where nobody says: what the agent's
    /// policy counts for a response (BU-09), or else the estimate of the request.
    pub(super) fn reserve(&self, messages: &Messages) -> Usage {
        let input_tokens = match self.policy().usage {
            UsageReporting::Unreported { tokens } => tokens,
            UsageReporting::Reported => estimate(self.agent(), messages),
        };
        Usage { input_tokens, ..Usage::default() }
    }

    /// Records what a question has used that showed these messages and has no response.
    pub(super) fn charge(
        &mut self,
        turn: Turn,
        lost: &LostResponse,
        messages: &Messages,
        effects: &mut Effects,
    ) {
        match lost.used {
            Some(used) => self.record_lost(turn, used, effects),
            None if lost.fault.is_turned_away() => {}
            None => self.record_lost(turn, self.reserve(messages), effects),
        }
    }

    /// Records what a question has used whose response is of no use: what that says, if it can be.
    pub(super) fn charge_useless(
        &mut self,
        turn: Turn,
        useless: &ModelResponse,
        messages: &Messages,
        effects: &mut Effects,
    ) {
        let said = useless.usage.filter(Usage::is_possible);
        let used = said.unwrap_or_else(|| self.reserve(messages));
        self.record_lost(turn, used, effects);
    }

    /// Records that a question came to nothing, and what it has used.
    pub(super) fn record_lost(&mut self, turn: Turn, used: Usage, effects: &mut Effects) {
        let Some(run) = self.run() else { return };
        let record = ModelInterrupted {
            submission: self.submission,
            turn,
            epoch: self.epoch,
            ordinal: run.overhead.lost,
            lost_tokens: used.tokens(),
            lost_cost_micros: used.cost_micros,
        };
        let before = self.gauges();
        self.commit(alloc::vec![Record::ModelInterrupted(record)], effects);
        self.warn(&before, effects);
    }
}
