//! What a model is shown: whole batches only, calls paired with results, in declaration order.

use alloc::vec::Vec;

use super::view::{Projection, RunView, TurnView};
use crate::agent::{Message, Messages};
use crate::identity::SubmissionId;

impl Projection {
    /// The messages of a request for the next turn of a submission: the settled runs before it,
    /// and its own turns. One that is settled itself is among the former.
    ///
    /// The settled runs are shared, not copied: what this costs depends on the run's own turns,
    /// which are bounded, and not on the conversation.
    #[must_use]
    pub fn messages(&self, submission: SubmissionId) -> Messages {
        let own = self.submission(submission).filter(|view| view.settled.is_none());
        let own = own.and_then(|view| view.run.as_ref());
        let mut messages = self.transcript().clone();
        if let Some(run) = own {
            run.show(&mut messages);
        }
        messages
    }
}

impl RunView {
    /// Adds the inputs and every turn whose calls all have their result (RUN-005, RUN-006). What
    /// the provider counted counts from the last time that context was made smaller.
    pub(super) fn show(&self, shown: &mut Messages) {
        shown.push(self.input_at, Message::User(self.input.input.clone()));
        let mut late = self.late_inputs.iter().peekable();
        for turn in &self.turns {
            while let Some(input) = late.next_if(|input| input.before <= turn.turn) {
                shown.push(input.at, Message::User(input.input.input.clone()));
            }
            if self.compacted == Some(turn.turn) {
                shown.uncount();
            }
            turn.show(shown);
        }
        if self.compacted == Some(self.next_turn()) {
            shown.uncount();
        }
        shown.extend(late.map(|it| (it.at, Message::User(it.input.input.clone()))));
    }
}

impl TurnView {
    fn show(&self, shown: &mut Messages) {
        let results = self.calls.iter().map(|call| {
            let outcome = call.outcome.clone()?;
            Some(Message::ToolResult { call: call.id, label: call.label.clone(), outcome })
        });
        let results: Option<Vec<Message>> = results.collect();
        let Some(results) = results else { return };
        shown.push(self.at, Message::Assistant(self.response.clone()));
        // A provider that says nothing of the request has not counted it.
        if let Some(usage) = self.response.usage.filter(|usage| usage.input_tokens > 0) {
            shown.count(usage.tokens());
        }
        shown.extend(results.into_iter().map(|result| (self.at, result)));
    }
}
