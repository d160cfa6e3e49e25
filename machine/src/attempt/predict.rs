//! Prediction: every command is tried on the attempt's own slices, with the store's own machines,
//! before it is sent. So store and attempt cannot disagree silently.

use alloc::sync::Arc;
use alloc::vec::Vec;

use super::effect::Effect;
use super::state::{Setup, Working};
use crate::admission::creation;
use crate::contract::Machine;
use crate::conversation::{self, Conversation};
use crate::effect::Answer;
use crate::event::{RunEvent, announce};
use crate::ledger::{self, Claim, Ledger, Ownership};
use crate::record::{Batch, Record};
use crate::store::StoreCommand;

/// The attempt's own prediction refuses its own command: a bug, never the world's doing.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Defect;

pub(super) type Predicted = Result<(), Defect>;

/// One step's pipeline while it is being written.
#[derive(Debug, Default)]
pub(super) struct Draft {
    pub(super) commands: Vec<StoreCommand>,
    /// What leaves when the pipeline is acknowledged.
    pub(super) after: Vec<Effect>,
    /// The answers whose consequences are in the pipeline.
    pub(super) consumed: Vec<Answer>,
}

impl Working {
    /// Adds a ledger command.
    pub(super) fn ledger(&mut self, draft: &mut Draft, command: ledger::Command) -> Predicted {
        let now = self.read_at;
        let stamped = ledger::Stamped { command: command.clone(), now };
        let step = Ledger::step(self.slice.clone(), stamped);
        self.slice = step.state;
        if step.effects.iter().any(|effect| matches!(effect, ledger::Effect::Refuse(_))) {
            return Err(Defect);
        }
        draft.commands.push(StoreCommand::Ledger(command));
        Ok(())
    }

    fn log(&mut self, draft: &mut Draft, command: conversation::Command) -> Predicted {
        let now = self.read_at;
        let stamped = conversation::Stamped { command: command.clone(), now };
        let slice = conversation::Slice::new(self.slice.lane.conversation.clone(), self.tail);
        let step = Conversation::step(slice, stamped);
        self.tail = step.state.tail;
        if step.effects.iter().any(|effect| matches!(effect, conversation::Effect::Refuse(_))) {
            return Err(Defect);
        }
        draft.commands.push(StoreCommand::Conversation(command));
        Ok(())
    }

    /// Adds an append of a batch that is folded already.
    pub(super) fn append(
        &mut self,
        setup: &Setup,
        draft: &mut Draft,
        batch: Arc<Batch>,
    ) -> Predicted {
        let expected = self.tail.ok_or(Defect)?.reference();
        let (epoch, producer) = (self.run.epoch(), setup.producer.clone());
        self.log(draft, conversation::Command::Append { epoch, producer, expected, batch })
    }

    /// Tells whoever watches, behind everything that is in the pipeline.
    pub(super) fn tell(&self, draft: &mut Draft, event: RunEvent) {
        let submission = self.submission;
        draft.after.push(Effect::Tell { submission, event });
    }

    /// Folds records and adds their append.
    pub(super) fn record(
        &mut self,
        setup: &Setup,
        draft: &mut Draft,
        records: Vec<Record>,
    ) -> Predicted {
        let batch = self.run.fold(records).ok_or(Defect)?;
        self.state(setup, draft, batch)
    }

    /// Adds the append of a batch of the attempt's own, and tells what it states.
    fn state(&mut self, setup: &Setup, draft: &mut Draft, batch: Arc<Batch>) -> Predicted {
        self.append(setup, draft, batch.clone())?;
        if setup.watched {
            let facts = batch.records().iter().flat_map(announce);
            facts.for_each(|event| self.tell(draft, event));
        }
        Ok(())
    }

    /// The same for several groups of records, each to stand or fall as a whole: in one batch if
    /// they fit, and otherwise each in its own, since every group is bounded and all of them
    /// together are not.
    pub(super) fn record_groups(
        &mut self,
        setup: &Setup,
        draft: &mut Draft,
        groups: Vec<Vec<Record>>,
    ) -> Predicted {
        if groups.is_empty() {
            return Ok(());
        }
        if let Some(batch) = self.run.fold(groups.concat()) {
            return self.state(setup, draft, batch);
        }
        groups.into_iter().try_for_each(|records| self.record(setup, draft, records))
    }

    /// Claims the lane and fences the log over the tail that was read, unless that is done. No
    /// evidence is acted on before the fence (ARC-13).
    pub(super) fn open(&mut self, setup: &Setup, draft: &mut Draft) -> Result<Ownership, Defect> {
        if self.ownership().is_none() {
            let claim = Claim {
                submission: self.submission,
                expected: self.slice.lane.epoch,
                token: self.token,
                producer: setup.producer.clone(),
                lease: setup.lease,
                productive: self.run.view().and_then(|view| view.productive),
            };
            // The claim stands only while the lane's epoch is what was read; once free, it stays so.
            if self.slice.lane.owner.is_none() {
                self.run.follow_a_release();
            }
            self.ledger(draft, ledger::Command::Claim(claim))?;
            draft.after.push(Effect::ScheduleRenewal { after: setup.renewal });
        }
        let owner = self.ownership().ok_or(Defect)?;
        let epoch = owner.epoch;
        match self.tail {
            None => {
                let row = self.slice.rows.first().ok_or(Defect)?;
                let created = creation(&setup.binding, &setup.lane, &row.admission.tenant);
                let created = Arc::new(created.map_err(|_| Defect)?);
                if !self.run.fold_batch(&created) {
                    return Err(Defect);
                }
                let producer = setup.producer.clone();
                let command = conversation::Command::Materialize { epoch, producer, created };
                self.log(draft, command)?;
            }
            Some(tail) if tail.epoch < epoch => {
                let expected = tail.reference();
                self.log(draft, conversation::Command::Fence { epoch, expected })?;
            }
            Some(_) => {}
        }
        Ok(owner)
    }
}
