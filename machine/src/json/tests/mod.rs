//! Canonical JSON against its specification, against an oracle, and against hostile input.

mod bounds;
mod documents;
mod numbers;
mod oracle;
mod pointers;
mod refusals;
mod vectors;

use alloc::format;
use alloc::string::{String, ToString};
use alloc::vec::Vec;

use proptest::prelude::*;

use super::{CanonicalJson, JsonError};
use crate::digest::Digest;
use documents::{Json, cases, json, object, style};

/// The canonical text of `text`, or why there is none.
fn canonical(text: &str) -> Result<String, JsonError> {
    CanonicalJson::parse(text.as_bytes()).map(|json| json.as_str().to_string())
}

fn digest(text: &str) -> Digest {
    CanonicalJson::parse(text.as_bytes()).expect(text).digest()
}

#[test]
fn case_id_05_variants_of_equal_json_have_one_digest() {
    let families: [&[&str]; 6] = [
        &[r#"{"a":1,"b":[true,null]}"#, "{\"b\" : [ true,\r\n\tnull ] , \"a\" : 1}"],
        &["100", "100.0", "1e2", "1E+2", "1000e-1", "0.1e3", "100.000e0"],
        &["0", "-0", "0.0", "-0.0", "0e5", "-0E-400", "0.000e99999999999999999999"],
        &["0.002", "2e-3", "0.0020", "20E-4"],
        &["\"é/\"", r#""\u00e9\/""#, r#""\u00E9/""#],
        &[r#"{"😀":"\n","a":""}"#, r#"{"\u0061":"","\ud83d\ude00":"\u000a"}"#],
    ];
    for family in families {
        for variant in family {
            assert_eq!(canonical(variant), canonical(family[0]), "{variant}");
            assert_eq!(digest(variant), digest(family[0]), "{variant}");
        }
    }
}

#[test]
fn case_id_05_different_json_has_different_digests() {
    let different = [
        "null",
        "false",
        "true",
        "0",
        "1",
        "-1",
        "0.1",
        "\"\"",
        "\"0\"",
        "\"null\"",
        "[]",
        "{}",
        "[0]",
        "[1,2]",
        "[2,1]",
        "[[1],2]",
        "[[1,2]]",
        r#"{"a":1}"#,
        r#"{"a":"1"}"#,
        r#"{"A":1}"#,
        r#"{"a":null}"#,
        "9007199254740992",
        "9007199254740993",
        "18446744073709551615",
        "18446744073709551614",
        "0.30000000000000004",
        "0.3",
        // One letter on a screen, two different texts: nothing is normalized.
        "\"\u{c5}\"",
        "\"A\u{30a}\"",
    ];
    for (index, one) in different.iter().enumerate() {
        for other in &different[index + 1..] {
            assert_ne!(digest(one), digest(other), "{one} and {other}");
        }
    }
}

#[test]
fn the_digest_is_under_its_own_domain_and_never_changes() {
    let json = CanonicalJson::parse(br#"{"amount":12,"to":"ada"}"#).unwrap();
    assert_eq!(json.digest(), Digest::of("everstep/json", json.as_str().as_bytes()));
    assert_eq!(
        format!("{}", json.digest()),
        "e32b51cdfa0dec65484d8f0914fa47261d726d7192226ce5b3e89b7dded367ad"
    );
}

#[test]
fn a_string_value_is_the_quoted_text() {
    let hostile = "\u{0}\u{1f}\u{7f}\"\\/\u{8}\u{c}\n\r\t\u{2028}\u{ffff}😀";
    let json = CanonicalJson::string(hostile).unwrap();
    let expected = "\"\\u0000\\u001f\u{7f}\\\"\\\\/\\b\\f\\n\\r\\t\u{2028}\u{ffff}😀\"";
    assert_eq!(json.as_str(), expected);
    assert_eq!(CanonicalJson::parse(expected.as_bytes()), Ok(json));
}

#[test]
fn cloning_shares_the_text() {
    let json = CanonicalJson::string("shared").unwrap();
    assert!(core::ptr::eq(json.as_str(), json.clone().as_str()));
}

#[test]
fn arc_09_stored_json_is_read_back_only_in_canonical_form() {
    let json = CanonicalJson::parse(br#"{"b":2,"a":[1.50,"\u00e9"]}"#).unwrap();
    let stored = postcard::to_allocvec(&json).unwrap();
    assert_eq!(stored, postcard::to_allocvec(json.as_str()).unwrap());
    assert_eq!(postcard::from_bytes::<CanonicalJson>(&stored), Ok(json));
    let deep = "[".repeat(65) + &"]".repeat(65);
    for other in [" 1", "1.0", "-0", r#"{"b":1,"a":2}"#, r#""\u0041""#, "[1", "", "1 1", &deep] {
        let stored = postcard::to_allocvec(other).unwrap();
        assert!(postcard::from_bytes::<CanonicalJson>(&stored).is_err(), "{other}");
        assert!(CanonicalJson::from_canonical(other).is_err(), "{other}");
    }
}

proptest! {
    #![proptest_config(cases(256))]

    #[test]
    fn canonical_text_is_its_own_canonical_text(json in json(), style in style()) {
        let source = json.render(style);
        if let Ok(once) = canonical(&source) {
            prop_assert_eq!(canonical(&once), Ok(once.clone()), "from {}", source);
            prop_assert!(CanonicalJson::from_canonical(&once).is_ok());
        }
    }

    #[test]
    fn notation_and_order_of_members_do_not_matter(
        members in object(),
        (one, other) in (style(), style()),
        moves in prop::collection::vec(any::<prop::sample::Index>(), 8),
    ) {
        let mut shuffled = members.clone();
        for (at, to) in moves.iter().enumerate().take(members.len()) {
            shuffled.swap(at, to.index(members.len()));
        }
        let first = canonical(&Json::Object(members).render(one)).ok();
        prop_assert_eq!(first, canonical(&Json::Object(shuffled).render(other)).ok());
    }

    #[test]
    fn any_text_survives_as_a_string(text in any::<Vec<char>>()) {
        let text: String = text.into_iter().collect();
        let json = CanonicalJson::string(&text).unwrap();
        prop_assert_eq!(CanonicalJson::from_canonical(json.as_str()), Ok(json));
    }

    #[test]
    fn any_bytes_are_answered(bytes in any::<Vec<u8>>()) {
        if let Ok(json) = CanonicalJson::parse(&bytes) {
            prop_assert_eq!(CanonicalJson::from_canonical(json.as_str()), Ok(json));
        }
    }
}
