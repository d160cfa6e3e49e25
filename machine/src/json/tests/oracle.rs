//! Every input gives the bytes of an independent canonicalizer, or falls into a listed class.
//!
//! The classes are [`Verdict`]. Each is justified for the very input by arithmetic on decimal
//! text that shares nothing with the code under test; whatever fits no class fails the test.

use alloc::collections::BTreeMap;
use alloc::string::{String, ToString};
use alloc::vec::Vec;

use proptest::prelude::*;
use proptest::strategy::ValueTree;
use proptest::test_runner::TestRunner;
use serde_json_canonicalizer::pipe;

use super::documents::{any_text, cases};
use super::numbers::{Value, literals, value_of};
use crate::json::{CanonicalJson, JsonError};

/// How this module and the oracle compare on one input.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Verdict {
    /// Both accept, with the same bytes.
    SameBytes,
    /// Both accept; a whole number beyond 2⁵³ is rounded there and exact here.
    WholeNumberKept,
    /// Neither takes it for JSON.
    BothRefuse,
    /// A whole number that does not fit 64 bits is refused here.
    NumberOutOfRange,
    /// A fraction that the oracle rounds is refused here.
    NumberInexact,
    /// A repeated name, of which the oracle silently keeps the last, is refused here.
    DuplicateKey,
    /// A bound is over.
    OverBounds,
}

fn verdict(text: &str) -> Verdict {
    let theirs = pipe(text);
    match (CanonicalJson::parse(text.as_bytes()), &theirs) {
        (Ok(ours), Ok(theirs)) => same_but_for_whole_numbers(text, ours.as_str(), theirs),
        (Ok(ours), Err(why)) => {
            panic!("{text:?} is refused by the oracle ({why}), not as {ours:?}")
        }
        (Err(why), _) => refused(text, why, theirs.ok()),
    }
}

fn same_but_for_whole_numbers(text: &str, ours: &str, theirs: &str) -> Verdict {
    let values = |text| {
        let mut values: Vec<Value> = literals(text).into_iter().map(value_of).collect();
        values.sort();
        values
    };
    assert_eq!(values(text), values(ours), "{text:?} keeps every number");
    if ours == theirs {
        return Verdict::SameBytes;
    }
    let mut rounded = String::new();
    let mut rest = ours;
    for literal in literals(ours) {
        let at = literal.as_ptr() as usize - rest.as_ptr() as usize;
        rounded.push_str(&rest[..at]);
        rest = &rest[at + literal.len()..];
        let beyond = literal.parse::<i128>().is_ok_and(|whole| whole.unsigned_abs() > 1 << 53);
        rounded.push_str(&if beyond { pipe(literal).unwrap() } else { literal.to_string() });
    }
    rounded.push_str(rest);
    assert_eq!(rounded, theirs, "{text:?} differs in nothing but whole numbers beyond 2^53");
    Verdict::WholeNumberKept
}

fn refused(text: &str, why: JsonError, theirs: Option<String>) -> Verdict {
    match why {
        JsonError::Syntax { .. }
        | JsonError::TrailingData { .. }
        | JsonError::LoneSurrogate { .. } => {
            assert_eq!(theirs, None, "{text:?} is refused as {why:?}");
            Verdict::BothRefuse
        }
        JsonError::NumberOutOfRange { at } => {
            let value = value_of(literal_at(text, at));
            let fits = value.whole().is_some_and(|whole| {
                (i128::from(i64::MIN)..=i128::from(u64::MAX)).contains(&whole)
            });
            assert!(value.exponent >= 0 && !fits, "{text:?} at {at} is out of range");
            Verdict::NumberOutOfRange
        }
        JsonError::NumberInexact { at } => {
            let literal = literal_at(text, at);
            let value = value_of(literal);
            assert!(value.exponent < 0, "{text:?} at {at} has a fraction");
            assert_ne!(value_of(&pipe(literal).unwrap()), value, "{text:?} at {at} is rounded");
            Verdict::NumberInexact
        }
        JsonError::DuplicateKey { at } => {
            assert_eq!(text.as_bytes()[at], b'"');
            let members = |text| outside_strings(text).filter(|(_, byte)| *byte == b':').count();
            if let Some(theirs) = theirs {
                assert!(members(&theirs) < members(text), "{text:?} repeats a name");
            }
            Verdict::DuplicateKey
        }
        JsonError::Depth | JsonError::Entries | JsonError::Nodes | JsonError::TooLarge => {
            Verdict::OverBounds
        }
        JsonError::Utf8 { .. } | JsonError::NotCanonical => {
            panic!("{why:?} cannot come from a text that is parsed")
        }
    }
}

/// Bytes that are not part of a string, with their offsets.
pub(super) fn outside_strings(text: &str) -> impl Iterator<Item = (usize, u8)> {
    let mut inside = false;
    let mut escaped = false;
    text.bytes().enumerate().filter(move |(_, byte)| {
        let plain = !inside && *byte != b'"';
        match (inside, escaped, byte) {
            (true, true, _) => escaped = false,
            (true, false, b'\\') => escaped = true,
            (_, _, b'"') => inside = !inside,
            _ => {}
        }
        plain
    })
}

fn literal_at(text: &str, at: usize) -> &str {
    let found = literals(text).into_iter().find(|it| it.as_ptr() == text[at..].as_ptr());
    found.unwrap_or_else(|| panic!("{text:?} has a number at {at}"))
}

#[test]
fn the_classes_of_difference_are_these() {
    let deep = "[".repeat(65) + &"]".repeat(65);
    let listed = [
        (Verdict::SameBytes, r#"{"b":[1.0,-0.0,1e-7,"\u00e9\/"],"a":{"":null}}"#),
        (Verdict::SameBytes, "9007199254740992"),
        (Verdict::WholeNumberKept, "9007199254740993"),
        (Verdict::WholeNumberKept, "[-9223372036854775808, 18446744073709551615.0]"),
        (Verdict::BothRefuse, ""),
        (Verdict::BothRefuse, "[1,]"),
        (Verdict::BothRefuse, "1 1"),
        (Verdict::BothRefuse, "\"\\ud99c\""),
        (Verdict::BothRefuse, "NaN"),
        (Verdict::NumberOutOfRange, "18446744073709551616"),
        (Verdict::NumberOutOfRange, "-9223372036854775809"),
        (Verdict::NumberOutOfRange, "1e30"),
        (Verdict::NumberOutOfRange, "1e400"),
        (Verdict::NumberInexact, "333333333.33333329"),
        (Verdict::NumberInexact, "1e-400"),
        (Verdict::DuplicateKey, r#"{"a":1,"a":1}"#),
        (Verdict::OverBounds, &deep),
    ];
    for (expected, text) in listed {
        assert_eq!(verdict(text), expected, "{text}");
    }
}

#[test]
fn random_texts_reach_every_class_but_the_bounds() {
    let mut runner = TestRunner::deterministic();
    let mut seen = BTreeMap::new();
    for _ in 0..6_000 {
        let text = any_text().new_tree(&mut runner).unwrap().current();
        *seen.entry(verdict(&text)).or_insert(0) += 1;
    }
    let classes = [
        Verdict::SameBytes,
        Verdict::WholeNumberKept,
        Verdict::BothRefuse,
        Verdict::NumberOutOfRange,
        Verdict::NumberInexact,
        Verdict::DuplicateKey,
    ];
    assert_eq!(seen.keys().copied().collect::<Vec<_>>(), classes, "{seen:?}");
    assert!(seen.values().all(|count| *count >= 20), "{seen:?}");
}

proptest! {
    #![proptest_config(cases(1_024))]

    #[test]
    fn any_text_is_canonicalized_like_the_oracle_or_differs_by_rule(text in any_text()) {
        verdict(&text);
    }
}
