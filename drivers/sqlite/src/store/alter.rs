//! What an operator has done to a whole conversation: one transaction each.

use everstep_machine::identity::{ConversationId, Timestamp};
use rusqlite::Connection;

use super::SqliteStore;
use crate::error::{StoreError, Trouble};
use crate::import::{Exported, Imported, import};
use crate::rebuild::{Rebuilt, rebuild};
use crate::transaction::begin;

impl SqliteStore {
    /// Takes a conversation of another file in, all of it or nothing. One that is there already
    /// stays as it is.
    ///
    /// Whoever works on the other file does not learn of it: nobody may go on there.
    ///
    /// # Errors
    /// Everything that [`StoreError`] lists. What is wrong with the conversation itself is
    /// [`StoreError::Corrupt`], and [`Exported::check`] says it without a store.
    pub fn import(&mut self, exported: &Exported) -> Result<Imported, StoreError> {
        self.alter(&exported.lane.conversation, |connection, now| {
            let imported = import(connection, exported, now)?;
            Ok((imported, imported == Imported::Taken))
        })
    }

    /// Makes the ledger of a conversation anew of its log, unless it is whole (DUR-015). Whoever
    /// owned its lane is superseded then.
    ///
    /// # Errors
    /// Everything that [`StoreError`] lists: of a log that does not verify nothing is made.
    pub fn rebuild(&mut self, conversation: &ConversationId) -> Result<Rebuilt, StoreError> {
        self.alter(conversation, |connection, now| {
            let rebuilt = rebuild(connection, conversation, now)?;
            Ok((rebuilt, rebuilt.was_needed))
        })
    }

    /// One transaction; `alter` also says whether it changes anything.
    fn alter<T>(
        &mut self,
        conversation: &ConversationId,
        alter: impl FnOnce(&Connection, Timestamp) -> Result<(T, bool), Trouble>,
    ) -> Result<T, StoreError> {
        let Self { connection, path, home, busy, clock, counters, .. } = self;
        if home.is_left(path) {
            return Err(StoreError::Moved { path: path.clone() });
        }
        let trouble = |trouble: Trouble| trouble.at(path, *busy);
        let transaction = begin(connection, true, *busy, &mut counters.waits).map_err(trouble)?;
        counters.transactions += 1;
        let (value, changes) = alter(&transaction, clock.now()).map_err(trouble)?;
        transaction.commit().map_err(|error| trouble(error.into()))?;
        if changes {
            self.committed(&[conversation]);
        }
        Ok(value)
    }
}
