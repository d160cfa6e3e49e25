//! Which worlds are equal.

use super::{advance_to, finish, world};
use crate::fault::Fault;
use crate::profile::Profile;
use crate::world::World;

fn crashed(at: &World) -> u128 {
    let mut world = at.clone();
    world.inject(Fault::Crash);
    world.fingerprint()
}

#[test]
fn a_crash_after_a_command_and_before_the_next_are_one_world() {
    for profile in Profile::ALL {
        let mut calm = world(*profile);
        advance_to(&mut calm, "ledger.claim/after", 1);
        let after = crashed(&calm);
        calm.advance();
        assert_eq!(crashed(&calm), after, "{profile}");
        assert_eq!(calm.moment().unwrap().failpoint.to_string(), "conversation.fence/before");
    }
}

#[test]
fn how_often_a_process_died_is_forgotten() {
    let mut once = world(Profile::Weak);
    advance_to(&mut once, "ledger.claim/before", 1);
    once.inject(Fault::Crash);
    let mut twice = once.clone();
    twice.advance();
    twice.advance();
    twice.inject(Fault::Crash);
    assert_eq!(twice.fingerprint(), once.fingerprint());
}

#[test]
fn what_can_differ_does_differ() {
    let mut calm = world(Profile::Weak);
    let mut seen = vec![calm.fingerprint()];
    while calm.moment().is_some() {
        calm.advance();
        let now = calm.fingerprint();
        assert!(!seen.contains(&now), "{:?}", calm.moment());
        seen.push(now);
    }
    let mut paused = world(Profile::Weak);
    paused.inject(Fault::Pause);
    assert!(!seen.contains(&paused.fingerprint()));
}

#[test]
fn the_same_choices_lead_to_the_same_world() {
    let run = || {
        let mut world = world(Profile::Strong);
        let mut trail = Vec::new();
        advance_to(&mut world, "tool.invoke/during", 1);
        world.inject(Fault::Pause);
        while world.moment().is_some() || world.drain() {
            trail.push((world.moment(), world.fingerprint()));
            world.advance();
        }
        trail
    };
    assert_eq!(run(), run());
}

#[test]
fn a_clone_lives_its_own_life() {
    let mut calm = world(Profile::Weak);
    advance_to(&mut calm, "conversation.append:ToolPrepared/after", 1);
    let kept = calm.fingerprint();
    let mut fork = calm.clone();
    fork.inject(Fault::Crash);
    finish(&mut fork);
    assert_eq!(calm.fingerprint(), kept);
    finish(&mut calm);
    assert_eq!((calm.violation(), fork.violation()), (None, None));
    assert_ne!(calm.fingerprint(), fork.fingerprint());
}

#[test]
fn the_story_is_no_part_of_the_world() {
    let mut told = world(Profile::Weak);
    let mut untold = told.clone();
    told.record_story();
    told.advance();
    untold.advance();
    assert_eq!(told.fingerprint(), untold.fingerprint());
    assert_eq!((told.story().len(), untold.story().len()), (1, 0));
}
