//! What the store said when it did not do what it was told.

use std::path::Path;
use std::sync::{Arc, Mutex, PoisonError};

use everstep_machine::admission::Rejection;
use everstep_machine::attempt::End;
use everstep_machine::effect::EffectClass;
use everstep_machine::identity::ConversationId;
use everstep_machine::projection::Reader;
use everstep_machine::store::{Pipeline, Replies, Shared, Store, StoreFault};
use everstep_runtime::HostError;
use everstep_sqlite::{SqliteStore, StoreError};

use crate::database::DOES_NOT_VERIFY;
use crate::exit::{Complaint, Exit};

/// What the store said last when it did not do what it was told, until it does.
#[derive(Clone, Debug, Default)]
pub(super) struct Trouble(Arc<Mutex<Option<Words>>>);

/// Words about a pipeline that failed.
#[derive(Debug)]
struct Words {
    /// Whether it was to write: a reading that succeeds does not end that.
    writes: bool,
    cause: Cause,
    text: String,
}

/// What has to be done before the same line is run again.
#[derive(Clone, Copy, Debug)]
enum Cause {
    /// Something that passes, or that somebody repairs.
    Passing,
    /// The file is gone: the same line would find nothing and begin anew.
    Gone,
    /// The file does not verify: what was done already cannot be told from it.
    Corrupt,
}

/// A store that remembers its trouble in words.
pub(super) struct Told {
    pub(super) store: SqliteStore,
    pub(super) trouble: Trouble,
}

impl Store for Told {
    fn execute(&mut self, pipeline: &Pipeline) -> Result<Replies, StoreFault> {
        let classes = pipeline.commands.iter().map(|command| command.kind().class());
        let writes = classes.into_iter().any(|class| class == EffectClass::Durable);
        let result = self.store.perform(pipeline);
        let mut last = self.trouble.0.lock().unwrap_or_else(PoisonError::into_inner);
        match &result {
            Ok(_) | Err(StoreError::Refused { .. }) => {
                last.take_if(|last| writes || !last.writes);
            }
            Err(error) => {
                let cause = match error {
                    StoreError::Moved { .. } => Cause::Gone,
                    StoreError::Corrupt { .. } => Cause::Corrupt,
                    StoreError::Refused { .. }
                    | StoreError::Busy { .. }
                    | StoreError::Full { .. }
                    | StoreError::Io { .. } => Cause::Passing,
                };
                *last = Some(Words { writes, cause, text: error.to_string() });
            }
        }
        result.map_err(|error| error.fault())
    }
}

impl Shared for Told {
    fn changed_elsewhere(&mut self) -> bool {
        self.store.changed_elsewhere()
    }

    fn checkpoint(&mut self, lane: &ConversationId) -> Option<Reader> {
        self.store.checkpoint(lane)
    }

    fn keep_checkpoint(&mut self, lane: &ConversationId, bytes: &[u8]) {
        self.store.keep_checkpoint(lane, bytes);
    }
}

pub(super) fn failed(error: HostError, trouble: &Trouble, db: &Path) -> Complaint {
    let last = || trouble.0.lock().unwrap_or_else(PoisonError::into_inner).take();
    let (text, cause) = match error {
        HostError::Quarantined(End::Corrupt(why)) => (
            format!("{}: the submission's log does not verify: {why}", db.display()),
            Cause::Corrupt,
        ),
        HostError::StoreUnsure
        | HostError::Store(_)
        | HostError::Quarantined(_)
        | HostError::Rejected(Rejection::Corrupt) => match last() {
            Some(last) => (last.text, last.cause),
            None => {
                let is_corrupt = matches!(
                    error,
                    HostError::Store(StoreFault::Corrupt(_))
                        | HostError::Rejected(Rejection::Corrupt)
                );
                let cause = if is_corrupt { Cause::Corrupt } else { Cause::Passing };
                (format!("{}: {error}", db.display()), cause)
            }
        },
        HostError::Rejected(Rejection::Refused(_))
        | HostError::StoreGone
        | HostError::NotAMember
        | HostError::Stopped
        | HostError::NoSuchSubmission => (error.to_string(), Cause::Passing),
    };
    let help = match cause {
        Cause::Passing => REPAIRED,
        Cause::Gone => ABSENT,
        Cause::Corrupt => DOES_NOT_VERIFY,
    };
    Complaint::new(Exit::Environment, format!("{text}\nhelp: {help}"))
}

const REPAIRED: &str =
    "nothing that was accepted is lost: run the same line again once that is repaired";
const ABSENT: &str = "do not run the same line again before the database is back: without it the \
                      line is a new submission, and calls that were made are made again";
