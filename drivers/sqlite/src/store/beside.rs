//! What is kept beside ledger and logs: agents' state and sessions, one transaction a command.

use everstep_machine::identity::Timestamp;
use everstep_machine::{agent_state, session};
use rusqlite::Connection;

use super::SqliteStore;
use crate::error::{StoreError, Trouble};
use crate::transaction::{begin, snapshot};

impl SqliteStore {
    /// Reads or writes an agent's state (CAP-012). What a call may do is decided in the transaction
    /// that does it, by what lane and log say of its start.
    ///
    /// # Errors
    /// Everything that [`StoreError`] lists. Inside, why the command is refused.
    pub fn state(
        &mut self,
        command: &agent_state::Command,
    ) -> Result<Result<agent_state::Reply, agent_state::Refusal>, StoreError> {
        if command.writes() {
            return self.beside(|it, now| crate::agent_state::ask(it, command, now));
        }
        let now = self.clock.now();
        let ask = |it: &Connection| crate::agent_state::ask(it, command, now);
        snapshot(&self.connection, self.busy, ask).map_err(|it| it.at(&self.path, self.busy))
    }

    /// Makes, changes or deletes a session.
    ///
    /// # Errors
    /// Everything that [`StoreError`] lists. Inside, why the command is refused.
    pub fn session(
        &mut self,
        command: &session::Command,
    ) -> Result<Result<session::Session, session::Refusal>, StoreError> {
        self.beside(|it, now| crate::session::ask(it, command, now))
    }

    fn beside<T>(
        &mut self,
        act: impl FnOnce(&Connection, Timestamp) -> Result<T, Trouble>,
    ) -> Result<T, StoreError> {
        let Self { connection, path, home, busy, clock, counters, wal, .. } = self;
        if home.is_left(path) {
            return Err(StoreError::Moved { path: path.clone() });
        }
        let trouble = |trouble: Trouble| trouble.at(path, *busy);
        let before = connection.total_changes();
        let transaction = begin(connection, true, *busy, &mut counters.waits).map_err(trouble)?;
        counters.transactions += 1;
        let value = act(&transaction, clock.now()).map_err(trouble)?;
        transaction.commit().map_err(|error| trouble(error.into()))?;
        if connection.total_changes() != before {
            counters.commits += 1;
            wal.keep_short(connection, *busy);
        }
        Ok(value)
    }
}
