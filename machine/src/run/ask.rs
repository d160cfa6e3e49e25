//! Asking the model, and asking it again.

use alloc::sync::Arc;
use alloc::vec::Vec;

use super::step::Effects;
use super::{Effect, State, Timer};
use crate::agent::{ModelFault, ModelRequest, Purpose, ToolChoice};
use crate::digest::Hasher;
use crate::effect::External;
use crate::event::RunEvent;
use crate::identity::{DurationMs, Turn};

impl State {
    /// Asks for the next response, once its context is small enough. What that costs depends on
    /// the run's own turns: the runs before it are shared, and their size is known.
    pub(super) fn ask(&mut self, turn: Turn, tools: ToolChoice, effects: &mut Effects) {
        let Some(messages) = self.context(turn, effects) else { return };
        let Some(run) = self.run() else { return };
        let policy = self.policy();
        let status = if policy.status_note { self.gauges() } else { Vec::new() };
        let request = ModelRequest {
            agent: self.agent().clone(),
            run: run.run,
            turn,
            purpose: Purpose::Respond,
            messages,
            tools,
            output: policy.output.clone(),
            status,
        };
        self.flights.model = Some((turn, Purpose::Respond));
        let retry = self.retries;
        if retry == 0 && !self.shortened {
            self.tell(|| RunEvent::TurnStarted { turn }, effects);
        }
        self.tell(|| RunEvent::ModelStarted { turn, retry }, effects);
        effects.push(Effect::External(External::CallModel(Arc::new(request))));
    }

    /// Asks again after a pause, if that may help and was not done too often. Whether it will.
    /// Nobody waits longer than the agent's policy says, whatever a provider wants, and nobody asks
    /// earlier than it wants; nor is a pause begun that the run's time does not outlast (RUN-027).
    pub(super) fn retry(&mut self, turn: Turn, fault: &ModelFault, effects: &mut Effects) -> bool {
        if !fault.is_transient() || self.retries >= self.policy().retry.retries {
            return false;
        }
        let Some(after) = self.pause(turn, fault) else { return false };
        self.retries += 1;
        self.flights.retry = Some(turn);
        effects.push(Effect::Schedule { timer: Timer::Retry(turn), after });
        true
    }

    /// Twice as long each time, and a part of it drawn, so that many runs do not come back at
    /// once; never shorter than the provider asks for. None if that is too long to wait.
    fn pause(&self, turn: Turn, fault: &ModelFault) -> Option<DurationMs> {
        let retry = self.policy().retry;
        let doubled = retry.first.0.saturating_mul(1 << self.retries.min(32));
        let whole = doubled.min(retry.longest.0);
        let drawn = Hasher::new("everstep/pause")
            .bytes(&self.entropy.0)
            .number(turn.0.into())
            .number(self.retries.into())
            .digest();
        let share = u64::from(u16::from_be_bytes([drawn.0[0], drawn.0[1]]));
        let pause = whole / 2 + (whole / 2).saturating_mul(share) / u64::from(u16::MAX);
        let wanted = match fault {
            ModelFault::RateLimited { retry_after: Some(wanted), .. } => wanted.0,
            ModelFault::RateLimited { retry_after: None, .. }
            | ModelFault::Unavailable(_)
            | ModelFault::Protocol(_)
            | ModelFault::ContextLength(_)
            | ModelFault::Refused(_) => 0,
        };
        let pause = pause.max(wanted);
        let run = self.run()?;
        let deadline = super::budget::deadline(run, &self.allowance());
        let is_in_time =
            deadline.is_none_or(|deadline| self.now.after(DurationMs(pause)) < deadline);
        (wanted <= retry.longest.0 && is_in_time).then_some(DurationMs(pause))
    }
}
