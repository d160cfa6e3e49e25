//! What each fault does.

use std::sync::Arc;

use everstep_machine::effect::{CrashPhase, EffectClass};
use everstep_machine::identity::Timestamp;

use super::{advance_to, finish, ordinary, world};
use crate::fault::Fault;
use crate::oracle::{Property, Sometimes};
use crate::profile::Profile;
use crate::scenario::{Abort, Scenario, Submission, Tool, Turn};
use crate::store::Shelf;
use crate::world::World;
use crate::world::process::Role;

fn shelf(world: &World) -> &Shelf {
    world.shelves().next().expect("there is one lane")
}

fn executions(world: &World) -> usize {
    world.outside().calls().iter().map(|call| call.executions.len()).sum()
}

#[test]
fn dur_001_a_weak_store_keeps_every_command_before_the_crash() {
    let mut world = world(Profile::Weak);
    advance_to(&mut world, "conversation.materialize/before", 1);
    world.inject(Fault::Crash);
    assert_eq!(shelf(&world).rows().len(), 1);
    assert_eq!(shelf(&world).log().tail(), None);
    let again = world.moment().expect("the client calls again");
    assert_eq!(again.failpoint.to_string(), "ledger.admit/before");
    finish(&mut world);
    assert_eq!(world.violation(), None);
    assert!(world.reached().contains(Sometimes::ReceiptOnRetry));
}

#[test]
fn dur_001_a_strong_store_keeps_nothing_of_a_transaction_until_its_end() {
    let mut calm = world(Profile::Strong);
    for failpoint in ["ledger.admit/after", "conversation.materialize/after", "ledger.ready/before"]
    {
        advance_to(&mut calm, failpoint, 1);
        for fault in [Fault::Crash, Fault::Lose] {
            let mut world = calm.clone();
            world.inject(fault);
            assert!(shelf(&world).rows().is_empty(), "{failpoint} {fault}");
            finish(&mut world);
            assert_eq!(world.violation(), None);
        }
    }
    advance_to(&mut calm, "ledger.ready/after", 1);
    assert_eq!(shelf(&calm).rows().len(), 1);
    assert!(shelf(&calm).log().tail().is_some());
}

#[test]
fn store_002_a_transaction_that_others_overtake_is_executed_anew() {
    let lane = "desk";
    let submission = |name| Submission::new(name).conversation(lane).turn(Turn::says("done"));
    let scenario = Scenario::builder("two")
        .about("Two clients of one lane.")
        .agent("clerk", "Do it.")
        .submission(submission("a"))
        .submission(submission("b"));
    let scenario = Arc::new(scenario.build().unwrap());
    let mut world = World::new(scenario, Profile::Strong, None);
    advance_to(&mut world, "ledger.ready/before", 1);
    world.inject(Fault::Pause);
    advance_to(&mut world, "ledger.ready/after", 1);
    world.inject(Fault::Wake);
    finish(&mut world);
    assert_eq!(world.violation(), None);
    let names: Vec<_> = shelf(&world).rows().iter().map(|row| row.admission.key.as_str()).collect();
    assert_eq!(names, ["b", "a"], "who commits first is first");
}

#[test]
fn a_crash_under_way_leaves_the_effect_undone_and_crash_done_leaves_it_done() {
    let mut calm = world(Profile::Weak);
    let moment = advance_to(&mut calm, "tool.invoke/during", 1);
    assert_eq!(moment.failpoint.phase, CrashPhase::During);
    assert!(calm.faults().contains(Fault::CrashDone));
    let mut undone = calm.clone();
    undone.inject(Fault::Crash);
    assert_eq!(executions(&undone), 0);
    let mut done = calm.clone();
    done.inject(Fault::CrashDone);
    assert_eq!(executions(&done), 1);
    for world in [&mut undone, &mut done] {
        finish(world);
        assert_eq!(world.violation(), None);
        assert_eq!(executions(world), 1);
    }
    assert!(undone.reached().contains(Sometimes::ResolvedNeverStarted));
    assert!(done.reached().contains(Sometimes::ResolvedCompleted));
}

#[test]
fn a_lost_message_is_sent_again() {
    let mut calm = world(Profile::Weak);
    for failpoint in ["ledger.claim/before", "ledger.claim/after", "conversation.fence/after"] {
        advance_to(&mut calm, failpoint, 1);
        let mut world = calm.clone();
        world.inject(Fault::Lose);
        let again = world.moment().expect("it is sent again");
        assert_eq!(again.failpoint.to_string(), "ledger.claim/before", "{failpoint}");
        finish(&mut world);
        assert_eq!(world.violation(), None);
        assert!(world.reached().contains(Sometimes::AcknowledgementLost));
        assert_eq!(shelf(&world).lane().epoch.0, 1, "the token answers for the claim");
    }
}

#[test]
fn dur_006_a_paused_owner_is_replaced_after_its_lease_and_wakes_as_a_zombie() {
    let mut world = world(Profile::Weak);
    let stopped = advance_to(&mut world, "tool.invoke/before", 1);
    world.inject(Fault::Pause);
    let successor = world.moment().expect("somebody else takes over");
    assert_ne!(successor.process, stopped.process);
    assert_eq!(world.clock(), Timestamp(30_000), "nobody waits longer than the lease");
    while world.moment().is_some() {
        world.advance();
    }
    assert_eq!(executions(&world), 1);
    assert!(world.drain());
    assert_eq!(world.moment(), Some(stopped), "it goes on exactly where it stopped");
    finish(&mut world);
    assert_eq!(world.violation(), None);
    assert_eq!(executions(&world), 1);
    let reached = world.reached();
    assert!(reached.contains(Sometimes::ZombieWoke) && reached.contains(Sometimes::Tombstoned));
    assert!(!world.drain(), "nobody is paused any more");
}

#[test]
fn le_07_a_tool_that_outlasts_the_lease_is_carried_by_renewals() {
    let scenario = Scenario::builder("slow")
        .about("A tool that takes a minute.")
        .agent("clerk", "Do it.")
        .tool(Tool::ordinary("ship").returns("1").latency_ms(60_000))
        .submission(Submission::new("a").turn(Turn::calls("ship", "{}")).turn(Turn::says("done")));
    let mut world = World::new(Arc::new(scenario.build().unwrap()), Profile::Weak, None);
    finish(&mut world);
    assert_eq!(world.violation(), None);
    assert!(world.reached().contains(Sometimes::Renewed));
    assert_eq!(shelf(&world).lane().epoch.0, 1, "nobody took over");
    assert_eq!(world.clock(), Timestamp(60_000));
}

#[test]
fn a_day_of_renewals_is_no_lack_of_progress() {
    let scenario = Scenario::builder("day")
        .about("A tool that takes a day.")
        .agent("clerk", "Do it.")
        .tool(Tool::ordinary("ship").returns("1").latency_ms(24 * 60 * 60 * 1_000))
        .submission(Submission::new("a").turn(Turn::calls("ship", "{}")).turn(Turn::says("done")));
    let mut world = World::new(Arc::new(scenario.build().unwrap()), Profile::Strong, None);
    finish(&mut world);
    assert_eq!(world.violation(), None);
}

fn aborted(abort: Abort) -> World {
    let scenario = Scenario::builder("aborted")
        .about("Somebody changes their mind.")
        .agent("clerk", "Do it.")
        .tool(Tool::ordinary("ship").returns("1").latency_ms(40))
        .submission(Submission::new("a").turn(Turn::calls("ship", "{}")).turn(Turn::says("done")))
        .abort(abort);
    World::new(Arc::new(scenario.build().unwrap()), Profile::Weak, None)
}

#[test]
fn dur_012_an_abort_at_every_moment_is_offered_once() {
    let mut world = aborted(Abort::of("a"));
    let before = advance_to(&mut world, "model.call/during", 1);
    world.inject(Fault::Abort);
    let asked = world.moment().expect("the abort is at the door");
    assert_eq!(asked.failpoint.to_string(), "ledger.abort/before");
    assert!(matches!(world.processes[asked.process.0].role, Role::Abort(0)));
    assert!(!world.faults().contains(Fault::Abort));
    world.advance();
    world.advance();
    assert_eq!(world.moment(), Some(before), "what had left for the outside comes first");
    finish(&mut world);
    assert_eq!(world.violation(), None);
    assert!(world.reached().contains(Sometimes::AbortedLive));
}

#[test]
fn dur_012_an_abort_at_a_named_moment_comes_by_itself_and_only_there() {
    let failpoint = "conversation.append:CallsDeclared/before";
    let mut world = aborted(Abort::of("a").at(failpoint.parse().unwrap(), 1));
    let mut arrivals = 0;
    let mut asked = 0;
    while let Some(moment) = world.moment() {
        assert!(!world.faults().contains(Fault::Abort), "nobody else asks for it");
        arrivals += usize::from(moment.failpoint.to_string() == failpoint);
        asked += usize::from(moment.failpoint.to_string() == "ledger.abort/before");
        assert_eq!(asked, 1.min(asked + arrivals), "it comes before the moment passes");
        world.advance();
    }
    world.conclude();
    assert_eq!(world.violation(), None);
    assert_eq!((asked, arrivals), (1, 1));
}

#[test]
fn a_crash_of_the_operator_changes_nothing_of_what_it_says() {
    let mut calm = world(Profile::Weak);
    advance_to(&mut calm, "tool.invoke/during", 1);
    calm.inject(Fault::CrashDone);
    for failpoint in ["ledger.resolve/before", "ledger.resolve/after"] {
        advance_to(&mut calm, failpoint, 1);
        let mut world = calm.clone();
        world.inject(Fault::Crash);
        let again = world.moment().expect("the operator asks again");
        assert_eq!(again.failpoint.to_string(), "ledger.resolve/before");
        finish(&mut world);
        assert_eq!(world.violation(), None);
        assert_eq!(executions(&world), 1);
    }
}

#[test]
fn a_world_that_makes_no_progress_is_reported() {
    let mut world = world(Profile::Weak);
    while world.violation().is_none() {
        advance_to(&mut world, "ledger.claim/before", 1);
        world.inject(Fault::Lose);
    }
    let violation = world.violation().unwrap();
    assert_eq!(violation.property, Property::Liveness);
    assert_eq!(world.moment(), None);
}

#[test]
#[should_panic(expected = "DUR-019")]
fn an_impossible_fault_is_not_injected() {
    world(Profile::Weak).inject(Fault::Wake);
}

#[test]
fn faults_fit_their_moment() {
    let mut world = World::new(ordinary(), Profile::Weak, None);
    while let Some(moment) = world.moment() {
        let faults = world.faults();
        let outside = moment.failpoint.effect.class() == EffectClass::External;
        assert!(faults.contains(Fault::Crash) && faults.contains(Fault::Pause));
        assert_eq!(faults.contains(Fault::Lose), !outside);
        let under_way = moment.failpoint.phase == CrashPhase::During;
        assert_eq!(faults.contains(Fault::CrashDone), under_way);
        assert!(!faults.contains(Fault::Wake) && !faults.contains(Fault::Abort));
        world.advance();
    }
}
