//! What an agent keeps from one run to the next, beside its conversations (CAP-012).
//!
//! State is values under keys, of one agent and one tenant, or of one run. It is no history and no
//! source of truth: what was accepted and what came of it is in ledger and log, and state can be lost,
//! whole, without a submission less. A value bears the version of its schema. A write names the
//! revision that it follows, and its class, for which there is no default:
//!
//! | class | seen by others | when its call does not succeed |
//! | --- | --- | --- |
//! | [`WriteClass::RunLocal`] | never: it belongs to its run and goes when that settles | stays until then |
//! | [`WriteClass::Canonical`] | from the commit that records the call's success | it is as if it had never been |
//! | [`WriteClass::Compensatable`] | at once | taken back, in the commit that records the end |
//! | [`WriteClass::Uncertain`] | at once | stays |
//!
//! ```text
//! Put --Guard--> Slice --step--> Slot, Mark          (one transaction)
//! log: batch with the call's end --closings--> close: Slot, no Mark   (the transaction of the batch)
//! ```
//!
//! | invariant | where it is kept |
//! | --- | --- |
//! | DUR-006: no write from a superseded epoch | [`Guard`]: lane and log are at the epoch of the start |
//! | a write belongs to a start that is canonical, of a call that has not ended | [`Guard`] |
//! | a call writes a key once, whatever dies: asked again, it is answered as the first time | [`Mark`] |
//! | a revision is given once, also to a key that was gone in between | [`Shelf::last`] |
//! | what is not decided yet can always be applied, and always be taken back | a hold: [`Slot::hold`] |
//!
//! | crash point | what recovery does |
//! | --- | --- |
//! | before the write | nothing happened: the next start of the call writes |
//! | after the write, before the call's end is canonical | the next start reads what the first one read, writes the same and is answered the same. A call that is not started again keeps its hold until a person says what became of it |
//! | after the end is canonical | it was applied or taken back in that commit |
//!
//! Deliberately absent: values without a key, keys without an agent, and any way for the log to be
//! made of this.

mod close;
mod effect;
mod guard;
mod input;
mod shelves;
mod state;
mod step;

pub use close::{Closing, close, closings};
pub use effect::{Change, Effect, Refusal, Reply};
pub use guard::{Guard, Work};
pub use input::{Caller, Command, Put, Stamped, Whose};
pub use shelves::Shelves;
pub use state::{
    Address, Mark, Owner, Revision, Scope, Shelf, Slice, Slot, Stored, Value, WriteClass,
};
pub use step::AgentState;

#[cfg(test)]
mod tests;
