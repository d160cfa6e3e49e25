//! What a watched run tells on its way (RUN-032). None of it changes what the run does.

use super::budget::Used;
use super::step::Effects;
use super::{Effect, State};
use crate::agent::Gauge;
use crate::event::{RunEvent, announce, announce_again};
use crate::identity::DurationMs;
use crate::record::Batch;

impl State {
    /// Tells one event.
    pub(super) fn tell(&self, event: impl FnOnce() -> RunEvent, effects: &mut Effects) {
        if self.watched {
            effects.push(Effect::Tell(event()));
        }
    }

    /// Tells what a batch states, behind its commit.
    pub(super) fn tell_facts(&self, batch: &Batch, effects: &mut Effects) {
        if self.watched {
            let facts = batch.records().iter().flat_map(announce);
            effects.extend(facts.map(Effect::Tell));
        }
    }

    /// What a trace begins with that takes over a run.
    pub(super) fn tell_again(&self, effects: &mut Effects) {
        if let Some(run) = self.run().filter(|run| self.watched && run.input_epoch < self.epoch) {
            effects.extend(announce_again(run).into_iter().map(Effect::Tell));
        }
    }

    /// Warns of every budget of which four fifths are used up since `before` (RUN-022).
    pub(super) fn warn(&self, before: &[Gauge], effects: &mut Effects) {
        if !self.watched {
            return;
        }
        for gauge in self.gauges() {
            let was = before.iter().find(|it| it.dimension == gauge.dimension);
            if is_near(&gauge) && !was.is_some_and(is_near) {
                effects.push(Effect::Tell(RunEvent::BudgetWarning { gauge }));
            }
        }
    }

    /// How much is used of everything that has a limit.
    pub(super) fn gauges(&self) -> alloc::vec::Vec<Gauge> {
        let Some(run) = self.run() else { return alloc::vec::Vec::new() };
        let elapsed = DurationMs(self.now.0.saturating_sub(run.input.at.0));
        Used::by(run, self.policy().usage).gauges(&self.allowance(), elapsed)
    }
}

const fn is_near(gauge: &Gauge) -> bool {
    gauge.used.saturating_mul(5) >= gauge.limit.saturating_mul(4)
}
