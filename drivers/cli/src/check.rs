//! `everstep check`: every order of events, breadth first.

use std::fmt::Write as _;
use std::sync::Arc;
use std::sync::Mutex;

use everstep_model_checker::{Counterexample, Defeat, Limits, Progress, Report, check};
use everstep_sim::oracle::Property;
use everstep_sim::world::{Event, World};
use serde_json::{Value, json};

use crate::args::Check;
use crate::exit::{Exit, Outcome};
use crate::load;
use crate::output::{self, BAD, GOOD, HEAD, counted, grouped, rate, styled};
use crate::progress::watched;

type Found = Counterexample<Event, Property>;

/// Runs the command.
pub(crate) fn run(args: &Check) -> Outcome {
    let loaded = load::named(&args.scenario)?;
    let mut world = World::new(Arc::clone(&loaded.scenario), args.profile, args.defect);
    world.set_free();
    let limits = Limits { faults: args.faults, states: args.max_states };
    let seen = Mutex::new(None);
    let report =
        watched(|| check(&world, limits, |progress| note(&seen, progress)), || told(&seen));
    let exit = verdict(&report);
    let text = if args.json {
        render_json(args, &loaded.scenario.name, &report, exit)
    } else {
        render(args, &loaded.scenario.name, &report)
    };
    output::print(&text)?;
    Ok(exit)
}

fn note(seen: &Mutex<Option<Progress>>, progress: Progress) {
    if let Ok(mut seen) = seen.lock() {
        *seen = Some(progress);
    }
}

fn told(seen: &Mutex<Option<Progress>>) -> String {
    let progress = seen.lock().ok().and_then(|seen| *seen);
    progress.map_or_else(String::new, |Progress { states, frontier, depth }| {
        let (states, frontier) = (grouped(states), grouped(frontier));
        format!("{states} states, {frontier} of them waiting, depth {depth}")
    })
}

fn verdict(report: &Report<Event, Property>) -> Exit {
    match report.counterexample.as_ref().map(|found| &found.defeat) {
        Some(Defeat::Stuck | Defeat::Broken { property: Property::Liveness, .. }) => Exit::Liveness,
        Some(Defeat::Broken { .. } | Defeat::Panicked { .. }) => Exit::Safety,
        None if report.frontier > 0 => Exit::Budget,
        None => Exit::Holds,
    }
}

fn render(args: &Check, name: &str, report: &Report<Event, Property>) -> String {
    let mut text = String::new();
    let (store, seconds) = (args.profile, report.elapsed.as_secs_f64());
    let faults = counted(u64::from(args.faults), "fault");
    let _ = writeln!(text, "{} on a {store} store, up to {faults}", styled(HEAD, name));
    if let Some(defect) = args.defect {
        let _ = writeln!(text, "with the planted defect {}", styled(BAD, defect));
    }
    let _ = writeln!(
        text,
        "{}, {}, {}, depth {}, {} waiting",
        counted(report.states, "different state"),
        counted(report.moves, "move"),
        counted(report.ends, "end"),
        report.depth,
        grouped(report.frontier),
    );
    let _ = writeln!(text, "{seconds:.2} s, {} states/s", grouped(rate(report.states, seconds)));
    match &report.counterexample {
        Some(found) => text.push_str(&counterexample(found)),
        None if report.frontier > 0 => {
            let _ = writeln!(
                text,
                "{}: nothing is broken within {} of the start, and in some states after that; \
                 allow more with --max-states",
                styled(BAD, "the bound on states is met"),
                counted(u64::from(report.covered), "move"),
            );
        }
        None => {
            let _ = writeln!(text, "{}", styled(GOOD, "everything holds, every order explored"));
        }
    }
    text
}

fn counterexample(found: &Found) -> String {
    let mut text = String::new();
    let (what, detail) = defeat(found);
    let _ = writeln!(text, "{}", styled(BAD, format!("broken: {what}")));
    let _ = writeln!(text, "{detail}\na shortest way there, {}:", {
        counted(found.actions.len() as u64, "move")
    });
    for told in &found.told {
        let _ = writeln!(text, "  {told}");
    }
    text
}

fn defeat(found: &Found) -> (&'static str, &str) {
    match &found.defeat {
        Defeat::Broken { property, detail } => (property.name(), detail),
        Defeat::Panicked { message } => (Property::NoDefect.name(), message),
        Defeat::Stuck => (Property::Liveness.name(), "from here no end can be reached any more"),
    }
}

fn render_json(args: &Check, name: &str, report: &Report<Event, Property>, exit: Exit) -> String {
    let seconds = report.elapsed.as_secs_f64();
    let found: Option<Value> = report.counterexample.as_ref().map(|found| {
        let (what, detail) = defeat(found);
        json!({ "property": what, "detail": detail, "moves": found.told })
    });
    let value = json!({
        "command": "check",
        "exit": exit.code(),
        "scenario": name,
        "profile": args.profile.name(),
        "defect": args.defect.map(|defect| defect.name()),
        "faults": args.faults,
        "states": report.states,
        "moves": report.moves,
        "ends": report.ends,
        "depth": report.depth,
        "frontier": report.frontier,
        "covered": report.covered,
        "complete": report.is_complete(),
        "seconds": seconds,
        "states_per_second": rate(report.states, seconds),
        "counterexample": found,
    });
    format!("{value:#}\n")
}
