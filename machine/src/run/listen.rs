//! What is said to a run while it goes on: heard before a request, and before it ends (RUN-012,
//! RUN-013).

use alloc::vec::Vec;

use super::budget::Used;
use super::state::Hearing;
use super::step::Effects;
use super::{Effect, State, Steered, Wanted};
use crate::agent::{Allowance, Joins};
use crate::limits::BATCH_RECORDS;
use crate::record::{InputKind, InputRecorded, Record};

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
    /// Whether there was anything.
    pub(super) fn take_in(&mut self, wanted: Wanted, effects: &mut Effects) -> bool {
        let Some(run) = self.run().map(|run| run.run) else { return false };
        let host = self.submission;
        let comes = |said: &Steered| said.wanted == Wanted::Soon || wanted == Wanted::AtTheEnd;
        let records: Vec<Record> = self
            .steering
            .iter()
            .take_while(|said| comes(said))
            .take(BATCH_RECORDS)
            .map(|said| {
                let kind = match said.wanted {
                    Wanted::Soon => InputKind::Steering { host },
                    Wanted::AtTheEnd => InputKind::FollowUp { host },
                };
                Record::InputRecorded(InputRecorded {
                    submission: said.submission,
                    principal: said.principal.clone(),
                    run,
                    input: said.input.clone(),
                    kind,
                    at: self.now,
                    allowance: Allowance::default(),
                })
            })
            .collect();
        if records.is_empty() {
            return false;
        }
        self.steering.drain(..records.len());
        self.commit(records, effects);
        if wanted == Wanted::AtTheEnd {
            self.go_on(effects);
        }
        true
    }
}
