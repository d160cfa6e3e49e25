//! Taking a conversation in: one transaction.

use super::SqliteStore;
use crate::error::StoreError;
use crate::import::{Exported, Imported, import};
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
        let Self { connection, path, home, busy, clock, counters, .. } = self;
        if home.is_left(path) {
            return Err(StoreError::Moved { path: path.clone() });
        }
        let trouble = |trouble: crate::error::Trouble| trouble.at(path, *busy);
        let transaction = begin(connection, true, *busy, &mut counters.waits).map_err(trouble)?;
        counters.transactions += 1;
        let imported = import(&transaction, exported, clock.now()).map_err(trouble)?;
        transaction.commit().map_err(|error| trouble(error.into()))?;
        if imported == Imported::Taken {
            self.committed(&[&exported.lane.conversation]);
        }
        Ok(imported)
    }
}
