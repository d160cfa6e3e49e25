//! Failing schedules, saved as traces.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use everstep_sim::matrix::{CaseName, Failure, Plan, Report};
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
        let path = self.trace.to_string_lossy();
        let plain = |c: char| c.is_ascii_alphanumeric() || "/._-+=@:,\\".contains(c);
        if path.chars().all(plain) {
            format!("everstep replay {path}")
        } else {
            format!("everstep replay '{}'", path.replace('\'', "'\\''"))
        }
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
        let trace = Trace {
            scenario: Arc::clone(&source.scenario),
            text: source.text.clone(),
            profile: case.name.profile,
            defect: plan.defect,
            schedule: failure.schedule.clone(),
            property: Some(failure.violation.property),
            commit: option_env!("EVERSTEP_COMMIT").map(str::to_owned),
        };
        let taken: Vec<_> = saved.iter().map(|one| one.trace.clone()).collect();
        let path = free_name(folder, &trace, &taken);
        let written = std::fs::create_dir_all(folder)
            .and_then(|()| std::fs::write(&path, trace.to_toml()));
        written.map_err(|why| {
            let text = format!("the trace {} cannot be written: {why}", path.display());
            Complaint::new(Exit::Environment, text)
        })?;
        saved.push(Saved { case: &case.name, failure, trace: path });
    }
    Ok(saved)
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
