//! An agent's state, as a handler reaches it (CAP-012).

use std::fmt;

use everstep_machine::agent_state::{
    Caller, Command, Put, Refusal, Reply, Stored, Value, Whose, WriteClass,
};
use everstep_machine::effect::Invocation;
use everstep_machine::identity::{ConversationId, NameError, Revision, StateKey};
use everstep_machine::json::{CanonicalJson, JsonError};
use everstep_machine::record::Corruption;
use everstep_machine::store::StoreFault;
use serde::Serialize;
use serde::de::DeserializeOwned;
use tokio::time::sleep;

use crate::client::{PATIENCE, RESEND};
use crate::store::StoreHandle;

/// Why state was not read or written.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum StateError {
    /// The store refuses: nothing was changed. A conflict names both revisions.
    #[error("{0}")]
    Refused(Refusal),
    /// The key is none.
    #[error("the key is none: {0}")]
    Key(NameError),
    /// The value cannot be held as JSON.
    #[error("the value cannot be kept: {0}")]
    Unkept(JsonError),
    /// The value fits another version of its schema than the reader knows.
    #[error("the value has version {found} of its schema, not {expected}")]
    Version {
        /// The version that the reader knows.
        expected: u32,
        /// That of the value.
        found: u32,
    },
    /// The value is not of the reader's type.
    #[error("the value is not of the type that it is read as")]
    Mistyped,
    /// The store does not say whether it was written. A call that says the same again finds out.
    #[error("the store does not say whether it is written")]
    Unsure,
    /// What is stored is not what was written.
    #[error("the state is corrupt: {0}")]
    Corrupt(Corruption),
}

/// A value and the revision under which it is there.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Kept<T> {
    /// The revision: whoever writes over it names it.
    pub revision: Revision,
    /// The value.
    pub value: T,
}

/// The state that a call can reach: its agent's, for the tenant that it works for, and its run's. A
/// copy is of the same call.
///
/// Every write says what kind of effect it is ([`WriteClass`]) and which revision it follows. A call
/// writes a key once. When it is started again after a crash, it reads what it read the first time;
/// what it has written already it is answered as then, and nothing is written twice. So what it writes
/// has to follow from its parameters and from what it reads: a time or a random number does not, and
/// belongs into a step of a durable tool. A call of a readonly tool reads and never writes.
#[derive(Clone)]
pub struct State {
    reach: Option<(StoreHandle, Caller)>,
}

impl State {
    /// None to reach, as in a run without a store.
    pub(crate) const fn none() -> Self {
        Self { reach: None }
    }

    /// That of a call.
    pub(crate) fn of(store: StoreHandle, lane: ConversationId, invocation: &Invocation) -> Self {
        let (run, call, start) = (invocation.run, invocation.call, invocation.epoch);
        Self { reach: Some((store, Caller { lane, run, call, start })) }
    }

    /// Reads a value that is to fit version `version` of its schema; none if nothing is there.
    ///
    /// # Errors
    /// Everything that [`StateError`] lists.
    pub async fn get<T: DeserializeOwned>(
        &self,
        whose: Whose,
        key: &str,
        version: u32,
    ) -> Result<Option<Kept<T>>, StateError> {
        let key = StateKey::new(key).map_err(StateError::Key)?;
        let (store, caller) = self.reach()?;
        let caller = caller.clone();
        match ask(store, Command::Get { caller, whose, key }).await? {
            Reply::Read(found) => found.map(|stored| read(&stored, version)).transpose(),
            Reply::Written(_) => unreachable!("CAP-012: a reading is answered with what is there"),
        }
    }

    /// Writes a value that fits version `version` of its schema over what is there at `expected`, and
    /// says under which revision it is there. It is durable when this returns.
    ///
    /// # Errors
    /// Everything that [`StateError`] lists.
    pub async fn put<T: Serialize>(
        &self,
        class: WriteClass,
        key: &str,
        expected: Option<Revision>,
        version: u32,
        value: &T,
    ) -> Result<Revision, StateError> {
        // What cannot be written as JSON at all is no value either.
        let text = serde_json::to_string(value).unwrap_or_default();
        let json = CanonicalJson::parse(text.as_bytes()).map_err(StateError::Unkept)?;
        self.write(class, key, expected, Some(Value { version, json })).await
    }

    /// Removes what is there at `expected`.
    ///
    /// # Errors
    /// Everything that [`StateError`] lists.
    pub async fn remove(
        &self,
        class: WriteClass,
        key: &str,
        expected: Revision,
    ) -> Result<Revision, StateError> {
        self.write(class, key, Some(expected), None).await
    }

    async fn write(
        &self,
        class: WriteClass,
        key: &str,
        expected: Option<Revision>,
        value: Option<Value>,
    ) -> Result<Revision, StateError> {
        let key = StateKey::new(key).map_err(StateError::Key)?;
        let (store, caller) = self.reach()?;
        let (caller, put) = (caller.clone(), Put { key, class, expected, value });
        match ask(store, Command::Put { caller, put }).await? {
            Reply::Written(revision) => Ok(revision),
            Reply::Read(_) => unreachable!("CAP-012: a write is answered with its revision"),
        }
    }

    fn reach(&self) -> Result<&(StoreHandle, Caller), StateError> {
        self.reach.as_ref().ok_or(StateError::Refused(Refusal::NotKept))
    }
}

/// Sends a command, and the identical one again while the store does not say what became of it.
async fn ask(store: &StoreHandle, command: Command) -> Result<Reply, StateError> {
    for _ in 0..PATIENCE {
        match store.state(command.clone()).await {
            Ok(Ok(answer)) => return answer.map_err(StateError::Refused),
            Ok(Err(StoreFault::Corrupt(why))) => return Err(StateError::Corrupt(why)),
            Ok(Err(StoreFault::Indeterminate | StoreFault::Refused { .. })) => sleep(RESEND).await,
            Err(_) => return Err(StateError::Unsure),
        }
    }
    Err(StateError::Unsure)
}

fn read<T: DeserializeOwned>(stored: &Stored, expected: u32) -> Result<Kept<T>, StateError> {
    let found = stored.value.version;
    if found != expected {
        return Err(StateError::Version { expected, found });
    }
    let value = serde_json::from_str(stored.value.json.as_str());
    let value = value.map_err(|_| StateError::Mistyped)?;
    Ok(Kept { revision: stored.revision, value })
}

impl fmt::Debug for State {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("State").field(&self.reach.as_ref().map(|(_, caller)| caller)).finish()
    }
}
