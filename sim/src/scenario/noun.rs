//! Words of errors: what a name refers to, and what a value is.

use std::fmt;

/// What a name in a scenario refers to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Noun {
    /// A `[[submissions]]` table.
    Submission,
    /// A `[[tools]]` table.
    Tool,
    /// A table in `steps`.
    Step,
    /// A `[[resolutions]]` table, known by its tool.
    Resolution,
    /// A tool in `denies`.
    Denial,
    /// A `[[groups]]` table, or the group of a tool.
    Group,
    /// A word in `expect`.
    Expectation,
}

impl fmt::Display for Noun {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Submission => "submission",
            Self::Tool => "tool",
            Self::Step => "step",
            Self::Resolution => "resolution for tool",
            Self::Denial => "denial of tool",
            Self::Group => "group of tools",
            Self::Expectation => "expectation",
        })
    }
}

/// Types of values.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Type {
    /// Nothing at all, as YAML can say.
    Nothing,
    /// `"…"`
    Text,
    /// `1`
    Whole,
    /// `1.5`
    Float,
    /// `true`
    Flag,
    /// `2026-01-01`
    Date,
    /// `[…]`
    List,
    /// `{…}` or `[table]`
    Table,
}

impl fmt::Display for Type {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Nothing => "nothing",
            Self::Text => "a text",
            Self::Whole => "a whole number",
            Self::Float => "a number with a fraction",
            Self::Flag => "true or false",
            Self::Date => "a date or time",
            Self::List => "a list",
            Self::Table => "a table",
        })
    }
}
