//! From TOML text to a scenario.

use std::ops::Range;

use serde_spanned::Spanned;
use toml::de::{DeTable, DeValue};

use super::bounds::{DEFAULT_MAX_TURNS, DEFAULT_WORKERS, SCENARIO_BYTES};
use super::draft::{
    Abort, Answer, Call, Checked, Failure, Json, Located, ModelFailure, Reaction, Reply, Said,
    ScenarioBuilder, Site, Submission, Tool, Turn,
};
use super::error::{Place, ScenarioError, Source};
use super::fault::Fault;
use super::grammar::{ROOT, SCHEMA, Table};
use super::validate::{self, at, whole};
use super::words::{
    ANSWERS, AnswerKind, CLASSES, EVERY_MOMENT, FAULTS, OUTCOMES, RECONCILERS, Words, meaning,
};
use super::{Scenario, check, value};

/// Reads and checks the text of a scenario file.
pub(super) fn scenario(path: &str, text: &str) -> Result<Scenario, ScenarioError> {
    file(path, text, &ROOT, |root| check::scenario(draft(stem(path), root)?))
}

/// Reads a file of this grammar, and makes of it what `checked` does.
pub(super) fn file<T>(
    path: &str,
    text: &str,
    grammar: &'static Table,
    checked: impl FnOnce(&Row<'_, '_>) -> Checked<T>,
) -> Result<T, ScenarioError> {
    let whole_file = |fault| ScenarioError::new(fault, Place::File { path: path.to_owned() });
    if text.len() > SCENARIO_BYTES {
        return Err(whole_file(Fault::TooLarge));
    }
    let source = Source { path, text };
    let root = DeTable::parse(text).map_err(|error| {
        let fault = Fault::NotToml { message: error.message().to_owned() };
        let end = text.len();
        ScenarioError::new(fault, source.place(&error.span().unwrap_or(end..end)))
    })?;
    if root.get_ref().is_empty() {
        return Err(whole_file(Fault::Empty));
    }
    let held = version(root.get_ref())
        .and_then(|()| validate::table(root.get_ref(), root.span(), grammar))
        .and_then(|()| checked(&Row { table: root.get_ref(), span: root.span() }));
    held.map_err(|spotted| match spotted.site {
        Site::Text(span) => ScenarioError::new(spotted.fault, source.place(&span)),
        Site::Rust(at) => ScenarioError::new(spotted.fault, Place::Rust(at)),
    })
}

/// The file's name without folder and ending.
fn stem(path: &str) -> &str {
    let file = path.rsplit(['/', '\\']).next().unwrap_or(path);
    file.strip_suffix(".toml").unwrap_or(file)
}

/// The version comes first: whoever wrote another one may mean other keys.
fn version(root: &DeTable<'_>) -> Checked<()> {
    let Some(found) = root.get("schema") else { return Ok(()) };
    match found.get_ref() {
        DeValue::Integer(number) if whole(number) != Some(SCHEMA) => {
            Err(at(found.span()).fault(Fault::UnknownSchema { found: number.to_string() }))
        }
        _ => Ok(()),
    }
}

/// A table that the grammar has passed.
pub(super) struct Row<'a, 'i> {
    table: &'a DeTable<'i>,
    span: Range<usize>,
}

impl<'a, 'i> Row<'a, 'i> {
    fn get(&self, key: &str) -> Option<&'a Spanned<DeValue<'i>>> {
        self.table.get(key)
    }

    fn site(&self) -> Site {
        at(self.span.clone())
    }

    pub(super) fn text(&self, key: &str) -> Option<Said> {
        let value = self.get(key)?;
        value.get_ref().as_str().map(|text| Located::new(text.to_owned(), at(value.span())))
    }

    fn text_or(&self, key: &str, default: &str) -> Said {
        self.text(key).unwrap_or_else(|| Located::new(default.to_owned(), self.site()))
    }

    pub(super) fn need(&self, key: &'static str, table: &'static str) -> Checked<Said> {
        self.text(key).ok_or_else(|| self.site().fault(Fault::MissingKey { key, table }))
    }

    pub(super) fn whole_or(&self, key: &str, default: u64) -> Located<u64> {
        let found = self.get(key).and_then(|value| match value.get_ref() {
            DeValue::Integer(number) => {
                whole(number).map(|number| Located::new(number, at(value.span())))
            }
            _ => None,
        });
        found.unwrap_or_else(|| Located::new(default, self.site()))
    }

    fn word_or<T: Copy, const N: usize>(&self, key: &str, words: &Words<T, N>, default: T) -> T {
        self.text(key).and_then(|word| meaning(words, &word.value)).unwrap_or(default)
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

    pub(super) fn items(
        &self,
        key: &str,
    ) -> impl Iterator<Item = &'a Spanned<DeValue<'i>>> + use<'a, 'i> {
        let list = self.get(key).and_then(|value| value.get_ref().as_array());
        list.into_iter().flat_map(|list| list.iter())
    }

    /// What each table of a list says.
    pub(super) fn each<T>(&self, key: &str, read: impl Fn(&Self) -> Checked<T>) -> Checked<Vec<T>> {
        self.items(key).filter_map(row).map(|row| read(&row)).collect()
    }
}

fn row<'a, 'i>(value: &'a Spanned<DeValue<'i>>) -> Option<Row<'a, 'i>> {
    value.get_ref().as_table().map(|table| Row { table, span: value.span() })
}

pub(super) fn texts<'a, 'i: 'a>(
    values: impl Iterator<Item = &'a Spanned<DeValue<'i>>>,
) -> impl Iterator<Item = Said> {
    values.filter_map(|value| {
        value.get_ref().as_str().map(|text| Located::new(text.to_owned(), at(value.span())))
    })
}

fn draft(name: &str, root: &Row<'_, '_>) -> Checked<ScenarioBuilder> {
    let agent = root.row("agent");
    let agent = agent.as_ref().unwrap_or(root);
    let authorizer = root.row("authorizer");
    Ok(ScenarioBuilder {
        name: name.to_owned(),
        about: root.need("about", ROOT.name)?,
        workers: root.whole_or("workers", DEFAULT_WORKERS as u64),
        agent: agent.need("id", "[agent]")?,
        instructions: agent.need("instructions", "[agent]")?,
        max_turns: agent.whole_or("max_turns", u64::from(DEFAULT_MAX_TURNS)),
        tools: root.each("tools", tool)?,
        denied: authorizer.map_or(Vec::new(), |row| texts(row.items("denies")).collect()),
        turns: root.each("turns", turn)?,
        submissions: root.each("submissions", submission)?,
        aborts: root.each("aborts", abort)?,
        answers: root.each("resolutions", answer)?,
    })
}

fn failure(row: &Row<'_, '_>) -> Checked<Failure> {
    Ok(Failure { tag: row.need("tag", "`failure`")?, message: row.need("message", "`failure`")? })
}

pub(super) fn tool(row: &Row<'_, '_>) -> Checked<Tool> {
    use everstep_machine::agent::ExecutionClass::Ordinary;

    Ok(Tool {
        name: row.need("name", "[[tools]]")?,
        class: row.word_or("class", &CLASSES, Ordinary),
        reconciles: row.word_or("reconciler", &RECONCILERS, false),
        latency_ms: row.whole_or("latency_ms", 0),
        reaction: match row.row("failure") {
            Some(failed) => Reaction::Failure(failure(&failed)?),
            None => Reaction::Result(row.json_or("result", "null")?),
        },
    })
}

pub(super) fn turn(row: &Row<'_, '_>) -> Checked<Turn> {
    Ok(Turn {
        site: row.site(),
        text: row.text("text"),
        calls: row.each("calls", call)?,
        fault: row.row("fault").map(|fault| model_failure(&fault)).transpose()?,
    })
}

fn model_failure(row: &Row<'_, '_>) -> Checked<ModelFailure> {
    let kind = row.need("kind", "`fault`")?;
    let kind = meaning(&FAULTS, &kind.value)
        .ok_or_else(|| kind.site.fault(Fault::MissingKey { key: "kind", table: "`fault`" }))?;
    Ok(ModelFailure { kind, failure: failure(row)? })
}

fn call(row: &Row<'_, '_>) -> Checked<Call> {
    Ok(Call {
        tool: row.need("tool", "`calls`")?,
        parameters: row.json_or("parameters", "{}")?,
        undeclared: row.get("undeclared").and_then(|flag| flag.get_ref().as_bool()) == Some(true),
    })
}

fn submission(row: &Row<'_, '_>) -> Checked<Submission> {
    let name = row.need("name", "[[submissions]]")?;
    let expect = texts(row.items("expect")).filter_map(|word| {
        meaning(&OUTCOMES, &word.value).map(|outcome| Located::new(outcome, word.site))
    });
    Ok(Submission {
        conversation: row.text_or("conversation", "main"),
        principal: row.text_or("principal", "client"),
        tenant: row.text_or("tenant", "default"),
        key: row.text("key").unwrap_or_else(|| name.clone()),
        input: row.json_or("input", "null")?,
        turns: row.each("turns", turn)?,
        expect: expect.collect(),
        name,
    })
}

fn abort(row: &Row<'_, '_>) -> Checked<Abort> {
    Ok(Abort {
        submission: row.need("submission", "[[aborts]]")?,
        at: row.text_or("at", EVERY_MOMENT),
        principal: row.text_or("principal", "client"),
        reason: row.text_or("reason", "no longer wanted"),
    })
}

fn answer(row: &Row<'_, '_>) -> Checked<Answer> {
    let (tool, word) =
        (row.need("tool", "[[resolutions]]")?, row.need("answer", "[[resolutions]]")?);
    let reply = match meaning(&ANSWERS, &word.value) {
        Some(AnswerKind::Completed) => Reply::Completed(row.json("result")?),
        Some(AnswerKind::Failed) => {
            Reply::Failed(row.row("failure").map(|failed| failure(&failed)).transpose()?)
        }
        Some(AnswerKind::NeverStarted) => Reply::NeverStarted,
        Some(AnswerKind::SafeToRepeat) => Reply::SafeToRepeat,
        None => {
            let fault = Fault::MissingKey { key: "answer", table: "[[resolutions]]" };
            return Err(word.site.fault(fault));
        }
    };
    Ok(Answer { tool, reply })
}
