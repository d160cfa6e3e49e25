//! Values as JSON text.
//!
//! | TOML, YAML | JSON |
//! | --- | --- |
//! | text, boolean, list, table | the same |
//! | whole number | the same, in decimal |
//! | number with a fraction | the same digits, if no double would round them |
//! | date, time of TOML | a text of it |
//! | null of YAML | null |
//!
//! There is no `null` in TOML; a tool that returns it says nothing about its result.

use everstep_machine::json::{CanonicalJson, JsonError};

use super::draft::{Checked, Json, Located};
use super::fault::Fault;
use super::tree::{Node, Value, Whole};

/// The value as JSON text.
pub(super) fn json(value: &Value<'_>) -> Checked<Json> {
    let mut text = String::new();
    write(&mut text, value)?;
    Ok(Located::new(text, value.site()))
}

/// Appends a value. Recursion is bounded: a tree is nowhere deeper than its syntax lets it be.
fn write(out: &mut String, value: &Value<'_>) -> Checked<()> {
    let refuse = |fault| value.site().fault(fault);
    match &value.node {
        Node::Null => out.push_str("null"),
        Node::Text(text) => out.push_str(&string(text).map_err(refuse)?),
        Node::Whole(number) => out.push_str(&integer(number).map_err(refuse)?),
        Node::Float(number) => out.push_str(&float(number).map_err(refuse)?),
        Node::Flag(flag) => out.push_str(if *flag { "true" } else { "false" }),
        Node::Date(date) => out.push_str(&string(date).map_err(refuse)?),
        Node::List(items) => {
            out.push('[');
            for (index, item) in items.iter().enumerate() {
                out.push_str(if index == 0 { "" } else { "," });
                write(out, item)?;
            }
            out.push(']');
        }
        Node::Table(table) => {
            out.push('{');
            for (index, (key, item)) in table.iter().enumerate() {
                out.push_str(if index == 0 { "" } else { "," });
                out.push_str(&string(&key.name).map_err(refuse)?);
                out.push(':');
                write(out, item)?;
            }
            out.push('}');
        }
    }
    Ok(())
}

fn string(text: &str) -> Result<String, Fault> {
    CanonicalJson::string(text).map(|json| json.as_str().to_owned()).map_err(Fault::BadJson)
}

/// Plain digits, as long as 64 bits hold them.
fn integer(number: &Whole<'_>) -> Result<String, Fault> {
    let wide = || Fault::TooWide { number: number.to_string() };
    let value = i128::from_str_radix(&number.digits, number.radix).map_err(|_| wide())?;
    let fits = i64::try_from(value).is_ok() || u64::try_from(value).is_ok();
    if fits { Ok(value.to_string()) } else { Err(wide()) }
}

/// The digits of a float, never a double's: the core says whether it keeps them.
fn float(text: &str) -> Result<String, Fault> {
    let digits = text.strip_prefix('+').unwrap_or(text);
    let number = || text.to_owned();
    let ends = |word| digits.to_ascii_lowercase().ends_with(word);
    if ends("inf") || ends("nan") {
        return Err(Fault::NotFinite { number: number() });
    }
    match CanonicalJson::parse(digits.as_bytes()) {
        Ok(json) => Ok(json.as_str().to_owned()),
        Err(JsonError::NumberInexact { .. }) => Err(Fault::Inexact { number: number() }),
        Err(JsonError::NumberOutOfRange { .. }) => Err(Fault::TooWide { number: number() }),
        Err(other) => Err(Fault::BadJson(other)),
    }
}
