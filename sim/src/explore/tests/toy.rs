//! A world small enough to enumerate without any cleverness.

use everstep_machine::effect::{CrashPhase, Failpoint};

use crate::explore::{Explorable, Place};
use crate::fault::{Fault, FaultSet};
use crate::oracle::{Sometimes, SometimesSet};

/// What each process of a toy does, in order.
pub(crate) const SCRIPT: [&str; 7] = [
    "ledger.claim/before",
    "ledger.claim/after",
    "tool.invoke/before",
    "tool.invoke/during",
    "tool.invoke/after",
    "ledger.finalize/before",
    "ledger.finalize/after",
];

/// What a toy can break.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Broken {
    /// The tool ran more often than it may.
    TooManyRuns,
    /// Nobody finalized.
    NeverFinalized,
}

/// Processes that each run the script once: `claim`, when passed, is where a crash restarts from.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(crate) struct Toy {
    /// For each process: where it is, where it restarts, whether it is paused.
    pub(crate) processes: Vec<(usize, usize, bool)>,
    /// How often the tool ran.
    pub(crate) runs: u8,
    /// How often it may run.
    pub(crate) allowed: u8,
    /// Whether an abort may be asked for, until it is.
    pub(crate) abort: bool,
    pub(crate) finalized: bool,
    pub(crate) broken: bool,
}

impl Toy {
    pub(crate) fn new(processes: usize, allowed: u8) -> Self {
        Self {
            processes: vec![(0, 0, false); processes],
            runs: 0,
            allowed,
            abort: false,
            finalized: false,
            broken: false,
        }
    }

    fn current(&self) -> Option<usize> {
        self.processes.iter().position(|(at, _, paused)| !paused && *at < SCRIPT.len())
    }

    fn wake(&mut self) -> bool {
        let paused = self.processes.iter_mut().find(|(_, _, paused)| *paused);
        paused.map(|process| process.2 = false).is_some()
    }

    fn run_tool(&mut self) {
        self.runs += 1;
        self.broken |= self.runs > self.allowed;
    }
}

fn failpoint(at: usize) -> Failpoint {
    SCRIPT[at].parse().expect("the script names failpoints")
}

impl Explorable for Toy {
    type Property = Broken;

    fn place(&self) -> Option<Place> {
        let process = self.current()?;
        Some(Place { failpoint: failpoint(self.processes[process].0), process })
    }

    fn faults(&self) -> impl Iterator<Item = Fault> {
        let place = self.place();
        let phase = place.map(|place| place.failpoint.phase);
        let external = place.is_some_and(|place| place.failpoint.effect.name().starts_with("tool"));
        let during = phase == Some(CrashPhase::During);
        let anybody_paused = self.processes.iter().any(|(_, _, paused)| *paused);
        FaultSet::default()
            .with_if(place.is_some(), Fault::Crash)
            .with_if(during, Fault::CrashDone)
            .with_if(place.is_some(), Fault::Pause)
            .with_if(place.is_some() && !external, Fault::Lose)
            .with_if(anybody_paused, Fault::Wake)
            .with_if(self.abort, Fault::Abort)
            .iter()
    }

    fn inject(&mut self, fault: Fault) {
        assert!(self.faults().any(|possible| possible == fault), "{fault} is not possible");
        let process = self.current().expect("a fault is injected at a moment");
        match fault {
            Fault::CrashDone => {
                self.run_tool();
                self.processes[process].0 = self.processes[process].1;
            }
            Fault::Crash => self.processes[process].0 = self.processes[process].1,
            Fault::Pause => self.processes[process].2 = true,
            // Lost on the way back: the process does not know and sends again.
            Fault::Lose => self.processes[process].0 -= self.processes[process].0.min(1),
            Fault::Wake => assert!(self.wake()),
            Fault::Steer | Fault::Revoke => {
                panic!("a toy is not spoken to, and nothing is granted to it")
            }
            Fault::Abort => {
                self.abort = false;
                self.processes[process].0 = SCRIPT.len();
            }
        }
    }

    fn advance(&mut self) {
        let process = self.current().expect("only a moment can be passed");
        match SCRIPT[self.processes[process].0] {
            "ledger.claim/before" => self.processes[process].1 = 2,
            "tool.invoke/during" => self.run_tool(),
            "ledger.finalize/before" => self.finalized = true,
            _ => {}
        }
        self.processes[process].0 += 1;
    }

    fn drain(&mut self) -> bool {
        self.wake()
    }

    fn conclude(&mut self) {
        assert!(self.place().is_none());
        self.abort = false;
    }

    fn violation(&self) -> Option<Broken> {
        let over = self.place().is_none() && !self.processes.iter().any(|(_, _, paused)| *paused);
        if self.broken {
            Some(Broken::TooManyRuns)
        } else {
            (over && !self.finalized).then_some(Broken::NeverFinalized)
        }
    }

    fn fingerprint(&self) -> u128 {
        let mut all = u128::from(self.runs) << 5
            | u128::from(self.allowed) << 13
            | u128::from(self.abort) << 2
            | u128::from(self.finalized) << 1
            | u128::from(self.broken);
        for (at, restart, paused) in &self.processes {
            all = all << 7 | (*at as u128) << 4 | (*restart as u128) << 1 | u128::from(*paused);
        }
        all
    }

    fn reached(&self) -> SometimesSet {
        let mut reached = SometimesSet::default();
        if self.runs > 0 {
            reached.insert(Sometimes::Unknown);
        }
        if self.finalized {
            reached.insert(Sometimes::TakenOver);
        }
        reached
    }
}
