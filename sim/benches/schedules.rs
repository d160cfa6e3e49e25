//! How fast worlds are explored, and what a submission costs a store.
//!
//! `cargo bench -p everstep-sim --bench schedules` prints one table. Every figure is the best of
//! several rounds on one core: the fastest round is the one that was disturbed least.

use std::sync::Arc;
use std::time::{Duration, Instant};

use everstep_machine::effect::{CrashPhase, EffectClass};
use everstep_sim::explore::{Bounds, Counters, Exploration, explore};
use everstep_sim::oracle::Property;
use everstep_sim::profile::Profile;
use everstep_sim::scenario::{Scenario, corpus};
use everstep_sim::world::World;

/// The ordinary tool whose outcome can stay unknown.
const ORDINARY: &str = "ordinary-completed";
/// A submission without tools.
const TOOL_FREE: &str = "answer";
const ROUNDS: u32 = 5;

fn main() {
    // `cargo test --benches` asks for a list or a quick run; there is nothing to test here.
    if std::env::args().any(|arg| arg == "--list" || arg == "--test") {
        return;
    }
    println!("{ORDINARY}, one core, best of {ROUNDS} rounds");
    println!(
        "{:<8}{:>6}{:>12}{:>14}{:>10}{:>12}{:>12}{:>10}",
        "store", "depth", "schedules", "schedules/s", "worlds", "worlds/s", "steps/s", "ns/step"
    );
    for profile in Profile::ALL {
        for depth in [1, 2] {
            line(*profile, depth);
        }
    }
    let (unfused, fused) = commits();
    println!("\n{TOOL_FREE}: store commits a submission");
    println!("command by command (unfused) {unfused:>4}");
    println!("whole pipelines (fused)      {fused:>4}");
}

fn world(name: &str, profile: Profile) -> World {
    let (_, text) = corpus::builtin().find(|(found, _)| *found == name).expect("it is built in");
    let scenario = Scenario::parse(name, text).expect("the corpus is right");
    World::new(Arc::new(scenario), profile, None)
}

fn line(profile: Profile, depth: u8) {
    let world = world(ORDINARY, profile);
    let mut best = Duration::MAX;
    let mut found = None;
    for _ in 0..ROUNDS {
        let began = Instant::now();
        let round = explore(&world, Bounds::depth(depth), &Counters::default());
        best = best.min(began.elapsed());
        found = Some(round.expect("the scenario is small"));
    }
    let found: Exploration<Property> = found.expect("there is at least one round");
    assert_eq!(found.found, None, "the scenario holds");
    let seconds = best.as_secs_f64();
    let rate = |count: u64| count as f64 / seconds;
    println!(
        "{profile:<8}{depth:>6}{:>12}{:>14.0}{:>10}{:>12.0}{:>12.0}{:>10.0}",
        found.schedules,
        rate(found.schedules),
        found.worlds,
        rate(found.worlds),
        rate(found.steps),
        seconds * 1e9 / found.steps as f64,
    );
}

/// Commits of one calm submission without tools: if every command is one, and if every pipeline
/// that writes is one.
fn commits() -> (u32, u32) {
    let mut world = world(TOOL_FREE, Profile::Weak);
    let (mut unfused, mut fused) = (0, 0);
    // Whether something was written since the last pipeline began.
    let mut writes = false;
    while let Some(moment) = world.moment() {
        if moment.failpoint.phase == CrashPhase::Before {
            writes &= moment.position() != Some(0);
            if moment.failpoint.effect.class() == EffectClass::Durable {
                unfused += 1;
                fused += u32::from(!writes);
                writes = true;
            }
        }
        world.advance();
    }
    (unfused, fused)
}
