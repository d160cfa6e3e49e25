//! TOML values as JSON text.
//!
//! | TOML | JSON |
//! | --- | --- |
//! | text, boolean, list, table | the same |
//! | whole number | the same, in decimal |
//! | number with a fraction | the same digits, if no double would round them |
//! | date, time | a text of it |
//!
//! There is no `null` in TOML; a tool that returns it says nothing about its result.

use everstep_machine::json::{CanonicalJson, JsonError};
use toml::de::{DeInteger, DeValue};

use super::draft::{Checked, Json, Located};
use super::fault::Fault;
use super::validate::{Value, at};

/// The value as JSON text.
pub(super) fn json(value: &Value<'_>) -> Checked<Json> {
    let mut text = String::new();
    write(&mut text, value)?;
    Ok(Located::new(text, at(value.span())))
}

/// Appends a value. Recursion is bounded by the TOML parser's own.
fn write(out: &mut String, value: &Value<'_>) -> Checked<()> {
    let refuse = |fault| at(value.span()).fault(fault);
    match value.get_ref() {
        DeValue::String(text) => out.push_str(&string(text).map_err(refuse)?),
        DeValue::Integer(number) => out.push_str(&integer(number).map_err(refuse)?),
        DeValue::Float(number) => out.push_str(&float(number.as_str()).map_err(refuse)?),
        DeValue::Boolean(flag) => out.push_str(if *flag { "true" } else { "false" }),
        DeValue::Datetime(date) => out.push_str(&string(&date.to_string()).map_err(refuse)?),
        DeValue::Array(items) => {
            out.push('[');
            for (index, item) in items.iter().enumerate() {
                out.push_str(if index == 0 { "" } else { "," });
                write(out, item)?;
            }
            out.push(']');
        }
        DeValue::Table(table) => {
            out.push('{');
            for (index, (key, item)) in table.iter().enumerate() {
                out.push_str(if index == 0 { "" } else { "," });
                out.push_str(&string(key.get_ref()).map_err(refuse)?);
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
fn integer(number: &DeInteger<'_>) -> Result<String, Fault> {
    let wide = || Fault::TooWide { number: number.to_string() };
    let value = i128::from_str_radix(number.as_str(), number.radix()).map_err(|_| wide())?;
    let fits = i64::try_from(value).is_ok() || u64::try_from(value).is_ok();
    if fits { Ok(value.to_string()) } else { Err(wide()) }
}

/// The digits of a float, never a double's: the core says whether it keeps them.
fn float(text: &str) -> Result<String, Fault> {
    let digits = text.strip_prefix('+').unwrap_or(text);
    let number = || text.to_owned();
    if digits.ends_with("inf") || digits.ends_with("nan") {
        return Err(Fault::NotFinite { number: number() });
    }
    match CanonicalJson::parse(digits.as_bytes()) {
        Ok(json) => Ok(json.as_str().to_owned()),
        Err(JsonError::NumberInexact { .. }) => Err(Fault::Inexact { number: number() }),
        Err(JsonError::NumberOutOfRange { .. }) => Err(Fault::TooWide { number: number() }),
        Err(other) => Err(Fault::BadJson(other)),
    }
}
