//! The store in memory is a store.

use super::desk::Desk;
use crate::conformance::Subject as _;
use crate::conformance::{Failing, Plan, check, fail, race};
use crate::profile::Profile;
use everstep_machine::identity::ConversationId;
use everstep_machine::store::{Pipeline, Store as _, StoreCommand, StoreFault, Target};

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
        assert!(report.contests > 15, "{report:?}");
    }
}

#[test]
fn store_010_memory_whose_answers_are_lost_is_equal_to_the_machines() {
    for profile in Profile::ALL {
        let report = fail(&mut Desk::new(*profile), 1, 60).unwrap_or_else(|it| panic!("{it}"));
        assert!(report.lost > 500, "{report:?}");
        assert!(report.settled > 10, "{report:?}");
    }
}

#[test]
fn store_010_a_failing_store_fails_once_where_it_is_told() {
    let lane = ConversationId::new("desk").unwrap();
    let read = Pipeline { lane, commands: vec![StoreCommand::ReadLane(Target::Claimable)] };
    let plan = Plan::default();
    let mut store = Failing::new(Desk::new(Profile::Weak).fresh(), plan.clone());
    assert!(store.execute(&read).is_ok());
    plan.fail_after(1);
    assert_eq!(store.execute(&read), Err(StoreFault::Indeterminate));
    assert!(store.execute(&read).is_ok());
}
