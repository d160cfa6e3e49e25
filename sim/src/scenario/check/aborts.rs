//! Aborts.

use super::occasion::{occasion, position};
use super::{at_most, name, text};
use crate::scenario::bounds::ABORTS;
use crate::scenario::draft::{Abort, Checked};
use crate::scenario::{AbortScript, SubmissionScript};

pub(super) fn aborts(
    submissions: &[SubmissionScript],
    parts: &[Abort],
) -> Checked<Vec<AbortScript>> {
    at_most("aborts", parts, ABORTS, |part| &part.submission.site)?;
    parts.iter().map(|part| abort(submissions, part)).collect()
}

fn abort(submissions: &[SubmissionScript], part: &Abort) -> Checked<AbortScript> {
    Ok(AbortScript {
        submission: position(submissions, &part.submission)?,
        moment: occasion(&part.at)?,
        principal: name(
            "principal",
            &part.principal,
            everstep_machine::identity::PrincipalId::new,
        )?,
        reason: text("reason", &part.reason)?,
    })
}
