//! What is wrong with stored data, and where (STORE-006).

use std::fmt;

use everstep_machine::digest::Digest;
use everstep_machine::identity::{AdmissionSequence, ConversationId, Sequence};
use everstep_machine::record::Corruption;

use crate::cell::CellError;

/// Where in the file.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum Place {
    /// The file as a whole, or a page of it that SQLite cannot read.
    File,
    /// The lane of a conversation.
    Lane(ConversationId),
    /// One row of a lane.
    Row(ConversationId, AdmissionSequence),
    /// Some row of a lane; which one could not be read.
    Rows(ConversationId),
    /// Where a log ends.
    Tail(ConversationId),
    /// One batch of a log, by its first record.
    Batch(ConversationId, Sequence),
    /// Some batch of a log; which one could not be read.
    Log(ConversationId),
    /// The index of a log's record ids.
    Records(ConversationId),
    /// An artifact of a conversation, by its digest. The log that names it is whole without it.
    Artifact(ConversationId, Box<Digest>),
    /// Agents' state, by whose it is. No conversation depends on it.
    State(String),
    /// A session, or what is known of all of them. No conversation depends on it.
    Session(String),
}

impl Place {
    /// The conversation to quarantine; none when the whole file is in doubt, or what no conversation
    /// depends on.
    #[must_use]
    pub const fn conversation(&self) -> Option<&ConversationId> {
        match self {
            Self::File | Self::State(_) | Self::Session(_) => None,
            Self::Lane(it)
            | Self::Row(it, _)
            | Self::Rows(it)
            | Self::Tail(it)
            | Self::Batch(it, _)
            | Self::Log(it)
            | Self::Records(it)
            | Self::Artifact(it, _) => Some(it),
        }
    }
}

impl fmt::Display for Place {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::File => f.write_str("the file"),
            Self::Lane(it) => write!(f, "the lane of conversation {it}"),
            Self::Row(it, at) => write!(f, "row {at} of conversation {it}"),
            Self::Rows(it) => write!(f, "the rows of conversation {it}"),
            Self::Tail(it) => write!(f, "the tail of conversation {it}"),
            Self::Batch(it, at) => write!(f, "the batch at sequence {at} of conversation {it}"),
            Self::Log(it) => write!(f, "the log of conversation {it}"),
            Self::Records(it) => write!(f, "the record ids of conversation {it}"),
            Self::Artifact(it, digest) => {
                write!(f, "the artifact {digest} of conversation {it}")
            }
            Self::State(it) => write!(f, "the state of {it}"),
            Self::Session(it) => write!(f, "the session {it}"),
        }
    }
}

/// What is wrong there.
#[derive(Clone, Debug, PartialEq, Eq, Hash, thiserror::Error)]
pub enum Flaw {
    /// A batch does not decode, does not verify or does not link.
    #[error("{0}")]
    Batch(Corruption),
    /// A lane, row or tail does not decode or verify.
    #[error("{0}")]
    Cell(CellError),
    /// A column that is searched by differs from the value beside it.
    #[error("the column `{0}` differs from the value beside it")]
    Column(&'static str),
    /// A number is beyond what any history can reach.
    #[error("a counter is out of range")]
    Counter,
    /// Something else is stored where the machine says that nothing is: the file's own unique
    /// constraint refuses what the loaded slice allows.
    #[error("something else is stored at its place")]
    Taken,
    /// What must be there because of what is beside it is not.
    #[error("it is missing, though what belongs to it is there")]
    Missing,
    /// A row that one index has is not where another should have it.
    #[error("one of its indexes is damaged: a search by submission misses it")]
    Index,
    /// The bytes are not those that it is named by.
    #[error("its bytes are not those that it is named by")]
    Content,
    /// A row says something that the log does not: no crash can explain it.
    #[error("it says something that the log does not")]
    Ahead,
    /// SQLite cannot read a page, or finds its own structures broken.
    #[error("SQLite says: {0}")]
    Sqlite(String),
}

/// Something stored that is not what was written: leave its conversation alone, and say so.
#[derive(Clone, Debug, PartialEq, Eq, Hash, thiserror::Error)]
#[error("{place} is corrupt: {flaw}")]
pub struct Corrupt {
    /// Where.
    pub place: Place,
    /// What is wrong.
    pub flaw: Flaw,
}

impl Corrupt {
    /// The same of a file.
    pub(crate) fn into_error(self, path: &std::path::Path) -> super::StoreError {
        let Self { place, flaw } = self;
        super::StoreError::Corrupt { path: path.to_owned(), place, flaw: Box::new(flaw) }
    }
}

impl Flaw {
    /// The nearest thing the store's port can say.
    pub(crate) const fn corruption(&self) -> Corruption {
        match self {
            Self::Batch(corruption) => *corruption,
            Self::Cell(CellError::Version { found }) => Corruption::Version { found: *found },
            Self::Cell(CellError::Truncated | CellError::Seal | CellError::Malformed)
            | Self::Column(_)
            | Self::Counter
            | Self::Taken
            | Self::Missing
            | Self::Index
            | Self::Content
            | Self::Ahead
            | Self::Sqlite(_) => Corruption::Undecodable,
        }
    }
}
