//! The little that others need of the async runtime, so that nobody else has to name it.

use std::future::Future;
use std::io;
use std::panic::resume_unwind;
use std::time::Duration;

use tokio::runtime::Builder;

/// How long handlers that block may take to end when everything else has.
const LEAVE: Duration = Duration::from_secs(2);

/// Runs a future to its end, with threads of its own for what it spawns.
///
/// # Errors
/// The operating system gives no threads.
pub fn block_on<F: Future>(future: F) -> io::Result<F::Output> {
    let mut builder = Builder::new_multi_thread();
    let runtime = builder.worker_threads(2).enable_time().enable_io().build()?;
    let output = runtime.block_on(future);
    runtime.shutdown_timeout(LEAVE);
    Ok(output)
}

/// Lets time pass.
pub async fn pause(span: Duration) {
    tokio::time::sleep(span).await;
}

/// Does something that blocks, a file to write for instance, on a thread made for that.
///
/// # Panics
/// What it does panics, or the runtime is shutting down.
pub async fn blocking<T: Send + 'static>(work: impl FnOnce() -> T + Send + 'static) -> T {
    match tokio::task::spawn_blocking(work).await {
        Ok(done) => done,
        Err(error) if error.is_panic() => resume_unwind(error.into_panic()),
        Err(error) => panic!("a blocking call was called off: {error}"),
    }
}
