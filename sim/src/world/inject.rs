//! Faults.

use std::sync::Arc;

use everstep_machine::store::StoreFault;

use super::World;
use super::moment::{Moment, Spot};
use super::process::{FlightProgress, Process, Progress, Role};
use crate::fault::{Fault, FaultSet};
use crate::fingerprint::Printed;
use crate::oracle::Sometimes;

impl World {
    pub(super) fn possible_faults(&self) -> FaultSet {
        let Some(moment) = self.next else { return FaultSet::default() };
        let task = &self.processes[moment.process.0].tasks[moment.task];
        let under_way = match moment.spot {
            Spot::Command(_) => false,
            Spot::Flight(at) => task.flights[at].progress == FlightProgress::During,
        };
        FaultSet::default()
            .with(Fault::Crash)
            .with_if(under_way, Fault::CrashDone)
            .with(Fault::Pause)
            .with_if(matches!(moment.spot, Spot::Command(_)), Fault::Lose)
            .with_if(self.paused().is_some(), Fault::Wake)
            .with_if(self.could_speak(Fault::Abort).is_some(), Fault::Abort)
            .with_if(self.could_speak(Fault::Steer).is_some(), Fault::Steer)
            .with_if(self.could_revoke(), Fault::Revoke)
    }

    pub(super) fn break_at_moment(&mut self, fault: Fault) {
        let Some(moment) = self.next.take() else { return };
        self.note(moment.process.0, moment.lane.0, || format!("{fault} at {}", moment.failpoint));
        match fault {
            Fault::Crash => self.crash(moment.process.0),
            Fault::CrashDone => self.crash_done(moment),
            Fault::Pause => {
                let process = self.process_mut(moment.process.0);
                process.paused = true;
                process.stopped = Some((moment.task, moment.spot));
            }
            Fault::Lose => {
                self.process_mut(moment.process.0).stopped = None;
                self.judge.note(Sometimes::AcknowledgementLost);
                let lost = Err(StoreFault::Indeterminate);
                self.answer_store(moment.process.0, moment.task, lost);
            }
            Fault::Wake => self.wake(),
            Fault::Revoke => self.revoke(),
            Fault::Abort | Fault::Steer => {
                if let Some(process) = self.could_speak(fault) {
                    self.speak(process);
                }
            }
        }
    }

    /// Everything volatile is gone; a person who waited for an answer asks again.
    pub(super) fn crash(&mut self, process: usize) {
        let it = &self.processes[process];
        let progress = match it.progress {
            Progress::Busy => Progress::Due,
            Progress::Idle | Progress::Due | Progress::Done => it.progress,
        };
        let revised = self.cast.revised.is_some() && matches!(it.role, Role::Worker(_));
        let again =
            Process { revised, ..Process::new(&self.cast, it.role, progress, self.revoked) };
        self.processes[process] = Arc::new(Printed::new(again));
    }

    fn crash_done(&mut self, moment: Moment) {
        if let Spot::Flight(flight) = moment.spot {
            self.happen(moment.process.0, moment.task, flight);
        }
        self.crash(moment.process.0);
    }

    pub(super) fn paused(&self) -> Option<usize> {
        self.processes.iter().position(|process| process.paused)
    }

    /// The paused process of the lowest index goes on.
    pub(super) fn wake(&mut self) {
        let Some(process) = self.paused() else { return };
        self.process_mut(process).paused = false;
        let lane = self.processes[process].tasks.first().map_or(0, |task| task.lane);
        self.note(process, lane, || "wakes".to_owned());
        let superseded = self.processes[process].tasks.iter().any(|task| {
            let epoch = task.epoch.0;
            epoch > 0 && epoch < self.shelves[task.lane].lane().epoch.0
        });
        if superseded {
            self.judge.note(Sometimes::ZombieWoke);
        }
    }
}
