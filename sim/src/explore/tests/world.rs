//! The search against the full enumeration, in worlds of the corpus.

use std::sync::Arc;

use super::enumeration::{enumerate, through};
use crate::defect::Defect;
use crate::explore::{Bounds, Counters, explore, failpoints};
use crate::profile::Profile;
use crate::scenario::{Scenario, corpus};
use crate::world::World;

fn world(name: &str, text: &str, profile: Profile, defect: Option<Defect>) -> World {
    World::new(Arc::new(Scenario::parse(name, text).expect("it is right")), profile, defect)
}

/// Equal fingerprints must mean equal futures: if they ever do not, the counts of the search part
/// from those of the enumeration, which remembers nothing.
fn compare(world: &World, depth: u8) {
    let all = enumerate(world, depth);
    let found = explore(world, Bounds::depth(depth), &Counters::default()).expect("it ends");
    assert_eq!(found.schedules, all.len() as u64);
    let failing = all.iter().filter(|(_, broken)| broken.is_some());
    assert_eq!(found.failed, failing.clone().count() as u64);
    let shortest = failing.min_by_key(|(schedule, _)| schedule.choices().len());
    let first = found.found.map(|found| (found.schedule, Some(found.property)));
    assert_eq!(first.as_ref(), shortest);
    let counts = through(&all, |at| at.to_string());
    for (at, count) in failpoints().iter().zip(&found.through) {
        assert_eq!(counts.get(&at.to_string()).copied().unwrap_or(0), *count, "{at}");
    }
}

#[test]
fn every_point_of_every_scenario_is_counted_as_the_enumeration_does() {
    for (name, text) in corpus::builtin() {
        for profile in Profile::ALL {
            compare(&world(name, text, *profile, None), 1);
        }
    }
}

#[test]
fn every_pair_of_points_is_counted_as_the_enumeration_does() {
    let (name, text) = corpus::builtin().find(|(it, _)| *it == "answer").expect("it is built in");
    compare(&world(name, text, Profile::Strong, None), 2);
    compare(&world(name, text, Profile::Strong, Some(Defect::ReplayAcrossFence)), 2);
}
