//! What the store said when it did not do what it was told.

use std::sync::{Arc, Mutex, PoisonError};

use everstep_machine::effect::EffectClass;
use everstep_machine::store::{Pipeline, Replies, Shared, Store, StoreFault};
use everstep_runtime::HostError;
use everstep_sqlite::{SqliteStore, StoreError};

use crate::exit::{Complaint, Exit};

/// What the store said last when it did not do what it was told, until it does.
#[derive(Clone, Debug, Default)]
pub(super) struct Trouble(Arc<Mutex<Option<Words>>>);

/// Words about a pipeline that failed.
#[derive(Debug)]
struct Words {
    /// Whether it was to write: a reading that succeeds does not end that.
    writes: bool,
    /// Whether the file is gone: then the same line would find nothing and begin anew.
    is_gone: bool,
    text: String,
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
                let is_gone = matches!(error, StoreError::Moved { .. });
                *last = Some(Words { writes, is_gone, text: error.to_string() });
            }
        }
        result.map_err(|error| error.fault())
    }
}

impl Shared for Told {
    fn changed_elsewhere(&mut self) -> bool {
        self.store.changed_elsewhere()
    }
}

pub(super) fn failed(error: HostError, trouble: &Trouble) -> Complaint {
    let last = match error {
        HostError::StoreUnsure | HostError::Store(_) => {
            trouble.0.lock().unwrap_or_else(PoisonError::into_inner).take()
        }
        HostError::Rejected(_)
        | HostError::StoreGone
        | HostError::Stopped
        | HostError::NoSuchSubmission
        | HostError::Quarantined(_) => None,
    };
    let help = if last.as_ref().is_some_and(|last| last.is_gone) { ABSENT } else { REPAIRED };
    let text = last.map_or_else(|| error.to_string(), |last| last.text);
    Complaint::new(Exit::Environment, format!("{text}\nhelp: {help}"))
}

const REPAIRED: &str =
    "nothing that was accepted is lost: run the same line again once that is repaired";
const ABSENT: &str = "do not run the same line again before the database is back: without it the \
                      line is a new submission, and calls that were made are made again";
