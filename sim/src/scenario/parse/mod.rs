//! From text to a scenario.

mod authority;
mod parts;
mod policy;
mod turns;

use std::ops::Range;

use super::bounds::SCENARIO_BYTES;
use super::draft::{Checked, Json, Located, Said, Site, Spotted};
use super::error::{Place, ScenarioError, Source};
use super::fault::Fault;
use super::grammar::{ROOT, SCHEMA, Table};
use super::noun::Type;
use super::syntax::Syntax;
use super::tree::{Entries, Node, Value, at};
use super::words::{Words, meaning};
use super::{Scenario, check, validate, value};

pub(super) use authority::{authority, is_layered, lay_down};
pub(super) use parts::tool;
pub(super) use policy::agent;
pub(super) use turns::turn;

/// Reads and checks the text of a scenario file.
pub(super) fn scenario(path: &str, text: &str) -> Result<Scenario, ScenarioError> {
    written(Syntax::Toml, path, text, &ROOT, |root| {
        let mut scenario = check::scenario(parts::scenario(stem(path), root)?)?;
        let tools = check::Tools(std::mem::take(&mut scenario.tools));
        scenario.authority = authority(root, &tools)?;
        scenario.tools = tools.0;
        lay_down(root, &scenario.authority, &mut scenario.agent, &mut scenario.tools)?;
        scenario.revocation = authority::revocation(root)?;
        let for_session = root.row("approver").and_then(|row| row.flag("for_session"));
        scenario.allows_for_session = for_session.unwrap_or_default();
        Ok(scenario)
    })
}

/// Reads a file of this grammar, in the syntax that its name says, and makes of it what `checked`
/// does.
pub(super) fn file<T>(
    path: &str,
    text: &str,
    grammar: &'static Table,
    checked: impl FnOnce(&Row<'_, '_>) -> Checked<T>,
) -> Result<T, ScenarioError> {
    written(Syntax::of(path), path, text, grammar, checked)
}

fn written<T>(
    syntax: Syntax,
    path: &str,
    text: &str,
    grammar: &'static Table,
    checked: impl FnOnce(&Row<'_, '_>) -> Checked<T>,
) -> Result<T, ScenarioError> {
    let whole_file = |fault| ScenarioError::new(fault, Place::File { path: path.to_owned() });
    if text.len() > SCENARIO_BYTES {
        return Err(whole_file(Fault::TooLarge));
    }
    let held = syntax.read(text).and_then(|root| {
        let Some(root) = root else { return Ok(None) };
        let Some(table) = root.as_table() else { return Err(no_table(&root)) };
        version(table)?;
        validate::table(table, root.span.clone(), grammar)?;
        checked(&Row { table, span: root.span.clone() }).map(Some)
    });
    let held = held.map_err(|spotted| match spotted.site {
        Site::Text(span) => ScenarioError::new(spotted.fault, Source { path, text }.place(&span)),
        Site::Rust(at) => ScenarioError::new(spotted.fault, Place::Rust(at)),
    });
    held?.ok_or_else(|| whole_file(Fault::Empty))
}

fn no_table(found: &Value<'_>) -> Box<Spotted> {
    let (expected, kind) = (Type::Table, found.kind());
    found.site().fault(Fault::WrongType { key: "the file", expected, found: kind })
}

/// The file's name without folder and ending.
fn stem(path: &str) -> &str {
    let file = path.rsplit(['/', '\\']).next().unwrap_or(path);
    file.strip_suffix(".toml").unwrap_or(file)
}

/// The version comes first: whoever wrote another one may mean other keys.
fn version(root: &Entries<'_>) -> Checked<()> {
    let Some(found) = root.get("schema") else { return Ok(()) };
    match &found.node {
        Node::Whole(number) if number.value() != Some(SCHEMA) => {
            Err(found.site().fault(Fault::UnknownSchema { found: number.to_string() }))
        }
        _ => Ok(()),
    }
}

/// A table that the grammar has passed.
pub(super) struct Row<'a, 'i> {
    table: &'a Entries<'i>,
    span: Range<usize>,
}

impl<'a, 'i> Row<'a, 'i> {
    fn get(&self, key: &str) -> Option<&'a Value<'i>> {
        self.table.get(key)
    }

    fn site(&self) -> Site {
        at(self.span.clone())
    }

    pub(super) fn text(&self, key: &str) -> Option<Said> {
        self.get(key).and_then(said)
    }

    fn text_or(&self, key: &str, default: &str) -> Said {
        self.text(key).unwrap_or_else(|| Located::new(default.to_owned(), self.site()))
    }

    pub(super) fn need(&self, key: &'static str, table: &'static str) -> Checked<Said> {
        self.text(key).ok_or_else(|| self.site().fault(Fault::MissingKey { key, table }))
    }

    fn whole(&self, key: &str) -> Option<Located<u64>> {
        let value = self.get(key)?;
        match &value.node {
            Node::Whole(number) => number.value().map(|number| Located::new(number, value.site())),
            _ => None,
        }
    }

    pub(super) fn whole_or(&self, key: &str, default: u64) -> Located<u64> {
        self.whole(key).unwrap_or_else(|| Located::new(default, self.site()))
    }

    pub(super) fn has(&self, key: &str) -> bool {
        self.get(key).is_some()
    }

    fn flag(&self, key: &str) -> Option<bool> {
        match self.get(key)?.node {
            Node::Flag(flag) => Some(flag),
            _ => None,
        }
    }

    fn word<T: Copy, const N: usize>(&self, key: &str, words: &Words<T, N>) -> Option<Located<T>> {
        let word = self.text(key)?;
        Some(Located::new(meaning(words, &word.value)?, word.site))
    }

    fn word_or<T: Copy, const N: usize>(&self, key: &str, words: &Words<T, N>, default: T) -> T {
        self.word(key, words).map_or(default, |word| word.value)
    }

    fn json(&self, key: &str) -> Checked<Option<Json>> {
        self.get(key).map(value::json).transpose()
    }

    fn json_or(&self, key: &str, default: &str) -> Checked<Json> {
        Ok(self.json(key)?.unwrap_or_else(|| Located::new(default.to_owned(), self.site())))
    }

    pub(super) fn row(&self, key: &str) -> Option<Self> {
        self.get(key).and_then(row)
    }

    pub(super) fn items(&self, key: &str) -> impl Iterator<Item = &'a Value<'i>> + use<'a, 'i> {
        self.get(key).map_or(&[][..], Value::items).iter()
    }

    /// The entries of a table whose keys are the author's, in their order in the file.
    fn entries(&self, key: &str) -> Vec<(Said, &'a Value<'i>)> {
        self.row(key).map_or(Vec::new(), |row| row.all())
    }

    /// All entries of this table, in their order in the file.
    fn all(&self) -> Vec<(Said, &'a Value<'i>)> {
        let said = self.table.iter();
        said.map(|(key, value)| (Located::new(key.name.to_string(), key.site()), value)).collect()
    }

    /// What each table of a list says.
    pub(super) fn each<T>(&self, key: &str, read: impl Fn(&Self) -> Checked<T>) -> Checked<Vec<T>> {
        self.items(key).filter_map(row).map(|row| read(&row)).collect()
    }
}

fn row<'a, 'i>(value: &'a Value<'i>) -> Option<Row<'a, 'i>> {
    value.as_table().map(|table| Row { table, span: value.span.clone() })
}

/// The tools that a table of somebody who is asked turns down.
pub(super) fn denials(root: &Row<'_, '_>, key: &str) -> Vec<Said> {
    names(root, key, "denies")
}

/// The names in a list of a table.
pub(super) fn names(root: &Row<'_, '_>, table: &str, key: &str) -> Vec<Said> {
    root.row(table).map_or(Vec::new(), |row| texts(row.items(key)).collect())
}

pub(super) fn texts<'a, 'i: 'a>(
    values: impl Iterator<Item = &'a Value<'i>>,
) -> impl Iterator<Item = Said> {
    values.filter_map(said)
}

fn said(value: &Value<'_>) -> Option<Said> {
    value.as_text().map(|text| Located::new(text.to_owned(), value.site()))
}
