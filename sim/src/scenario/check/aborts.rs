//! Aborts, and the moments at which they come.

use everstep_machine::effect::Failpoint;

use super::submissions::position;
use super::{at_most, name, text};
use crate::scenario::bounds::ABORTS;
use crate::scenario::draft::{Abort, Checked, Said};
use crate::scenario::fault::Fault;
use crate::scenario::words::{EVERY_MOMENT, nearest};
use crate::scenario::{AbortMoment, AbortScript, SubmissionScript};

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
        moment: moment(&part.at)?,
        principal: name(
            "principal",
            &part.principal,
            everstep_machine::identity::PrincipalId::new,
        )?,
        reason: text("reason", &part.reason)?,
    })
}

/// Reads `every-moment`, `name/phase` or `name/phase@n`.
fn moment(said: &Said) -> Checked<AbortMoment> {
    if said.value == EVERY_MOMENT {
        return Ok(AbortMoment::Every);
    }
    let (point, occurrence) = match said.value.split_once('@') {
        None => (said.value.as_str(), 1),
        Some((point, count)) => {
            let digits = count.bytes().all(|byte| byte.is_ascii_digit());
            let occurrence =
                count.parse().ok().filter(|n| digits && *n > 0).ok_or_else(|| {
                    said.site.fault(Fault::BadOccurrence { text: count.to_owned() })
                })?;
            (point, occurrence)
        }
    };
    point.parse().map(|failpoint| AbortMoment::At(failpoint, occurrence)).map_err(|reason| {
        let all = Failpoint::all().map(|failpoint| failpoint.to_string()).collect::<Vec<_>>();
        let words = all.iter().map(String::as_str).chain([EVERY_MOMENT]);
        let nearest = nearest(point, words).map(str::to_owned);
        said.site.fault(Fault::UnknownFailpoint { text: point.to_owned(), reason, nearest })
    })
}
