//! The parts of a scenario before they are checked: what both a file and Rust code fill in.
//!
//! Each part remembers where it was said, so that [`check`](super::check) can say what is wrong
//! without knowing which of the two it came from.

use std::ops::Range;
use std::panic::Location;

use everstep_machine::agent::ExecutionClass;
use everstep_machine::record::Outcome;

use super::fault::Fault;
use super::words::FaultKind;

/// Where something was said.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Site {
    /// Bytes of a file.
    Text(Range<usize>),
    /// A call of the builder.
    Rust(&'static Location<'static>),
}

/// A fault that knows where it is, but not yet in which file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Spotted {
    pub(super) fault: Fault,
    pub(super) site: Site,
}

/// A result whose error is spotted; boxed, since it is rare and large.
pub(super) type Checked<T> = Result<T, Box<Spotted>>;

impl Site {
    /// The fault, here.
    pub(super) fn fault(&self, fault: Fault) -> Box<Spotted> {
        Box::new(Spotted { fault, site: self.clone() })
    }
}

/// A value and where it was said.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Located<T> {
    pub(super) value: T,
    pub(super) site: Site,
}

impl<T> Located<T> {
    pub(super) const fn new(value: T, site: Site) -> Self {
        Self { value, site }
    }

    #[track_caller]
    pub(super) fn here(value: T) -> Self {
        Self { value, site: Site::Rust(Location::caller()) }
    }
}

/// A text as it was said.
pub(super) type Said = Located<String>;

/// Text that should be JSON.
pub(super) type Json = Located<String>;

/// A failure in words.
#[derive(Clone, Debug)]
pub(super) struct Failure {
    pub(super) tag: Said,
    pub(super) message: Said,
}

/// What a tool's outside does.
#[derive(Clone, Debug)]
pub(super) enum Reaction {
    Result(Json),
    Failure(Failure),
}

/// What an operator answers. Without a payload it is the tool's own.
#[derive(Clone, Debug)]
pub(super) enum Reply {
    Completed(Option<Json>),
    Failed(Option<Failure>),
    NeverStarted,
    SafeToRepeat,
}

/// Why the model gives no response.
#[derive(Clone, Debug)]
pub(super) struct ModelFailure {
    pub(super) kind: FaultKind,
    pub(super) failure: Failure,
}

/// A tool of the agent and what its outside does. It returns `null` at once unless told otherwise.
#[derive(Clone, Debug)]
pub struct Tool {
    pub(super) name: Said,
    pub(super) class: ExecutionClass,
    pub(super) reconciles: bool,
    pub(super) latency_ms: Located<u64>,
    pub(super) reaction: Reaction,
}

/// A call of a turn.
#[derive(Clone, Debug)]
pub(super) struct Call {
    pub(super) tool: Said,
    pub(super) parameters: Json,
    pub(super) undeclared: bool,
}

/// One turn of a model: it says something, calls tools, or fails.
#[derive(Clone, Debug)]
pub struct Turn {
    pub(super) site: Site,
    pub(super) text: Option<Said>,
    pub(super) calls: Vec<Call>,
    pub(super) fault: Option<ModelFailure>,
}

/// A submission of a client, in conversation `main`, by `client`, under its own name as key,
/// unless told otherwise.
#[derive(Clone, Debug)]
pub struct Submission {
    pub(super) name: Said,
    pub(super) conversation: Said,
    pub(super) principal: Said,
    pub(super) tenant: Said,
    pub(super) key: Said,
    pub(super) input: Json,
    pub(super) turns: Vec<Turn>,
    pub(super) expect: Vec<Located<Outcome>>,
}

/// An abort that a client asks for, at every moment unless told otherwise.
#[derive(Clone, Debug)]
pub struct Abort {
    pub(super) submission: Said,
    /// In the spelling of a scenario file.
    pub(super) at: Said,
    pub(super) principal: Said,
    pub(super) reason: Said,
}

/// An answer of an operator.
#[derive(Clone, Debug)]
pub(super) struct Answer {
    pub(super) tool: Said,
    pub(super) reply: Reply,
}

/// A scenario that grows part by part; see [`Scenario::builder`](super::Scenario::builder).
#[derive(Clone, Debug)]
#[must_use = "a builder does nothing until `build`"]
pub struct ScenarioBuilder {
    pub(super) name: String,
    pub(super) about: Said,
    pub(super) workers: Located<u64>,
    pub(super) agent: Said,
    pub(super) instructions: Said,
    pub(super) max_turns: Located<u64>,
    pub(super) tools: Vec<Tool>,
    pub(super) denied: Vec<Said>,
    pub(super) turns: Vec<Turn>,
    pub(super) submissions: Vec<Submission>,
    pub(super) aborts: Vec<Abort>,
    pub(super) answers: Vec<Answer>,
}
