//! Telling a handler that nobody waits for it any more.

use tokio::sync::watch;

/// Calls off what holds its [`Cancellation`]. Dropping it calls off as well.
#[derive(Debug)]
pub struct Canceller(watch::Sender<bool>);

impl Canceller {
    /// A canceller that has called off nothing yet.
    #[must_use]
    pub fn new() -> Self {
        Self(watch::Sender::new(false))
    }

    /// Calls off, once and for all.
    pub fn cancel(&self) {
        self.0.send_replace(true);
    }

    /// What is told when this calls off. Any number of calls may hold one.
    #[must_use]
    pub fn cancellation(&self) -> Cancellation {
        Cancellation(self.0.subscribe())
    }
}

impl Default for Canceller {
    fn default() -> Self {
        Self::new()
    }
}

/// Whether a call has been called off.
#[derive(Clone, Debug)]
pub struct Cancellation(watch::Receiver<bool>);

impl Cancellation {
    /// Whether it has.
    #[must_use]
    pub fn is_cancelled(&self) -> bool {
        *self.0.borrow() || self.0.has_changed().is_err()
    }

    /// Returns when it has, at once if that was before.
    pub async fn cancelled(&self) {
        // A canceller that is gone can call off nothing later, and waits for nothing.
        let _ = self.0.clone().wait_for(|is_cancelled| *is_cancelled).await;
    }
}
