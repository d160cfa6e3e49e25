use std::cell::Cell;
use std::collections::{BTreeMap, BTreeSet};
use std::rc::Rc;

use super::enumeration::{enumerate, through};
use super::toy::{Broken, SCRIPT, Toy};
use crate::explore::{
    Bounds, Counters, Explorable, Exploration, ExploreError, FailpointSet, Place, explore,
    failpoints,
};
use crate::fault::Fault;
use crate::matrix::{Row, row_of};
use crate::oracle::{Sometimes, SometimesSet};
use crate::schedule::run;

fn search<W: Explorable>(world: &W, depth: u8) -> Exploration<W::Property> {
    explore(world, Bounds::depth(depth), &Counters::default()).expect("the search ends")
}

/// The deepest full enumeration that takes no time worth mentioning.
fn deepest(toy: &Toy) -> u8 {
    if toy.processes.len() == 1 { 3 } else { 2 }
}

/// Worlds of every kind: one and two processes, with and without an abort, rules that are never,
/// sometimes and always broken.
fn toys() -> Vec<Toy> {
    let mut toys = Vec::new();
    for processes in [1, 2] {
        for allowed in [0, 1, 2, 9] {
            for abort in [false, true] {
                toys.push(Toy { abort, ..Toy::new(processes, allowed) });
            }
        }
    }
    toys
}

#[test]
fn counts_are_those_of_the_full_enumeration() {
    for toy in toys() {
        for depth in 0..=deepest(&toy) {
            let all = enumerate(&toy, depth);
            let found = search(&toy, depth);
            assert_eq!(found.schedules, all.len() as u64, "{toy:?} at depth {depth}");
            let failed = all.iter().filter(|(_, broken)| broken.is_some()).count();
            assert_eq!(found.failed, failed as u64, "{toy:?} at depth {depth}");
            let named = failpoints().iter().map(ToString::to_string).zip(found.through.clone());
            let counted: BTreeMap<_, _> = named.filter(|(_, count)| *count > 0).collect();
            assert_eq!(counted, through(&all, |at| at.to_string()), "{toy:?} at depth {depth}");
            let rows = Row::ALL.iter().map(ToString::to_string).zip(found.through_rows.clone());
            let counted: BTreeMap<_, _> = rows.filter(|(_, count)| *count > 0).collect();
            let expected = through(&all, |at| row_of(at).to_string());
            assert_eq!(counted, expected, "{toy:?} at depth {depth}");
        }
    }
}

#[test]
fn the_counterexample_is_the_shortest_of_the_full_enumeration() {
    for toy in toys() {
        for depth in 0..=deepest(&toy) {
            let all = enumerate(&toy, depth);
            let failing = all.iter().filter(|(_, broken)| broken.is_some());
            // The enumeration comes to the schedule with the earliest choices first.
            let shortest = failing.min_by_key(|(schedule, _)| schedule.choices().len());
            let found = search(&toy, depth).found.map(|found| (found.schedule, found.property));
            let expected = shortest.map(|(schedule, broken)| (schedule.clone(), broken.unwrap()));
            assert_eq!(found, expected, "{toy:?} at depth {depth}");
        }
    }
}

#[test]
fn every_schedule_is_enumerated_once_and_runs_again_from_the_start() {
    for toy in toys() {
        let all = enumerate(&toy, 2);
        let different: BTreeSet<_> = all.iter().map(|(schedule, _)| schedule).collect();
        assert_eq!(different.len(), all.len(), "{toy:?}");
        for (schedule, broken) in &all {
            let again = run(toy.clone(), schedule).expect("it was possible before");
            assert_eq!(again.world.violation(), *broken, "{schedule}");
        }
    }
}

#[test]
fn failpoints_of_failing_schedules_are_told() {
    let toy = Toy::new(1, 1);
    let failing = enumerate(&toy, 2).into_iter().filter(|(_, broken)| broken.is_some());
    let mut expected = FailpointSet::EMPTY;
    for (schedule, _) in failing {
        schedule.choices().iter().for_each(|choice| expected.insert(choice.failpoint));
    }
    assert_eq!(search(&toy, 2).failed_at, expected);
    assert!(!expected.is_empty());
    assert!(search(&Toy::new(1, 9), 2).failed_at.is_empty());
}

#[test]
fn equal_worlds_are_executed_once() {
    let toy = Toy::new(2, 9);
    let found = search(&toy, 3);
    assert!(found.worlds * 5 < found.schedules, "{found:?}");
    assert_eq!(found.visited.len(), SCRIPT.len());
    assert!(found.stood.iter().sum::<u64>() < found.worlds, "the ends are worlds too");
    let reached: Vec<_> = found.reached.iter().collect();
    assert_eq!(reached, [Sometimes::TakenOver, Sometimes::Unknown]);
}

#[test]
fn a_search_is_the_same_every_time() {
    let toy = Toy { abort: true, ..Toy::new(2, 2) };
    let counters = Counters::default();
    let first = explore(&toy, Bounds::depth(3), &counters);
    assert_eq!(first, explore(&toy, Bounds::depth(3), &Counters::default()));
    let first = first.expect("the search ends");
    assert_eq!((counters.worlds(), counters.steps()), (first.worlds, first.steps));
}

#[test]
fn more_worlds_than_allowed_end_the_search() {
    let bounds = Bounds { depth: 2, worlds: 40 };
    let stopped = explore(&Toy::new(2, 9), bounds, &Counters::default());
    let Err(ExploreError::TooManyWorlds { bound, .. }) = stopped else { panic!("{stopped:?}") };
    assert_eq!(bound, 40);
}

/// A toy whose first end is bad, and no later one: it remembers outside of itself.
#[derive(Clone)]
struct Fickle(Toy, Rc<Cell<u32>>);

impl Explorable for Fickle {
    type Property = Broken;

    fn place(&self) -> Option<Place> {
        self.0.place()
    }
    fn faults(&self) -> impl Iterator<Item = Fault> {
        self.0.faults()
    }
    fn inject(&mut self, fault: Fault) {
        self.0.inject(fault);
    }
    fn advance(&mut self) {
        self.0.advance();
    }
    fn drain(&mut self) -> bool {
        self.0.drain()
    }
    fn conclude(&mut self) {
        self.0.conclude();
        self.1.set(self.1.get() + 1);
        self.0.broken |= self.1.get() == 1;
    }
    fn violation(&self) -> Option<Broken> {
        self.0.violation()
    }
    fn fingerprint(&self) -> u128 {
        self.0.fingerprint()
    }
    fn reached(&self) -> SometimesSet {
        self.0.reached()
    }
}

#[test]
fn a_counterexample_that_does_not_fail_again_is_an_error() {
    let fickle = Fickle(Toy::new(1, 9), Rc::default());
    let found = explore(&fickle, Bounds::depth(1), &Counters::default());
    let Err(ExploreError::Diverged { schedule }) = found else { panic!("{found:?}") };
    assert_eq!(schedule.to_string(), "ledger.claim/before@1=crash");
}

/// A toy with an assertion that some schedule violates.
#[derive(Clone)]
struct Fragile(Toy);

impl Explorable for Fragile {
    type Property = Broken;

    fn place(&self) -> Option<Place> {
        self.0.place()
    }
    fn faults(&self) -> impl Iterator<Item = Fault> {
        self.0.faults()
    }
    fn inject(&mut self, fault: Fault) {
        self.0.inject(fault);
    }
    fn advance(&mut self) {
        self.0.advance();
        assert!(self.0.runs < 2, "TOY-01: the tool runs once");
    }
    fn drain(&mut self) -> bool {
        self.0.drain()
    }
    fn conclude(&mut self) {
        self.0.conclude();
    }
    fn violation(&self) -> Option<Broken> {
        self.0.violation()
    }
    fn fingerprint(&self) -> u128 {
        self.0.fingerprint()
    }
    fn reached(&self) -> SometimesSet {
        self.0.reached()
    }
}

#[test]
fn a_schedule_that_panics_is_named() {
    let counters = Counters::default();
    let found = explore(&Fragile(Toy::new(1, 9)), Bounds::depth(1), &counters);
    let Err(ExploreError::Panicked { schedule, message }) = found else { panic!("{found:?}") };
    assert_eq!(schedule.to_string(), "tool.invoke/during@1=crash-done");
    assert_eq!(message, "TOY-01: the tool runs once");
}
