//! What questions of the model have used that came to nothing (BU-07).
//!
//! Each is recorded when it is known to have come to nothing, before anything else is asked. So a
//! budget counts it, and a run that is resumed counts what a run that goes on counts. What a
//! question has used is what its stream said last; where it said nothing, what is reserved for a
//! question. A provider that turns a question away has not begun with it, and uses nothing.
//!
//! A run that ends while a question is out records it too, in the pipeline that fixes its end:
//! nobody will hear of it any more. Whoever takes over and ends a run records what may have been
//! out for its predecessor, whatever it is that ends it.
//!
//! That an owner died is all that is known of it, so a reserve is charged too much in three cases:
//! an owner died behind the boundary and before the question; two owners or more in a row let go
//! without asking, since a lane that is free tells of the last one alone; and an owner let go after
//! its successor had read the lane and before it claimed.

use super::State;
use super::context::estimate;
use super::next::awaits_response;
use super::step::Effects;
use super::summary;
use crate::agent::{
    Diagnostic, LostResponse, Messages, ModelFault, ModelResponse, Purpose, Usage, UsageReporting,
};
use crate::effect::Answer;
use crate::identity::Turn;
use crate::projection::RunView;
use crate::record::{ModelInterrupted, Record};

impl State {
    /// What a question that shows these messages is taken to use where nobody says: what the agent's
    /// policy counts for a response (BU-09), or else the estimate of the request. Whoever ends a run
    /// that is bound to another agent does not know what that one's policy counts.
    pub(super) fn reserve(&self, messages: &Messages) -> Usage {
        let is_own = self.run().is_none_or(|run| run.bound == self.binding.bound());
        let input_tokens = match self.policy().usage {
            UsageReporting::Unreported { tokens } if is_own => tokens,
            UsageReporting::Unreported { .. } | UsageReporting::Reported => {
                estimate(self.agent(), messages)
            }
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
        let Some(record) = self.lost_record(turn, used) else { return };
        let before = self.gauges();
        self.commit(alloc::vec![record], effects);
        self.warn(&before, effects);
    }

    fn lost_record(&self, turn: Turn, used: Usage) -> Option<Record> {
        let run = self.run()?;
        Some(Record::ModelInterrupted(ModelInterrupted {
            submission: self.submission,
            turn,
            epoch: self.epoch,
            ordinal: run.overhead.lost,
            lost_tokens: used.tokens(),
            lost_cost_micros: used.cost_micros,
        }))
    }

    /// Records the question that is out while the run ends: nobody will hear of it any more. It
    /// stays in flight, so that a pipeline which is refused records it again.
    pub(super) fn charge_what_is_out(&mut self, effects: &mut Effects) {
        let Some((turn, purpose)) = self.flights.model else { return };
        self.record_lost(turn, self.reserve(&self.shown_for(purpose)), effects);
    }

    /// What the question that is out is recorded as by whoever stops the run, if there is one: by
    /// the answer that has come back for it and was not acted on, or else by what is reserved. It
    /// is in flight no more; what is returned beside the record is an answer that has it in flight
    /// again if the record does not become canonical.
    pub(crate) fn give_up_what_is_out(
        &mut self,
        answer: Option<Answer>,
    ) -> Option<(Option<Record>, Answer)> {
        let (turn, purpose) = self.flights.model?;
        let run = self.run()?.run;
        self.flights.model = None;
        let answer = answer.unwrap_or_else(|| {
            let used = Some(self.reserve(&self.shown_for(purpose)));
            let response = Err(LostResponse { fault: nobody_listens(), used });
            Answer::Model { run, turn, purpose, response }
        });
        let used = self.used_by(purpose, &answer);
        Some((used.and_then(|used| self.lost_record(turn, used)), answer))
    }

    /// What a question has used that has this answer; none if it was turned away.
    fn used_by(&self, purpose: Purpose, answer: &Answer) -> Option<Usage> {
        let Answer::Model { response, .. } = answer else { return None };
        let said = match response {
            Ok(response) => response.usage.filter(Usage::is_possible),
            Err(lost) if lost.fault.is_turned_away() => return lost.used,
            Err(lost) => lost.used,
        };
        Some(said.unwrap_or_else(|| self.reserve(&self.shown_for(purpose))))
    }

    /// Records the question that may have died with an earlier owner of the run, for whoever ends
    /// it without going on with it. None if there can be none.
    #[must_use]
    pub(crate) fn died_with_an_owner(&self) -> Option<Record> {
        let run = self.run()?;
        let is_lost = self.flights.model.is_none() && self.may_follow_a_question(run);
        let used = || self.reserve(&self.shown_for(Purpose::Respond));
        if is_lost { self.lost_record(run.next_turn(), used()) } else { None }
    }

    /// Whoever takes over and goes on says first that an earlier question is lost, if there can be
    /// one.
    pub(super) fn interrupt(&mut self, effects: &mut Effects) {
        let Some(record) = self.died_with_an_owner() else { return };
        let before = self.gauges();
        self.commit(alloc::vec![record], effects);
        self.warn(&before, effects);
    }

    /// Whether an earlier epoch may have asked what comes next: it opened the way to a question, of
    /// which the log alone says whether there was one to ask. What a budget or the time now forbids
    /// was asked before that was so. Who lets go has nothing out; but it is known of the owner just
    /// before alone that it did, and so only what that one opened.
    fn may_follow_a_question(&self, run: &RunView) -> bool {
        let let_go = self.follows_a_release && run.opened.next() == self.epoch;
        run.opened < self.epoch && !let_go && awaits_response(run)
    }

    /// What a question shows that is asked for this.
    fn shown_for(&self, purpose: Purpose) -> Messages {
        let messages = self.projection.messages(self.submission);
        match purpose {
            Purpose::Respond => messages,
            Purpose::Summarize { through } => summary::question(self.agent(), &messages, through),
        }
    }
}

/// Why nobody heard the end of a question: its run ended first.
fn nobody_listens() -> ModelFault {
    ModelFault::Unavailable(Diagnostic::cut("RunEnded", "the run ended while the model was asked"))
}
