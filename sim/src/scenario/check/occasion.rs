//! Which submission somebody means, and when something is done about it.

use everstep_machine::effect::Failpoint;

use crate::scenario::draft::{Checked, Said};
use crate::scenario::fault::Fault;
use crate::scenario::noun::Noun;
use crate::scenario::words::{EVERY_MOMENT, nearest};
use crate::scenario::{Occasion, SubmissionScript};

/// Finds a submission by its name.
pub(super) fn position(submissions: &[SubmissionScript], said: &Said) -> Checked<usize> {
    let names = || submissions.iter().map(|submission| submission.name.as_str());
    names().position(|name| name == said.value).ok_or_else(|| {
        let nearest = nearest(&said.value, names()).map(str::to_owned);
        let (noun, name) = (Noun::Submission, said.value.clone());
        said.site.fault(Fault::Unknown { noun, name, nearest })
    })
}

/// Reads `every-moment`, `name/phase` or `name/phase@n`.
pub(super) fn occasion(said: &Said) -> Checked<Occasion> {
    if said.value == EVERY_MOMENT {
        return Ok(Occasion::Every);
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
    point.parse().map(|failpoint| Occasion::At(failpoint, occurrence)).map_err(|reason| {
        let all = Failpoint::all().map(|failpoint| failpoint.to_string()).collect::<Vec<_>>();
        let words = all.iter().map(String::as_str).chain([EVERY_MOMENT]);
        let nearest = nearest(point, words).map(str::to_owned);
        said.site.fault(Fault::UnknownFailpoint { text: point.to_owned(), reason, nearest })
    })
}
