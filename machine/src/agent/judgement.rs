//! What a policy says about a call.

use serde::{Deserialize, Serialize};

/// Whether a call goes ahead, is put to a person, or does not happen. Ordered by strictness; the
/// stricter of two is their maximum, so that combining them is monotone, idempotent, commutative and
/// associative (AUTH-06).
#[derive(
    Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize,
)]
pub enum Judgement {
    /// Nobody is asked.
    #[default]
    Auto,
    /// A person is asked about exactly these parameters.
    Prompt,
    /// It does not happen, and nobody is asked.
    Deny,
}
