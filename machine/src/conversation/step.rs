//! The rules of a log.
//!
//! A batch is looked at in a fixed order, from what is cheapest to know to what only the log
//! knows, and the first rule that fails answers: is the batch well-formed, does the log exist,
//! is the writer's epoch the current one, is the batch there already, does it follow the tail
//! that was read, are its records new. A replay is answered by the batch id alone, so it succeeds
//! whatever was appended since; but only to the epoch that wrote it. Nobody is told "already
//! there" across a fence, because a paused predecessor would take it for leave to go on.

use alloc::boxed::Box;
use alloc::sync::Arc;
use alloc::vec;

use super::input::{Command, Effect, Refusal, Reply, Stamped};
use super::state::{Change, Committed, Slice, Tail, TailRef};
use crate::contract::{Machine, Step};
use crate::identity::{Epoch, ProducerId, Timestamp};
use crate::record::{Batch, Envelope, Record, StoredBatch};

/// The machine of one Conversation Log.
pub struct Conversation;

impl Machine for Conversation {
    type State = Slice;
    type Input = Stamped;
    type Effect = Effect;

    fn step(mut state: Slice, input: Stamped) -> Step<Slice, Effect> {
        let effects = match decide(&state, &input) {
            Err(refusal) => vec![Effect::Refuse(refusal)],
            Ok(Decided::Same(reply)) => vec![Effect::Reply(reply)],
            Ok(Decided::Changed(change, reply)) => {
                let tail = state.apply(&change);
                vec![Effect::Change(change), Effect::Reply(reply(tail))]
            }
        };
        Step::new(state, effects)
    }
}

/// What becomes of a command that is accepted.
enum Decided {
    /// It finds its work done, or nothing to do.
    Same(Reply),
    /// The log changes, and the answer tells its new tail.
    Changed(Change, fn(Tail) -> Reply),
}

/// A batch and who sends it.
struct Sent<'a> {
    epoch: Epoch,
    producer: &'a ProducerId,
    batch: &'a Arc<Batch>,
}

fn decide(slice: &Slice, input: &Stamped) -> Result<Decided, Refusal> {
    match &input.command {
        Command::Materialize { epoch, producer, created } => {
            let sent = Sent { epoch: *epoch, producer, batch: created };
            materialize(slice, &sent, input.now)
        }
        Command::Fence { epoch, expected } => fence(slice, *epoch, *expected),
        Command::Append { epoch, producer, expected, batch } => {
            let sent = Sent { epoch: *epoch, producer, batch };
            append(slice, &sent, *expected, input.now)
        }
    }
}

/// Creates the log, or says what is there: whoever finds a log has what it came for.
fn materialize(slice: &Slice, sent: &Sent<'_>, now: Timestamp) -> Result<Decided, Refusal> {
    let [Record::ConversationCreated(created)] = sent.batch.records() else {
        return Err(Refusal::NotACreation);
    };
    if *sent.batch.conversation() != slice.conversation
        || created.conversation != slice.conversation
    {
        return Err(Refusal::ForeignBatch);
    }
    let Some(tail) = slice.tail else {
        return Ok(Decided::Changed(commit(slice, sent, now), Reply::Materialized));
    };
    let same =
        tail.epoch == sent.epoch && committed(slice, sent.batch) == Some(sent.as_committed());
    Ok(Decided::Same(if same { Reply::Materialized(tail) } else { Reply::Exists(tail) }))
}

/// Raises the epoch. Only one claim ever takes an epoch, so a log that is at it already was
/// raised by this very command.
fn fence(slice: &Slice, epoch: Epoch, expected: TailRef) -> Result<Decided, Refusal> {
    let tail = slice.tail.ok_or(Refusal::Absent)?;
    if epoch < tail.epoch {
        return Err(Refusal::Fenced { current: tail.epoch });
    }
    if epoch == tail.epoch {
        return Ok(Decided::Same(Reply::Fenced(tail)));
    }
    follows(tail, expected)?;
    Ok(Decided::Changed(Change::Raise(epoch), Reply::Fenced))
}

/// Appends a batch, whole or not at all (DUR-007), once (STORE-004).
fn append(
    slice: &Slice,
    sent: &Sent<'_>,
    expected: TailRef,
    now: Timestamp,
) -> Result<Decided, Refusal> {
    well_formed(slice, sent.batch)?;
    let tail = slice.tail.ok_or(Refusal::Absent)?;
    let fenced = Refusal::Fenced { current: tail.epoch };
    if sent.epoch != tail.epoch {
        return Err(fenced);
    }
    if let Some(there) = committed(slice, sent.batch) {
        return if there.epoch != sent.epoch {
            Err(fenced)
        } else if there.content == sent.batch.content() {
            Ok(Decided::Same(Reply::Appended(tail)))
        } else {
            Err(Refusal::BatchConflict)
        };
    }
    follows(tail, expected)?;
    if sent.batch.record_ids().iter().any(|id| slice.used.contains(id)) {
        return Err(Refusal::RecordReused);
    }
    Ok(Decided::Changed(commit(slice, sent, now), Reply::Appended))
}

/// What can be said of the batch of an append without looking at the log.
fn well_formed(slice: &Slice, batch: &Batch) -> Result<(), Refusal> {
    if batch.records().iter().any(|record| matches!(record, Record::ConversationCreated(_))) {
        return Err(Refusal::NotACreation);
    }
    let mut ids = batch.record_ids().to_vec();
    ids.sort_unstable();
    if ids.windows(2).any(|pair| pair[0] == pair[1]) {
        return Err(Refusal::DuplicateRecord);
    }
    if *batch.conversation() == slice.conversation { Ok(()) } else { Err(Refusal::ForeignBatch) }
}

fn follows(tail: Tail, expected: TailRef) -> Result<(), Refusal> {
    let actual = tail.reference();
    if actual == expected { Ok(()) } else { Err(Refusal::TailConflict { actual }) }
}

/// What the log knows of this batch id. A slice that is used for one command after another may
/// still hold what the command before it met.
fn committed(slice: &Slice, batch: &Batch) -> Option<Committed> {
    slice.committed.filter(|there| there.batch == batch.id())
}

fn commit(slice: &Slice, sent: &Sent<'_>, now: Timestamp) -> Change {
    let (first_sequence, previous) = slice.end();
    let envelope = Envelope {
        conversation: slice.conversation.clone(),
        first_sequence,
        epoch: sent.epoch,
        producer: sent.producer.clone(),
        committed_at: now,
        previous,
    };
    Change::Commit(Box::new(StoredBatch::commit(envelope, Batch::clone(sent.batch))))
}

impl Sent<'_> {
    fn as_committed(&self) -> Committed {
        Committed { batch: self.batch.id(), epoch: self.epoch, content: self.batch.content() }
    }
}
