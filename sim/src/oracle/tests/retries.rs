//! What was given up and is tried again (DUR-018).

use everstep_machine::effect::Failpoint;
use everstep_machine::ledger::Standing;
use everstep_machine::record::Outcome;

use super::*;
use crate::fault::Fault;
use crate::oracle::Sometimes;
use crate::scenario::Retry;
use crate::world::World;

/// A submission that kills, one behind it, and two who want the first tried again; what that comes to
/// kills as well, and is tried again when it is mended.
fn scenario() -> Arc<Scenario> {
    let kills = Says::calls("read", "{}");
    let scenario = Scenario::builder("retried")
        .tool(Tool::readonly("read").deadly(16))
        .submission(Submission::new("bomb").turn(kills.clone()).expect(Outcome::Failed))
        .submission(Submission::new("letter").turn(Says::says("hello")))
        .retry(Retry::of("bomb").people(2).turn(kills).expect(Outcome::Failed))
        .retry(Retry::of("bomb").by("carol").turn(Says::says("read")).expect(Outcome::Completed));
    Arc::new(scenario.build().unwrap())
}

/// Plays it to its end, with this fault the n-th time that somebody asks.
fn played(defect: Option<Defect>, broken: Option<(&str, usize, Fault)>) -> World {
    let mut world = World::new(scenario(), Profile::Weak, defect);
    let mut arrivals = 0;
    while let Some(moment) = world.moment() {
        let fault = broken.filter(|(point, nth, _)| {
            let here = *point.parse::<Failpoint>().as_ref().unwrap() == moment.failpoint;
            arrivals += usize::from(here);
            here && arrivals == *nth
        });
        match fault {
            Some((_, _, fault)) => world.inject(fault),
            None => world.advance(),
        }
        if world.violation().is_some() {
            return world;
        }
    }
    while world.drain() {
        while world.moment().is_some() {
            world.advance();
        }
    }
    world.conclude();
    world
}

#[test]
fn dur_018_one_successor_comes_of_a_dead_letter_whatever_strikes_and_whoever_asks() {
    let mut faults = vec![None];
    for point in ["ledger.retry/before", "ledger.retry/after"] {
        for nth in 1..=3 {
            faults
                .extend([Fault::Crash, Fault::Pause, Fault::Lose].map(|it| Some((point, nth, it))));
        }
    }
    for fault in faults {
        let world = played(None, fault);
        assert_eq!(world.violation(), None, "{fault:?}");
        let rows = world.shelves().next().expect("a lane").rows();
        let [bomb, letter, first, second] = rows else { panic!("{fault:?}: {rows:?}") };
        assert!(rows.iter().all(|row| row.standing() == Standing::Resting), "{fault:?}");
        let names = |row: &everstep_machine::ledger::Row| {
            let retried = row.chain.retried.as_ref();
            retried.map(|it| (it.successor, it.intent.principal.as_str().to_owned()))
        };
        let id = |row: &everstep_machine::ledger::Row| row.admission.submission;
        assert_eq!(names(bomb), Some((id(first), "operator".to_owned())), "{fault:?}");
        assert_eq!(names(first), Some((id(second), "carol".to_owned())), "{fault:?}");
        assert_eq!((names(letter), names(second)), (None, None), "{fault:?}");
        for one in [Sometimes::Retried, Sometimes::RetriedAlready] {
            assert!(world.reached().contains(one), "{fault:?}");
        }
    }
}

#[test]
fn dur_018_a_second_successor_is_found() {
    let world = played(Some(Defect::RetriesForgotten), None);
    assert_eq!(world.violation().map(|it| it.property), Some(Property::Retries));
}
