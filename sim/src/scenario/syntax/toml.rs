//! TOML into a tree.

use std::ops::Range;

use serde_spanned::Spanned;
use toml::de::{DeTable, DeValue};

use super::Beyond;
use crate::scenario::draft::Checked;
use crate::scenario::fault::Fault;
use crate::scenario::tree::{Entries, Key, Node, Value, Whole, at, deeper};

/// Reads a text.
pub(super) fn read(text: &str) -> Checked<Option<Value<'_>>> {
    let root = DeTable::parse(text).map_err(|error| {
        let end = text.len();
        let fault = Fault::NotToml { message: error.message().to_owned() };
        at(error.span().unwrap_or(end..end)).fault(fault)
    })?;
    let span = root.span();
    let table = root.into_inner();
    if table.is_empty() {
        return Ok(None);
    }
    let node = Node::Table(entries(table, &span, 0)?);
    Ok(Some(Value { node, span }))
}

fn entries<'i>(table: DeTable<'i>, span: &Range<usize>, depth: usize) -> Checked<Entries<'i>> {
    let depth = deeper(depth).map_err(|_| at(span.clone()).fault(Beyond::Nesting.into()))?;
    let each = table.into_iter().map(|(key, inner)| {
        let span = key.span();
        Ok((Key { name: key.into_inner(), span }, value(inner, depth)?))
    });
    Ok(Entries::new(each.collect::<Checked<_>>()?))
}

fn value<'i>(value: Spanned<DeValue<'i>>, depth: usize) -> Checked<Value<'i>> {
    let span = value.span();
    let node = match value.into_inner() {
        DeValue::String(text) => Node::Text(text),
        DeValue::Integer(number) => {
            Node::Whole(Whole { digits: number.as_str().to_owned().into(), radix: number.radix() })
        }
        DeValue::Float(number) => Node::Float(number.as_str().to_owned().into()),
        DeValue::Boolean(flag) => Node::Flag(flag),
        DeValue::Datetime(date) => Node::Date(date.to_string()),
        DeValue::Array(items) => {
            let depth =
                deeper(depth).map_err(|_| at(span.clone()).fault(Beyond::Nesting.into()))?;
            let items = items.into_iter().map(|item| self::value(item, depth));
            Node::List(items.collect::<Checked<_>>()?)
        }
        DeValue::Table(table) => Node::Table(entries(table, &span, depth)?),
    };
    Ok(Value { node, span })
}
