//! The matrix for machines.

use everstep_sim::explore::failpoints;
use everstep_sim::matrix::{open_rows, row_of};
use serde_json::{Value, json};

use super::Findings;
use super::saved::Saved;
use crate::output::rate;

/// One JSON object, on several lines.
pub(super) fn render(findings: &Findings<'_>) -> String {
    let Findings { report, plan, exit, .. } = findings;
    let seconds = report.elapsed.as_secs_f64();
    let profiles: Vec<_> = plan.profiles.iter().map(|profile| profile.name()).collect();
    let value = json!({
        "command": "matrix",
        "exit": exit.code(),
        "depth": report.depth,
        "profiles": profiles,
        "defect": plan.defect.map(|defect| defect.name()),
        "schedules": report.schedules(),
        "failed": report.failed(),
        "worlds": report.worlds(),
        "steps": report.steps(),
        "seconds": seconds,
        "schedules_per_second": rate(report.schedules(), seconds),
        "rows": rows(findings),
        "open_rows": open(),
        "failpoints": points(findings),
        "sometimes": sometimes(findings),
        "cases": cases(findings),
        "failures": findings.saved.iter().map(failure).collect::<Vec<_>>(),
    });
    format!("{value:#}\n")
}

fn rows(findings: &Findings<'_>) -> Vec<Value> {
    let rows = findings.report.rows().into_iter().map(|row| {
        let points: Vec<_> = row.row.failpoints().map(|point| point.to_string()).collect();
        json!({
            "id": row.row.id(),
            "title": row.row.title(),
            "recovery": row.row.recovery(),
            "failpoints": points,
            "schedules": row.schedules,
            "worlds": row.worlds,
            "holds": row.holds,
        })
    });
    rows.collect()
}

fn open() -> Vec<Value> {
    let rows = open_rows().iter().map(
        |row| json!({ "id": row.id, "title": row.title, "capability": row.capability.name() }),
    );
    rows.collect()
}

fn points(findings: &Findings<'_>) -> Value {
    let (visited, failed) = (findings.report.visited(), findings.report.failed_at());
    let counts = failpoints().iter().zip(findings.report.failpoints());
    let points = counts.map(|(point, (schedules, worlds))| {
        json!({
            "name": point.to_string(),
            "row": row_of(*point).id(),
            "schedules": schedules,
            "worlds": worlds,
            "holds": !failed.contains(*point),
        })
    });
    json!({
        "all": failpoints().len(),
        "visited": visited.len(),
        "missing": visited.missing().map(|point| point.to_string()).collect::<Vec<_>>(),
        "points": points.collect::<Vec<_>>(),
    })
}

fn sometimes(findings: &Findings<'_>) -> Value {
    let reached = findings.report.reached().iter().map(|one| one.name());
    let unreached = findings.report.unreached().map(|one| one.name());
    json!({
        "reached": reached.collect::<Vec<_>>(),
        "unreached": unreached.collect::<Vec<_>>(),
    })
}

fn cases(findings: &Findings<'_>) -> Vec<Value> {
    let cases = findings.report.cases.iter().map(|case| {
        json!({
            "scenario": case.name.scenario,
            "profile": case.name.profile.name(),
            "schedules": case.exploration.schedules,
            "failed": case.exploration.failed,
            "worlds": case.exploration.worlds,
            "steps": case.exploration.steps,
            "holds": case.failure.is_none(),
        })
    });
    cases.collect()
}

fn failure(saved: &Saved<'_>) -> Value {
    let choices = saved.failure.schedule.choices().iter();
    json!({
        "scenario": saved.case.scenario,
        "profile": saved.case.profile.name(),
        "property": saved.failure.violation.property.name(),
        "detail": saved.failure.violation.detail,
        "choices": choices.map(ToString::to_string).collect::<Vec<_>>(),
        "trace": saved.trace.to_string_lossy(),
        "replay": saved.command(),
    })
}
