//! The rules of a scheduler.

use alloc::vec::Vec;

use super::state::{Declined, Look, News, Phase};
use super::{Effect, Findings, Input, State};
use crate::attempt::End;
use crate::contract::{Machine, Step};
use crate::identity::{ConversationId, DurationMs};
use crate::limits::{DECLINED_MS, LEFT_ALONE, QUEUED_LANES, SCAN_RETRY_MS};

/// The machine of one host's choice of lanes.
pub struct Scheduler;

impl Machine for Scheduler {
    type State = State;
    type Input = Input;
    type Effect = Effect;

    fn step(mut state: State, input: Input) -> Step<State, Effect> {
        let mut effects = Vec::new();
        match input {
            Input::Started | Input::LookDue => state.look(&mut effects),
            Input::ChangedElsewhere => state.changed_elsewhere(&mut effects),
            Input::Hinted { lane } => state.hinted(lane, &mut effects),
            Input::Scanned(findings) => state.scanned(findings, &mut effects),
            Input::ScanFailed => state.scan_failed(&mut effects),
            Input::Ended { lane, end } => state.ended(lane, end, &mut effects),
            Input::Declined { lane } => state.declined(lane, &mut effects),
            Input::RetryDue { lane } => state.retry(&lane, &mut effects),
            Input::StopRequested if state.phase == Phase::Open => state.phase = Phase::Stopping,
            Input::StopRequested => {}
        }
        state.fill(&mut effects);
        Step::new(state, effects)
    }
}

type Effects = Vec<Effect>;

impl State {
    /// Asks for a scan, or for another one after the one that is under way.
    fn look(&mut self, effects: &mut Effects) {
        match &mut self.look {
            _ if self.phase != Phase::Open => {}
            Look::Looking { again, .. } => *again = true,
            Look::Resting => {
                self.look = Look::Looking { soonest: None, again: false };
                effects.push(Effect::Scan { after: None });
            }
        }
    }

    /// For a lane that there is no room to remember.
    fn look_later(effects: &mut Effects) {
        effects.push(Effect::ScheduleLook { after: DurationMs(DECLINED_MS) });
    }

    /// Nobody says which lane, so everybody looks.
    fn changed_elsewhere(&mut self, effects: &mut Effects) {
        let wakes = self.running.keys().map(|lane| Effect::WakeAttempt { lane: lane.clone() });
        effects.extend(wakes);
        self.look(effects);
    }

    fn hinted(&mut self, lane: ConversationId, effects: &mut Effects) {
        match self.running.get_mut(&lane) {
            Some(news) => {
                *news = News::Some;
                effects.push(Effect::WakeAttempt { lane });
            }
            None => self.enqueue(lane),
        }
    }

    /// A lane that does not fit is found again: an attempt has to end before there is room, and
    /// then there is a scan.
    fn enqueue(&mut self, lane: ConversationId) {
        let waits = self.declined.get(&lane).is_some_and(|declined| declined.waits);
        let known = waits || self.running.contains_key(&lane) || self.quarantine.contains(&lane);
        let open = self.phase == Phase::Open && self.queue.len() < QUEUED_LANES;
        if open && !known && !self.queue.contains(&lane) {
            self.queue.push_back(lane);
        }
    }

    fn scanned(&mut self, findings: Findings, effects: &mut Effects) {
        let Look::Looking { soonest, again } = self.look else { return };
        let Findings { claimable, wakes_in, after } = findings;
        claimable.into_iter().for_each(|lane| self.enqueue(lane));
        let soonest = soonest.into_iter().chain(wakes_in).min();
        if after.is_some() && self.phase == Phase::Open {
            self.look = Look::Looking { soonest, again };
            return effects.push(Effect::Scan { after });
        }
        self.look = Look::Resting;
        if let Some(after) = soonest {
            // A wait of nothing would be a loop if two clocks disagree.
            effects.push(Effect::ScheduleLook { after: after.max(DurationMs(1)) });
        }
        if again {
            self.look(effects);
        }
    }

    fn scan_failed(&mut self, effects: &mut Effects) {
        if let Look::Looking { .. } = self.look {
            self.look = Look::Resting;
            effects.push(Effect::ScheduleLook { after: DurationMs(SCAN_RETRY_MS) });
        }
    }

    fn ended(&mut self, lane: ConversationId, end: End, effects: &mut Effects) {
        let Some(news) = self.running.remove(&lane) else { return };
        if end == End::Incompatible && news == News::None {
            return self.leave_to_others(lane, effects);
        }
        self.declined.remove(&lane);
        match end {
            End::Corrupt(_) | End::Defect if self.quarantine.len() < LEFT_ALONE => {
                self.quarantine.insert(lane);
            }
            // It will be found again: not at once, or nothing else would ever be done.
            End::Corrupt(_) | End::Defect => return Self::look_later(effects),
            End::Idle
            | End::Settled
            | End::Parked
            | End::Incompatible
            | End::Unanswered
            | End::Superseded => {
                if news == News::Some {
                    self.enqueue(lane);
                }
            }
        }
        self.look(effects);
    }

    fn declined(&mut self, lane: ConversationId, effects: &mut Effects) {
        if self.running.remove(&lane).is_some() {
            self.leave_to_others(lane, effects);
        }
    }

    /// The lane is left to others, twice as long each time.
    fn leave_to_others(&mut self, lane: ConversationId, effects: &mut Effects) {
        if self.declined.len() >= LEFT_ALONE && !self.declined.contains_key(&lane) {
            self.declined.retain(|_, declined| declined.waits);
            if self.declined.len() >= LEFT_ALONE {
                return Self::look_later(effects);
            }
        }
        let first = DurationMs(SCAN_RETRY_MS);
        let wait = self
            .declined
            .get(&lane)
            .map_or(first, |before| DurationMs(before.wait.0.saturating_mul(2).min(DECLINED_MS)));
        self.declined.insert(lane.clone(), Declined { wait, waits: true });
        effects.push(Effect::ScheduleRetry { lane, after: wait });
        self.look(effects);
    }

    /// If there is still something to do in it, the scan says so.
    fn retry(&mut self, lane: &ConversationId, effects: &mut Effects) {
        if let Some(declined) = self.declined.get_mut(lane) {
            declined.waits = false;
            self.look(effects);
        }
    }

    /// Begins as many attempts as there is room for.
    fn fill(&mut self, effects: &mut Effects) {
        while self.phase == Phase::Open && self.running.len() < self.slots {
            let Some(lane) = self.queue.pop_front() else { break };
            self.running.insert(lane.clone(), News::None);
            effects.push(Effect::StartAttempt { lane });
        }
        if self.phase == Phase::Stopping && self.running.is_empty() {
            self.phase = Phase::Stopped;
            effects.push(Effect::Stopped);
        }
    }
}
