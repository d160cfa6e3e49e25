//! What the command guard says, as policies do.

use crate::agent::Judgement;
use crate::guard::Verdict;

impl From<Verdict> for Judgement {
    fn from(verdict: Verdict) -> Self {
        match verdict {
            Verdict::Allow => Self::Auto,
            Verdict::Prompt => Self::Prompt,
            Verdict::Block => Self::Deny,
        }
    }
}
