//! Authority: whether somebody may do something now (AUTH-01 to AUTH-05, SEC-02).
//!
//! A capability names a class of effects, `fs.read` or `mcp.call:docs`. Nothing has one because it is
//! declared, installed or reachable: a tenant's policy grants it, by default or to one component. What
//! an agent may do is what *all* of these allow, asked at the moment of the action:
//!
//! ```text
//! a known definition, a member of the tenant
//!   ∩ current policy   default -> grant on the component's path -> the component's own list
//!   ∩ ceiling          of a child, fixed when it is established
//!   ∩ requirement      of the child's definition
//!   ∩ resource         normalized by the host, matched part by part
//! ```
//!
//! | invariant | where it is kept |
//! | --- | --- |
//! | AUTH-02: exact, or any subject behind the same stem; a wildcard alone is no grant | [`Pattern`] |
//! | AUTH-03: a component's own list never satisfies the registry | [`Policy::source`] |
//! | AUTH-04: no wildcard and no component reaches a secret | [`Grant::new`], [`Policy::source`] |
//! | SEC-02: what is absent or unknown denies | [`State::evaluate`] |
//! | a child never exceeds its ceiling, whatever the policy grants later | [`Ceiling`], [`Rights::meet`] |
//! | revocation counts from the next action on | nothing that was decided is kept |
//!
//! Volatile: a host lays its policies down when it starts, and until then everything is denied.
//! Deliberately absent: people ([`crate::approval`] asks them, behind this), secrets themselves, paths
//! and URLs as they come in (the host normalizes them), and a cache.

mod decision;
mod effect;
mod input;
mod key;
mod policy;
mod resource;
mod rights;
mod state;
mod step;

pub use decision::{Action, Ceiling, Decision, Denial, Layer, Outcome, Standpoint};
pub use effect::Effect;
pub use input::{Input, Ticket};
pub use key::{CapabilityKey, Grant, KeyError, Pattern};
pub use policy::{Granted, Lacking, Need, Policy, Scope, Source};
pub use resource::{ComponentPath, Resource, ResourceError, Selector};
pub use rights::{Right, Rights};
pub use state::State;
pub use step::Authority;

#[cfg(test)]
mod tests;
