//! Who may write, and over what (ARC-13, DUR-006, STORE-004).
//!
//! The judge keeps the highest epoch of each lane and of each log by itself, from answers alone.
//! What it compares is the command as it was sent: a store that bends the command on its way is
//! found out by its answer.

use everstep_machine::conversation::{self, Command};
use everstep_machine::identity::Epoch;
use everstep_machine::ledger;
use everstep_machine::store::{Refusal, Reply};

use super::{Judge, Property, Sometimes};
use crate::store::Executed;

impl Judge {
    /// A command for a lane: only the last claim's owner changes anything.
    pub(super) fn check_owner(
        &mut self,
        lane: usize,
        command: &ledger::Command,
        executed: &Executed,
    ) {
        let reply = match &executed.answer {
            Ok(Reply::Ledger(reply)) => reply,
            Ok(_) => return,
            Err(why) => return self.note_refusal(*why),
        };
        if let (ledger::Command::Claim(claim), ledger::Reply::Claimed(epoch)) = (command, reply) {
            if executed.changed {
                self.note_death(lane, claim.submission);
                self.note_owner(lane, claim.submission, |it| it.claimed(*epoch));
            }
            return self.check_claim(lane, *epoch, executed.changed);
        }
        let Some(owner) = owner_of(command) else { return };
        let current = self.memory.lanes[lane].claimed;
        if executed.changed && owner.epoch != current {
            self.broken(Property::Fencing, || {
                format!(
                    "{command:?} of epoch {} changed lane {lane}, which is at epoch {current}",
                    owner.epoch
                )
            });
        }
        match command {
            ledger::Command::Renew { .. } if executed.changed => self.note(Sometimes::Renewed),
            ledger::Command::Release { .. } | ledger::Command::Finalize { .. }
                if executed.changed =>
            {
                self.memory_mut().lanes[lane].free = true;
                self.note_release(lane, owner.submission);
                self.note_owner(lane, owner.submission, |it| it.let_go(owner.epoch));
            }
            _ => {}
        }
    }

    fn check_claim(&mut self, lane: usize, epoch: Epoch, changed: bool) {
        let seen = &self.memory.lanes[lane];
        let (current, free) = (seen.claimed, seen.free);
        if epoch < current || (changed && epoch == current) {
            self.broken(Property::Fencing, || {
                format!("lane {lane} was claimed at epoch {epoch} after epoch {current}")
            });
        }
        if changed {
            if !free {
                self.note(Sometimes::TakenOver);
            }
            let seen = &mut self.memory_mut().lanes[lane];
            (seen.claimed, seen.free) = (current.max(epoch), false);
        }
    }

    /// A command for a log: only the current epoch is told that its batch is there, and only
    /// who has read all of it raises it.
    pub(super) fn check_writer(&mut self, lane: usize, command: &Command, executed: &Executed) {
        let reply = match &executed.answer {
            Ok(Reply::Conversation(reply)) => *reply,
            Ok(_) => return,
            Err(why) => return self.note_refusal(*why),
        };
        let seen = &self.memory.lanes[lane];
        let (current, tail) = (seen.fenced, seen.tail);
        match command {
            Command::Materialize { .. } => {}
            Command::Fence { epoch, expected } => {
                if *epoch > current && tail != Some(*expected) {
                    self.broken(Property::FencedTail, || {
                        format!(
                            "log {lane} was fenced at epoch {epoch} over {expected:?}, but it \
                             ends at {tail:?}"
                        )
                    });
                }
                self.check_epoch(lane, *epoch, |epoch, current| epoch >= current);
            }
            Command::Append { epoch, batch, .. } => {
                if *epoch != current {
                    self.broken(Property::Fencing, || {
                        format!(
                            "epoch {epoch} was told that its batch of {:?} is in log {lane}, \
                             which is at epoch {current}",
                            batch.kind()
                        )
                    });
                }
            }
        }
        let (conversation::Reply::Materialized(tail)
        | conversation::Reply::Exists(tail)
        | conversation::Reply::Fenced(tail)
        | conversation::Reply::Appended(tail)) = reply;
        self.check_epoch(lane, tail.epoch, |epoch, current| epoch >= current);
    }

    /// The epoch of a log never falls.
    fn check_epoch(&mut self, lane: usize, epoch: Epoch, fits: fn(Epoch, Epoch) -> bool) {
        let current = self.memory.lanes[lane].fenced;
        if !fits(epoch, current) {
            self.broken(Property::Fencing, || {
                format!("log {lane} answered at epoch {epoch} after epoch {current}")
            });
        }
        if epoch > current {
            self.memory_mut().lanes[lane].fenced = epoch;
        }
    }

    fn note_refusal(&mut self, why: Refusal) {
        let stale = matches!(
            why,
            Refusal::Ledger(ledger::Refusal::OwnershipLost { .. })
                | Refusal::Conversation(conversation::Refusal::Fenced { .. })
        );
        if stale {
            self.note(Sometimes::StaleRefused);
        }
    }
}

fn owner_of(command: &ledger::Command) -> Option<&ledger::Ownership> {
    use ledger::Command;
    match command {
        Command::Renew { owner, .. }
        | Command::Release { owner }
        | Command::MarkInput { owner }
        | Command::Join { owner, .. }
        | Command::MarkJoined { owner, .. }
        | Command::RevertJoin { owner, .. }
        | Command::SettleJoined { owner, .. }
        | Command::MarkUnknown { owner, .. }
        | Command::CoverUnknown { owner, .. }
        | Command::Suspend { owner, .. }
        | Command::Expire { owner, .. }
        | Command::CoverApprovals { owner, .. }
        | Command::CoverIncompatible { owner }
        | Command::Reserve { owner, .. }
        | Command::Finalize { owner, .. } => Some(owner),
        Command::Admit(_)
        | Command::Ready { .. }
        | Command::Claim(_)
        | Command::Abort { .. }
        | Command::Resolve { .. }
        | Command::Decide { .. }
        | Command::Retry { .. }
        | Command::Incompatible { .. }
        | Command::Rebind { .. } => None,
    }
}
