//! Holds a parsed file against the grammar: keys, types, words, numbers, the rules of each table.
//!
//! Within a table the order of complaints is fixed: unknown keys from the top, missing keys,
//! values from the top, rules over several keys.

use std::ops::Range;

use super::draft::Checked;
use super::fault::Fault;
use super::grammar::{Presence, Rule, Shape, Table};
use super::noun::Type;
use super::tree::{Entries, Node, Value, at};
use super::words::nearest;

/// Holds a table against its rule.
pub(super) fn table(table: &Entries<'_>, span: Range<usize>, rule: &'static Table) -> Checked<()> {
    let mut known = Vec::new();
    for (key, value) in table.iter() {
        let name = key.name.as_ref();
        let Some(rule) = rule.key(name) else {
            let nearest = nearest(name, rule.names());
            let valid = rule.names().collect();
            let key_fault = Fault::UnknownKey { key: name.to_owned(), nearest, valid };
            return Err(key.site().fault(key_fault));
        };
        known.push((rule, value));
    }
    let missing = rule
        .keys
        .iter()
        .find(|key| matches!(key.presence, Presence::Required) && !table.has(key.name));
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
    match (shape, &value.node) {
        (Shape::Value, _)
        | (Shape::Text | Shape::Name, Node::Text(_))
        | (Shape::Flag, Node::Flag(_)) => Ok(()),
        (Shape::Whole(least, most), Node::Whole(number)) => {
            if number.value().is_some_and(|number| (*least..=*most).contains(&number)) {
                return Ok(());
            }
            let found = number.to_string();
            let (key, least, most) = (name, *least, *most);
            Err(value.site().fault(Fault::OutOfRange { key, found, least, most }))
        }
        (Shape::Word(valid), Node::Text(_)) => word(value, name, valid),
        (Shape::Words(valid), Node::List(list)) => {
            list.iter().try_for_each(|item| word(item, name, valid))
        }
        (Shape::Names(most) | Shape::Texts(most), Node::List(list)) => {
            count(list, name, 0, *most, value.span.clone())?;
            let other = list.iter().find(|item| item.as_text().is_none());
            other.map_or(Ok(()), |item| Err(wrong(item, name, Type::Text)))
        }
        (Shape::Table(rule), Node::Table(inner)) => table(inner, value.span.clone(), rule),
        (Shape::Tables(rule, least, most), Node::List(list)) => {
            count(list, name, *least, *most, value.span.clone())?;
            list.iter().try_for_each(|item| match &item.node {
                Node::Table(inner) => table(inner, item.span.clone(), rule),
                _ => Err(wrong(item, name, Type::Table)),
            })
        }
        (Shape::Entries(shape, most), Node::Table(inner)) => {
            if let Some((key, _)) = inner.iter().nth(*most) {
                return Err(key.site().fault(Fault::TooMany { key: name, most: *most }));
            }
            inner.iter().try_for_each(|(_, entry)| self::value(entry, name, shape))
        }
        (shape, _) => Err(wrong(value, name, expected(shape))),
    }
}

fn word(item: &Value<'_>, key: &'static str, valid: &'static [&'static str]) -> Checked<()> {
    let Some(word) = item.as_text() else { return Err(wrong(item, key, Type::Text)) };
    if valid.contains(&word) {
        return Ok(());
    }
    let nearest = nearest(word, valid.iter().copied());
    let (word, valid) = (word.to_owned(), valid.to_vec());
    Err(item.site().fault(Fault::UnknownWord { key, word, nearest, valid }))
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
    list.get(most).map_or(Ok(()), |item| Err(item.site().fault(Fault::TooMany { key, most })))
}

fn wrong(value: &Value<'_>, key: &'static str, expected: Type) -> Box<super::draft::Spotted> {
    value.site().fault(Fault::WrongType { key, expected, found: value.kind() })
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

/// Holds a table against a rule over several keys.
fn across(
    table: &Entries<'_>,
    span: &Range<usize>,
    rule: &'static Rule,
    owner: &'static Table,
) -> Checked<()> {
    let place = |key: &str| table.entry(key).map(|(key, _)| key.site());
    let is = |key: &str, word: &str| table.get(key).and_then(Value::as_text) == Some(word);
    match rule {
        Rule::Excludes(key, other) => match (place(key), place(other)) {
            (Some(site), Some(_)) => Err(site.fault(Fault::Excluded { key, other })),
            _ => Ok(()),
        },
        Rule::Only(key, other, word) => match place(key) {
            Some(site) if !is(other, word) => Err(site.fault(Fault::OnlyWith { key, other, word })),
            _ => Ok(()),
        },
        Rule::Never(key, other, word) => match place(key) {
            Some(site) if is(other, word) => Err(site.fault(Fault::NeverWith { key, other, word })),
            _ => Ok(()),
        },
        Rule::Needs(key, other, word) => {
            if is(other, word) && place(key).is_none() {
                return Err(at(span.clone()).fault(Fault::MissingKey { key, table: owner.name }));
            }
            Ok(())
        }
        Rule::Some(keys) if keys.iter().any(|key| table.has(key)) => Ok(()),
        Rule::Some(keys) => Err(at(span.clone()).fault(Fault::OneOf { table: owner.name, keys })),
    }
}
