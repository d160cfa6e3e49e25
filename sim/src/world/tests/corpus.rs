//! Calm runs and single faults of every scenario of the corpus.

use std::collections::BTreeMap;
use std::sync::Arc;

use super::{finish, tell};
use crate::fault::Fault;
use crate::profile::Profile;
use crate::scenario::{Scenario, corpus};
use crate::world::World;

fn corpus() -> Vec<Arc<Scenario>> {
    let parse = |(name, text): (&str, &str)| {
        Arc::new(Scenario::parse(name, text).unwrap_or_else(|why| panic!("{why}")))
    };
    corpus::builtin().map(parse).collect()
}

#[test]
fn arc_14_every_scenario_settles_when_nothing_breaks() {
    for scenario in corpus() {
        for profile in Profile::ALL {
            let mut world = World::new(Arc::clone(&scenario), *profile, None);
            world.record_story();
            finish(&mut world);
            let story = tell(&world);
            assert_eq!(world.violation(), None, "{} {profile}\n{story}", scenario.name);
        }
    }
}

/// Runs every schedule with one fault, and every one with a pause and a wake, and says which
/// break a property.
fn single_faults(start: &World) -> Vec<String> {
    let mut broken = Vec::new();
    let mut calm = start.clone();
    let mut counts = BTreeMap::new();
    while let Some(moment) = calm.moment() {
        let count = counts.entry(moment.failpoint).or_insert(0);
        *count += 1;
        for fault in calm.faults().iter() {
            let mut world = calm.clone();
            world.inject(fault);
            let name = format!("{}@{count}={fault}", moment.failpoint);
            if fault == Fault::Pause {
                wakes(&world, &name, &mut broken);
            }
            finish(&mut world);
            broken.extend(world.violation().map(|it| format!("{name}: {it}")));
        }
        calm.advance();
    }
    broken
}

/// Wakes the paused process at every moment there is.
fn wakes(paused: &World, name: &str, broken: &mut Vec<String>) {
    let mut world = paused.clone();
    while let Some(moment) = world.moment() {
        let mut woken = world.clone();
        woken.inject(Fault::Wake);
        finish(&mut woken);
        let here = moment.failpoint;
        broken.extend(woken.violation().map(|it| format!("{name}, wake at {here}: {it}")));
        world.advance();
    }
}

#[test]
fn dur_019_every_scenario_survives_every_single_fault() {
    let mut broken = Vec::new();
    for scenario in corpus() {
        for profile in Profile::ALL {
            let world = World::new(Arc::clone(&scenario), *profile, None);
            let found = single_faults(&world);
            broken.extend(found.iter().map(|it| format!("{} {profile}: {it}", scenario.name)));
        }
    }
    let first: Vec<_> = broken.iter().take(40).map(String::as_str).collect();
    assert!(broken.is_empty(), "{} schedules fail:\n{}", broken.len(), first.join("\n"));
}
