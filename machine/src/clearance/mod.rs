//! Clearance: what a host says of calls that want to start, out of what is granted, what its policy
//! wants and what people have said for a session (AUTH-15).
//!
//! One for each host, as its permits are. It puts two rooms in their fixed order, and asks nobody
//! itself:
//!
//! ```text
//! a call -- State::clear --> authority: is what it takes granted? ------ no --> refused
//!                        \-> approval: what do all layers say? -- deny -------> refused
//!                                                                -- auto -------> goes ahead
//!                                                                -- prompt --\
//!        -- Asked -- allowed for the session ---------------------> answered  |
//!                 -- the same is being asked ----> shares that question      <-/
//!                 -- otherwise ------------------> Ask -- Decided ---> answered
//!                                                      -- Undecided -> left to people
//! a start -- State::may --> authority again, at the door
//! ```
//!
//! | invariant | where it is kept |
//! | --- | --- |
//! | AUTH-15: granted before anybody is asked | [`State::clear`] |
//! | SEC-02: a tenant that has a policy lets its members in, and nobody else | [`State::clear`] |
//! | AUTH-12, AP-23: an allow ends with its session, its principal, its revision, its grants | `asking` |
//! | AUTH-10: what is allowed for a session names the request that was decided | `answers` |
//!
//! Volatile: a crash is the host's closing. Requests and decisions are canonical ([`crate::run`]).

mod answers;
mod asking;
mod input;
mod state;
mod step;

pub use input::{Effect, Input, Said};
pub use state::State;
pub use step::Clearances;

#[cfg(test)]
mod tests;
