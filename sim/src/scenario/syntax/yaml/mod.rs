//! YAML 1.2 into a tree: what JSON can say, and nothing more.
//!
//! The parser tells events; what is built of them is bounded in depth as it grows. Whatever makes a
//! file mean something else than it shows is refused by name ([`Beyond`]): anchors, aliases, tags,
//! directives, a second document, keys that are no texts.

mod places;
mod scalar;

use std::collections::HashSet;
use std::ops::Range;

use saphyr_parser::{Event, Parser, ScalarStyle, ScanError, StrInput};

use super::Beyond;
use crate::scenario::draft::Checked;
use crate::scenario::fault::Fault;
use crate::scenario::tree::{Entries, Key, Node, Value, at, deeper};
use places::Places;

/// Reads a text.
pub(super) fn read(text: &str) -> Checked<Option<Value<'_>>> {
    let places = Places::of(text);
    refuse_unseen(text)?;
    refuse_directives(text, &places)?;
    let parser = Parser::new_from_str(&text[places.start()..]);
    Reader { text, places, parser }.file()
}

/// Refuses what no editor shows: YAML allows none of it, and a parser may take it for an end.
fn refuse_unseen(text: &str) -> Checked<()> {
    let is_unseen = |letter: char| {
        (letter.is_control() && !matches!(letter, '\t' | '\n' | '\r' | '\u{85}'))
            || matches!(letter, '\u{fffe}' | '\u{ffff}')
    };
    let unseen = text.char_indices().find(|(_, letter)| is_unseen(*letter));
    unseen.map_or(Ok(()), |(from, letter)| {
        let code = u32::from(letter);
        Err(at(from..from + letter.len_utf8()).fault(Beyond::Control { code }.into()))
    })
}

/// Refuses directives in front of the document; behind it they would be in a second one.
fn refuse_directives(text: &str, places: &Places) -> Checked<()> {
    let mut from = places.start();
    for line in text[from..].split_inclusive(['\n', '\r']) {
        let words = line.trim();
        if line.starts_with('%') {
            return Err(at(from..from + words.len()).fault(Beyond::Directive.into()));
        }
        if !(words.is_empty() || words.starts_with('#')) {
            break;
        }
        from += line.len();
    }
    Ok(())
}

struct Reader<'i> {
    text: &'i str,
    places: Places,
    parser: Parser<'i, StrInput<'i>>,
}

impl<'i> Reader<'i> {
    fn file(mut self) -> Checked<Option<Value<'i>>> {
        let mut root = None;
        loop {
            let (event, span) = self.next()?;
            match event {
                Event::StreamStart | Event::DocumentEnd | Event::Nothing => {}
                Event::StreamEnd => break,
                Event::DocumentStart(_) if root.is_some() => {
                    return Err(at(span).fault(Beyond::Document.into()));
                }
                Event::DocumentStart(_) => {
                    let (event, span) = self.next()?;
                    root = Some(self.value(event, span, 0)?);
                }
                Event::Alias(_)
                | Event::Scalar(..)
                | Event::SequenceStart(..)
                | Event::SequenceEnd
                | Event::MappingStart(..)
                | Event::MappingEnd => return Err(at(span).fault(Beyond::Document.into())),
            }
        }
        Ok(root.filter(|root| !matches!(root.node, Node::Null)))
    }

    fn next(&mut self) -> Checked<(Event<'i>, Range<usize>)> {
        match self.parser.next_event() {
            None => Ok((Event::StreamEnd, self.text.len()..self.text.len())),
            Some(Ok((event, span))) => {
                Ok((event, self.places.bytes(span.start.index(), span.end.index())))
            }
            Some(Err(error)) => Err(self.scanned(&error)),
        }
    }

    /// What the parser cannot read. It knows no alias whose anchor is not there.
    fn scanned(&self, error: &ScanError) -> Box<crate::scenario::draft::Spotted> {
        let index = error.marker().index();
        let span = self.places.bytes(index, index);
        let fault = if self.text[span.start..].starts_with('*') {
            Beyond::Alias.into()
        } else {
            Fault::NotYaml { message: error.info().to_owned() }
        };
        at(span).fault(fault)
    }

    fn value(&mut self, event: Event<'i>, span: Range<usize>, depth: usize) -> Checked<Value<'i>> {
        match event {
            Event::Scalar(text, style, anchor, tag) => {
                self.refuse_marks(&span, anchor, tag.is_some())?;
                // The parser counts the blanks behind quotes in.
                let span = span.start..span.start + self.text[span].trim_end().len();
                let node = match style {
                    ScalarStyle::Plain => scalar::node(text),
                    _ => Ok(Node::Text(text)),
                };
                match node {
                    Ok(node) => Ok(Value { node, span }),
                    Err(beyond) => Err(at(span).fault(beyond.into())),
                }
            }
            Event::SequenceStart(anchor, tag) => {
                self.refuse_marks(&span, anchor, tag.is_some())?;
                self.list(span, depth)
            }
            Event::MappingStart(anchor, tag) => {
                self.refuse_marks(&span, anchor, tag.is_some())?;
                self.table(span, depth)
            }
            Event::Alias(_) => Err(at(span).fault(Beyond::Alias.into())),
            Event::Nothing
            | Event::StreamStart
            | Event::StreamEnd
            | Event::DocumentStart(_)
            | Event::DocumentEnd
            | Event::SequenceEnd
            | Event::MappingEnd => {
                Err(at(span).fault(Fault::NotYaml { message: "a value is missing".to_owned() }))
            }
        }
    }

    /// Refuses a value with an anchor or a tag, at the last of them in front of it.
    fn refuse_marks(&self, span: &Range<usize>, anchor: usize, has_tag: bool) -> Checked<()> {
        let (beyond, mark) = match (anchor, has_tag) {
            (0, false) => return Ok(()),
            (0, true) => (Beyond::Tag, '!'),
            _ => (Beyond::Anchor, '&'),
        };
        let is_there = self.text[span.start..].starts_with(mark);
        let before = self.text[..span.start].rfind(mark);
        let from = if is_there { span.start } else { before.unwrap_or(span.start) };
        let word = self.text[from..].split_whitespace().next().map_or(0, str::len);
        Err(at(from..from + word).fault(beyond.into()))
    }

    fn list(&mut self, span: Range<usize>, depth: usize) -> Checked<Value<'i>> {
        let depth = deeper(depth).map_err(|_| at(span.clone()).fault(Beyond::Nesting.into()))?;
        let mut items = Vec::new();
        loop {
            let (event, place) = self.next()?;
            if matches!(event, Event::SequenceEnd) {
                let span = span.start..place.end.max(span.end);
                return Ok(Value { node: Node::List(items), span });
            }
            items.push(self.value(event, place, depth)?);
        }
    }

    fn table(&mut self, span: Range<usize>, depth: usize) -> Checked<Value<'i>> {
        let depth = deeper(depth).map_err(|_| at(span.clone()).fault(Beyond::Nesting.into()))?;
        let mut entries = Vec::new();
        let mut names = HashSet::new();
        loop {
            let (event, place) = self.next()?;
            if matches!(event, Event::MappingEnd) {
                let span = span.start..place.end.max(span.end);
                return Ok(Value { node: Node::Table(Entries::new(entries)), span });
            }
            let key = self.key(event, place)?;
            if !names.insert(key.name.clone()) {
                let message = "duplicate key".to_owned();
                return Err(key.site().fault(Fault::NotYaml { message }));
            }
            let (event, place) = self.next()?;
            let mut value = self.value(event, place, depth)?;
            if value.span.is_empty() {
                // What is not there is shown where it is missed.
                value.span = key.span.clone();
            }
            entries.push((key, value));
        }
    }

    fn key(&mut self, event: Event<'i>, span: Range<usize>) -> Checked<Key<'i>> {
        if matches!(event, Event::SequenceStart(..) | Event::MappingStart(..)) {
            return Err(at(span).fault(Beyond::Key.into()));
        }
        let Value { node, span } = self.value(event, span, 0)?;
        match node {
            Node::Text(name) => Ok(Key { name, span }),
            _ => Err(at(span).fault(Beyond::Key.into())),
        }
    }
}
