//! The tokens of JSON, each with its offset.

use alloc::borrow::Cow;

use super::JsonError;
use super::number::Literal;

/// Larger than the exponent of any number that a bounded document can bring back into range.
const EXPONENT_CAP: i64 = 1 << 40;

/// Reads tokens from the front of a text. `at` always stands on a character boundary.
pub(super) struct Scanner<'a> {
    text: &'a str,
    at: usize,
}

impl<'a> Scanner<'a> {
    pub(super) const fn new(text: &'a str) -> Self {
        Self { text, at: 0 }
    }

    pub(super) const fn at(&self) -> usize {
        self.at
    }

    /// The next byte, left in place.
    pub(super) fn peek(&self) -> Option<u8> {
        self.text.as_bytes().get(self.at).copied()
    }

    pub(super) fn skip_whitespace(&mut self) {
        self.run(|byte| matches!(byte, b' ' | b'\t' | b'\n' | b'\r'));
    }

    /// Takes an ASCII text if it comes next.
    pub(super) fn take(&mut self, expected: &str) -> bool {
        let found = self.text.as_bytes()[self.at..].starts_with(expected.as_bytes());
        self.at += if found { expected.len() } else { 0 };
        found
    }

    /// Takes an ASCII text that must come next.
    pub(super) fn expect(&mut self, expected: &str) -> Result<(), JsonError> {
        if self.take(expected) { Ok(()) } else { Err(self.unexpected()) }
    }

    pub(super) const fn unexpected(&self) -> JsonError {
        JsonError::Syntax { at: self.at }
    }

    /// Takes bytes as long as `wanted` holds; it must hold for all bytes of a character or none.
    fn run(&mut self, wanted: impl Fn(u8) -> bool) -> &'a str {
        let rest = &self.text[self.at..];
        let length = rest.bytes().position(|byte| !wanted(byte)).unwrap_or(rest.len());
        self.at += length;
        &rest[..length]
    }

    /// Takes a string and reads its escapes.
    pub(super) fn string(&mut self) -> Result<Cow<'a, str>, JsonError> {
        self.expect("\"")?;
        let mut whole = Cow::Borrowed("");
        loop {
            whole += self.run(|byte| !matches!(byte, b'"' | b'\\' | 0..=0x1f));
            match self.peek() {
                Some(b'"') => {
                    self.at += 1;
                    return Ok(whole);
                }
                Some(b'\\') => {
                    let escaped = self.escape()?;
                    whole.to_mut().push(escaped);
                }
                // A bare control character, or the end.
                Some(_) | None => return Err(self.unexpected()),
            }
        }
    }

    fn escape(&mut self) -> Result<char, JsonError> {
        let start = self.at;
        self.expect("\\")?;
        let plain = match self.peek() {
            Some(byte @ (b'"' | b'\\' | b'/')) => char::from(byte),
            Some(b'b') => '\u{8}',
            Some(b'f') => '\u{c}',
            Some(b'n') => '\n',
            Some(b'r') => '\r',
            Some(b't') => '\t',
            Some(b'u') => return self.unicode_escape(start),
            Some(_) | None => return Err(self.unexpected()),
        };
        self.at += 1;
        Ok(plain)
    }

    fn unicode_escape(&mut self, start: usize) -> Result<char, JsonError> {
        self.expect("u")?;
        let lead = self.four_hex_digits()?;
        if let Some(plain) = char::from_u32(lead) {
            return Ok(plain);
        }
        let lone = JsonError::LoneSurrogate { at: start };
        if lead >= 0xdc00 || !self.take("\\u") {
            return Err(lone);
        }
        let trail = self.four_hex_digits()?;
        if !(0xdc00..=0xdfff).contains(&trail) {
            return Err(lone);
        }
        char::from_u32(0x1_0000 + ((lead - 0xd800) << 10) + (trail - 0xdc00)).ok_or(lone)
    }

    fn four_hex_digits(&mut self) -> Result<u32, JsonError> {
        let mut unit = 0;
        for _ in 0..4 {
            let digit = self.peek().and_then(|byte| char::from(byte).to_digit(16));
            unit = (unit << 4) | digit.ok_or(self.unexpected())?;
            self.at += 1;
        }
        Ok(unit)
    }

    /// Takes a number literal without judging its value.
    pub(super) fn number(&mut self) -> Result<Literal<'a>, JsonError> {
        let at = self.at;
        let negative = self.take("-");
        let whole = if self.peek() == Some(b'0') {
            self.at += 1;
            "0"
        } else {
            self.digits()?
        };
        let fraction = if self.take(".") { self.digits()? } else { "" };
        let exponent = if self.take("e") || self.take("E") { self.exponent()? } else { 0 };
        Ok(Literal { at, negative, whole, fraction, exponent })
    }

    fn exponent(&mut self) -> Result<i64, JsonError> {
        let negative = self.take("-");
        if !negative {
            self.take("+");
        }
        let size = self
            .digits()?
            .bytes()
            .fold(0, |size, digit| EXPONENT_CAP.min(size * 10 + i64::from(digit - b'0')));
        Ok(if negative { -size } else { size })
    }

    fn digits(&mut self) -> Result<&'a str, JsonError> {
        let digits = self.run(|byte| byte.is_ascii_digit());
        if digits.is_empty() { Err(self.unexpected()) } else { Ok(digits) }
    }
}
