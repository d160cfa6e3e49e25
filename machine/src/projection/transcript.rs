//! What a model is shown: whole batches only, calls paired with results, in declaration order.

use alloc::vec::Vec;

use super::view::{Projection, RunView, TurnView};
use crate::agent::Message;
use crate::identity::SubmissionId;

impl Projection {
    /// The messages of a request for the next turn of a submission: the settled runs before it,
    /// and its own turns. One that is settled itself is among the former.
    #[must_use]
    pub fn messages(&self, submission: SubmissionId) -> Vec<Message> {
        let own = self.submission(submission).filter(|view| view.settled.is_none());
        let own = own.and_then(|view| view.run.as_ref());
        let mut messages = self.transcript().to_vec();
        messages.extend(own.into_iter().flat_map(RunView::messages));
        messages
    }
}

impl RunView {
    /// The input and every turn whose calls all have their result (RUN-005, RUN-006).
    pub(super) fn messages(&self) -> impl Iterator<Item = Message> {
        let input = core::iter::once(Message::User(self.input.input.clone()));
        input.chain(self.turns.iter().flat_map(TurnView::messages))
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
