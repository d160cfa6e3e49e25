//! The look-out: which lanes have work.

use std::io;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;
use std::sync::mpsc::{Receiver, SyncSender, sync_channel};
use std::thread;

use everstep_machine::identity::ConversationId;
use everstep_machine::scheduler::Findings;
use tokio::sync::oneshot;

use crate::store::Closed;

/// The lanes could not be looked at. Nothing depends on it but how soon work is found.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("the lanes cannot be looked at: {0}")]
pub struct ScanFailed(pub String);

/// Looks at a store without changing it. It blocks; the host gives it a thread.
///
/// What it says is a hint: the claim decides. Any function that scans is one.
pub trait LookOut: Send + 'static {
    /// One page of the lanes that have something left to do, behind `after`. Only lanes that
    /// [`crate::Bindings`] knows.
    ///
    /// # Errors
    /// The store cannot be read.
    fn scan(&mut self, after: Option<&ConversationId>) -> Result<Findings, ScanFailed>;
}

impl<F> LookOut for F
where
    F: FnMut(Option<&ConversationId>) -> Result<Findings, ScanFailed> + Send + 'static,
{
    fn scan(&mut self, after: Option<&ConversationId>) -> Result<Findings, ScanFailed> {
        self(after)
    }
}

/// A page, or why there is none.
pub(crate) type Page = Result<Findings, Arc<str>>;

/// How the host asks for a page. It asks for one at a time.
pub(crate) type Pages = SyncSender<Option<ConversationId>>;

/// Gives a look-out a thread, which ends when nobody can ask any more; then the look-out is
/// dropped, and that is told.
pub(crate) fn start(
    lookout: impl LookOut,
    tell: impl Fn(Page) + Send + 'static,
) -> io::Result<(Pages, Closed)> {
    let (pages, inbox) = sync_channel(1);
    let (closing, closed) = oneshot::channel();
    thread::Builder::new().name("everstep-lookout".to_owned()).spawn(move || {
        watch(lookout, &inbox, tell);
        // Nobody may be waiting for it.
        let _ = closing.send(());
    })?;
    Ok((pages, closed))
}

fn watch(mut lookout: impl LookOut, inbox: &Receiver<Option<ConversationId>>, tell: impl Fn(Page)) {
    while let Ok(after) = inbox.recv() {
        // One that panics has failed once, and is asked again: the thread goes on.
        let page = catch_unwind(AssertUnwindSafe(|| lookout.scan(after.as_ref())));
        tell(match page {
            Ok(page) => page.map_err(|ScanFailed(why)| why.into()),
            Err(_) => Err("the look-out panicked".into()),
        });
    }
}
