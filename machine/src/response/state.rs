//! What a reduction knows.

use alloc::sync::Arc;

use super::draft::Draft;
use crate::agent::{ModelResponse, Usage};

/// The reduction of one stream.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub enum State {
    /// The stream has not started.
    #[default]
    Waiting,
    /// Parts come.
    Receiving(Draft),
    /// Every part is there. It counts once the stream has ended: until then, something may come
    /// that must not.
    Finished(Arc<ModelResponse>),
    /// The answer was given.
    Done,
}

impl State {
    /// A reduction of which nothing is known yet.
    #[must_use]
    pub const fn new() -> Self {
        Self::Waiting
    }

    /// What the stream has said last of what it used (BU-07).
    #[must_use]
    pub fn used(&self) -> Option<Usage> {
        match self {
            Self::Waiting | Self::Done => None,
            Self::Receiving(draft) => draft.usage(),
            Self::Finished(response) => response.usage,
        }
    }

    /// Whether the answer was given: whatever else the stream brings changes nothing.
    #[must_use]
    pub const fn is_done(&self) -> bool {
        match self {
            Self::Done => true,
            Self::Waiting | Self::Receiving(_) | Self::Finished(_) => false,
        }
    }
}
