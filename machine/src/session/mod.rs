//! Sessions: names by which a client finds its conversations again.
//!
//! A session points to conversations and bears what a client wants to remember of them. It is no
//! history, and nothing that was accepted depends on it: without any session every submission still
//! settles. A conversation that it points to need not be there, and one that no session points to is
//! as good as any other.
//!
//! ```text
//! absent --Create--> revision n --Update(expected n)--> revision m --Delete(expected m)--> absent
//! ```
//!
//! | invariant | where it is kept |
//! | --- | --- |
//! | who changes a session has seen what it changes | `step::expected`: revisions are compared exactly |
//! | a revision is given once, also to a name that was gone in between | [`Shelf::last`] |
//! | a session and their number are bounded | `step::bounded`, [`crate::limits::SESSIONS`] |
//!
//! A crash leaves a command done or not done. Whoever does not know reads; a creation that is sent
//! again is answered as the first time while the session has not been changed.
//!
//! Deliberately absent: messages, owners of work, and anything that a run would read.

mod effect;
mod input;
mod state;
mod step;

pub use effect::{Change, Effect, Refusal};
pub use input::{Command, Draft, Patch, Stamped};
pub use state::{Metadata, Session, Shelf, Slice};
pub use step::Sessions;

#[cfg(test)]
mod tests;
