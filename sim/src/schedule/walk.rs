//! Walking a world while counting arrivals.

use everstep_machine::effect::Failpoint;

use crate::explore::{Explorable, Place, failpoints, number};
use crate::fault::Fault;

/// Where a walk stands: at which failpoint, and the how manieth time.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Arrival {
    /// Where.
    pub failpoint: Failpoint,
    /// The how manieth arrival there, from 1.
    pub arrival: u32,
}

/// A world and the arrivals counted so far.
#[derive(Clone, Debug)]
pub struct Walk<W> {
    world: W,
    counts: Vec<u32>,
    standing: Option<Place>,
}

impl<W: Explorable> Walk<W> {
    /// A walk that stands where the world does.
    #[must_use]
    pub fn new(world: W) -> Self {
        let mut walk = Self { world, counts: vec![0; failpoints().len()], standing: None };
        walk.arrive();
        walk
    }

    /// The world as it is.
    pub const fn world(&self) -> &W {
        &self.world
    }

    /// The world as it is, for the oracles of the end.
    pub const fn world_mut(&mut self) -> &mut W {
        &mut self.world
    }

    /// The world, walked.
    pub fn into_world(self) -> W {
        self.world
    }

    /// Where the walk stands. None: the calm schedule has nothing left to do.
    #[must_use]
    pub fn at(&self) -> Option<Arrival> {
        let failpoint = self.standing?.failpoint;
        Some(Arrival { failpoint, arrival: self.counts[number(failpoint)] })
    }

    fn arrive(&mut self) {
        self.standing = self.world.place();
        if let Some(place) = self.standing {
            self.counts[number(place.failpoint)] += 1;
        }
    }

    /// Passes the moment.
    pub fn advance(&mut self) {
        self.world.advance();
        self.arrive();
    }

    /// Injects a fault. It counts as an arrival unless the world still stands where it stood.
    pub fn inject(&mut self, fault: Fault) {
        let before = self.standing;
        self.world.inject(fault);
        let stands = matches!(fault, Fault::Abort | Fault::Steer | Fault::Revoke | Fault::Wake)
            && self.world.place() == before;
        if !stands {
            self.arrive();
        }
    }

    /// At the end of the calm schedule: wakes a paused process, if there is one.
    pub fn drain(&mut self) -> bool {
        let woke = self.world.drain();
        if woke {
            self.arrive();
        }
        woke
    }
}
