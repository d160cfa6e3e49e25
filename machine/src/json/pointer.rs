//! Looking at one place of a value, and taking places out of it (SEC-04).
//!
//! Canonical text spells every value in one way, so places are found by comparing bytes; nothing
//! is parsed again.

use alloc::string::String;
use alloc::vec::Vec;
use core::ops::Range;

use super::{CanonicalJson, text};
use crate::agent::Pointer;

/// What stands where something was taken out.
const REDACTED: &str = "\"[redacted]\"";

impl CanonicalJson {
    /// The value at a place; none if the place is not there.
    #[must_use]
    pub fn at(&self, place: &Pointer) -> Option<Self> {
        let range = find(self.as_str(), place)?;
        Some(Self(self.as_str()[range].into()))
    }

    /// The content, if the value is a string.
    #[must_use]
    pub fn as_text(&self) -> Option<String> {
        let mut scanner = super::scan::Scanner::new(self.as_str());
        scanner.string().ok().map(alloc::borrow::Cow::into_owned)
    }

    /// The value with other words at these places, whatever stood there. Places that are not there
    /// are no harm; what lies within another place goes with it.
    #[must_use]
    pub fn redacted(&self, places: &[Pointer]) -> Self {
        let mut ranges: Vec<Range<usize>> =
            places.iter().filter_map(|place| find(self.as_str(), place)).collect();
        if ranges.is_empty() {
            return self.clone();
        }
        ranges.sort_unstable_by_key(|range| (range.start, core::cmp::Reverse(range.end)));
        let (mut kept, mut from) = (String::with_capacity(self.as_str().len()), 0);
        for range in ranges.into_iter().filter(|range| range.start < range.end) {
            if range.start < from {
                continue;
            }
            kept.push_str(&self.as_str()[from..range.start]);
            kept.push_str(REDACTED);
            from = range.end;
        }
        kept.push_str(&self.as_str()[from..]);
        // Many tiny values can grow over the bound: then nothing is shown at all.
        Self::bounded(kept).unwrap_or_else(|_| Self(REDACTED.into()))
    }
}

/// Where a place lies in a canonical text.
fn find(json: &str, place: &Pointer) -> Option<Range<usize>> {
    let mut at = 0;
    for token in place.as_str().split('/').skip(1) {
        let token = token.replace("~1", "/").replace("~0", "~");
        at = match json.as_bytes().get(at)? {
            b'{' => member(json, at + 1, &token)?,
            b'[' => element(json, at + 1, &token)?,
            _ => return None,
        };
    }
    Some(at..end(json, at))
}

fn member(json: &str, mut at: usize, name: &str) -> Option<usize> {
    let mut quoted = String::with_capacity(name.len() + 2);
    text::write(&mut quoted, name);
    while json.as_bytes().get(at)? == &b'"' {
        let colon = end(json, at);
        if json[at..colon] == quoted {
            return Some(colon + 1);
        }
        at = end(json, colon + 1);
        if json.as_bytes().get(at)? == &b'}' {
            return None;
        }
        at += 1;
    }
    None
}

fn element(json: &str, mut at: usize, index: &str) -> Option<usize> {
    let plain = index == "0" || (!index.starts_with(['0', '+', '-']) && !index.is_empty());
    let index: usize = index.parse().ok().filter(|_| plain)?;
    for _ in 0..index {
        if json.as_bytes().get(at)? == &b']' {
            return None;
        }
        at = end(json, at);
        if json.as_bytes().get(at)? != &b',' {
            return None;
        }
        at += 1;
    }
    (json.as_bytes().get(at)? != &b']').then_some(at)
}

/// Where the value that begins here ends.
fn end(json: &str, from: usize) -> usize {
    let bytes = json.as_bytes();
    let (mut at, mut depth, mut quoted) = (from, 0_usize, false);
    while let Some(byte) = bytes.get(at) {
        match (quoted, byte) {
            (true, b'\\') => at += 1,
            (true, b'"') => quoted = false,
            (true, _) => {}
            (false, b'"') => quoted = true,
            (false, b'{' | b'[') => depth += 1,
            (false, b'}' | b']') if depth == 0 => return at,
            (false, b'}' | b']') => depth -= 1,
            (false, b',' | b':') if depth == 0 => return at,
            (false, _) => {}
        }
        at += 1;
        let closed = matches!(byte, b'}' | b']' | b'"');
        if closed && depth == 0 && !quoted {
            return at;
        }
    }
    at.min(bytes.len())
}
