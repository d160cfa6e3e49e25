//! Instances with their pinned numbers of states, and defects that must be found.
//!
//! A number that changes is a change in the protocol, or in the world around it: look at what
//! changed, then write the new number here.

use std::sync::Arc;

use everstep_model_checker::{Defeat, Limits, Report, check};
use everstep_sim::defect::Defect;
use everstep_sim::oracle::Property;
use everstep_sim::profile::Profile;
use everstep_sim::scenario::{Scenario, corpus};
use everstep_sim::world::{Event, World};

fn run(name: &str, faults: u8, states: u64, defect: Option<Defect>) -> Report<Event, Property> {
    let (_, text) = corpus::builtin().find(|(found, _)| *found == name).expect("it is built in");
    let scenario = Arc::new(Scenario::parse(name, text).expect("the corpus is right"));
    let mut world = World::new(scenario, Profile::Strong, defect);
    world.set_free();
    check(&world, Limits { faults, states }, |_| {})
}

#[test]
fn arc_14_dur_002_sound_instances_hold_in_every_order_with_pinned_states() {
    for (name, faults, states, ends) in PINNED {
        let report = run(name, faults, 1_000_000, None);
        assert_eq!(report.counterexample, None, "{name} with {faults} faults");
        assert!(report.is_complete());
        assert_eq!((report.states, report.ends), (states, ends), "{name} with {faults} faults");
    }
}

/// Scenario, faults, different states, ends.
const PINNED: [(&str, u8, u64, u64); 3] =
    [("answer", 0, 1_401, 2), ("answer", 1, 17_770, 14), ("ordinary-never-started", 0, 1_599, 2)];

#[test]
fn dur_006_dur_009_planted_defects_are_found_within_their_states() {
    let controls = [
        (Defect::ReplayAcrossFence, Property::Fencing, 30_000),
        (Defect::NeverStartedWithoutTombstone, Property::OrdinaryOnce, 80_000),
        (Defect::FenceWithoutTail, Property::FencedTail, 20_000),
        (Defect::NoEpochCheck, Property::Fencing, 30_000),
    ];
    for (defect, expected, states) in controls {
        let report = run("ordinary-never-started", 1, states, Some(defect));
        let found = report.counterexample.unwrap_or_else(|| panic!("{defect} is not found"));
        let Defeat::Broken { property, .. } = &found.defeat else { panic!("{:?}", found.defeat) };
        assert_eq!(*property, expected, "{defect}");
        assert_eq!(found.told.len(), found.actions.len());
        assert_eq!(breaks(&found.actions, defect), Some(expected), "{defect}");
    }
}

/// The property that a list of events breaks, from the start.
fn breaks(events: &[Event], defect: Defect) -> Option<Property> {
    let name = "ordinary-never-started";
    let (_, text) = corpus::builtin().find(|(found, _)| *found == name).expect("it is built in");
    let scenario = Arc::new(Scenario::parse(name, text).expect("the corpus is right"));
    let mut world = World::new(scenario, Profile::Strong, Some(defect));
    world.set_free();
    for event in events {
        assert_eq!(world.violation(), None, "the counterexample has a tail");
        let possible = world.events();
        assert!(possible.iter().any(|(known, _)| known == event), "{}", world.tell_event(*event));
        world.happens(*event);
    }
    world.violation().map(|violation| violation.property)
}
