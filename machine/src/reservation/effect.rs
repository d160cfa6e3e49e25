//! What reservations lead to.

use thiserror::Error;

use super::{Amounts, Dimension};
use crate::identity::ReservationId;

/// What whoever asks is told.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum Effect {
    /// The child has what it may use up.
    Admit(ReservationId),
    /// The child is settled: what is left goes back when this is recorded.
    Release {
        /// Its reservation.
        reservation: ReservationId,
        /// What goes back.
        released: Amounts,
    },
    /// Nothing has changed.
    Refuse(Refusal),
}

/// Why nothing has changed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Error)]
pub enum Refusal {
    /// The parent has less left, or nothing at all because something was used beyond its budget.
    #[error("the budget has not so much left")]
    Exhausted(Dimension),
    /// The parent has as many children at once as it may.
    #[error("as many children run as may")]
    AtOnce,
    /// The child would be deeper than children may be.
    #[error("no child may be that deep")]
    TooDeep,
    /// There is no such reservation.
    #[error("there is no such reservation")]
    Unknown,
    /// The reservation is another one: of another parent, or of another allocation.
    #[error("the reservation is another one")]
    Another,
    /// Whoever asks has ended, so it has no children any more.
    #[error("it has ended")]
    Ended,
    /// A child of its own has not ended, or has not given back what is left.
    #[error("a child of its own is still open")]
    OpenChildren,
    /// It has not ended, so it keeps what it has.
    #[error("it has not ended")]
    NotSettled,
    /// A number is larger than any that is counted.
    #[error("a number is larger than any that is counted")]
    TooLarge,
    /// Children are counted here, and not reported.
    #[error("children are counted and not reported")]
    Counted,
}
