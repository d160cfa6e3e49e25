//! What is said to a run while it goes on: heard before a request, and before it ends (RUN-012,
//! RUN-013).

use alloc::collections::VecDeque;
use alloc::vec::Vec;

use super::budget::Used;
use super::state::Hearing;
use super::step::Effects;
use super::{Effect, State, Steered, Wanted};
use crate::agent::{Allowance, Joins};
use crate::limits::{BATCH_BYTES, BATCH_RECORDS};
use crate::record::{InputKind, InputRecorded, Record};

/// Bytes of inputs in one batch: half of what a batch holds, since a record is more than its input.
const INPUTS_BYTES: usize = BATCH_BYTES / 2;

impl State {
    /// Whether it knows what its lane has for it, and asks if it does not. A run without a lane is
    /// told by itself.
    pub(super) fn has_heard(&mut self, effects: &mut Effects) -> bool {
        if !self.listens || self.room() == 0 {
            return true;
        }
        match self.hearing {
            Hearing::Told => true,
            Hearing::Asked => false,
            Hearing::Nothing => {
                self.hearing = Hearing::Asked;
                effects.push(Effect::Listen);
                false
            }
        }
    }

    /// Whether a run that has its answer may go on with what waits. One with a lane does not if a
    /// budget is used up or its host stops: what it does not take in has a run of its own (ST-03).
    pub(super) fn may_go_on_after_its_answer(&self) -> bool {
        if !self.listens {
            return true;
        }
        let Some(run) = self.run() else { return false };
        let used = Used::by(run, self.policy().usage);
        let may = !self.draining && used.exhausted(&self.allowance()).is_none();
        may && self.policy().joins != Joins::None
    }

    /// Makes canonical what was said to the run, before a request that will show it (RUN-012).
    /// Whether there was anything. Each input is bounded and all of them together are not, so they
    /// come in as many batches as they need.
    pub(super) fn take_in(&mut self, wanted: Wanted, effects: &mut Effects) -> bool {
        let comes = |said: &Steered| said.wanted == Wanted::Soon || wanted == Wanted::AtTheEnd;
        let waiting = core::mem::take(&mut self.steering);
        let (coming, staying): (VecDeque<_>, VecDeque<_>) = waiting.into_iter().partition(comes);
        self.steering = staying;
        let is_any = !coming.is_empty();
        let (mut batch, mut bytes) = (Vec::new(), 0);
        for said in coming {
            let size = said.input.as_str().len();
            if batch.len() == BATCH_RECORDS || (bytes + size > INPUTS_BYTES && !batch.is_empty()) {
                self.commit(core::mem::take(&mut batch), effects);
                bytes = 0;
            }
            bytes += size;
            batch.extend(self.input_record(said));
        }
        if !batch.is_empty() {
            self.commit(batch, effects);
        }
        if is_any && wanted == Wanted::AtTheEnd {
            self.go_on(effects);
        }
        is_any
    }

    fn input_record(&self, said: Steered) -> Option<Record> {
        let host = self.submission;
        let kind = match said.wanted {
            Wanted::Soon => InputKind::Steering { host },
            Wanted::AtTheEnd => InputKind::FollowUp { host },
        };
        Some(Record::InputRecorded(InputRecorded {
            submission: said.submission,
            principal: said.principal,
            run: self.run()?.run,
            input: said.input,
            kind,
            at: self.now,
            allowance: Allowance::default(),
        }))
    }
}
