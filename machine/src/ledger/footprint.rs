//! Which rows of a lane a command needs to see, beside the lane itself.

use alloc::sync::Arc;
use alloc::vec::Vec;

use super::input::Footprint;
use super::state::{Row, Standing};
use crate::identity::SubmissionId;
use crate::limits::JOINED_A_RUN;

impl Footprint {
    /// Picks this footprint from all rows of a lane, in whatever order they come: in admission
    /// order and each once.
    ///
    /// This is the definition of what a store has to load; a store with an index loads the same
    /// rows without looking at the others.
    #[must_use]
    pub fn select<'a>(&self, rows: impl Iterator<Item = &'a Arc<Row>>) -> Vec<Arc<Row>> {
        let mut rows: Vec<&Arc<Row>> = rows.collect();
        rows.sort_unstable_by_key(|row| row.sequence);
        let named =
            |wanted: SubmissionId| move |row: &&&Arc<Row>| row.admission.submission == wanted;
        let is = |standing: Standing| move |row: &&&Arc<Row>| row.standing() == standing;
        let mut picked: Vec<&Arc<Row>> = Vec::new();
        match *self {
            Self::Submission(it) => picked.extend(rows.iter().find(named(it))),
            Self::Pair(it, other) => {
                picked.extend(rows.iter().find(named(it)));
                picked.extend(rows.iter().find(named(other)));
            }
            Self::Candidates(it) => {
                picked.extend(it.and_then(|it| rows.iter().find(named(it))));
                for standing in Standing::CLAIMABLE {
                    picked.extend(rows.iter().find(is(standing)));
                }
            }
            Self::Joining(host, joining) => {
                picked.extend(rows.iter().find(named(joining)));
                if let Some(host) = rows.iter().find(named(host)) {
                    picked.push(host);
                    for standing in Standing::WAITING {
                        let behind = rows.iter().filter(|row| host.sequence < row.sequence);
                        picked.extend(behind.clone().find(is(standing)));
                    }
                }
            }
            Self::Attached(host) | Self::Offered(host) => {
                if let Some(first) = rows.iter().find(named(host)) {
                    picked.push(first);
                    picked.extend(rows.iter().filter(|row| row.host() == Some(host)));
                    if matches!(self, Self::Offered(_)) {
                        for standing in Standing::WAITING {
                            let behind = rows.iter().filter(|row| first.sequence < row.sequence);
                            picked.extend(behind.filter(is(standing)).take(JOINED_A_RUN));
                        }
                    }
                }
            }
        }
        let mut picked: Vec<Arc<Row>> = picked.into_iter().cloned().collect();
        picked.sort_unstable_by_key(|row| row.sequence);
        picked.dedup_by_key(|row| row.sequence);
        picked
    }
}
