//! A run whose log nobody keeps: the same machine, with every commit answered at once (RUN-001).

use alloc::sync::Arc;
use alloc::vec::Vec;

use super::State;
use crate::admission::{Call, creation};
use crate::agent::ExecutionClass;
use crate::identity::{Epoch, RunId, Timestamp, Token, ToolCallId};
use crate::projection::{CallView, Projection};
use crate::record::{Batch, BatchError, InputKind, InputRecorded, Record};

/// The first epoch of a run that no other one can take over.
const FIRST: Epoch = Epoch(1);

impl State {
    /// A run of a call, in a conversation of its own that ends with it. `now` is when it begins,
    /// `entropy` what its pauses are drawn from. The two batches that a durable run would find in
    /// its log come with it, for whoever wants to keep the history.
    ///
    /// # Errors
    /// The input is over the bounds of a record.
    pub fn ephemeral(
        call: &Call,
        now: Timestamp,
        entropy: Token,
    ) -> Result<(Self, [Arc<Batch>; 2]), BatchError> {
        let (conversation, submission) = (call.conversation.clone(), call.submission());
        let created = Arc::new(creation(&call.binding, &conversation, &call.tenant)?);
        let input = InputRecorded {
            submission,
            principal: call.principal.clone(),
            run: RunId::derive(submission),
            input: call.input.clone(),
            kind: InputKind::First { bound: call.binding.bound() },
            at: now,
            allowance: call.allowance,
        };
        let records = alloc::vec![Record::InputRecorded(input)];
        let input = Arc::new(Batch::new(&conversation, records)?);
        let mut projection = Projection::default();
        for (epoch, batch) in [(Epoch(0), &created), (FIRST, &input)] {
            let applied = projection.apply(epoch, batch);
            applied.expect("DUR-015: a creation and an input are the beginning of any history");
        }
        let binding = call.binding.clone();
        let state = Self::new(binding, conversation, submission, FIRST, projection);
        // No store holds what its records would name.
        let state = Self { keeps: false, ..state };
        Ok((state.with_entropy(entropy), [created, input]))
    }

    /// Takes the next epoch, when the run rests because of starts that gave no answer and each of
    /// them may be made again: nobody else will ever claim it, so whoever drives it does. Whether
    /// it has, and so is to be resumed.
    #[must_use]
    pub fn again(&mut self) -> bool {
        let may = self.may_go_on();
        if may {
            self.epoch = self.epoch.next();
        }
        may
    }

    fn may_go_on(&self) -> bool {
        let Some(view) = self.view() else { return false };
        let open: Vec<ToolCallId> = view.open_starts().map(|(start, _)| start.call).collect();
        let mut calls = view.calls().filter(|call| open.contains(&call.id));
        let is_repeatable = |call: &CallView| {
            let class = self.agent().class_of(&call.tool);
            let may = matches!(class, ExecutionClass::Idempotent | ExecutionClass::Durable);
            may && call.may_start_again()
        };
        !open.is_empty() && calls.all(is_repeatable)
    }
}
