//! What can be wrong with a scenario: a closed list, each with what to do about it.

use std::io;

use everstep_machine::agent::{DiagnosticError, PointerError};
use everstep_machine::authority::{KeyError, ResourceError};
use everstep_machine::effect::FailpointError;
use everstep_machine::identity::NameError;
use everstep_machine::json::JsonError;
use everstep_machine::limits::{STEP_OUTPUT_BYTES, TEXT_BYTES};
use everstep_schema::SchemaError;

use super::bounds::SCENARIO_BYTES;
use super::noun::{Noun, Type};
use super::syntax::Beyond;

/// What is wrong. The words are those of the scenario, uncut; [`Display`](std::fmt::Display) cuts what
/// is long and shows no control characters.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Fault {
    /// No file has this name.
    #[error("there is no such file")]
    Missing {
        /// A file beside it that was probably meant.
        nearest: Option<String>,
    },
    /// The path is a folder's.
    #[error("this is a folder, not a file")]
    Folder,
    /// The file is there but cannot be read.
    #[error("the file cannot be read: {0}")]
    Unreadable(io::ErrorKind),
    /// The file has more than [`SCENARIO_BYTES`].
    #[error("the file has more than {SCENARIO_BYTES} bytes")]
    TooLarge,
    /// The file says nothing.
    #[error("the file is empty")]
    Empty,
    /// A byte is not UTF-8.
    #[error("the byte 0x{byte:02x} is not UTF-8 here")]
    NotUtf8 {
        /// The first such byte.
        byte: u8,
    },
    /// The text is not TOML.
    #[error("this is not TOML: {}", shown(message))]
    NotToml {
        /// What the TOML parser says.
        message: String,
    },
    /// The text is not YAML.
    #[error("this is not YAML: {}", shown(message))]
    NotYaml {
        /// What the YAML parser says.
        message: String,
    },
    /// The syntax can say it, and no file of ours may.
    #[error(transparent)]
    Beyond(#[from] Beyond),
    /// The version of the format is not one that this crate reads.
    #[error("schema {} is not known", shown(found))]
    UnknownSchema {
        /// What the file says.
        found: String,
    },
    /// A table has no such key.
    #[error("unknown key `{}`", shown(key))]
    UnknownKey {
        /// The key.
        key: String,
        /// The key that was probably meant.
        nearest: Option<&'static str>,
        /// Every key of the table.
        valid: Vec<&'static str>,
    },
    /// A table lacks a key.
    #[error("{table} needs the key `{key}`")]
    MissingKey {
        /// The key.
        key: &'static str,
        /// The table.
        table: &'static str,
    },
    /// A value has another type.
    #[error("`{key}` is {expected}, not {found}")]
    WrongType {
        /// The key.
        key: &'static str,
        /// What it should be.
        expected: Type,
        /// What it is.
        found: Type,
    },
    /// A whole number is outside its bounds.
    #[error("`{key}` is between {least} and {most}, not {}", shown(found))]
    OutOfRange {
        /// The key.
        key: &'static str,
        /// What it is.
        found: String,
        /// The least it can be.
        least: u64,
        /// The most it can be.
        most: u64,
    },
    /// A word is none of those that the key knows.
    #[error("`{key}` cannot be `{}`", shown(word))]
    UnknownWord {
        /// The key.
        key: &'static str,
        /// The word.
        word: String,
        /// The word that was probably meant.
        nearest: Option<&'static str>,
        /// Every word of the key.
        valid: Vec<&'static str>,
    },
    /// Two keys exclude each other.
    #[error("`{key}` and `{other}` exclude each other")]
    Excluded {
        /// The key.
        key: &'static str,
        /// The other one.
        other: &'static str,
    },
    /// A key has a meaning only beside a word of another key.
    #[error("`{key}` goes only where `{other}` is `{word}`")]
    OnlyWith {
        /// The key.
        key: &'static str,
        /// The key that decides.
        other: &'static str,
        /// What it would have to be.
        word: &'static str,
    },
    /// A key has no meaning beside a word of another key.
    #[error("`{key}` does not go where `{other}` is `{word}`")]
    NeverWith {
        /// The key.
        key: &'static str,
        /// The key that decides.
        other: &'static str,
        /// What it may not be.
        word: &'static str,
    },
    /// None of several keys is there.
    #[error("a table of {table} needs at least one of {}", quoted(keys))]
    OneOf {
        /// The table.
        table: &'static str,
        /// The keys.
        keys: &'static [&'static str],
    },
    /// Something is said to what cannot be its host.
    #[error("`{name}` has no run of its own in this conversation that anything could be said to")]
    NoHost {
        /// What was named.
        name: String,
    },
    /// What stays of a context is not less than what makes it smaller.
    #[error("`keep_tokens` is {keep}, and has to be less than `limit_tokens`, which is {limit}")]
    KeepsTooMuch {
        /// The tokens that stay.
        keep: u64,
        /// The tokens beyond which context is made smaller.
        limit: u64,
    },
    /// A disposition is wanted and none is allowed.
    #[error("`allowed` is empty: no answer could ever complete a run")]
    NoDisposition,
    /// A list has nothing in it.
    #[error("`{key}` cannot be empty")]
    EmptyList {
        /// The key.
        key: &'static str,
    },
    /// There are more than the bound.
    #[error("`{key}` holds at most {most}")]
    TooMany {
        /// The key.
        key: &'static str,
        /// How many there can be.
        most: usize,
    },
    /// A text is no identifier.
    #[error("`{key}`: {reason}")]
    BadName {
        /// The key.
        key: &'static str,
        /// Why not.
        reason: NameError,
    },
    /// A text is no URL of a service that can be asked.
    #[error("`url` is an http:// URL of a host, with no name or password in it")]
    BadUrl,
    /// A text is no name of an environment variable.
    #[error("`token_env` is the name of an environment variable: letters, digits and underscores")]
    BadVariable,
    /// A text has more than [`TEXT_BYTES`].
    #[error("`{key}` has at most {TEXT_BYTES} bytes")]
    TextTooLong {
        /// The key.
        key: &'static str,
    },
    /// A tag or a message is over its bound.
    #[error("{0}")]
    BadDiagnostic(DiagnosticError),
    /// A value becomes no canonical JSON.
    #[error("this is no JSON that the engine takes: {0}")]
    BadJson(JsonError),
    /// A value is no JSON Schema.
    #[error("`{key}` is a JSON Schema: a table, or true or false")]
    NotASchema {
        /// The key.
        key: &'static str,
    },
    /// A schema is not sound (CAP-002).
    #[error("`{key}`: {}", shown(&why.to_string()))]
    Unsound {
        /// The key.
        key: &'static str,
        /// Why not.
        why: SchemaError,
    },
    /// What a step gives is over [`STEP_OUTPUT_BYTES`].
    #[error("what a step gives has at most {STEP_OUTPUT_BYTES} bytes")]
    StepTooLarge,
    /// A text is no JSON pointer.
    #[error("`{key}`: {reason}")]
    BadPointer {
        /// The key.
        key: &'static str,
        /// Why not.
        reason: PointerError,
    },
    /// A text is no capability, or no pattern of capabilities (AUTH-02).
    #[error("`{key}`: {reason}")]
    BadCapability {
        /// The key.
        key: &'static str,
        /// Why not.
        reason: KeyError,
        /// The capability that was probably meant.
        nearest: Option<String>,
    },
    /// A text is no path of a component.
    #[error("`{key}`: {reason}")]
    BadComponent {
        /// The key.
        key: &'static str,
        /// Why not.
        reason: ResourceError,
    },
    /// A number would be rounded, so that two numbers could share one digest.
    #[error("{} would be rounded: no double is exactly this number", shown(number))]
    Inexact {
        /// As it stands in the file.
        number: String,
    },
    /// A whole number does not fit 64 bits.
    #[error("{} does not fit 64 bits", shown(number))]
    TooWide {
        /// As it stands in the file.
        number: String,
    },
    /// Infinite, or not a number.
    #[error("{} is no number in JSON", shown(number))]
    NotFinite {
        /// As it stands in the file.
        number: String,
    },
    /// Something is there twice.
    #[error("there is already a {noun} `{}`", shown(name))]
    Duplicate {
        /// What.
        noun: Noun,
        /// Its name.
        name: String,
    },
    /// A name refers to nothing.
    #[error("there is no {noun} `{}`", shown(name))]
    Unknown {
        /// What it should refer to.
        noun: Noun,
        /// The name.
        name: String,
        /// The name that was probably meant.
        nearest: Option<String>,
    },
    /// The model calls a tool that the agent does not have.
    #[error("the agent has no tool `{}`", shown(tool))]
    Undeclared {
        /// The tool.
        tool: String,
        /// The tool that was probably meant.
        nearest: Option<String>,
    },
    /// A call says that its tool is undeclared, and it is not.
    #[error("the tool `{}` is declared", shown(tool))]
    Declared {
        /// The tool.
        tool: String,
    },
    /// The model has nothing to say in a submission's run.
    #[error("the submission `{}` has no turns", shown(submission))]
    NoTurns {
        /// The submission.
        submission: String,
    },
    /// A readonly call is never in doubt, so nobody resolves it.
    #[error("the tool `{}` is readonly: its outcome is never unknown", shown(tool))]
    NeverUnknown {
        /// The tool.
        tool: String,
    },
    /// Nobody is asked about the calls of a tool, so nobody turns them down.
    #[error("nobody is asked about calls of the tool `{}`", shown(tool))]
    NeverAsked {
        /// The tool.
        tool: String,
    },
    /// Something is expected of an outcome that is itself not expected.
    #[error("`{key}` is about submissions that end `{word}`, and this one is not to end so")]
    Pointless {
        /// The key.
        key: &'static str,
        /// The outcome.
        word: &'static str,
    },
    /// No failpoint has this name.
    #[error("there is no failpoint `{}`: {reason}", shown(text))]
    UnknownFailpoint {
        /// What is written.
        text: String,
        /// Why not.
        reason: FailpointError,
        /// What was probably meant.
        nearest: Option<String>,
    },
    /// What follows the `@` of a failpoint counts nothing.
    #[error("`{}` is no occurrence", shown(text))]
    BadOccurrence {
        /// What follows the `@`.
        text: String,
    },
}

impl Fault {
    /// What to do about it, where there is something to say.
    #[must_use]
    pub fn help(&self) -> Option<String> {
        match self {
            Self::Missing { nearest } | Self::Unknown { nearest, .. } => {
                nearest.as_deref().map(did_you_mean)
            }
            Self::UnknownKey { nearest, valid, .. } => Some(
                nearest.map_or_else(|| format!("the keys are {}", quoted(valid)), did_you_mean),
            ),
            Self::UnknownWord { nearest, valid, .. } => Some(
                nearest.map_or_else(|| format!("it is one of {}", quoted(valid)), did_you_mean),
            ),
            Self::UnknownFailpoint { nearest, .. } => Some(nearest.as_deref().map_or_else(
                || "a failpoint is an effect and a phase, as in `tool.invoke/after`".to_owned(),
                did_you_mean,
            )),
            Self::BadCapability { reason, nearest, .. } => {
                Some(nearest.as_deref().map_or_else(|| spelling(*reason).to_owned(), did_you_mean))
            }
            Self::Undeclared { nearest, .. } => {
                let on_purpose = "if the model is to make it up, let `undeclared` be true";
                Some(nearest.as_deref().map_or_else(
                    || on_purpose.to_owned(),
                    |near| format!("{} {on_purpose}", did_you_mean(near)),
                ))
            }
            Self::Beyond(beyond) => Some(beyond.help().to_owned()),
            other => other.advice().map(str::to_owned),
        }
    }

    /// Help that does not depend on the words of the scenario.
    const fn advice(&self) -> Option<&'static str> {
        match self {
            Self::BadComponent { .. } => {
                Some("name it by its parts from the root on, as `agent/output/archive` does")
            }
            Self::KeepsTooMuch { .. } => {
                Some("say how much stays in `keep_tokens`; left out, it is 20000")
            }
            Self::NoDisposition => {
                Some("name the words that may stand there, or leave `disposition` out")
            }
            Self::BadUrl => Some("a service that wants TLS needs a proxy before it that speaks it"),
            Self::Folder => Some("name one of the files in it"),
            Self::Empty => Some(
                "start with `schema = 1`, in YAML with `schema: 1`; docs/scenarios.md and docs/agents.md have whole examples",
            ),
            Self::NotUtf8 { .. } => Some("save the file as UTF-8"),
            Self::UnknownSchema { .. } => Some("this version reads schema 1"),
            Self::Inexact { .. } | Self::TooWide { .. } => {
                Some("write it as a text if the digits matter")
            }
            Self::Declared { .. } => Some("leave out `undeclared`"),
            Self::NeverAsked { .. } => Some("let the `approval` of the tool be `ask`"),
            Self::Pointless { .. } => Some("add that outcome to `expect`, or leave this out"),
            Self::NoTurns { .. } => {
                Some("give it `turns`, or give the file some for all submissions without")
            }
            Self::BadOccurrence { .. } => {
                Some("the n-th time is written `@n`, and the first is `@1`")
            }
            _ => None,
        }
    }
}

/// How a capability is spelled that somebody has not.
const fn spelling(reason: KeyError) -> &'static str {
    match reason {
        KeyError::BareWildcard => "name each capability, or all of one kind, as `mcp.call:*` does",
        KeyError::SecretWildcard => "name each secret, as `secret.bind:API_KEY` does",
        KeyError::Wildcard { .. } => "name the one that is meant, as `mcp.call:docs` does",
        KeyError::Empty
        | KeyError::TooLong
        | KeyError::EmptySegment { .. }
        | KeyError::EmptySubject
        | KeyError::SecondColon { .. }
        | KeyError::NotAscii { .. }
        | KeyError::UpperCase { .. }
        | KeyError::Character { .. } => "capabilities look like `fs.read` and `mcp.call:docs`",
    }
}

fn did_you_mean(near: &str) -> String {
    format!("did you mean `{}`?", shown(near))
}

fn quoted(words: &[&str]) -> String {
    words.iter().map(|word| format!("`{word}`")).collect::<Vec<_>>().join(", ")
}

/// Characters of a word that a message repeats.
const SHOWN_CHARS: usize = 80;

/// A text fit for a terminal: cut where it is long, nothing in it that steers.
pub(super) fn shown(text: &str) -> String {
    let mut shown: String = text.chars().take(SHOWN_CHARS).map(printable).collect();
    if text.chars().nth(SHOWN_CHARS).is_some() {
        shown.push('…');
    }
    shown
}

/// The character, or a substitute where it would move the cursor or turn the text around.
pub(super) fn printable(character: char) -> char {
    match character {
        '\t' => ' ',
        '\u{061c}'
        | '\u{200b}'..='\u{200f}'
        | '\u{2028}'..='\u{202e}'
        | '\u{2060}'..='\u{206f}'
        | '\u{feff}' => char::REPLACEMENT_CHARACTER,
        other if other.is_control() => char::REPLACEMENT_CHARACTER,
        other => other,
    }
}
