//! What a model is shown: whole batches only, calls paired with results, in declaration order.

use alloc::vec::Vec;

use super::view::{Projection, RunView, TurnView};
use crate::agent::{Message, Messages};
use crate::identity::{Sequence, SubmissionId};

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
        messages.extend(own.into_iter().flat_map(RunView::messages));
        messages
    }
}

impl RunView {
    /// The inputs and every turn whose calls all have their result (RUN-005, RUN-006).
    pub(super) fn messages(&self) -> Vec<(Sequence, Message)> {
        let mut messages = alloc::vec![(self.input_at, Message::User(self.input.input.clone()))];
        let mut late = self.late_inputs.iter().peekable();
        for turn in &self.turns {
            while let Some(input) = late.next_if(|input| input.before <= turn.turn) {
                messages.push((input.at, Message::User(input.input.input.clone())));
            }
            messages.extend(turn.messages().into_iter().map(|message| (turn.at, message)));
        }
        messages.extend(late.map(|it| (it.at, Message::User(it.input.input.clone()))));
        messages
    }
}

impl TurnView {
    fn messages(&self) -> Vec<Message> {
        let results = self.calls.iter().map(|call| {
            let outcome = call.outcome.clone()?;
            Some(Message::ToolResult { call: call.id, label: call.label.clone(), outcome })
        });
        let results: Option<Vec<Message>> = results.collect();
        let Some(results) = results else { return Vec::new() };
        let mut messages = Vec::with_capacity(results.len() + 1);
        messages.push(Message::Assistant(self.response.clone()));
        messages.extend(results);
        messages
    }
}
