//! What the responses of a run have used (CAP-017).

use super::view::RunView;
use crate::agent::Usage;

/// The usage of all responses of a run so far. Lost questions and summaries are not among them:
/// they are the overhead of the turns that they led to.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub struct UsageTotals {
    /// Everything together, with what caches had to do with told apart.
    pub all: Usage,
    /// The most recent response that says what it used: how large the context was by then.
    pub last: Option<Usage>,
}

impl RunView {
    /// The usage of its responses. What a provider does not report is not there.
    #[must_use]
    pub fn usage(&self) -> UsageTotals {
        let reported = self.turns.iter().filter_map(|turn| turn.response.usage);
        reported.fold(UsageTotals::default(), |totals, usage| UsageTotals {
            all: totals.all.plus(usage),
            last: Some(usage),
        })
    }
}
