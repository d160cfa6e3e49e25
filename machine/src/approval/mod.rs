//! Approval: what a policy says about a call, and what a person has said about the same one before
//! (AUTH-06 to AUTH-08, AUTH-10 to AUTH-12).
//!
//! A [`Ruling`] is the strictest word of every layer that has a say. What it lets through or denies
//! never reaches a person; what it puts to one may have been answered already, for the session:
//!
//! ```text
//! Asked -- auto ----------------------------------> Allow (policy)
//!       -- deny ----------------------------------> Deny (policy)
//!       -- prompt, allowed for the session -------> Allow (session)
//!       -- prompt, the same is being asked -------> Share -+
//!       -- prompt --------------------------------> Ask ---+-- Decided --> Allow or Deny, each
//!                                                          +-- Replaced, Revoked, Closed --> Deny
//! Decided for the session --> remembered -- 8 h, Replaced, Revoked, Closed, Promoted --> forgotten
//! ```
//!
//! | invariant | where it is kept |
//! | --- | --- |
//! | AUTH-06: the strictest word wins; `auto` takes nothing back | [`Ruling::of`] |
//! | AUTH-07: what the host built gets stricter only | [`Metadata::overridden`] |
//! | AUTH-10: an allow is younger than 8 h and its session is open | `State::hear`, `State::end`, [`State::check`] |
//! | AUTH-11: equal calls at the same time wait for one question | `State::asked`, [`State::check`] |
//! | AUTH-12: principal, session, fingerprint and rule are equal, or it is asked | `state::Key` |
//! | AUTH-04: what is never remembered is never shared either | [`Ask::may_be_remembered`] |
//!
//! Time comes with inputs. If it goes back, everything that was allowed is forgotten.
//!
//! Volatile: a crash is the host's closing. What has to survive it, a request and its decision, is
//! canonical ([`crate::run`], [`crate::ledger`]); a call that a session's allow lets through names the
//! request that was decided. Deliberately absent: rules that are wider than the call they were made
//! for.

mod deed;
mod effect;
mod input;
mod judgement;
mod metadata;
mod ruling;
mod state;
mod step;

pub use crate::agent::{Entries, Judgement};
pub use deed::{Deed, Fingerprint};
pub use effect::{Effect, Grounds, Refusal};
pub use input::{Answer, Ask, Input, QuestionId};
pub use metadata::{Loosens, Metadata, Origin, Override};
pub use ruling::{Entry, Layer, Layers, Rule, Ruling};
pub use state::State;
pub use step::Approval;

#[cfg(test)]
mod tests;
