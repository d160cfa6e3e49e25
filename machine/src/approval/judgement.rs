//! What a policy says about a call.

use crate::guard::Verdict;

/// Whether a call goes ahead, is put to a person, or does not happen. Ordered by strictness; the
/// stricter of two is their maximum, so that combining them is monotone, idempotent, commutative and
/// associative (AUTH-06).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Judgement {
    /// Nobody is asked.
    #[default]
    Auto,
    /// A person is asked.
    Prompt,
    /// It does not happen, and nobody is asked.
    Deny,
}

impl From<Verdict> for Judgement {
    fn from(verdict: Verdict) -> Self {
        match verdict {
            Verdict::Allow => Self::Auto,
            Verdict::Prompt => Self::Prompt,
            Verdict::Block => Self::Deny,
        }
    }
}
