//! The order in which things happen when nothing breaks.

use std::sync::Arc;

use super::{finish, tell, world};
use crate::profile::Profile;
use crate::scenario::{Scenario, Submission, Tool, Turn};
use crate::world::World;

#[test]
fn the_calm_schedule_of_one_ordinary_call() {
    let mut world = world(Profile::Weak);
    world.record_story();
    finish(&mut world);
    let story = tell(&world);
    let order = [
        "ledger.admit/before",
        "ledger.ready/after",
        "the client has its receipt",
        "an attempt starts",
        "ledger.claim/after",
        "conversation.fence/after",
        "conversation.append:InputRecorded/after",
        "model.call/during",
        "authorizer.authorize/after",
        "conversation.append:ToolPrepared/after",
        "tool.invoke/before",
        "time passes until 40",
        "tool.invoke/after",
        "conversation.append:ToolSettled/after",
        "ledger.reserve/after",
        "conversation.append:SubmissionSettled/after",
        "ledger.finalize/after",
        "the attempt ends: Settled",
    ];
    let mut rest = story.as_str();
    for event in order {
        let (_, after) = rest.split_once(event).unwrap_or_else(|| panic!("{event} in\n{story}"));
        rest = after;
    }
}

#[test]
fn lanes_of_one_worker_overlap_while_a_tool_takes_its_time() {
    let submission = |name| {
        Submission::new(name)
            .conversation(name)
            .turn(Turn::calls("look", "{}"))
            .turn(Turn::says("done"))
    };
    let scenario = Scenario::builder("lanes")
        .about("Two lanes.")
        .agent("clerk", "Do it.")
        .workers(1)
        .tool(Tool::readonly("look").returns("1").latency_ms(500))
        .submission(submission("a"))
        .submission(submission("b"));
    let mut world = World::new(Arc::new(scenario.build().unwrap()), Profile::Weak, None);
    finish(&mut world);
    assert_eq!(world.violation(), None);
    assert_eq!(world.clock().0, 500, "both wait at the same time");
}

#[test]
fn processes_have_names_that_say_what_they_are_for() {
    let world = world(Profile::Weak);
    let count = world.processes.len();
    let names: Vec<_> =
        (0..count).map(|at| world.process_name(crate::world::ProcessIndex(at))).collect();
    assert_eq!(names, ["client a", "operator", "worker-1", "worker-2"]);
}
