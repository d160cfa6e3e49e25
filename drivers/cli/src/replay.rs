//! `everstep replay`: one saved schedule, event by event.

use std::fmt::Write as _;
use std::panic::{AssertUnwindSafe, catch_unwind};

use everstep_sim::fault::Fault as Injected;
use everstep_sim::oracle::{Property, Violation};
use everstep_sim::schedule::Stuck;
use everstep_sim::trace::{Fault, HOLDS, Trace};
use everstep_sim::world::{StoryLine, World};
use serde_json::{Value, json};

use crate::args::Replay;
use crate::exit::{Complaint, Exit, Outcome};
use crate::output::{self, BAD, FAINT, GOOD, HEAD, styled};

/// Runs the command.
pub(crate) fn run(args: &Replay) -> Outcome {
    let trace = Trace::read(&args.trace).map_err(|error| {
        let absent = matches!(error.fault(), Fault::Unreadable(_));
        Complaint::new(if absent { Exit::Environment } else { Exit::Usage }, error)
    })?;
    let replayed = catch_unwind(AssertUnwindSafe(|| trace.replay()));
    let replayed = replayed.map_err(|_| {
        let text = "the schedule panics, as told above; it ends where an assertion fails";
        Complaint::new(Exit::Safety, format!("{}: {text}", args.trace.display()))
    })?;
    let run = replayed.map_err(|why| {
        let exit = match why {
            Stuck::Unreached(_) | Stuck::Impossible(_) => Exit::Usage,
            Stuck::Endless(_) => Exit::Liveness,
        };
        Complaint::new(exit, format!("{}: {why}", args.trace.display()))
    })?;
    let violation = run.world.violation();
    let exit = verdict(args, &trace, violation);
    let text =
        if args.json { json_text(&trace, &run.world, exit) } else { story(&trace, &run.world) };
    output::print(&text)?;
    Ok(exit)
}

fn verdict(args: &Replay, trace: &Trace, violation: Option<&Violation>) -> Exit {
    let expected = trace.expects(violation);
    match violation {
        _ if args.expect && expected => Exit::Holds,
        _ if args.expect => Exit::Safety,
        None => Exit::Holds,
        Some(violation) if violation.property == Property::Liveness => Exit::Liveness,
        Some(_) => Exit::Safety,
    }
}

fn story(trace: &Trace, world: &World) -> String {
    let mut text = String::new();
    let store = trace.profile;
    let _ = writeln!(text, "{} on a {store} store", styled(HEAD, &trace.scenario.name));
    if let Some(defect) = trace.defect {
        let _ = writeln!(text, "with the planted defect {}", styled(BAD, defect));
    }
    for choice in trace.schedule.choices() {
        let _ = writeln!(text, "inject {}", styled(BAD, choice));
    }
    text.push('\n');
    for line in world.story() {
        let process = line.process.map(|process| world.process_name(process)).unwrap_or_default();
        let event = if injected(line) {
            styled(BAD, &line.text)
        } else if line.process.is_none() {
            styled(FAINT, &line.text)
        } else {
            line.text.clone()
        };
        let _ = writeln!(text, "{:>8} ms  {process:<12} {event}", line.at.0);
    }
    text.push('\n');
    text.push_str(&conclusion(trace, world.violation()));
    text
}

/// Whether the line tells of something that the schedule did to the world.
fn injected(line: &StoryLine) -> bool {
    let faults = Injected::ALL.iter();
    faults.map(|fault| format!("{fault} at ")).any(|start| line.text.starts_with(&start))
}

fn conclusion(trace: &Trace, violation: Option<&Violation>) -> String {
    let expected = trace.verdict();
    let as_expected = if trace.expects(violation) {
        "as the trace expects".to_owned()
    } else {
        format!("the trace expects: {expected}")
    };
    match violation {
        None => format!("{}, {as_expected}\n", styled(GOOD, "everything holds")),
        Some(Violation { property, detail }) => {
            let broken = styled(BAD, format!("broken: {property}"));
            format!("{broken}, {as_expected}\n{detail}\n")
        }
    }
}

fn json_text(trace: &Trace, world: &World, exit: Exit) -> String {
    let violation = world.violation();
    let property = violation.map_or(HOLDS, |violation| violation.property.name());
    let choices = trace.schedule.choices().iter().map(ToString::to_string);
    let story: Vec<Value> = world
        .story()
        .iter()
        .map(|line| {
            json!({
                "ms": line.at.0,
                "process": line.process.map(|process| world.process_name(process)),
                "lane": line.lane.map(|lane| lane.0),
                "event": line.text,
                "injected": injected(line),
            })
        })
        .collect();
    let value = json!({
        "command": "replay",
        "exit": exit.code(),
        "scenario": trace.scenario.name,
        "profile": trace.profile.name(),
        "defect": trace.defect.map(|defect| defect.name()),
        "choices": choices.collect::<Vec<_>>(),
        "expected": trace.verdict(),
        "verdict": property,
        "as_expected": trace.expects(violation),
        "detail": violation.map(|violation| &violation.detail),
        "story": story,
    });
    format!("{value:#}\n")
}
