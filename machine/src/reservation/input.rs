//! What is asked of reservations.

use super::{Amounts, Used};
use crate::identity::ReservationId;

/// Whose budget it is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Owner {
    /// Of the run that nobody has delegated to.
    Root,
    /// Of a child.
    Child(ReservationId),
}

/// What happened.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum Input {
    /// A child is to start. Asked twice is asked once.
    Reserve {
        /// Its reservation, derived from parent run and call.
        reservation: ReservationId,
        /// Whose child it is.
        parent: Owner,
        /// What it may use up, children of its own included.
        allocation: Amounts,
    },
    /// Somebody has used up so much by now. It may be late, doubled or out of order.
    Report {
        /// Who.
        owner: Owner,
        /// How much, since the beginning.
        used: Used,
    },
    /// A child's end is canonical in its parent.
    Settle {
        /// Its reservation.
        reservation: ReservationId,
        /// What it has used up in the end.
        used: Used,
    },
    /// What a settled child has left goes back to its parent.
    Release(ReservationId),
}
