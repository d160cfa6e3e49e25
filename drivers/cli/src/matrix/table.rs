//! The matrix for people, in at most 100 columns.

use std::fmt::Write as _;

use everstep_sim::explore::failpoints;
use everstep_sim::matrix::{RowReport, open_rows};
use everstep_sim::oracle::Sometimes;

use super::Findings;
use super::saved::Saved;
use crate::exit::Exit;
use crate::output::{BAD, FAINT, GOOD, HEAD, counted, grouped, rate, styled};

/// Cases with a broken property that are listed; all of them have traces.
const LISTED: usize = 8;

/// The whole text.
pub(super) fn render(findings: &Findings<'_>) -> String {
    let mut text = String::new();
    let head = format!(
        "{:<6}{:<45} {:>14} {:>12}  {}",
        "Row", "Where a fault strikes", "Schedules", "Worlds", "Verdict"
    );
    let _ = writeln!(text, "{}", styled(HEAD, head));
    for row in findings.report.rows() {
        text.push_str(&line(&row));
    }
    text.push_str(&open());
    text.push('\n');
    text.push_str(&totals(findings));
    if findings.whole {
        text.push_str(&missing(findings));
    }
    text.push_str(&last_words(findings));
    text
}

fn line(row: &RowReport) -> String {
    let verdict = if !row.holds {
        styled(BAD, "✗ broken")
    } else if row.schedules == 0 {
        styled(FAINT, "- not struck")
    } else {
        styled(GOOD, "✓ holds")
    };
    let (schedules, worlds) = (grouped(row.schedules), grouped(row.worlds));
    format!("{:<6}{:<45} {schedules:>14} {worlds:>12}  {verdict}\n", row.row, row.row.title())
}

/// One line for all rows that are not built: `docs/crash-matrix.md` has them one by one.
fn open() -> String {
    let mut names: Vec<_> = open_rows().iter().map(|row| row.capability.name()).collect();
    names.dedup();
    let text = format!("{} rows are open: {}", open_rows().len(), names.join(", "));
    format!("{}\n", styled(FAINT, text))
}

fn totals(findings: &Findings<'_>) -> String {
    let Findings { report, plan, .. } = findings;
    let (visited, all) = (report.visited().len(), failpoints().len());
    let reached = report.reached().iter().count();
    let stores = match plan.profiles.as_slice() {
        [one] => format!("a {one} store"),
        _ => "weak and strong stores".to_owned(),
    };
    let seconds = report.elapsed.as_secs_f64();
    let mut text = String::new();
    let _ = writeln!(
        text,
        "{} on {stores}, up to {} in one schedule{}",
        counted(plan.scenarios.len() as u64, "scenario"),
        counted(u64::from(report.depth), "fault"),
        plan.defect.map_or(String::new(), |defect| format!(", with the planted defect {defect}")),
    );
    let _ = writeln!(
        text,
        "{visited} of {all} failpoints visited, {reached} of {} things that sometimes happen did",
        Sometimes::ALL.len()
    );
    let _ = writeln!(
        text,
        "{}, {} executed, {seconds:.2} s, {} schedules/s",
        counted(report.schedules(), "schedule"),
        counted(report.worlds(), "world"),
        grouped(rate(report.schedules(), seconds)),
    );
    text
}

/// What the corpus should have reached and did not.
fn missing(findings: &Findings<'_>) -> String {
    let mut text = String::new();
    for failpoint in findings.report.visited().missing() {
        let _ = writeln!(text, "never visited: {failpoint}");
    }
    for one in findings.report.unreached() {
        let _ = writeln!(text, "never happened: {one}");
    }
    text
}

fn last_words(findings: &Findings<'_>) -> String {
    // The shortest one is shown in full, and last.
    let choices = |saved: &&Saved<'_>| saved.failure.schedule.choices().len();
    let Some(shortest) = findings.saved.iter().min_by_key(choices) else {
        let verdict = match findings.exit {
            Exit::Vacuous => styled(BAD, "nothing is broken, but not everything was reached"),
            _ => styled(GOOD, "everything holds"),
        };
        return format!("{verdict}\n");
    };
    let mut text = String::new();
    let failed = counted(findings.report.failed(), "schedule");
    let _ = writeln!(text, "{}", styled(BAD, format!("{failed} broke a property")));
    for Saved { case, failure, .. } in findings.saved.iter().take(LISTED) {
        let _ = writeln!(text, "  {case}: {}", failure.violation.property);
    }
    if findings.saved.len() > LISTED {
        let _ = writeln!(text, "  and {} cases more", findings.saved.len() - LISTED);
    }
    let folder = shortest.trace.parent().unwrap_or(&shortest.trace);
    let _ = writeln!(text, "their traces are in {}", folder.display());
    let violation = &shortest.failure.violation;
    let _ = writeln!(text, "\n{}: {}", shortest.case, styled(BAD, violation.property));
    let _ = writeln!(text, "{}", violation.detail);
    let _ = writeln!(text, "the shortest schedule that breaks it:");
    for choice in shortest.failure.schedule.choices() {
        let _ = writeln!(text, "  {choice}");
    }
    if shortest.failure.schedule.choices().is_empty() {
        let _ = writeln!(text, "  (the calm one: nothing has to be injected)");
    }
    let _ = writeln!(text, "{}", shortest.command());
    text
}
