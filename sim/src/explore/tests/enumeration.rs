//! The full enumeration, without any memory of what was met before.

use std::collections::{BTreeMap, BTreeSet};

use everstep_machine::effect::Failpoint;

use crate::explore::{Explorable, cost};
use crate::schedule::{Choice, Schedule, Walk};

/// Every complete schedule up to a depth, with what it breaks.
pub(super) fn enumerate<W: Explorable>(
    world: &W,
    depth: u8,
) -> Vec<(Schedule, Option<W::Property>)> {
    let mut all = Vec::new();
    go(Walk::new(world.clone()), &mut Vec::new(), depth, &mut all);
    all
}

fn go<W: Explorable>(
    mut walk: Walk<W>,
    chosen: &mut Vec<Choice>,
    left: u8,
    all: &mut Vec<(Schedule, Option<W::Property>)>,
) {
    while walk.world().violation().is_none() {
        let Some(here) = walk.at() else {
            if walk.drain() {
                continue;
            }
            walk.world_mut().conclude();
            break;
        };
        let faults: Vec<_> = walk.world().faults().collect();
        for fault in faults {
            let Some(left) = left.checked_sub(cost(fault)) else { continue };
            let mut fork = walk.clone();
            fork.inject(fault);
            chosen.push(Choice { failpoint: here.failpoint, arrival: here.arrival, fault });
            go(fork, chosen, left, all);
            chosen.pop();
        }
        walk.advance();
    }
    all.push((Schedule::of(chosen.clone()), walk.world().violation()));
}

/// For each place, as `name` calls a failpoint, how many schedules have a fault there.
pub(super) fn through<P>(
    all: &[(Schedule, P)],
    name: impl Fn(Failpoint) -> String,
) -> BTreeMap<String, u64> {
    let mut counts = BTreeMap::new();
    for (schedule, _) in all {
        let places = schedule.choices().iter().map(|choice| name(choice.failpoint));
        let places: BTreeSet<_> = places.collect();
        places.into_iter().for_each(|place| *counts.entry(place).or_default() += 1);
    }
    counts
}
