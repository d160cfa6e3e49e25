//! The Submission Ledger: one lane a conversation, one owner a lane, one settlement a row.
//!
//! The machine sees the slice of a lane that one command needs, its [`Footprint`], and answers
//! with the [`Change`]s a store has to write exactly as they are.
//!
//! ```text
//! Admitted --Ready--> Ready --Claim--> Running --Reserve--> Terminalizing --Finalize--> Settled
//!     |                                ^ |  ^
//!     +---- Claim, and then Ready -----+ |  | CoverUnknown (the last one)
//!                            MarkUnknown v  |
//!                                       Unknown
//!
//! Running --Suspend--> Suspended --CoverApprovals (the last one)--> Running
//!
//! Ready --Join--> Joining --MarkJoined--> Joined --SettleJoined--> Settled
//!   ^---RevertJoin---+                            in the run of another row
//! given up --Retry--> given up, and a new row that is Ready
//!
//! any but Settled --Finalize--> Settled               canonical history wins
//! any but Settled --Reserve(Aborted)--> Terminalizing once an abort is intended
//! ```
//!
//! A command that is repeated changes nothing, not even the stamp, and is answered as the first
//! time. An owner's command is so while the lane is still owned; afterwards it is
//! [`Refusal::OwnershipLost`] like everything of a former owner, and the log says what became of
//! it. Only `Finalize`, which ends its own ownership, is answered beyond it.
//!
//! | invariant | where it is kept |
//! | --- | --- |
//! | DUR-002: one outcome a submission | `Reserve`: the first write wins; `Finalize` needs the canonical record, by type |
//! | DUR-004: execution in admission order | `step::queue`: the lowest row that waits for execution |
//! | DUR-005: one owner a lane | [`Lane::owner`] is one value; [`Slice::apply`] asserts its epoch |
//! | DUR-006: every write of an owner is fenced | `step::owned` compares token and epoch |
//! | AUTH-14: a request is decided once | `Decide`: the first intent stands, and none comes after the expiry |
//! | DUR-016: what joins a run belongs to nobody else | `step::join`: an attached row cannot be claimed, and its host is settled after it |
//! | DUR-018: what was given up is tried again once | `Retry`: one command writes both rows; the first intent stands |
//! | CR-09: who cannot go on with a run says so, and holds nothing | `Incompatible` needs no claim; `Rebind` names what it replaces, and by what |
//! | DUR-017: an unknown holds its row | `Unknown` is claimable only when covered or aborted |
//! | CL-01, CL-03: time is the store's and never falls | [`Lane::time`]; [`Slice::apply`] asserts it |
//!
//! | crash point | what recovery does |
//! | --- | --- |
//! | before a command commits | nothing happened |
//! | after it, answer lost | the same command is answered as the first time |
//!
//! Deliberately absent: children, which come with their capability.

mod approval;
mod compat;
mod footprint;
mod input;
mod offer;
mod output;
mod rebuild;
mod reconstruction;
mod retry;
mod slice;
mod state;
mod step;

pub use approval::{ApprovalMark, ApprovalState, DecisionIntent, Suspension};
pub use compat::{Compat, Incompatible, Mismatch, RebindIntent};
pub use input::{Admission, Claim, Command, Footprint, Ownership, Stamped};
pub use offer::Offer;
pub use output::{Effect, Refusal, Reply};
pub use rebuild::{Agreement, Markers, agreement, rebuild};
pub use reconstruction::Reconstruction;
pub use retry::{Chain, Retried, RetryIntent};
pub use slice::{Change, Slice};
pub use state::{
    AbortIntent, InputMarker, Lane, Mark, MarkState, Owner, Phase, Reserved, ResolutionIntent, Row,
    Settled, Standing,
};
pub use step::{Ledger, candidate, wakes_at};

#[cfg(test)]
mod tests;
