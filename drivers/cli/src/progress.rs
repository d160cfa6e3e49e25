//! Progress of what takes longer than two seconds, on a terminal.

use std::sync::mpsc::{RecvTimeoutError, channel};
use std::time::{Duration, Instant};

use indicatif::{ProgressBar, ProgressStyle};

const QUIET: Duration = Duration::from_secs(2);
const TICK: Duration = Duration::from_millis(120);

/// Does the work and meanwhile shows what `message` says, if it takes long enough.
pub(crate) fn watched<T: Send>(work: impl FnOnce() -> T + Send, message: impl Fn() -> String) -> T {
    let began = Instant::now();
    let (done, finished) = channel();
    std::thread::scope(|scope| {
        let worker = scope.spawn(move || {
            let result = work();
            // The watcher hears of the end either way: the channel closes.
            let _ = done.send(());
            result
        });
        let mut bar: Option<ProgressBar> = None;
        while finished.recv_timeout(TICK) == Err(RecvTimeoutError::Timeout) {
            if began.elapsed() >= QUIET {
                let bar = bar.get_or_insert_with(|| spinner(began.elapsed()));
                bar.set_message(message());
                bar.tick();
            }
        }
        if let Some(bar) = bar {
            bar.finish_and_clear();
        }
        worker.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic))
    })
}

/// Draws to standard error, and only if that is a terminal.
fn spinner(elapsed: Duration) -> ProgressBar {
    let style = ProgressStyle::with_template("{spinner} {elapsed} {msg}");
    let bar = ProgressBar::new_spinner().with_elapsed(elapsed);
    style.map(|style| bar.set_style(style)).unwrap_or_default();
    bar
}

#[cfg(test)]
mod tests {
    use super::watched;

    #[test]
    fn the_result_comes_through() {
        assert_eq!(watched(|| 7, String::new), 7);
    }

    #[test]
    #[should_panic(expected = "the work failed")]
    fn a_panic_comes_through() {
        watched(|| panic!("the work failed"), String::new);
    }
}
