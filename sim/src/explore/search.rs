//! The search itself: depth first, forking at every moment, equal worlds once.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::rc::Rc;

use everstep_machine::effect::CrashPhase;
use foldhash::fast::FixedState;
use hashbrown::HashMap;

use super::counts::{Counters, Exploration};
use super::points::number;
use super::summary::{Numbers, Summary};
use super::way::{Way, counterexample};
use super::{Explorable, ExploreError, MAX_STEPS, Place, cost};
use crate::matrix::row_of;

/// How far a search may go.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Bounds {
    /// Faults in one schedule: 0 is the calm schedule, 1 every point, 2 every pair.
    pub depth: u8,
    /// The most worlds that are executed; each takes some tens of bytes.
    pub worlds: u64,
}

impl Bounds {
    /// Worlds that fit into two gigabytes or so.
    pub const WORLDS: u64 = 30_000_000;

    /// Up to so many faults, with the usual bound on memory.
    #[must_use]
    pub const fn depth(depth: u8) -> Self {
        Self { depth, worlds: Self::WORLDS }
    }
}

/// A world and the faults left to spend in it, in one number.
type Key = [u64; 2];

/// Odd, and without a pattern: worlds with different faults left do not meet.
const SPREAD: u128 = 0x9e37_79b9_7f4a_7c15_f39c_c060_5ced_c835;

#[expect(clippy::cast_possible_truncation, reason = "the number is taken in two halves")]
const fn key(fingerprint: u128, left: u8) -> Key {
    let both = fingerprint.wrapping_add(SPREAD.wrapping_mul(left as u128));
    [(both >> 64) as u64, both as u64]
}

/// Whether what is below a world that stands here is kept for equal worlds. A fingerprint costs
/// as much as a step, and whatever stands at `before` now stood at no other phase just now: two
/// ways that meet are found to have met within two steps.
fn is_kept(place: Option<Place>) -> bool {
    place.is_none_or(|place| place.failpoint.phase == CrashPhase::Before)
}

/// Searches every schedule of a world with up to so many faults.
///
/// # Errors
/// The bound on worlds was met, a schedule panics or does not end, or the shortest counterexample
/// does not fail again.
pub fn explore<W: Explorable>(
    world: &W,
    bounds: Bounds,
    counters: &Counters,
) -> Result<Exploration<W::Property>, ExploreError> {
    let mut search = Search {
        bounds,
        counters,
        known: HashMap::with_hasher(FixedState::default()),
        so_far: Exploration::nothing(),
        ends: [false, true].map(|failed| Rc::new(Summary::end(failed))),
        way: Way::default(),
        counted: 0,
        told: (0, 0),
    };
    let searched = catch_unwind(AssertUnwindSafe(|| search.below(world.clone(), bounds.depth)));
    let summary = searched.unwrap_or_else(|panic| Err(search.way.panicked(world, &*panic)))?;
    search.tell();
    let mut exploration = search.so_far;
    exploration.schedules = summary.schedules;
    exploration.failed = summary.failed;
    exploration.failed_at = summary.failed_at;
    (exploration.through, exploration.through_rows) = summary.through();
    exploration.found =
        summary.found.as_ref().map(|found| counterexample(world, found)).transpose()?;
    Ok(exploration)
}

/// Everything below the forks of a moment, if it has any.
type Forks = Option<Box<Summary>>;

struct Search<'a, P> {
    bounds: Bounds,
    counters: &'a Counters,
    known: HashMap<Key, Rc<Summary>, FixedState>,
    so_far: Exploration<P>,
    /// How schedules end: well, and with a broken property.
    ends: [Rc<Summary>; 2],
    /// How the world at hand came about.
    way: Way,
    counted: u64,
    told: (u64, u64),
}

impl<P: Copy + Eq + core::fmt::Debug> Search<'_, P> {
    /// Everything below a world with so many faults left.
    fn below<W>(&mut self, mut world: W, left: u8) -> Result<Rc<Summary>, ExploreError>
    where
        W: Explorable<Property = P>,
    {
        // The calm way from here, to where it ends or meets something known. What is below each
        // moment of it is complete only then, from the last to the first.
        let mut moments: Vec<(Option<Key>, Forks)> = Vec::new();
        let mut summary = loop {
            if world.violation().is_some() {
                break self.end(&world);
            }
            let place = world.place();
            let key = is_kept(place).then(|| key(world.fingerprint(), left));
            if let Some(known) = key.and_then(|key| self.known.get(&key)).map(Rc::clone) {
                self.reached(&world);
                break known;
            }
            self.enter(moments.len())?;
            if let Some(place) = place {
                moments.push((key, self.forks(&world, place, left)?));
                world.advance();
                self.way.passed();
                self.so_far.steps += 1;
            } else if !world.drain() {
                world.conclude();
                let end = self.end(&world);
                self.keep(key, &end);
                break end;
            }
        };
        for (key, forks) in moments.into_iter().rev() {
            // Without forks and without a broken property nothing is to be told but the calm way.
            if forks.is_some() || summary.found.is_some() {
                let mut moment = forks.map(|forks| *forks).unwrap_or_default();
                moment.add_calm(&summary);
                summary = Rc::new(moment);
            }
            self.keep(key, &summary);
        }
        Ok(summary)
    }

    /// Everything below the forks of a moment.
    fn forks<W>(&mut self, world: &W, place: Place, left: u8) -> Result<Forks, ExploreError>
    where
        W: Explorable<Property = P>,
    {
        let mut moment: Forks = None;
        let at = number(place.failpoint);
        self.so_far.visited.insert_number(at);
        self.so_far.stood[at] += 1;
        let at = Numbers { failpoint: at, row: row_of(place.failpoint) as usize };
        for fault in world.faults() {
            let Some(left) = left.checked_sub(cost(fault)) else { continue };
            let passed = self.way.fork(fault);
            let mut fork = world.clone();
            fork.inject(fault);
            self.so_far.steps += 1;
            let below = self.below(fork, left)?;
            self.way.back(passed);
            moment.get_or_insert_with(Box::default).add_fork(at, fault, &below);
        }
        Ok(moment)
    }

    /// The end of a schedule.
    fn end<W: Explorable>(&mut self, world: &W) -> Rc<Summary> {
        self.reached(world);
        self.counted += 1;
        Rc::clone(&self.ends[usize::from(world.violation().is_some())])
    }

    fn reached<W: Explorable>(&mut self, world: &W) {
        self.so_far.reached = self.so_far.reached.union(world.reached());
    }

    fn keep(&mut self, key: Option<Key>, summary: &Rc<Summary>) {
        if let Some(key) = key {
            self.known.insert(key, Rc::clone(summary));
        }
    }

    /// Counts one more world, if there is room for it.
    fn enter(&mut self, passed: usize) -> Result<(), ExploreError> {
        if self.so_far.worlds >= self.bounds.worlds {
            return Err(ExploreError::TooManyWorlds {
                bound: self.bounds.worlds,
                explored: self.counted,
            });
        }
        if passed as u64 >= MAX_STEPS {
            return Err(ExploreError::Endless(MAX_STEPS));
        }
        self.so_far.worlds += 1;
        if self.so_far.worlds.is_multiple_of(1024) {
            self.tell();
        }
        Ok(())
    }

    fn tell(&mut self) {
        let now = (self.so_far.worlds, self.so_far.steps);
        self.counters.add(now.0 - self.told.0, now.1 - self.told.1);
        self.told = now;
    }
}
