//! How a handler says that it failed.

use schemars::JsonSchema;
use serde::Serialize;

/// A failure, and whether anything happened.
///
/// A handler may return its own failure type, which is [`Failed::Lasting`], or this.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Failed<E> {
    /// It failed for a passing reason, and there was no effect at all. A tool of the retry class
    /// `Transient` is given another try (RUN-014).
    HadNoEffect(E),
    /// Anything else.
    Lasting(E),
}

impl<E> From<E> for Failed<E> {
    fn from(failure: E) -> Self {
        Self::Lasting(failure)
    }
}

/// What a handler may return as an error: a failure type, or that type in a [`Failed`].
pub trait HandlerError: Send + 'static {
    /// What is recorded, as its canonical JSON.
    type Failure: Serialize + JsonSchema;

    /// The failure, and whether anything happened.
    fn into_failed(self) -> Failed<Self::Failure>;
}

impl<E: Serialize + JsonSchema + Send + 'static> HandlerError for E {
    type Failure = E;

    fn into_failed(self) -> Failed<E> {
        Failed::Lasting(self)
    }
}

impl<E: Serialize + JsonSchema + Send + 'static> HandlerError for Failed<E> {
    type Failure = E;

    fn into_failed(self) -> Self {
        self
    }
}

/// The failure of a tool that declares none.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, JsonSchema)]
pub enum NoFailure {}
