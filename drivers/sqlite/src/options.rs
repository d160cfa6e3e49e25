//! How a file is opened.

use std::fmt;
use std::path::PathBuf;
use std::str::FromStr;
use std::time::Duration;

use crate::clock::{Clock, WallClock};

/// What one transaction covers.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum CommitMode {
    /// The whole pipeline: one fsync. A crash inside leaves nothing of it.
    #[default]
    Fused,
    /// One command: one fsync each. A crash between two leaves the first one done, as on a store
    /// that cannot do better; tests kill processes in both modes.
    PerCommand,
}

/// A text names no commit mode.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("a commit mode is fused or per-command")]
pub struct CommitModeError;

impl CommitMode {
    /// Both.
    pub const ALL: &'static [Self] = &[Self::Fused, Self::PerCommand];

    /// The name on a command line.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Fused => "fused",
            Self::PerCommand => "per-command",
        }
    }
}

impl fmt::Display for CommitMode {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.name())
    }
}

impl FromStr for CommitMode {
    type Err = CommitModeError;

    fn from_str(text: &str) -> Result<Self, CommitModeError> {
        Self::ALL.iter().copied().find(|mode| mode.name() == text).ok_or(CommitModeError)
    }
}

/// How long a writer waits for others unless told otherwise.
const BUSY: Duration = Duration::from_secs(5);

/// How many bytes of batches a store remembers unless told otherwise.
const MEMORY: usize = 32 << 20;

/// Which file, and how.
pub struct Options {
    pub(crate) path: PathBuf,
    pub(crate) create: bool,
    pub(crate) mode: CommitMode,
    pub(crate) busy: Duration,
    pub(crate) memory: usize,
    pub(crate) clock: Box<dyn Clock>,
}

impl Options {
    /// The file at `path`, created if it is not there or empty; commits fused, waits five seconds
    /// for other writers, remembers 32 MiB of batches, and tells the time by [`WallClock`].
    #[must_use]
    pub fn new(path: impl Into<PathBuf>) -> Self {
        let (path, mode, clock) = (path.into(), CommitMode::default(), Box::new(WallClock));
        Self { path, create: true, mode, busy: BUSY, memory: MEMORY, clock }
    }

    /// Whether a file that is not there, or is empty, becomes a new database.
    #[must_use]
    pub const fn create(mut self, create: bool) -> Self {
        self.create = create;
        self
    }

    /// What one transaction covers.
    #[must_use]
    pub const fn mode(mut self, mode: CommitMode) -> Self {
        self.mode = mode;
        self
    }

    /// How long to wait for others that hold a lock, before every transaction; then the answer is
    /// [`crate::StoreError::Busy`] or [`crate::OpenError::Locked`], and nothing has happened.
    #[must_use]
    pub const fn busy(mut self, busy: Duration) -> Self {
        self.busy = busy;
        self
    }

    /// About how many bytes of batches that were read once are kept, so that a page of a log that
    /// was read before is not read and decoded again. 0 keeps none. Damage to a batch that is kept
    /// is noticed by whoever reads it from the file: [`crate::SqliteReader::verify`] for instance,
    /// or a store that is opened later.
    #[must_use]
    pub const fn memory(mut self, bytes: usize) -> Self {
        self.memory = bytes;
        self
    }

    /// What stamps the commands.
    #[must_use]
    pub fn clock(mut self, clock: impl Clock + 'static) -> Self {
        self.clock = Box::new(clock);
        self
    }
}

impl fmt::Debug for Options {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { path, create, mode, busy, memory, clock: _ } = self;
        f.debug_struct("Options")
            .field("path", path)
            .field("create", create)
            .field("mode", mode)
            .field("busy", busy)
            .field("memory", memory)
            .finish_non_exhaustive()
    }
}
