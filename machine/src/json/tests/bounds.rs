//! Each bound holds at its limit and refuses one more, before anything is parsed.

use alloc::format;
use alloc::string::String;
use alloc::vec;
use alloc::vec::Vec;

use super::canonical;
use crate::json::{CanonicalJson, JsonError};
use crate::limits::{JSON_BYTES, JSON_DEPTH, JSON_ENTRIES, JSON_NODES};

fn arrays(depth: usize) -> String {
    "[".repeat(depth) + &"]".repeat(depth)
}

fn objects(depth: usize) -> String {
    r#"{"a":"#.repeat(depth - 1) + "{}" + &"}".repeat(depth - 1)
}

fn array_of(items: &[String]) -> String {
    format!("[{}]", items.join(","))
}

#[test]
fn depth_is_bounded() {
    for nested in [arrays, objects] {
        let text = nested(JSON_DEPTH);
        assert_eq!(canonical(&text).as_deref(), Ok(&*text));
        assert_eq!(canonical(&nested(JSON_DEPTH + 1)).err(), Some(JsonError::Depth));
    }
    // Brackets in strings and siblings are no nesting.
    let flat = array_of(&vec![format!("\"{}\\\"[\"", "[{".repeat(99)); 99]);
    assert_eq!(canonical(&flat).as_deref(), Ok(&*flat));
}

#[test]
fn entries_of_a_collection_are_bounded() {
    let items = |count: usize| (0..count).map(|it| format!("{it}")).collect::<Vec<_>>();
    let members = |count: usize| (0..count).map(|it| format!("\"{it}\":0")).collect::<Vec<_>>();
    assert!(canonical(&array_of(&items(JSON_ENTRIES))).is_ok());
    assert_eq!(canonical(&array_of(&items(JSON_ENTRIES + 1))).err(), Some(JsonError::Entries));
    let object = |count| format!("{{{}}}", members(count).join(" , "));
    assert!(canonical(&object(JSON_ENTRIES)).is_ok());
    assert_eq!(canonical(&object(JSON_ENTRIES + 1)).err(), Some(JsonError::Entries));
    for first in ["\"\"", "null", "[]", "{}", " -1"] {
        let items = |count| array_of(&vec![first.into(); count]);
        assert!(canonical(&items(JSON_ENTRIES)).is_ok(), "{first}");
        let why = canonical(&items(JSON_ENTRIES + 1)).err();
        assert_eq!(why, Some(JsonError::Entries), "{first}");
    }
    // Counted for each collection by itself.
    let two = array_of(&vec![array_of(&items(JSON_ENTRIES)); 2]);
    assert!(canonical(&two).is_ok());
}

#[test]
fn values_of_a_document_are_bounded() {
    // One document of 255 arrays with 256 values each: 1 + 255 * 257.
    let mut rows = vec![array_of(&vec!["0".into(); 256]); 255];
    assert_eq!(1 + rows.len() * 257, JSON_NODES);
    assert!(canonical(&array_of(&rows)).is_ok());
    rows.push("0".into());
    assert_eq!(canonical(&array_of(&rows)).err(), Some(JsonError::Nodes));
    // Names are no values: members count once.
    let members = (0..256).map(|it| format!("\"{it}\":{{}}")).collect::<Vec<_>>().join(",");
    let mut rows = vec![format!("{{{members}}}"); 255];
    assert!(canonical(&array_of(&rows)).is_ok());
    rows.push("{}".into());
    assert_eq!(canonical(&array_of(&rows)).err(), Some(JsonError::Nodes));
}

#[test]
fn bytes_are_bounded_before_and_after() {
    let quoted = |length: usize| format!("\"{}\"", "x".repeat(length - 2));
    assert!(canonical(&quoted(JSON_BYTES)).is_ok());
    assert_eq!(canonical(&quoted(JSON_BYTES + 1)).err(), Some(JsonError::TooLarge));
    assert_eq!(canonical(&format!("{}1", " ".repeat(JSON_BYTES))).err(), Some(JsonError::TooLarge));
    // Small on the wire, over the bound once every exponent is written out.
    let grown = array_of(&vec![array_of(&vec!["1e19".into(); 255]); 200]);
    assert!(grown.len() < JSON_BYTES / 2);
    assert_eq!(canonical(&grown).err(), Some(JsonError::TooLarge));
}

#[test]
fn a_string_value_is_bounded_with_its_escapes() {
    let plain = "x".repeat(JSON_BYTES - 2);
    assert!(CanonicalJson::string(&plain).is_ok());
    assert_eq!(CanonicalJson::string(&(plain + "x")).err(), Some(JsonError::TooLarge));
    let escaped = "\u{1}".repeat(JSON_BYTES / 6 + 1);
    assert_eq!(CanonicalJson::string(&escaped).err(), Some(JsonError::TooLarge));
    let raw = "x".repeat(JSON_BYTES + 1);
    assert_eq!(CanonicalJson::string(&raw).err(), Some(JsonError::TooLarge));
}

#[test]
fn hostile_nesting_is_refused_without_parsing() {
    for opening in ["[", r#"{"a":"#, r#"[{"a":"#, "[[],"] {
        let text: String = opening.repeat(1_000_000).chars().take(1_000_000).collect();
        assert_eq!(canonical(&text).err(), Some(JsonError::Depth), "{opening}");
    }
    // The bound is found although the text is no JSON from its first byte on.
    assert_eq!(canonical(&format!("x{}", arrays(JSON_DEPTH + 1))).err(), Some(JsonError::Depth));
    assert_eq!(canonical(&"]".repeat(1_000_000)), Err(JsonError::Syntax { at: 0 }));
    assert_eq!(canonical(&",".repeat(1_000_000)), Err(JsonError::Syntax { at: 0 }));
}
