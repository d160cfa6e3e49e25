//! The store in memory is a store.

use super::desk::Desk;
use crate::conformance::{check, race};
use crate::profile::Profile;

#[test]
fn store_010_the_store_in_memory_is_equal_to_the_machines() {
    for profile in Profile::ALL {
        let report = check(&mut Desk::new(*profile), 1, 60).unwrap_or_else(|it| panic!("{it}"));
        assert!(report.refusals > 100, "{report:?}");
        assert!(report.crashes > 40, "{report:?}");
        assert!(report.settled > 10, "{report:?}");
        assert!(report.batches > 1_100, "{report:?}");
    }
}

#[test]
fn store_010_the_same_seed_tries_the_same() {
    let tried = |seed| check(&mut Desk::new(Profile::Weak), seed, 8).unwrap();
    assert_eq!(tried(7), tried(7));
    assert_ne!(tried(7), tried(8));
}

#[test]
fn store_010_the_written_scripts_meet_every_command_and_every_refusal() {
    let report = check(&mut Desk::new(Profile::Weak), 1, 0).unwrap_or_else(|it| panic!("{it}"));
    for name in ["lane refuses: JoinedOpen", "log refuses: Fenced", "ledger.claim"] {
        assert!(report.met.contains(&name), "{name} is not among {:?}", report.met);
    }
}

#[test]
fn store_010_two_handles_on_memory_never_come_between_a_command() {
    for profile in Profile::ALL {
        let report = race(&mut Desk::new(*profile), 1, 60).unwrap_or_else(|it| panic!("{it}"));
        assert!(report.contests > 20, "{report:?}");
    }
}
