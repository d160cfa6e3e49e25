//! Ways of writing a file down. Each is read into the same [tree](super::tree).
//!
//! Which one a file is in, its name says: `.yaml` and `.yml` are YAML, everything else is TOML.

mod beyond;
mod toml;
mod yaml;

use super::draft::Checked;
use super::tree::Value;

pub use beyond::Beyond;

/// A way of writing a file down.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Syntax {
    Toml,
    Yaml,
}

/// How the names of files end that hold either, without the dot.
pub(super) const ENDINGS: [(&str, Syntax); 3] =
    [("toml", Syntax::Toml), ("yaml", Syntax::Yaml), ("yml", Syntax::Yaml)];

impl Syntax {
    /// The one of a file of that name.
    pub(super) fn of(path: &str) -> Self {
        let ending = path.rsplit_once('.').map(|(_, ending)| ending.to_ascii_lowercase());
        let known = ENDINGS.iter().find(|(known, _)| ending.as_deref() == Some(known));
        known.map_or(Self::Toml, |(_, syntax)| *syntax)
    }

    /// Reads a text: a table, or nothing if the text says nothing.
    pub(super) fn read(self, text: &str) -> Checked<Option<Value<'_>>> {
        match self {
            Self::Toml => toml::read(text),
            Self::Yaml => yaml::read(text),
        }
    }
}
