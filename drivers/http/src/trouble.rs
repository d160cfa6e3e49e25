//! Why a service has decided nothing.

use std::io;

use thiserror::Error;

use crate::answer::Wrong;
use crate::exchange::ANSWER_BYTES;

/// What is wrong with a service or its answer. It has no words of the service's, and nothing of the URL
/// or the token, so it can be shown to anybody (SEC-04).
#[derive(Clone, Debug, PartialEq, Eq, Error)]
pub enum Trouble {
    /// Nobody knows a host of this name.
    #[error("its host is not known")]
    NoHost,
    /// There is no connection, or no more of it.
    #[error("it cannot be reached: {0}")]
    Unreachable(io::ErrorKind),
    /// It has not answered in time.
    #[error("it has not answered within {0} ms")]
    TooSlow(u128),
    /// It answers, but not as one that has decided. A redirect is not followed.
    #[error("it has answered with status {0}")]
    Status(u16),
    /// Its answer is longer than it may be.
    #[error("its answer has more than {ANSWER_BYTES} bytes")]
    TooLarge,
    /// It does not speak HTTP.
    #[error("it does not answer as HTTP wants it")]
    Protocol,
    /// Its answer is no list of decisions.
    #[error("its answer is no list of decisions: line {line}, column {column}")]
    NotDecisions {
        /// Where, from 1 on.
        line: usize,
        /// Where in the line, from 1 on.
        column: usize,
    },
    /// One of its decisions is wrong, so none of them counts.
    #[error("its decision {at} is wrong: {why}")]
    Wrong {
        /// Which, from 1 on.
        at: usize,
        /// Why.
        why: Wrong,
    },
}
