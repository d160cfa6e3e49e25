//! One choice, and schedules of them, as values and as text.

use std::fmt;
use std::str::FromStr;

use everstep_machine::effect::{Failpoint, FailpointError};

use crate::fault::{Fault, FaultError};

/// Inject this fault at that arrival.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Choice {
    /// Where.
    pub failpoint: Failpoint,
    /// At which arrival there, from 1.
    pub arrival: u32,
    /// What.
    pub fault: Fault,
}

impl fmt::Display for Choice {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}@{}={}", self.failpoint, self.arrival, self.fault.name())
    }
}

/// Why a text is no choice.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum ChoiceError {
    /// A part is missing.
    #[error("a choice is written name/phase@arrival=fault")]
    Shape,
    /// The failpoint does not exist.
    #[error("`{text}` is no failpoint: {why}")]
    Failpoint {
        /// What stands there.
        text: String,
        /// What is wrong with it.
        why: FailpointError,
    },
    /// The number is none, or zero.
    #[error("`{text}` is no arrival: arrivals are counted from 1")]
    Arrival {
        /// What stands there.
        text: String,
    },
    /// The fault does not exist.
    #[error("`{text}` is no fault; faults are {}", fault_names())]
    Fault {
        /// What stands there.
        text: String,
    },
}

fn fault_names() -> String {
    Fault::ALL.iter().map(|fault| fault.name()).collect::<Vec<_>>().join(", ")
}

impl FromStr for Choice {
    type Err = ChoiceError;

    fn from_str(text: &str) -> Result<Self, ChoiceError> {
        let (place, fault) = text.trim().split_once('=').ok_or(ChoiceError::Shape)?;
        let (failpoint, arrival) = place.rsplit_once('@').ok_or(ChoiceError::Shape)?;
        let failpoint = failpoint
            .parse()
            .map_err(|why| ChoiceError::Failpoint { text: failpoint.to_owned(), why })?;
        let arrival = arrival
            .parse()
            .ok()
            .filter(|arrival| *arrival > 0)
            .ok_or_else(|| ChoiceError::Arrival { text: arrival.to_owned() })?;
        let fault =
            fault.parse().map_err(|FaultError| ChoiceError::Fault { text: fault.to_owned() })?;
        Ok(Self { failpoint, arrival, fault })
    }
}

/// The calm schedule with these faults in it.
#[derive(Clone, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Schedule(Vec<Choice>);

impl Schedule {
    /// The schedule in which nothing breaks.
    #[must_use]
    pub const fn calm() -> Self {
        Self(Vec::new())
    }

    /// A schedule of these choices, in this order.
    #[must_use]
    pub const fn of(choices: Vec<Choice>) -> Self {
        Self(choices)
    }

    /// The choices, in the order in which they are made.
    #[must_use]
    pub fn choices(&self) -> &[Choice] {
        &self.0
    }

    /// The same without the choice at this position.
    #[must_use]
    pub fn without(&self, position: usize) -> Self {
        let kept = self.0.iter().enumerate().filter(|(at, _)| *at != position);
        Self(kept.map(|(_, choice)| *choice).collect())
    }
}

impl fmt::Display for Schedule {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (at, choice) in self.0.iter().enumerate() {
            let separator = if at == 0 { "" } else { ", " };
            write!(f, "{separator}{choice}")?;
        }
        Ok(())
    }
}

impl FromStr for Schedule {
    type Err = ChoiceError;

    fn from_str(text: &str) -> Result<Self, ChoiceError> {
        if text.trim().is_empty() {
            return Ok(Self::calm());
        }
        text.split(',').map(str::parse).collect::<Result<_, _>>().map(Self)
    }
}
