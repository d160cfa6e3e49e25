//! What a desk is told from outside, bounded: hints, pages of a scan, and that somebody else has
//! committed.
//!
//! Hints that do not fit are lost by name and kept as one word: that some lane has changed. The
//! scan that follows finds every one of them.

use std::sync::Arc;

use everstep_machine::identity::ConversationId;
use everstep_machine::scheduler::Input;
use tokio::sync::{Notify, mpsc};

use crate::lookout::Page;

/// Inputs that wait for the desk at most.
const WAITING: usize = 1_024;

/// How a desk is told something. Copies lead to the same desk.
#[derive(Clone, Debug)]
pub(crate) struct Inbox {
    inputs: mpsc::Sender<Input>,
    changed: Arc<Notify>,
}

/// The desk's end.
#[derive(Debug)]
pub(crate) struct Inputs {
    inputs: mpsc::Receiver<Input>,
    changed: Arc<Notify>,
}

impl Inbox {
    pub(crate) fn new() -> (Self, Inputs) {
        let (sender, inputs) = mpsc::channel(WAITING);
        let changed = Arc::new(Notify::new());
        (Self { inputs: sender, changed: Arc::clone(&changed) }, Inputs { inputs, changed })
    }

    /// This lane has changed.
    pub(crate) fn hint(&self, lane: ConversationId) {
        if self.inputs.try_send(Input::Hinted { lane }).is_err() {
            // A desk that is gone wants none.
            self.changed.notify_one();
        }
    }

    /// Somebody else has committed.
    pub(crate) fn changed_elsewhere(&self) {
        self.changed.notify_one();
    }

    /// What the look-out has seen. It blocks until there is room: every scan has an answer.
    pub(crate) fn page(&self, page: Page) {
        let input = page.map_or(Input::ScanFailed, Input::Scanned);
        // A desk that is gone looks no more.
        let _ = self.inputs.blocking_send(input);
    }
}

impl Inputs {
    /// What the desk is told next. Nothing is lost if this is dropped while it waits.
    pub(crate) async fn next(&mut self) -> Input {
        tokio::select! {
            Some(input) = self.inputs.recv() => input,
            () = self.changed.notified() => Input::ChangedElsewhere,
        }
    }
}

#[cfg(test)]
mod tests {
    use everstep_machine::identity::ConversationId;
    use everstep_machine::scheduler::Input;

    use super::{Inbox, WAITING};

    #[test]
    fn arc_05_hints_beyond_the_bound_are_one_word_that_something_has_changed() {
        let (inbox, mut inputs) = Inbox::new();
        for n in 0..3 * WAITING {
            inbox.hint(ConversationId::new(&format!("lane {n}")).unwrap());
        }
        let (mut named, mut unnamed) = (0, 0);
        crate::block_on(async {
            for _ in 0..=WAITING {
                match inputs.next().await {
                    Input::Hinted { .. } => named += 1,
                    Input::ChangedElsewhere => unnamed += 1,
                    other => panic!("{other:?}"),
                }
            }
        })
        .unwrap();
        assert_eq!((named, unnamed), (WAITING, 1));
        assert_eq!(inputs.inputs.try_recv().ok(), None);
    }
}
