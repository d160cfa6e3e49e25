//! What a scenario file may say, as data: tables, keys, shapes.
//!
//! One grammar serves three readers: [`validate`](super::validate) holds a file against it,
//! [`schema`](super::schema) writes it down as JSON Schema, and an error lists from it what would
//! have been right. What takes knowledge of the whole scenario (does that tool exist?) is not
//! here but in [`check`](super::check).

mod agent;
mod authority;
mod host;
mod model;
mod people;
mod root;
mod submission;
mod tool;
mod turn;

pub(super) use agent::{AGENT, AUTHORIZER};
pub(super) use authority::{APPROVAL_POLICY, CAPABILITIES, METADATA};
pub(super) use root::ROOT;
pub(super) use tool::AGENT_TOOL;
pub(super) use turn::TURNS;

/// One kind of table.
#[derive(Debug)]
pub(super) struct Table {
    /// As an author writes it; the root is "the file".
    pub(super) name: &'static str,
    /// One word for the schema's definitions.
    pub(super) definition: &'static str,
    pub(super) about: &'static str,
    pub(super) keys: &'static [Key],
    pub(super) rules: &'static [Rule],
}

/// One key of a table.
#[derive(Debug)]
pub(super) struct Key {
    pub(super) name: &'static str,
    pub(super) shape: Shape,
    pub(super) presence: Presence,
    pub(super) about: &'static str,
}

/// Whether a key must be there.
#[derive(Debug)]
pub(super) enum Presence {
    Required,
    Optional,
    /// Left out it means this, in JSON.
    Default(&'static str),
}

/// What stands behind a key.
#[derive(Debug)]
pub(super) enum Shape {
    Text,
    /// An identifier, see [`everstep_machine::identity`].
    Name,
    /// A whole number between two others, both included.
    Whole(u64, u64),
    Flag,
    /// Any value; it becomes JSON.
    Value,
    Word(&'static [&'static str]),
    Words(&'static [&'static str]),
    /// At most that many identifiers, no two alike.
    Names(usize),
    /// At most that many texts.
    Texts(usize),
    Table(&'static Table),
    /// From so many to so many tables.
    Tables(&'static Table, usize, usize),
    /// At most that many entries of this shape, by names that are the author's.
    Entries(&'static Shape, usize),
}

/// A rule over several keys of one table.
#[derive(Debug)]
pub(super) enum Rule {
    /// Not both.
    Excludes(&'static str, &'static str),
    /// The first only where the second is this word.
    Only(&'static str, &'static str, &'static str),
    /// The first not where the second is this word.
    Never(&'static str, &'static str, &'static str),
    /// The first wherever the second is this word.
    Needs(&'static str, &'static str, &'static str),
    /// At least one of them.
    Some(&'static [&'static str]),
}

pub(super) const fn key(
    name: &'static str,
    shape: Shape,
    presence: Presence,
    about: &'static str,
) -> Key {
    Key { name, shape, presence, about }
}

/// The version of the format that this crate reads.
pub(super) const SCHEMA: u64 = 1;

impl Shape {
    /// The kind of table that stands behind the key, be it one of several.
    pub(super) fn table(&self) -> Option<&'static Table> {
        match self {
            Self::Table(table) | Self::Tables(table, ..) => Some(table),
            Self::Entries(each, _) => each.table(),
            Self::Text
            | Self::Name
            | Self::Whole(..)
            | Self::Flag
            | Self::Value
            | Self::Word(_)
            | Self::Words(_)
            | Self::Names(_)
            | Self::Texts(_) => None,
        }
    }
}

impl Table {
    /// The rule of a key.
    pub(super) fn key(&self, name: &str) -> Option<&'static Key> {
        self.keys.iter().find(|key| key.name == name)
    }

    /// The names of its keys.
    pub(super) fn names(&self) -> impl Iterator<Item = &'static str> {
        self.keys.iter().map(|key| key.name)
    }
}
