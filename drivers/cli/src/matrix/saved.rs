//! Failing schedules, saved as traces.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use everstep_sim::defect::Defect;
use everstep_sim::matrix::{CaseName, Failure, Plan, Report};
use everstep_sim::oracle::Property;
use everstep_sim::schedule::Schedule;
use everstep_sim::trace::Trace;

use crate::exit::{Complaint, Exit};
use crate::load::Loaded;

/// A failure and where its trace is.
pub(super) struct Saved<'a> {
    pub(super) case: &'a CaseName,
    pub(super) failure: &'a Failure,
    pub(super) trace: PathBuf,
}

impl Saved<'_> {
    /// The command that shows it again.
    pub(super) fn command(&self) -> String {
        command(&self.trace)
    }
}

fn command(trace: &Path) -> String {
    let path = trace.to_string_lossy();
    let plain = |c: char| c.is_ascii_alphanumeric() || "/._-+=@:,\\".contains(c);
    if path.chars().all(plain) {
        format!("everstep replay {path}")
    } else {
        format!("everstep replay '{}'", path.replace('\'', "'\\''"))
    }
}

/// Writes a trace for each case that fails, in the order of the report.
pub(super) fn save<'a>(
    report: &'a Report,
    plan: &Plan,
    loaded: &[Loaded],
    folder: &Path,
) -> Result<Vec<Saved<'a>>, Complaint> {
    let mut saved: Vec<Saved<'a>> = Vec::new();
    for (at, case) in report.cases.iter().enumerate() {
        let Some(failure) = &case.failure else { continue };
        let source = &loaded[at / plan.profiles.len()];
        let property = failure.violation.property;
        let trace = trace(&case.name, &failure.schedule, property, plan.defect, source);
        let taken: Vec<_> = saved.iter().map(|one| one.trace.clone()).collect();
        let path = write(folder, &trace, &taken)?;
        saved.push(Saved { case: &case.name, failure, trace: path });
    }
    Ok(saved)
}

/// Writes a trace of a schedule that panics, and gives back the command that shows it again.
pub(super) fn panicked(
    case: &CaseName,
    schedule: &Schedule,
    defect: Option<Defect>,
    source: &Loaded,
    folder: &Path,
) -> Result<String, Complaint> {
    let trace = trace(case, schedule, Property::NoDefect, defect, source);
    write(folder, &trace, &[]).map(|path| command(&path))
}

fn trace(
    case: &CaseName,
    schedule: &Schedule,
    property: Property,
    defect: Option<Defect>,
    source: &Loaded,
) -> Trace {
    Trace {
        scenario: Arc::clone(&source.scenario),
        text: source.text.clone(),
        profile: case.profile,
        defect,
        schedule: schedule.clone(),
        property: Some(property),
        commit: option_env!("EVERSTEP_COMMIT").map(str::to_owned),
    }
}

fn write(folder: &Path, trace: &Trace, taken: &[PathBuf]) -> Result<PathBuf, Complaint> {
    let path = free_name(folder, trace, taken);
    let written =
        std::fs::create_dir_all(folder).and_then(|()| std::fs::write(&path, trace.to_toml()));
    written.map_err(|why| {
        let text = format!("the trace {} cannot be written: {why}", path.display());
        Complaint::new(Exit::Environment, text)
    })?;
    Ok(path)
}

/// A name that no other trace of this run has: files in two folders may share theirs.
fn free_name(folder: &Path, trace: &Trace, taken: &[PathBuf]) -> PathBuf {
    let defect = trace.defect.map_or(String::new(), |defect| format!("-{defect}"));
    let stem = format!("{}-{}{defect}", trace.scenario.name, trace.profile);
    let mut path = folder.join(format!("{stem}.trace"));
    let mut number = 2;
    while taken.contains(&path) {
        path = folder.join(format!("{stem}-{number}.trace"));
        number += 1;
    }
    path
}
