//! Joining: what the lane has for the run, and what becomes canonical in it (DUR-016).

use alloc::sync::Arc;
use alloc::vec::Vec;

use super::effect::End;
use super::predict::{Defect, Draft, Predicted};
use super::read::{Next, end};
use super::state::{Setup, Working};
use crate::identity::SubmissionId;
use crate::ledger::{Command, Offer, Reserved, Row};
use crate::record::{Batch, Record, SubmissionSettled};
use crate::run::{self, Steered, Wanted};

impl Working {
    /// Appends what the run commits. A submission that comes in with it is reserved for the run
    /// before, so that nobody else decides about it, and marked behind it.
    pub(super) fn commit(
        &mut self,
        setup: &Setup,
        draft: &mut Draft,
        batch: Arc<Batch>,
    ) -> Predicted {
        let comes_in = |record: &Record| match record {
            Record::InputRecorded(input) => input.kind.host().map(|_| input.submission),
            _ => None,
        };
        let joining: Vec<SubmissionId> = batch.records().iter().filter_map(comes_in).collect();
        let owner = self.ownership();
        for joining in &joining {
            let (owner, joining) = (owner.ok_or(Defect)?, *joining);
            self.ledger(draft, Command::Join { owner, joining })?;
        }
        self.append(setup, draft, batch)?;
        for joined in joining {
            let owner = owner.ok_or(Defect)?;
            self.ledger(draft, Command::MarkJoined { owner, joined })?;
        }
        Ok(())
    }

    /// Tells a run that has asked what its lane has for it.
    pub(super) fn hear(mut self, setup: &Setup) -> Next {
        if !core::mem::take(&mut self.listens) {
            return self.proceed(setup);
        }
        let joins = setup.binding.definition.policy().joins;
        let offer = Offer::to(&self.slice, self.submission, joins, self.run.room());
        let said = offer.steering.iter().map(|row| steered(row, Wanted::Soon));
        let follows = offer.following.iter().map(|row| steered(row, Wanted::AtTheEnd));
        let said = said.chain(follows).collect();
        let mut draft = Draft::default();
        match self.drive(setup, &mut draft, run::Input::Heard { said, now: self.read_at }) {
            Ok(()) => self.go_on(setup, draft),
            Err(Defect) => end(End::Defect),
        }
    }

    /// Appends exactly the reserved settlement and, in the same batch, that of everything that
    /// has joined the run: they end together or not at all.
    pub(super) fn append_reserved(
        &mut self,
        setup: &Setup,
        draft: &mut Draft,
        reserved: &Reserved,
    ) -> Predicted {
        let host = self.submission;
        let SubmissionSettled { run, settlement, .. } = &*reserved.record;
        let own = Record::SubmissionSettled((*reserved.record).clone());
        let joined = self.run.run().into_iter().flat_map(|run| &run.late_inputs);
        let joined = joined.map(|late| {
            let (submission, run) = (late.input.submission, *run);
            let settlement = settlement.of_joined(host);
            Record::SubmissionSettled(SubmissionSettled { submission, run, settlement })
        });
        let records = core::iter::once(own).chain(joined).collect();
        self.record(setup, draft, records)
    }
}

fn steered(row: &Row, wanted: Wanted) -> Steered {
    let it = &row.admission;
    Steered {
        submission: it.submission,
        principal: it.principal.clone(),
        input: it.input.clone(),
        wanted,
    }
}
