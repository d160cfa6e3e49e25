//! Live progress on standard error, where somebody watches.

use std::io::{IsTerminal as _, Write as _};
use std::time::Instant;

use everstep_machine::agent::ToolOutcome;
use everstep_machine::attempt::End;
use everstep_runtime::Event;

use crate::output::{FAINT, styled};

/// What is told every event.
pub(super) fn watcher() -> impl Fn(Event) + Send + 'static {
    let (began, watched) = (Instant::now(), std::io::stderr().is_terminal());
    move |event| {
        if let Some(text) = words(&event).filter(|_| watched) {
            let time = styled(FAINT, format!("{:>7.3} s", began.elapsed().as_secs_f64()));
            // Progress is for whoever still reads it.
            let _ = writeln!(anstream::stderr(), "{time}  {text}");
        }
    }
}

fn words(event: &Event) -> Option<String> {
    Some(match event {
        Event::AttemptBegan { .. } => "claiming the lane".to_owned(),
        Event::ModelAsked { turn, .. } => format!("turn {}: the model is asked", turn.0 + 1),
        Event::TextDelta { text, .. } => format!("the model says: {text}"),
        Event::ToolInvoked { tool } => format!("{tool} is invoked"),
        Event::ToolReturned { tool, outcome } => format!("{tool} {}", ended(outcome)),
        Event::ToolUnsure { tool } => format!("nobody knows what became of a call of {tool}"),
        Event::Reconciling { tool } => format!("what became of a call of {tool} is looked up"),
        Event::StoreUnsure { .. } => "the store does not answer; the same is sent again".to_owned(),
        Event::LeaseAwaited { wait } => {
            format!("another process holds the lane; its lease ends in {} ms", wait.0)
        }
        Event::ScanFailed { why } => format!("the file cannot be looked at: {why}"),
        Event::NotServed { why, .. } => format!("the lane is left to others: {why}"),
        Event::LaneDeclined { .. } => "the lane cannot be claimed now".to_owned(),
        Event::AttemptEnded { end: End::Superseded, .. } => {
            "another process has taken the lane".to_owned()
        }
        Event::AttemptEnded { .. } => return None,
    })
}

fn ended(outcome: &ToolOutcome) -> &'static str {
    match outcome {
        ToolOutcome::Success(_) | ToolOutcome::Truncated(_) | ToolOutcome::Kept(_) => {
            "has returned"
        }
        ToolOutcome::Failure(_) => "has failed",
        ToolOutcome::Rejected(_) => "was turned down",
        ToolOutcome::InvalidInput(_) => "was called wrongly",
        ToolOutcome::Defect(_) => "has broken",
    }
}
