//! Who wants what was given up to be tried again.

use everstep_machine::identity::PrincipalId;

use super::{Tools, at_most, name, occasion, submissions, text, within};
use crate::scenario::bounds::{RETRYING_PEOPLE, TRIES};
use crate::scenario::draft::{Checked, Retry};
use crate::scenario::{RetryScript, SubmissionScript};

pub(super) fn retries(
    tools: &Tools,
    scripts: &[SubmissionScript],
    parts: &[Retry],
) -> Checked<Vec<RetryScript>> {
    at_most("retries", parts, TRIES, |part| &part.submission.site)?;
    parts.iter().map(|part| retry(tools, scripts, part)).collect()
}

fn retry(tools: &Tools, scripts: &[SubmissionScript], part: &Retry) -> Checked<RetryScript> {
    let submission = occasion::position(scripts, &part.submission)?;
    let own = tools.turns(&part.turns)?;
    Ok(RetryScript {
        submission,
        people: within("people", &part.people, 1, RETRYING_PEOPLE)? as u32,
        principal: name("principal", &part.principal, PrincipalId::new)?,
        reason: text("reason", &part.reason)?,
        turns: if own.is_empty() { scripts[submission].turns.clone() } else { own },
        expect: submissions::expectations(&part.expect)?,
    })
}
