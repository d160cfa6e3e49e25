//! Steps of durable tools, as handlers name them and as they are recorded.

use core::fmt;

use serde::{Deserialize, Serialize};

use crate::identity::StepName;
use crate::json::CanonicalJson;

/// A step as its handler names it.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct NamedStep {
    /// Its name, once in a call.
    pub name: StepName,
    /// The version of what it does: a recorded one stands for exactly this version.
    pub version: u32,
}

impl fmt::Display for NamedStep {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "`{}` version {}", self.name, self.version)
    }
}

/// A step that has succeeded.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct StepOutput {
    /// Which step.
    pub step: NamedStep,
    /// What it gave. It is kept whole, since the handler is given it again.
    pub output: CanonicalJson,
}
