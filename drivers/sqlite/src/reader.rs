//! Looking at the file: what an operator lists.
//!
//! Every method is one short read transaction that has ended when it returns, and every list is
//! bounded. So a reader, however slow it is at reading what it was given, never keeps SQLite from
//! moving the write-ahead log into the file (SQ-01): that log would grow for as long as one read
//! transaction stays open.

mod lists;

use std::fmt;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use everstep_machine::agent_state::{Address, Slot};
use everstep_machine::digest::Digest;
use everstep_machine::identity::{
    AdmissionSequence, ConversationId, Sequence, SessionId, SubmissionId,
};
use everstep_machine::ledger::{Lane, Row};
use everstep_machine::session::Session;
use everstep_machine::store::LogPage;
use rusqlite::Connection;

use crate::error::{Corrupt, OpenError, StoreError, Trouble};
use crate::ledger::saturating;
use crate::open::{self, Opened};
use crate::transaction::snapshot;
use crate::{log, verify};
pub(crate) use lists::aside;
use lists::{FIND, WAITING, conversations, lanes, rows, rows_of_any};

/// Entries of one list at most, whatever is asked for.
pub const MAX_LISTED: usize = 1_024;

/// A part of a list. What is corrupt does not keep the rest from being listed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Listed<T, K> {
    /// The entries, in order.
    pub entries: Vec<T>,
    /// What could not be read.
    pub corrupt: Vec<Corrupt>,
    /// Where the list goes on: behind this entry, or for the rows of one lane, from it on. None at
    /// the end of the list.
    pub after: Option<K>,
}

/// A row of any lane.
pub type LaneRow = (ConversationId, Arc<Row>);
/// The place of a row of any lane.
pub type LanePlace = (ConversationId, AdmissionSequence);

/// A connection that only looks.
pub struct SqliteReader {
    connection: Connection,
    path: PathBuf,
    busy: Duration,
}

impl SqliteReader {
    /// Opens a file that is there. `busy` is how long a reading waits where it must, which in a
    /// healthy database is never.
    ///
    /// # Errors
    /// Everything that [`OpenError`] lists.
    pub fn open(path: &Path, busy: Duration) -> Result<Self, OpenError> {
        let Opened { connection, path } = open::reader(path, busy)?;
        Ok(Self { connection, path, busy })
    }

    /// Where the file is, as an absolute path.
    #[must_use]
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Changes whenever another connection, of any process, has committed since this one asked
    /// last; says nothing else. Costs no more than a look at shared memory.
    ///
    /// # Errors
    /// The file cannot be read.
    pub fn data_version(&self) -> Result<i64, StoreError> {
        self.read(|it| Ok(it.pragma_query_value(None, "data_version", |row| row.get(0))?))
    }

    /// Lanes by conversation, behind `after`.
    ///
    /// # Errors
    /// The file cannot be read.
    pub fn lanes(
        &self,
        after: Option<&ConversationId>,
        limit: usize,
    ) -> Result<Listed<Lane, ConversationId>, StoreError> {
        let limit = limit.min(MAX_LISTED);
        self.read(|it| lanes(it, after, limit))
    }

    /// Conversations of which anything is stored, in whatever table, by name, behind `after`. A
    /// few seeks each, however long their histories are. What damage has left of one is found
    /// here too; names that no conversation can have are set aside and do not count.
    ///
    /// # Errors
    /// The file cannot be read.
    pub fn conversations(
        &self,
        after: Option<&ConversationId>,
        limit: usize,
    ) -> Result<Listed<ConversationId, ConversationId>, StoreError> {
        let limit = limit.min(MAX_LISTED);
        self.read(|it| conversations(it, after, limit))
    }

    /// One lane; none before its first row.
    ///
    /// # Errors
    /// The file cannot be read, or the lane is corrupt.
    pub fn lane(&self, conversation: &ConversationId) -> Result<Option<Lane>, StoreError> {
        self.read(|it| crate::ledger::stored_lane(it, conversation))
    }

    /// Rows of a lane in admission order, from a place on.
    ///
    /// # Errors
    /// The file cannot be read.
    pub fn rows(
        &self,
        conversation: &ConversationId,
        from: AdmissionSequence,
        limit: usize,
    ) -> Result<Listed<Arc<Row>, AdmissionSequence>, StoreError> {
        self.read(|it| rows(it, conversation, from, limit.min(MAX_LISTED)))
    }

    /// The row of a submission.
    ///
    /// # Errors
    /// The file cannot be read, or the row is corrupt.
    pub fn row(
        &self,
        conversation: &ConversationId,
        submission: SubmissionId,
    ) -> Result<Option<Arc<Row>>, StoreError> {
        self.read(|it| crate::ledger::named(it, conversation, submission))
    }

    /// The rows of a submission whose conversation is not known. There is one at most, as long as
    /// nobody makes up submission ids.
    ///
    /// # Errors
    /// The file cannot be read, or a row is corrupt.
    pub fn find(
        &self,
        submission: SubmissionId,
    ) -> Result<Listed<LaneRow, ConversationId>, StoreError> {
        let found = self.read(|it| rows_of_any(it, FIND, [submission.0], MAX_LISTED))?;
        Ok(Listed { entries: found.entries, corrupt: found.corrupt, after: None })
    }

    /// Rows of all lanes that wait for a worker or for a person (DUR-017), by conversation and place, behind
    /// `after`. What is done costs nothing here.
    ///
    /// # Errors
    /// The file cannot be read.
    pub fn waiting(
        &self,
        after: Option<(&ConversationId, AdmissionSequence)>,
        limit: usize,
    ) -> Result<Listed<LaneRow, LanePlace>, StoreError> {
        let (conversation, place) =
            after.map_or(("", -1), |(it, place)| (it.as_str(), saturating(place.0)));
        let limit = limit.min(MAX_LISTED);
        self.read(|it| rows_of_any(it, WAITING, (conversation, place), limit))
    }

    /// One page of a log, and where the log ends at the same moment.
    ///
    /// # Errors
    /// The file cannot be read, or a batch is corrupt.
    pub fn log_page(
        &self,
        conversation: &ConversationId,
        from: Sequence,
    ) -> Result<LogPage, StoreError> {
        self.read(|it| log::page(it, conversation, from))
    }

    /// All of a result that was too long for its record, under its digest (STORE-009).
    ///
    /// # Errors
    /// The file cannot be read, or the bytes are not those that the artifact is named by.
    pub fn artifact(
        &self,
        conversation: &ConversationId,
        digest: Digest,
    ) -> Result<Option<Vec<u8>>, StoreError> {
        self.read(|it| crate::artifact::read(it, conversation, digest))
    }

    /// Agents' state, by whose it is and key, behind `after` (CAP-012).
    ///
    /// # Errors
    /// The file cannot be read.
    pub fn states(
        &self,
        after: Option<&Address>,
        limit: usize,
    ) -> Result<Listed<(Address, Slot), Address>, StoreError> {
        self.read(|it| lists::states(it, after, limit.min(MAX_LISTED)))
    }

    /// What is under a key of an agent's state.
    ///
    /// # Errors
    /// The file cannot be read, or the value is corrupt.
    pub fn state(&self, address: &Address) -> Result<Slot, StoreError> {
        self.read(|it| crate::agent_state::slot(it, address))
    }

    /// Sessions by name, behind `after`.
    ///
    /// # Errors
    /// The file cannot be read.
    pub fn sessions(
        &self,
        after: Option<&SessionId>,
        limit: usize,
    ) -> Result<Listed<Session, SessionId>, StoreError> {
        self.read(|it| lists::sessions(it, after, limit.min(MAX_LISTED)))
    }

    /// A session, if it is there.
    ///
    /// # Errors
    /// The file cannot be read, or the session is corrupt.
    pub fn session(&self, id: &SessionId) -> Result<Option<Session>, StoreError> {
        self.read(|it| crate::session::one(it, id))
    }

    /// Reads everything of one conversation and checks it: every row and batch, the columns they
    /// are found by, the chain from the first batch to the tail, the record ids, and that no row
    /// says more than the log. Reads in short transactions, also while others write.
    ///
    /// # Errors
    /// The file cannot be read, or something is corrupt; the first thing found is named.
    pub fn verify(&self, conversation: &ConversationId) -> Result<verify::Verified, StoreError> {
        verify::verify(&self.connection, self.busy, conversation)
            .map_err(|trouble| trouble.at(&self.path, self.busy))
    }

    /// Lets SQLite check the whole file, page by page and index by index, and checks what belongs to
    /// no conversation: agents' state and sessions. Takes as long as reading all of it does.
    ///
    /// # Errors
    /// The file cannot be read, or something is corrupt; the first thing found is named.
    pub fn verify_file(&self) -> Result<(), StoreError> {
        self.read(verify::verify_file)
    }

    pub(crate) fn read<T>(
        &self,
        read: impl FnOnce(&Connection) -> Result<T, Trouble>,
    ) -> Result<T, StoreError> {
        snapshot(&self.connection, self.busy, read)
            .map_err(|trouble| trouble.at(&self.path, self.busy))
    }
}

impl fmt::Debug for SqliteReader {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("SqliteReader").field("path", &self.path).finish_non_exhaustive()
    }
}
