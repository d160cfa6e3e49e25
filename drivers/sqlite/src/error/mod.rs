//! What can go wrong, by whose fault, each with what to do about it.

mod copy;
mod open;
mod store;
mod stored;

pub use copy::CopyError;
pub use open::OpenError;
pub use store::StoreError;
pub(crate) use store::{Trouble, is_busy, is_full};
pub use stored::{Corrupt, Flaw, Place};
