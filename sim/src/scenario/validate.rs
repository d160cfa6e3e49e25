//! Holds a parsed file against the grammar: keys, types, words, numbers, the rules of each table.
//!
//! Within a table the order of complaints is fixed: unknown keys from the top, missing keys,
//! values from the top, rules over several keys.

use std::ops::Range;

use serde_spanned::Spanned;
use toml::de::{DeInteger, DeTable, DeValue};

use super::draft::{Checked, Site};
use super::fault::Fault;
use super::grammar::{Presence, Rule, Shape, Table};
use super::noun::Type;
use super::words::nearest;

/// A value of a file, with its place.
pub(super) type Value<'i> = Spanned<DeValue<'i>>;

/// The site of a range of bytes.
pub(super) const fn at(span: Range<usize>) -> Site {
    Site::Text(span)
}

/// Holds a table against its rule.
pub(super) fn table(table: &DeTable<'_>, span: Range<usize>, rule: &'static Table) -> Checked<()> {
    let mut entries: Vec<_> = table.iter().collect();
    entries.sort_by_key(|(key, _)| key.span().start);
    let mut known = Vec::new();
    for (key, value) in entries {
        let name = key.get_ref().as_ref();
        let Some(rule) = rule.key(name) else {
            let nearest = nearest(name, rule.names());
            let valid = rule.names().collect();
            let key_fault = Fault::UnknownKey { key: name.to_owned(), nearest, valid };
            return Err(at(key.span()).fault(key_fault));
        };
        known.push((rule, value));
    }
    let missing = rule
        .keys
        .iter()
        .find(|key| matches!(key.presence, Presence::Required) && !table.contains_key(key.name));
    if let Some(key) = missing {
        return Err(at(span).fault(Fault::MissingKey { key: key.name, table: rule.name }));
    }
    for (key, found) in known {
        value(found, key.name, &key.shape)?;
    }
    rule.rules.iter().try_for_each(|each| across(table, &span, each, rule))
}

/// Holds a value against the shape of its key.
fn value(value: &Value<'_>, name: &'static str, shape: &'static Shape) -> Checked<()> {
    match (shape, value.get_ref()) {
        (Shape::Value, _)
        | (Shape::Text | Shape::Name, DeValue::String(_))
        | (Shape::Flag, DeValue::Boolean(_)) => Ok(()),
        (Shape::Whole(least, most), DeValue::Integer(number)) => {
            if whole(number).is_some_and(|number| (*least..=*most).contains(&number)) {
                return Ok(());
            }
            let found = number.to_string();
            let (key, least, most) = (name, *least, *most);
            Err(at(value.span()).fault(Fault::OutOfRange { key, found, least, most }))
        }
        (Shape::Word(valid), DeValue::String(_)) => word(value, name, valid),
        (Shape::Words(valid), DeValue::Array(list)) => {
            list.iter().try_for_each(|item| word(item, name, valid))
        }
        (Shape::Names(most) | Shape::Texts(most), DeValue::Array(list)) => {
            count(list, name, 0, *most, value.span())?;
            let other = list.iter().find(|item| !item.get_ref().is_str());
            other.map_or(Ok(()), |item| Err(wrong(item, name, Type::Text)))
        }
        (Shape::Table(rule), DeValue::Table(inner)) => table(inner, value.span(), rule),
        (Shape::Tables(rule, least, most), DeValue::Array(list)) => {
            count(list, name, *least, *most, value.span())?;
            list.iter().try_for_each(|item| match item.get_ref() {
                DeValue::Table(inner) => table(inner, item.span(), rule),
                _ => Err(wrong(item, name, Type::Table)),
            })
        }
        (Shape::Entries(shape, most), DeValue::Table(inner)) => {
            let mut entries: Vec<_> = inner.iter().collect();
            entries.sort_by_key(|(key, _)| key.span().start);
            if let Some((key, _)) = entries.get(*most) {
                return Err(at(key.span()).fault(Fault::TooMany { key: name, most: *most }));
            }
            entries.into_iter().try_for_each(|(_, entry)| self::value(entry, name, shape))
        }
        (shape, _) => Err(wrong(value, name, expected(shape))),
    }
}

/// The value of a whole number, if it is one that a shape can hold.
pub(super) fn whole(number: &DeInteger<'_>) -> Option<u64> {
    u64::from_str_radix(number.as_str(), number.radix()).ok()
}

fn word(item: &Value<'_>, key: &'static str, valid: &'static [&'static str]) -> Checked<()> {
    let Some(word) = item.get_ref().as_str() else { return Err(wrong(item, key, Type::Text)) };
    if valid.contains(&word) {
        return Ok(());
    }
    let nearest = nearest(word, valid.iter().copied());
    let (word, valid) = (word.to_owned(), valid.to_vec());
    Err(at(item.span()).fault(Fault::UnknownWord { key, word, nearest, valid }))
}

fn count(
    list: &[Value<'_>],
    key: &'static str,
    least: usize,
    most: usize,
    span: Range<usize>,
) -> Checked<()> {
    if list.len() < least {
        return Err(at(span).fault(Fault::EmptyList { key }));
    }
    list.get(most).map_or(Ok(()), |item| Err(at(item.span()).fault(Fault::TooMany { key, most })))
}

fn wrong(value: &Value<'_>, key: &'static str, expected: Type) -> Box<super::draft::Spotted> {
    at(value.span()).fault(Fault::WrongType { key, expected, found: kind(value.get_ref()) })
}

const fn expected(shape: &Shape) -> Type {
    match shape {
        Shape::Text | Shape::Name | Shape::Value | Shape::Word(_) => Type::Text,
        Shape::Whole(..) => Type::Whole,
        Shape::Flag => Type::Flag,
        Shape::Words(_) | Shape::Names(_) | Shape::Texts(_) | Shape::Tables(..) => Type::List,
        Shape::Table(_) | Shape::Entries(..) => Type::Table,
    }
}

const fn kind(value: &DeValue<'_>) -> Type {
    match value {
        DeValue::String(_) => Type::Text,
        DeValue::Integer(_) => Type::Whole,
        DeValue::Float(_) => Type::Float,
        DeValue::Boolean(_) => Type::Flag,
        DeValue::Datetime(_) => Type::Date,
        DeValue::Array(_) => Type::List,
        DeValue::Table(_) => Type::Table,
    }
}

/// Holds a table against a rule over several keys.
fn across(
    table: &DeTable<'_>,
    span: &Range<usize>,
    rule: &'static Rule,
    owner: &'static Table,
) -> Checked<()> {
    let place = |key: &str| table.get_key_value(key).map(|(key, _)| at(key.span()));
    match rule {
        Rule::Excludes(key, other) => match (place(key), place(other)) {
            (Some(site), Some(_)) => Err(site.fault(Fault::Excluded { key, other })),
            _ => Ok(()),
        },
        Rule::Only(key, other, word) => match place(key) {
            Some(site) if table.get(*other).and_then(|v| v.get_ref().as_str()) != Some(word) => {
                Err(site.fault(Fault::OnlyWith { key, other, word }))
            }
            _ => Ok(()),
        },
        Rule::Never(key, other, word) => match place(key) {
            Some(site) if table.get(*other).and_then(|v| v.get_ref().as_str()) == Some(word) => {
                Err(site.fault(Fault::NeverWith { key, other, word }))
            }
            _ => Ok(()),
        },
        Rule::Needs(key, other, word) => {
            let is_it = table.get(*other).and_then(|v| v.get_ref().as_str()) == Some(word);
            if is_it && place(key).is_none() {
                return Err(at(span.clone()).fault(Fault::MissingKey { key, table: owner.name }));
            }
            Ok(())
        }
        Rule::Some(keys) if keys.iter().any(|key| table.contains_key(*key)) => Ok(()),
        Rule::Some(keys) => Err(at(span.clone()).fault(Fault::OneOf { table: owner.name, keys })),
    }
}
