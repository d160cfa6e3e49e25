//! `everstep matrix`: the crash matrix of scenarios, with a verdict a row.

mod json;
mod saved;
mod table;

use std::num::NonZero;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use everstep_sim::explore::{Bounds, Counters, ExploreError};
use everstep_sim::matrix::{MatrixError, Plan, Report};
use everstep_sim::oracle::Property;

use crate::args::Matrix;
use crate::exit::{Complaint, Exit, Outcome};
use crate::load::{self, Loaded};
use crate::output::{self, grouped};
use crate::progress::watched;
use saved::Saved;

/// Everything that is printed.
struct Findings<'a> {
    report: &'a Report,
    plan: &'a Plan,
    saved: Vec<Saved<'a>>,
    /// Whether what was never reached counts: only the whole corpus can be expected to reach all.
    whole: bool,
    exit: Exit,
}

/// Runs the command.
pub(crate) fn run(args: &Matrix) -> Outcome {
    let whole = args.scenarios.is_empty();
    let loaded = if whole { load::builtin()? } else { load::all(&args.scenarios)? };
    let plan = plan(args, &loaded);
    let (counters, done) = (Counters::default(), AtomicUsize::new(0));
    let cases = plan.cases().len();
    let message = || {
        let (worlds, done) = (grouped(counters.worlds()), done.load(Ordering::Relaxed));
        format!("{done} of {cases} cases, {worlds} worlds executed")
    };
    let report = watched(|| everstep_sim::matrix::run(&plan, &counters, &done), message)
        .map_err(|error| without_report(&error, args, &plan, &loaded))?;
    let saved = saved::save(&report, &plan, &loaded, &args.traces)?;
    let exit = verdict(&report, whole);
    let findings = Findings { report: &report, plan: &plan, saved, whole, exit };
    let text = if args.json { json::render(&findings) } else { table::render(&findings) };
    output::print(&text)?;
    Ok(exit)
}

fn plan(args: &Matrix, loaded: &[Loaded]) -> Plan {
    let cores = std::thread::available_parallelism().map_or(1, NonZero::get);
    Plan {
        scenarios: loaded.iter().map(|one| Arc::clone(&one.scenario)).collect(),
        profiles: args.profiles(),
        defect: args.defect,
        bounds: Bounds { depth: args.depth, worlds: args.max_worlds },
        jobs: args.jobs.map_or(cores, usize::from),
    }
}

fn verdict(report: &Report, whole: bool) -> Exit {
    let broken: Vec<_> = report.failures().map(|(_, failure)| failure.violation.property).collect();
    if broken.iter().any(|property| *property != Property::Liveness) {
        Exit::Safety
    } else if !broken.is_empty() {
        Exit::Liveness
    } else if whole && is_vacuous(report) {
        Exit::Vacuous
    } else {
        Exit::Holds
    }
}

fn is_vacuous(report: &Report) -> bool {
    report.visited().missing().next().is_some() || report.unreached().next().is_some()
}

fn complaint(error: &MatrixError) -> Complaint {
    let exit = match error.why {
        ExploreError::TooManyWorlds { .. } => Exit::Budget,
        ExploreError::Endless(_) => Exit::Liveness,
        ExploreError::Panicked { .. } => Exit::Safety,
        ExploreError::Diverged { .. } | ExploreError::Lost { .. } => Exit::Nondeterminism,
    };
    Complaint::new(exit, error)
}

/// What to say when there is no report. A schedule that panics is saved like one that fails.
fn without_report(error: &MatrixError, args: &Matrix, plan: &Plan, loaded: &[Loaded]) -> Complaint {
    let mut complaint = complaint(error);
    if let ExploreError::Panicked { schedule, .. } = &error.why
        && let Some(at) = plan.cases().iter().position(|case| *case == error.case)
    {
        let source = &loaded[at / plan.profiles.len()];
        match saved::panicked(&error.case, schedule, plan.defect, source, &args.traces) {
            Ok(command) => complaint.text = format!("{}\n{command}", complaint.text),
            Err(unsaved) => return unsaved,
        }
    }
    complaint
}

#[cfg(test)]
mod tests {
    use everstep_sim::explore::ExploreError;
    use everstep_sim::matrix::{CaseName, MatrixError};
    use everstep_sim::profile::Profile;
    use everstep_sim::schedule::Schedule;

    use super::complaint;

    #[test]
    fn a_run_without_a_report_ends_with_the_code_of_its_reason() {
        let schedule = Schedule::calm();
        let message = "ARC-10: told".to_owned();
        let reasons = [
            (ExploreError::TooManyWorlds { bound: 1, explored: 0 }, 4),
            (ExploreError::Diverged { schedule: schedule.clone() }, 6),
            (ExploreError::Endless(9), 7),
            (ExploreError::Panicked { schedule, message }, 1),
        ];
        for (why, code) in reasons {
            let case = CaseName { scenario: "refund".to_owned(), profile: Profile::Weak };
            let complaint = complaint(&MatrixError { case, why: why.clone() });
            assert_eq!(complaint.exit.code(), code, "{why}");
            assert!(complaint.text.starts_with("refund on a weak store: "), "{}", complaint.text);
        }
    }
}
