//! The world: how faults hit it, and what the corpus does in it.

mod corpus;
mod faults;
mod prints;
mod schedule;

use std::sync::Arc;

use super::{Moment, World};
use crate::profile::Profile;
use crate::scenario::{Scenario, Submission, Tool, Turn};

/// Runs a world to its end and lets the oracles of the end look.
fn finish(world: &mut World) {
    while world.violation().is_none() && (world.moment().is_some() || world.drain()) {
        world.advance();
    }
    world.conclude();
}

fn tell(world: &World) -> String {
    let lines = world.story().iter().map(|line| {
        let process = line.process.map(|it| world.process_name(it)).unwrap_or_default();
        format!("{:>7} {process:<12} {}\n", line.at.0, line.text)
    });
    lines.collect()
}

/// One submission that calls an ordinary tool of 40 ms and then answers.
fn ordinary() -> Arc<Scenario> {
    let scenario = Scenario::builder("ordinary")
        .about("One ordinary call.")
        .agent("clerk", "Do it.")
        .tool(Tool::ordinary("ship").returns("1").latency_ms(40))
        .submission(Submission::new("a").turn(Turn::calls("ship", "{}")).turn(Turn::says("done")));
    Arc::new(scenario.build().expect("the scenario is sound"))
}

fn world(profile: Profile) -> World {
    World::new(ordinary(), profile, None)
}

/// Advances to the n-th arrival at a failpoint.
fn advance_to(world: &mut World, failpoint: &str, occurrence: usize) -> Moment {
    let mut left = occurrence;
    loop {
        let moment = world.moment().expect("the failpoint is reached");
        if moment.failpoint.to_string() == failpoint {
            left -= 1;
            if left == 0 {
                return moment;
            }
        }
        world.advance();
    }
}
