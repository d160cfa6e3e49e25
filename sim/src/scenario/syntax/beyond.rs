//! What a syntax can say and no file of ours may.

use crate::scenario::fault::shown;

/// What a syntax can say and no file of ours may: it would make the file mean something that is not
/// plain to see, or that JSON cannot hold.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Beyond {
    /// `&name`: something that is said once and meant twice.
    #[error("there are no anchors (`&name`) in such a file")]
    Anchor,
    /// `*name`: the second time.
    #[error("there are no aliases (`*name`) in such a file")]
    Alias,
    /// `!name`: a type that the file makes up.
    #[error("there are no tags (`!name`) in such a file")]
    Tag,
    /// A second document behind `---` or `...`.
    #[error("there is one document in such a file")]
    Document,
    /// `%YAML` or `%TAG`: the file says how it is to be read.
    #[error("there are no directives (`%NAME`) in such a file")]
    Directive,
    /// A key that is no text, such as `1`, `true`, or a list.
    #[error("a key is a text")]
    Key,
    /// A number as JSON does not spell it, such as `007` or `.5`.
    #[error("{} is no number as JSON spells it", shown(text))]
    Number {
        /// As it stands in the file.
        text: String,
    },
    /// A letter that nobody sees, such as `\0`.
    #[error("the character U+{code:04X} is not shown")]
    Control {
        /// Its number in Unicode.
        code: u32,
    },
    /// Values within values, deeper than anybody follows.
    #[error("values within values are too deep here")]
    Nesting,
}

impl Beyond {
    pub(in crate::scenario) const fn help(&self) -> &'static str {
        match self {
            Self::Anchor | Self::Alias => {
                "say it in full; a text that begins with `&` or `*` stands in quotes"
            }
            Self::Tag => "leave it out; a text that begins with `!` stands in quotes",
            Self::Document => "give the other one a file of its own",
            Self::Directive => "leave it out: the file is read as YAML 1.2",
            Self::Key => "put it in quotes if it is one",
            Self::Number { .. } => {
                "put it in quotes if it is a text; a number begins with a digit other than 0, or with `0.`"
            }
            Self::Control { .. } => "write it as an escape in double quotes, if it is meant",
            Self::Nesting => "JSON values are at most 64 deep",
        }
    }
}
