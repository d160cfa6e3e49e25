//! The parser: reads a bounded text and writes its canonical form in the same pass.
//!
//! There is no tree. Members are written in the order in which they come, their spans are
//! remembered, and an object whose members are out of order is rearranged when it closes.

use alloc::borrow::Cow;
use alloc::string::String;
use alloc::vec::Vec;
use core::cmp::Ordering;
use core::ops::Range;

use super::scan::Scanner;
use super::{JsonError, number, text};

/// The canonical form of a text that [`bounds::check`](super::bounds::check) has passed.
pub(super) fn canonicalize(text: &str) -> Result<String, JsonError> {
    let out = String::with_capacity(text.len());
    let mut canonicalizer = Canonicalizer { scanner: Scanner::new(text), out };
    canonicalizer.value()?;
    match canonicalizer.scanner.peek() {
        None => Ok(canonicalizer.out),
        Some(_) => Err(JsonError::TrailingData { at: canonicalizer.scanner.at() }),
    }
}

struct Canonicalizer<'a> {
    scanner: Scanner<'a>,
    out: String,
}

/// A member that has been written.
struct Member<'a> {
    /// Its name, escapes read.
    name: Cow<'a, str>,
    /// Where the name stands in the source.
    at: usize,
    /// Where name and value stand in the output, without a comma.
    span: Range<usize>,
}

impl<'a> Canonicalizer<'a> {
    /// Reads a value and the whitespace on both sides of it.
    fn value(&mut self) -> Result<(), JsonError> {
        self.scanner.skip_whitespace();
        match self.scanner.peek() {
            Some(b'{') => self.object()?,
            Some(b'[') => self.array()?,
            Some(b'"') => text::write(&mut self.out, &self.scanner.string()?),
            Some(b't') => self.keyword("true")?,
            Some(b'f') => self.keyword("false")?,
            Some(b'n') => self.keyword("null")?,
            Some(b'-' | b'0'..=b'9') => number::write(&mut self.out, &self.scanner.number()?)?,
            Some(_) | None => return Err(self.scanner.unexpected()),
        }
        self.scanner.skip_whitespace();
        Ok(())
    }

    fn keyword(&mut self, word: &str) -> Result<(), JsonError> {
        self.scanner.expect(word)?;
        self.out.push_str(word);
        Ok(())
    }

    fn array(&mut self) -> Result<(), JsonError> {
        self.keyword("[")?;
        self.scanner.skip_whitespace();
        if self.scanner.peek() != Some(b']') {
            self.value()?;
            while self.scanner.take(",") {
                self.out.push(',');
                self.value()?;
            }
        }
        self.keyword("]")
    }

    fn object(&mut self) -> Result<(), JsonError> {
        self.keyword("{")?;
        let start = self.out.len();
        let mut members = Vec::new();
        self.scanner.skip_whitespace();
        if self.scanner.peek() != Some(b'}') {
            members.push(self.member()?);
            while self.scanner.take(",") {
                self.out.push(',');
                self.scanner.skip_whitespace();
                members.push(self.member()?);
            }
        }
        self.scanner.expect("}")?;
        self.arrange(start, members)?;
        self.out.push('}');
        Ok(())
    }

    fn member(&mut self) -> Result<Member<'a>, JsonError> {
        let (at, from) = (self.scanner.at(), self.out.len());
        let name = self.scanner.string()?;
        text::write(&mut self.out, &name);
        self.scanner.skip_whitespace();
        self.keyword(":")?;
        self.value()?;
        Ok(Member { name, at, span: from..self.out.len() })
    }

    /// Brings the members written since `start` into the order of their names.
    fn arrange(&mut self, start: usize, mut members: Vec<Member<'a>>) -> Result<(), JsonError> {
        if members.is_sorted_by(|one, next| by_utf16(one, next) == Ordering::Less) {
            return Ok(());
        }
        // Stable: of two members with one name, the later one stays behind.
        members.sort_by(by_utf16);
        let repeated = members.windows(2).filter(|pair| pair[0].name == pair[1].name);
        if let Some(at) = repeated.map(|pair| pair[1].at).min() {
            return Err(JsonError::DuplicateKey { at });
        }
        let mut body = String::with_capacity(self.out.len() - start);
        for member in members {
            body.push_str(if body.is_empty() { "" } else { "," });
            body.push_str(&self.out[member.span]);
        }
        self.out.truncate(start);
        self.out.push_str(&body);
        Ok(())
    }
}

/// RFC 8785, 3.2.3: names compare as arrays of UTF-16 code units, unlike UTF-8 bytes above U+FFFF.
fn by_utf16(one: &Member<'_>, other: &Member<'_>) -> Ordering {
    one.name.encode_utf16().cmp(other.name.encode_utf16())
}
