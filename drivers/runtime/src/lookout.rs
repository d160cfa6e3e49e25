//! The look-out: which lanes have work, and whether another process has changed any.

use std::io;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;
use std::sync::mpsc::{Receiver, RecvTimeoutError, Sender, channel};
use std::thread;
use std::time::Duration;

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
/// What it says is a hint: the claim decides.
pub trait LookOut: Send + 'static {
    /// One page of the lanes that have something left to do, behind `after`. Only lanes that
    /// [`crate::Bindings`] knows.
    ///
    /// # Errors
    /// The store cannot be read.
    fn scan(&mut self, after: Option<&ConversationId>) -> Result<Findings, ScanFailed>;

    /// Whether anything was committed since this was asked last, if that can be told cheaply.
    fn has_changed(&mut self) -> bool;
}

/// What a look-out has seen.
#[derive(Clone, Debug)]
pub(crate) enum Sighting {
    /// A page.
    Page(Findings),
    /// No page.
    Failed(Arc<str>),
    /// Something was committed.
    Changed,
}

/// How the host asks for a page.
pub(crate) type Pages = Sender<Option<ConversationId>>;

/// Gives a look-out a thread, which ends when nobody can ask any more; then the look-out is
/// dropped, and that is told. At every `glance` without a question it looks whether something was
/// committed.
pub(crate) fn start(
    lookout: impl LookOut,
    glance: Duration,
    tell: impl Fn(Sighting) + Send + 'static,
) -> io::Result<(Pages, Closed)> {
    let (pages, inbox) = channel();
    let (closing, closed) = oneshot::channel();
    thread::Builder::new().name("everstep-lookout".to_owned()).spawn(move || {
        watch(lookout, glance, &inbox, tell);
        // Nobody may be waiting for it.
        let _ = closing.send(());
    })?;
    Ok((pages, closed))
}

fn watch(
    mut lookout: impl LookOut,
    glance: Duration,
    inbox: &Receiver<Option<ConversationId>>,
    tell: impl Fn(Sighting),
) {
    loop {
        match inbox.recv_timeout(glance) {
            Ok(after) => tell(match contained(|| lookout.scan(after.as_ref())) {
                Ok(Ok(findings)) => Sighting::Page(findings),
                Ok(Err(ScanFailed(why))) => Sighting::Failed(why.into()),
                Err(failed) => failed,
            }),
            Err(RecvTimeoutError::Timeout) => match contained(|| lookout.has_changed()) {
                Ok(true) => tell(Sighting::Changed),
                Ok(false) => {}
                Err(failed) => tell(failed),
            },
            Err(RecvTimeoutError::Disconnected) => return,
        }
    }
}

/// A look-out that panics has failed once, and is asked again: the thread goes on.
fn contained<T>(look: impl FnOnce() -> T) -> Result<T, Sighting> {
    let failed = |_| Sighting::Failed("the look-out panicked".into());
    catch_unwind(AssertUnwindSafe(look)).map_err(failed)
}
