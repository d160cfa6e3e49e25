//! The one durable port: an ordered list of commands for one lane.
//!
//! A store driver contains no rules. For each command it asks for the footprint, loads it, steps
//! the pure machine, writes exactly the changes, and commits. A weak store commits command by
//! command; a strong one may fuse the pipeline into one transaction. The protocol is correct on
//! the weak one.

mod incarnation;

use alloc::sync::Arc;
use alloc::vec::Vec;

pub use incarnation::Incarnation;

use crate::effect::{EffectKind, LedgerKind};
use crate::identity::{ConversationId, Sequence, SubmissionId, Timestamp};
use crate::projection::Reader;
use crate::record::{Batch, BatchKind, Corruption, StoredBatch};
use crate::{agent_state, conversation, ledger};

/// Commands for one lane, in order. Execution stops at the first refusal.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Pipeline {
    /// The conversation, which names both lane and log.
    pub lane: ConversationId,
    /// What to do.
    pub commands: Vec<StoreCommand>,
}

/// One command, atomic by itself.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum StoreCommand {
    /// For the ledger's lane.
    Ledger(ledger::Command),
    /// For the Conversation Log.
    Conversation(conversation::Command),
    /// Read the lane and one row.
    ReadLane(Target),
    /// Read one page of the log, at most [`crate::limits::PAGE_BATCHES`] batches.
    ReadLog {
        /// Sequence of the first record that is wanted; starts a batch.
        from: Sequence,
    },
}

/// Which row a reader wants.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Target {
    /// The row that may be claimed now, if there is one.
    Claimable,
    /// This row.
    Submission(SubmissionId),
    /// This row, for its owner: with what is attached to it.
    Owned(SubmissionId),
    /// The same, for the run that it began: with what the run may take in, too.
    Run(SubmissionId),
}

impl StoreCommand {
    /// The kind of this effect.
    #[must_use]
    pub fn kind(&self) -> EffectKind {
        match self {
            Self::Ledger(command) => EffectKind::Ledger(ledger_kind(command)),
            Self::Conversation(conversation::Command::Materialize { .. }) => {
                EffectKind::Materialize
            }
            Self::Conversation(conversation::Command::Fence { .. }) => EffectKind::Fence,
            Self::Conversation(conversation::Command::Append { batch, .. }) => append_kind(batch),
            Self::ReadLane(_) => EffectKind::ReadLane,
            Self::ReadLog { .. } => EffectKind::ReadLog,
        }
    }
}

/// An append of a creation is refused by the log; until then it is a materialization.
fn append_kind(batch: &Batch) -> EffectKind {
    batch.kind().map_or(EffectKind::Materialize, |kind: BatchKind| EffectKind::Append(kind))
}

fn ledger_kind(command: &ledger::Command) -> LedgerKind {
    match command {
        ledger::Command::Admit(admission) if admission.steers.is_some() => LedgerKind::Steer,
        ledger::Command::Admit(_) => LedgerKind::Admit,
        ledger::Command::Ready { .. } => LedgerKind::Ready,
        ledger::Command::Claim(_) => LedgerKind::Claim,
        ledger::Command::Renew { .. } => LedgerKind::Renew,
        ledger::Command::Release { .. } => LedgerKind::Release,
        ledger::Command::MarkInput { .. } => LedgerKind::MarkInput,
        ledger::Command::Join { .. } => LedgerKind::Join,
        ledger::Command::MarkJoined { .. } => LedgerKind::MarkJoined,
        ledger::Command::RevertJoin { .. } => LedgerKind::RevertJoin,
        ledger::Command::SettleJoined { .. } => LedgerKind::SettleJoined,
        ledger::Command::Abort { .. } => LedgerKind::Abort,
        ledger::Command::MarkUnknown { .. } => LedgerKind::MarkUnknown,
        ledger::Command::Resolve { .. } => LedgerKind::Resolve,
        ledger::Command::CoverUnknown { .. } => LedgerKind::CoverUnknown,
        ledger::Command::Suspend { .. } => LedgerKind::Suspend,
        ledger::Command::Decide { .. } => LedgerKind::Decide,
        ledger::Command::Expire { .. } => LedgerKind::Expire,
        ledger::Command::CoverApprovals { .. } => LedgerKind::CoverApprovals,
        ledger::Command::Retry { .. } => LedgerKind::Retry,
        ledger::Command::Reserve { .. } => LedgerKind::Reserve,
        ledger::Command::Finalize { .. } => LedgerKind::Finalize,
    }
}

/// The answer to one command.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum Reply {
    /// The ledger did it.
    Ledger(ledger::Reply),
    /// The log did it.
    Conversation(conversation::Reply),
    /// What the lane looks like.
    Lane(LaneView),
    /// What the log holds.
    Log(LogPage),
}

/// A lane and one of its rows, read together.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct LaneView {
    /// The lane.
    pub lane: ledger::Lane,
    /// The wanted row.
    pub row: Option<Arc<ledger::Row>>,
    /// Rows beside it, in admission order: for whoever owns it or may, those that are attached to
    /// it; for [`Target::Run`] also those that its run may take in.
    pub beside: Vec<Arc<ledger::Row>>,
    /// The store's time of the reading.
    pub now: Timestamp,
}

impl LaneView {
    /// What a store answers whose clock reads `clock`: it only loads the rows of a footprint.
    ///
    /// # Errors
    /// What is loaded cannot be.
    pub fn read<E>(
        target: Target,
        clock: Timestamp,
        mut load: impl FnMut(ledger::Footprint) -> Result<ledger::Slice, E>,
    ) -> Result<Self, E> {
        use ledger::Footprint;
        let (wanted, footprint) = match target {
            Target::Claimable => {
                let slice = load(Footprint::Candidates(None))?;
                let Some(row) = ledger::candidate(&slice, clock) else {
                    return Ok(Self::of(slice, None, clock));
                };
                let wanted = row.admission.submission;
                (wanted, Footprint::Attached(wanted))
            }
            Target::Submission(wanted) => (wanted, Footprint::Submission(wanted)),
            Target::Owned(wanted) => (wanted, Footprint::Attached(wanted)),
            Target::Run(wanted) => (wanted, Footprint::Offered(wanted)),
        };
        Ok(Self::of(load(footprint)?, Some(wanted), clock))
    }

    fn of(slice: ledger::Slice, wanted: Option<SubmissionId>, clock: Timestamp) -> Self {
        let now = slice.lane.time(clock);
        let ledger::Slice { lane, rows } = slice;
        let is_wanted = |row: &Arc<ledger::Row>| wanted == Some(row.admission.submission);
        let (row, beside): (Vec<_>, Vec<_>) = rows.into_iter().partition(is_wanted);
        let row = row.into_iter().next();
        let beside = if row.is_some() { beside } else { Vec::new() };
        Self { lane, row, beside, now }
    }
}

/// A page of a log and where the log ended when it was read.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct LogPage {
    /// The end of the log; none while it does not exist.
    pub tail: Option<conversation::Tail>,
    /// The batches from the wanted sequence on.
    pub batches: Vec<Arc<StoredBatch>>,
}

/// The answers to a whole pipeline.
pub type Replies = Vec<Reply>;

/// Why a command did nothing.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, thiserror::Error)]
pub enum Refusal {
    /// The ledger says so.
    #[error("the ledger refuses: {0}")]
    Ledger(ledger::Refusal),
    /// The log says so.
    #[error("the conversation refuses: {0}")]
    Conversation(conversation::Refusal),
}

/// Why a pipeline did not go through. A caller handles each shape.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, thiserror::Error)]
pub enum StoreFault {
    /// The command at this position did nothing; those before it stand. Read again.
    #[error("command {at} was refused: {why}")]
    Refused {
        /// Position in the pipeline.
        at: usize,
        /// Why.
        why: Refusal,
    },
    /// Any prefix may have been committed. Send the identical pipeline again.
    #[error("the store did not say how far it got")]
    Indeterminate,
    /// Stop: what is stored is not what was written.
    #[error("the store is corrupt: {0}")]
    Corrupt(Corruption),
}

/// The durable port.
pub trait Store {
    /// Executes a pipeline, command by command or in one transaction.
    ///
    /// # Errors
    /// The three shapes of [`StoreFault`].
    fn execute(&mut self, pipeline: &Pipeline) -> Result<Replies, StoreFault>;

    /// Executes pipelines that wait at the same time, as if one after the other in their order, and
    /// tells each one's answer, in that order too, as soon as it is known. A store that can commit
    /// several of them at once does; an answer is told only when it is durable.
    fn execute_all(
        &mut self,
        pipelines: &[Pipeline],
        answer: &mut dyn FnMut(Result<Replies, StoreFault>),
    ) {
        pipelines.iter().for_each(|pipeline| answer(self.execute(pipeline)));
    }
}

/// A store that others write to as well, of other processes.
pub trait Shared: Store {
    /// Whether anybody else has committed since this was asked last; what this store itself
    /// commits does not count. A hint, and cheap. A store that cannot tell says that nobody has.
    fn changed_elsewhere(&mut self) -> bool;

    /// What somebody has kept of the fold of this lane's log, if the log confirms it (STORE-007).
    /// A store that keeps nothing has none.
    fn checkpoint(&mut self, _: &ConversationId) -> Option<Reader> {
        None
    }

    /// Reads or writes an agent's state (CAP-012), in one transaction with what lane and log say of
    /// whoever asks. A store that has this also does what [`agent_state::closings`] finds in a batch,
    /// in the transaction that appends it. One that keeps no state refuses.
    ///
    /// # Errors
    /// [`StoreFault::Indeterminate`]: it may be written, and the identical command may be sent again.
    /// [`StoreFault::Corrupt`]: what is stored is not what was written. Inside, why it is refused.
    fn agent_state(
        &mut self,
        _: &agent_state::Command,
    ) -> Result<Result<agent_state::Reply, agent_state::Refusal>, StoreFault> {
        Ok(Err(agent_state::Refusal::NotKept))
    }

    /// Keeps what [`Reader::checkpoint`] made of the fold of this lane's log. Anybody may, and
    /// nothing depends on it: what cannot be kept is not.
    fn keep_checkpoint(&mut self, _: &ConversationId, _: &[u8]) {}
}

#[cfg(test)]
mod tests;
