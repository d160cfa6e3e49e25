//! What permits lead to.

use super::Ticket;

/// What the host is told.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Effect {
    /// The call may start.
    Grant(Ticket),
}
