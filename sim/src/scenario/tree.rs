//! What a file says, before anything is known of what it means: values, each with its place.
//!
//! Every [syntax](super::syntax) is read into this, and nothing behind it knows which one it was.

use std::borrow::Cow;
use std::fmt;
use std::ops::Range;

use super::bounds::FILE_NESTING;
use super::draft::Site;
use super::noun::Type;

/// A value, with its place.
#[derive(Debug)]
pub(super) struct Value<'i> {
    pub(super) node: Node<'i>,
    /// In bytes of the file.
    pub(super) span: Range<usize>,
}

/// What a value is.
#[derive(Debug)]
pub(super) enum Node<'i> {
    /// Nothing; only YAML can say so.
    Null,
    Flag(bool),
    Whole(Whole<'i>),
    /// Its digits, as they stand in the file.
    Float(Cow<'i, str>),
    /// A date or time, spelled as TOML does; only TOML can say so.
    Date(String),
    Text(Cow<'i, str>),
    List(Vec<Value<'i>>),
    Table(Entries<'i>),
}

/// A whole number of any size: its digits with their sign, without what names their base.
#[derive(Debug)]
pub(super) struct Whole<'i> {
    pub(super) digits: Cow<'i, str>,
    pub(super) radix: u32,
}

/// A key, with its place.
#[derive(Debug)]
pub(super) struct Key<'i> {
    pub(super) name: Cow<'i, str>,
    pub(super) span: Range<usize>,
}

/// Keys and their values, in their order in the file, no two keys alike.
#[derive(Debug, Default)]
pub(super) struct Entries<'i>(Vec<(Key<'i>, Value<'i>)>);

/// Values within values are deeper than [`FILE_NESTING`].
pub(super) struct TooDeep;

/// One level more of values within values.
pub(super) const fn deeper(depth: usize) -> Result<usize, TooDeep> {
    if depth < FILE_NESTING { Ok(depth + 1) } else { Err(TooDeep) }
}

/// The site of a range of bytes.
pub(super) const fn at(span: Range<usize>) -> Site {
    Site::Text(span)
}

impl<'i> Value<'i> {
    pub(super) fn site(&self) -> Site {
        at(self.span.clone())
    }

    pub(super) fn as_text(&self) -> Option<&str> {
        match &self.node {
            Node::Text(text) => Some(text),
            _ => None,
        }
    }

    pub(super) const fn as_table(&self) -> Option<&Entries<'i>> {
        match &self.node {
            Node::Table(table) => Some(table),
            _ => None,
        }
    }

    /// The items of a list; none of anything else.
    pub(super) fn items(&self) -> &[Self] {
        match &self.node {
            Node::List(items) => items,
            _ => &[],
        }
    }

    /// What kind of value it is.
    pub(super) const fn kind(&self) -> Type {
        match &self.node {
            Node::Null => Type::Nothing,
            Node::Flag(_) => Type::Flag,
            Node::Whole(_) => Type::Whole,
            Node::Float(_) => Type::Float,
            Node::Date(_) => Type::Date,
            Node::Text(_) => Type::Text,
            Node::List(_) => Type::List,
            Node::Table(_) => Type::Table,
        }
    }
}

impl Whole<'_> {
    /// The number, if it is one that a key can hold.
    pub(super) fn value(&self) -> Option<u64> {
        u64::from_str_radix(&self.digits, self.radix).ok()
    }
}

impl fmt::Display for Whole<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let base = match self.radix {
            2 => "0b",
            8 => "0o",
            16 => "0x",
            _ => "",
        };
        write!(f, "{base}{}", self.digits)
    }
}

impl Key<'_> {
    pub(super) fn site(&self) -> Site {
        at(self.span.clone())
    }
}

impl<'i> Entries<'i> {
    /// Keys and their values in any order; the syntax has seen to it that no two are alike.
    pub(super) fn new(mut entries: Vec<(Key<'i>, Value<'i>)>) -> Self {
        entries.sort_by_key(|(key, _)| key.span.start);
        Self(entries)
    }

    pub(super) fn iter(&self) -> impl Iterator<Item = (&Key<'i>, &Value<'i>)> {
        self.0.iter().map(|(key, value)| (key, value))
    }

    pub(super) fn entry(&self, name: &str) -> Option<(&Key<'i>, &Value<'i>)> {
        self.iter().find(|(key, _)| key.name == name)
    }

    pub(super) fn get(&self, name: &str) -> Option<&Value<'i>> {
        self.entry(name).map(|(_, value)| value)
    }

    pub(super) fn has(&self, name: &str) -> bool {
        self.entry(name).is_some()
    }
}
