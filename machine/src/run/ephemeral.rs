//! A run whose log nobody keeps: the same machine, with every commit answered at once (RUN-001).

use alloc::sync::Arc;

use super::State;
use crate::admission::{Call, creation};
use crate::identity::{Epoch, RunId, Timestamp, Token};
use crate::projection::Projection;
use crate::record::{Batch, BatchError, InputKind, InputRecorded, Record};

/// The epoch of a run that no other one can take over.
const ONLY: Epoch = Epoch(1);

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
            kind: InputKind::First,
            at: now,
            allowance: call.allowance,
        };
        let records = alloc::vec![Record::InputRecorded(input)];
        let input = Arc::new(Batch::new(&conversation, records)?);
        let mut projection = Projection::default();
        for (epoch, batch) in [(Epoch(0), &created), (ONLY, &input)] {
            let applied = projection.apply(epoch, batch);
            applied.expect("DUR-015: a creation and an input are the beginning of any history");
        }
        let binding = call.binding.clone();
        let state = Self::new(binding, conversation, submission, ONLY, projection);
        Ok((state.with_entropy(entropy), [created, input]))
    }
}
