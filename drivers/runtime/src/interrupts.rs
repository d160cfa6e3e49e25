//! Being asked to end: by a person at a terminal, or by whoever supervises the process.

use std::future::Future;
use std::io;

#[cfg(unix)]
use tokio::signal::unix::{Signal, SignalKind, signal};

/// The signals that ask this process to end: SIGINT and SIGTERM, or Ctrl-C where there are none.
///
/// From the moment somebody listens, they do not end the process any more.
#[derive(Debug)]
pub struct Interrupts {
    #[cfg(unix)]
    interrupt: Signal,
    #[cfg(unix)]
    terminate: Signal,
}

impl Interrupts {
    /// Listens from now on, inside an async runtime.
    ///
    /// # Errors
    /// The operating system does not let it.
    #[cfg(unix)]
    pub fn listen() -> io::Result<Self> {
        let (interrupt, terminate) = (SignalKind::interrupt(), SignalKind::terminate());
        Ok(Self { interrupt: signal(interrupt)?, terminate: signal(terminate)? })
    }

    /// Listens from now on, inside an async runtime.
    ///
    /// # Errors
    /// The operating system does not let it.
    #[cfg(not(unix))]
    pub fn listen() -> io::Result<Self> {
        Ok(Self {})
    }

    /// Does the work and returns what comes of it; none if a signal comes first. The work is
    /// dropped then.
    pub async fn unless<T>(&mut self, work: impl Future<Output = T>) -> Option<T> {
        tokio::select! {
            done = work => Some(done),
            () = self.next() => None,
        }
    }

    #[cfg(unix)]
    async fn next(&mut self) {
        tokio::select! {
            _ = self.interrupt.recv() => {}
            _ = self.terminate.recv() => {}
        }
    }

    #[cfg(not(unix))]
    async fn next(&mut self) {
        if tokio::signal::ctrl_c().await.is_err() {
            // Whoever cannot hear of it goes on.
            std::future::pending().await
        }
    }
}
