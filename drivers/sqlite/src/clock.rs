//! The clock that stamps what a store does.
//!
//! Leases and expiries are the store's business, so the store brings the time and nobody else's
//! clock decides anything (CL-03). A wall clock may be set back or forth by people and by
//! networks; the lanes of the ledger cope with that by themselves and never let their own time
//! fall (CL-01), so a clock need not be monotonic.

use std::time::{SystemTime, UNIX_EPOCH};

use everstep_machine::identity::Timestamp;

/// Tells the time in milliseconds since the Unix epoch.
///
/// Any closure that returns a [`Timestamp`] is a clock.
pub trait Clock: Send {
    /// What time it is.
    fn now(&mut self) -> Timestamp;
}

impl<F: FnMut() -> Timestamp + Send> Clock for F {
    fn now(&mut self) -> Timestamp {
        self()
    }
}

/// The clock of this machine.
#[derive(Clone, Copy, Debug, Default)]
pub struct WallClock;

impl Clock for WallClock {
    /// 0 while the clock stands before 1970.
    fn now(&mut self) -> Timestamp {
        let since = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
        Timestamp(u64::try_from(since.as_millis()).unwrap_or(u64::MAX))
    }
}
