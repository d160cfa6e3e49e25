//! Negative controls: a world with one broken rule must be caught.
//!
//! Each control names the scenario in which the rule is broken, the property that notices, the
//! depth at which it is found, and how many worlds the search may execute until then.

use std::sync::Arc;

use everstep_sim::defect::Defect;
use everstep_sim::explore::{Bounds, Counters, explore};
use everstep_sim::oracle::Property;
use everstep_sim::profile::Profile;
use everstep_sim::scenario::{Scenario, corpus};
use everstep_sim::schedule::{Schedule, run};
use everstep_sim::shrink::shrink;
use everstep_sim::trace::Trace;
use everstep_sim::world::World;

struct Control {
    defect: Defect,
    scenario: &'static str,
    property: Property,
    depth: u8,
    worlds: u64,
}

const CONTROLS: [Control; 22] = [
    Control {
        defect: Defect::ReplayAcrossFence,
        scenario: "ordinary-completed",
        property: Property::Fencing,
        depth: 1,
        worlds: 10_000,
    },
    Control {
        defect: Defect::NeverStartedWithoutTombstone,
        scenario: "ordinary-never-started",
        property: Property::OrdinaryOnce,
        depth: 1,
        worlds: 10_000,
    },
    Control {
        defect: Defect::ResolutionsByCallAlone,
        scenario: "ordinary-never-started",
        property: Property::OrdinaryOnce,
        depth: 2,
        worlds: 200_000,
    },
    Control {
        defect: Defect::FenceWithoutTail,
        scenario: "answer",
        property: Property::FencedTail,
        depth: 2,
        worlds: 100_000,
    },
    Control {
        defect: Defect::NoEpochCheck,
        scenario: "answer",
        property: Property::Fencing,
        depth: 1,
        worlds: 10_000,
    },
    // What never reaches a model needs no fault to be missed.
    Control {
        defect: Defect::ToolsHidden,
        scenario: "live-desk",
        property: Property::Expected,
        depth: 0,
        worlds: 1_000,
    },
    Control {
        defect: Defect::MessagesHidden,
        scenario: "live-desk",
        property: Property::Expected,
        depth: 0,
        worlds: 1_000,
    },
    Control {
        defect: Defect::ContractHidden,
        scenario: "live-contract",
        property: Property::Expected,
        depth: 0,
        worlds: 1_000,
    },
    Control {
        defect: Defect::ChecksSkipped,
        scenario: "invalid-parameters",
        property: Property::Fitting,
        depth: 0,
        worlds: 1_000,
    },
    Control {
        defect: Defect::SilenceCalledFailure,
        scenario: "silent-ordinary",
        property: Property::Known,
        depth: 0,
        worlds: 1_000,
    },
    Control {
        defect: Defect::SilenceRepeated,
        scenario: "silent-ordinary",
        property: Property::OrdinaryOnce,
        depth: 0,
        worlds: 1_000,
    },
    Control {
        defect: Defect::SteeringHidden,
        scenario: "steering",
        property: Property::Heard,
        depth: 1,
        worlds: 100_000,
    },
    Control {
        defect: Defect::DeathsForgotten,
        scenario: "poison",
        property: Property::Prediction,
        depth: 0,
        worlds: 1_000,
    },
    Control {
        defect: Defect::RetriesForgotten,
        scenario: "poison-retried",
        property: Property::Retries,
        depth: 0,
        worlds: 1_000,
    },
    Control {
        defect: Defect::StepsForgotten,
        scenario: "durable-steps",
        property: Property::RecordedSteps,
        depth: 1,
        worlds: 10_000,
    },
    Control {
        defect: Defect::RevisionHidden,
        scenario: "revised-rebound",
        property: Property::Bindings,
        depth: 0,
        worlds: 1_000,
    },
    Control {
        defect: Defect::PlacesForgotten,
        scenario: "tool-groups",
        property: Property::Groups,
        depth: 0,
        worlds: 1_000,
    },
    Control {
        defect: Defect::TriesForgotten,
        scenario: "transient-retries",
        property: Property::Expected,
        depth: 0,
        worlds: 1_000,
    },
    Control {
        defect: Defect::SummaryForgotten,
        scenario: "host-compaction",
        property: Property::Expected,
        depth: 0,
        worlds: 1_000,
    },
    Control {
        defect: Defect::RevocationUnheard,
        scenario: "revoked-grant",
        property: Property::Granted,
        depth: 1,
        worlds: 10_000,
    },
    Control {
        defect: Defect::DoorUnwatched,
        scenario: "revoked-durable",
        property: Property::Granted,
        depth: 1,
        worlds: 10_000,
    },
    Control {
        defect: Defect::CheckpointLies,
        scenario: "checkpoints",
        property: Property::Fold,
        depth: 1,
        worlds: 10_000,
    },
];

fn source(name: &str) -> (Arc<Scenario>, &'static str) {
    let (_, text) = corpus::builtin().find(|(found, _)| *found == name).expect("it is built in");
    (Arc::new(Scenario::parse(name, text).expect("the corpus is right")), text)
}

/// The property that a schedule breaks.
fn broken(world: &World, schedule: &Schedule) -> Option<Property> {
    let end = run(world.clone(), schedule).ok()?;
    end.world.violation().map(|violation| violation.property)
}

/// The shortest schedule that breaks the control's property on a weak store.
fn caught(control: &Control) -> (World, Schedule) {
    let (scenario, _) = source(control.scenario);
    let world = World::new(scenario, Profile::Weak, Some(control.defect));
    let bounds = Bounds { depth: control.depth, worlds: control.worlds };
    let found = explore(&world, bounds, &Counters::default())
        .unwrap_or_else(|why| panic!("{}: {why}", control.defect));
    let found = found.found.unwrap_or_else(|| panic!("{} is not caught", control.defect));
    assert_eq!(found.property, control.property, "{}: {}", control.defect, found.schedule);
    (world, found.schedule)
}

#[test]
fn every_defect_has_a_control() {
    let controlled: Vec<_> = CONTROLS.iter().map(|control| control.defect).collect();
    assert_eq!(controlled, Defect::ALL);
}

#[test]
fn dur_006_dur_009_every_planted_defect_is_caught_within_its_bounds() {
    for control in &CONTROLS {
        let (_, schedule) = caught(control);
        let choices = schedule.choices().len();
        let least = usize::from(control.depth > 0);
        assert!((least..=usize::from(control.depth)).contains(&choices), "{schedule}");
    }
}

#[test]
fn a_shallower_search_does_not_catch_what_needs_a_pair() {
    for control in CONTROLS.iter().filter(|control| control.depth > 1) {
        let (scenario, _) = source(control.scenario);
        let world = World::new(scenario, Profile::Weak, Some(control.defect));
        let shallow = explore(&world, Bounds::depth(1), &Counters::default());
        assert_eq!(shallow.expect("it ends").found, None, "{}", control.defect);
    }
}

/// A scripted model goes on as if nothing were missing, and the requests are sound when they leave:
/// only a model that goes by what it is shown finds out.
#[test]
fn a_scripted_model_does_not_miss_what_is_hidden_from_it() {
    for defect in [Defect::ToolsHidden, Defect::MessagesHidden, Defect::ContractHidden] {
        for name in ["mixed-batch", "output-contract"] {
            let world = World::new(source(name).0, Profile::Weak, Some(defect));
            let found = explore(&world, Bounds::depth(0), &Counters::default());
            assert_eq!(found.expect("it ends").found, None, "{defect} in {name}");
        }
    }
}

#[test]
fn what_is_caught_is_1_minimal() {
    for control in &CONTROLS {
        let (world, schedule) = caught(control);
        let fails = |schedule: &Schedule| broken(&world, schedule) == Some(control.property);
        let small = shrink(&schedule, fails);
        assert!(fails(&small), "{small}");
        for position in 0..small.choices().len() {
            assert!(!fails(&small.without(position)), "{small} without {position}");
        }
    }
}

#[test]
fn a_trace_breaks_with_its_defect_and_holds_without() {
    for control in &CONTROLS {
        let (_, schedule) = caught(control);
        let (scenario, text) = source(control.scenario);
        let trace = Trace {
            scenario,
            text: text.to_owned(),
            profile: Profile::Weak,
            defect: Some(control.defect),
            schedule,
            property: Some(control.property),
            commit: None,
        };
        let saved = Trace::from_toml("saved", &trace.to_toml()).expect("it was written by us");
        let end = saved.replay().expect("the schedule fits").world;
        assert!(saved.expects(end.violation()), "{:?}", end.violation());
        assert!(!end.story().is_empty(), "a replay tells what happens");
        let sound = Trace { defect: None, property: None, ..saved };
        match sound.replay() {
            Ok(end) => assert_eq!(end.world.violation(), None, "{}", control.defect),
            // With the rule kept, the world may never come to where it was broken.
            Err(stuck) => panic!("{}: {stuck}", control.defect),
        }
    }
}
