//! A trace as a file.

use std::fs::File;
use std::io::Read as _;
use std::ops::Range;
use std::path::Path;
use std::sync::Arc;

use serde::{Deserialize, Serialize};
use toml::Spanned;

use super::error::{Fault, TraceError};
use super::{HOLDS, Trace};
use crate::defect::Defect;
use crate::oracle::Property;
use crate::profile::Profile;
use crate::scenario::Scenario;
use crate::schedule::{Choice, Schedule};

/// The most bytes a trace may have: a scenario and then some.
pub const TRACE_BYTES: u64 = 4 << 20;

/// The most choices a trace may have.
pub const CHOICES: usize = 1_024;

/// The version of the format.
const SCHEMA: i64 = 1;

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Read {
    schema: Spanned<i64>,
    property: Spanned<String>,
    profile: Spanned<String>,
    defect: Option<Spanned<String>>,
    commit: Option<String>,
    choices: Spanned<Vec<Spanned<String>>>,
    scenario: Embedded,
}

#[derive(Serialize)]
struct Written<'a> {
    schema: i64,
    property: &'a str,
    profile: &'a str,
    #[serde(skip_serializing_if = "Option::is_none")]
    defect: Option<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    commit: Option<&'a str>,
    choices: Vec<String>,
    scenario: Embedded,
}

#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct Embedded {
    name: String,
    text: String,
}

impl Trace {
    /// The trace as the text of a file.
    ///
    /// # Panics
    /// Never: strings and numbers can be written as TOML.
    #[must_use]
    pub fn to_toml(&self) -> String {
        let written = Written {
            schema: SCHEMA,
            property: self.verdict(),
            profile: self.profile.name(),
            defect: self.defect.map(Defect::name),
            commit: self.commit.as_deref(),
            choices: self.schedule.choices().iter().map(ToString::to_string).collect(),
            scenario: Embedded { name: self.scenario.name.clone(), text: self.text.clone() },
        };
        toml::to_string_pretty(&written).expect("strings and numbers can be written as TOML")
    }

    /// Reads a trace. `path` is only what errors call it.
    ///
    /// # Errors
    /// It is no trace: line and column are told.
    pub fn from_toml(path: &str, text: &str) -> Result<Self, TraceError> {
        let fault = |fault, span: Range<usize>| TraceError::in_text(path, text, span, fault);
        let read: Read = toml::from_str(text).map_err(|wrong| {
            let span = wrong.span().unwrap_or(0..0);
            fault(Fault::NotATrace { message: wrong.message().to_owned() }, span)
        })?;
        if *read.schema.as_ref() != SCHEMA {
            let found = *read.schema.as_ref();
            return Err(fault(Fault::UnknownSchema { found }, read.schema.span()));
        }
        let profile = word::<Profile>(&read.profile)
            .ok_or_else(|| fault(Fault::unknown_profile(&read.profile), read.profile.span()))?;
        let defect = read.defect.as_ref().map(|defect| {
            word::<Defect>(defect)
                .ok_or_else(|| fault(Fault::unknown_defect(defect), defect.span()))
        });
        let property = verdict(read.property.as_ref())
            .ok_or_else(|| fault(Fault::unknown_property(&read.property), read.property.span()))?;
        let choices = read.choices.as_ref();
        if choices.len() > CHOICES {
            return Err(fault(Fault::TooManyChoices, read.choices.span()));
        }
        let choices = choices.iter().map(|choice| {
            choice.as_ref().parse().map_err(|why| fault(Fault::Choice(why), choice.span()))
        });
        let schedule = Schedule::of(choices.collect::<Result<Vec<Choice>, _>>()?);
        let Embedded { name, text: scenario_text } = read.scenario;
        let scenario = Scenario::parse(&name, &scenario_text)
            .map_err(|why| TraceError::of_file(path, Fault::Scenario(why)))?;
        Ok(Self {
            scenario: Arc::new(scenario),
            text: scenario_text,
            profile,
            defect: defect.transpose()?,
            schedule,
            property,
            commit: read.commit,
        })
    }

    /// Reads a trace from a file.
    ///
    /// # Errors
    /// The file cannot be read, or is no trace.
    pub fn read(path: &Path) -> Result<Self, TraceError> {
        let name = path.to_string_lossy();
        let fault = |fault| TraceError::of_file(&name, fault);
        let mut bytes = Vec::new();
        let file = File::open(path).map_err(|why| fault(Fault::Unreadable(why.kind())))?;
        file.take(TRACE_BYTES + 1)
            .read_to_end(&mut bytes)
            .map_err(|why| fault(Fault::Unreadable(why.kind())))?;
        if bytes.len() as u64 > TRACE_BYTES {
            return Err(fault(Fault::TooLarge));
        }
        let text = String::from_utf8(bytes).map_err(|wrong| {
            let at = wrong.utf8_error().valid_up_to();
            let text = String::from_utf8_lossy(wrong.as_bytes());
            TraceError::in_text(&name, &text, at..at + 1, Fault::NotUtf8)
        })?;
        Self::from_toml(&name, &text)
    }
}

fn word<T: std::str::FromStr>(text: &Spanned<String>) -> Option<T> {
    text.as_ref().parse().ok()
}

fn verdict(text: &str) -> Option<Option<Property>> {
    if text == HOLDS {
        return Some(None);
    }
    Property::ALL.iter().copied().find(|property| property.name() == text).map(Some)
}
