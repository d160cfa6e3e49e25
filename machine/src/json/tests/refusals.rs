//! What is no JSON, or not one value only. Each error with the offset that it names.

use alloc::format;
use alloc::string::ToString;

use super::canonical;
use crate::json::{CanonicalJson, JsonError};

/// A document with every kind of token.
const EVERYTHING: &str =
    r#" {"k\u00e9\ud83d\ude00":[1.50e-3,-12,true,false,null,"\"\\\/\b\f\n\r\té😀",{}],"a":[[]]} "#;

#[test]
fn a_document_cut_anywhere_is_refused() {
    let whole = EVERYTHING.trim_end().as_bytes();
    assert!(CanonicalJson::parse(whole).is_ok());
    for length in 0..whole.len() {
        let why = CanonicalJson::parse(&whole[..length]).unwrap_err();
        match why {
            JsonError::Utf8 { at } => assert!(at < length && length < at + 4),
            JsonError::Syntax { at } => assert!(at <= length, "{why:?} at {length}"),
            // The cut left a first half behind that looks whole.
            JsonError::LoneSurrogate { at } => assert_eq!(&whole[at..at + 2], b"\\u"),
            _ => panic!("{why:?} at {length}"),
        }
    }
}

#[test]
fn a_document_with_any_byte_changed_is_answered() {
    for at in 0..EVERYTHING.len() {
        for byte in 0..=u8::MAX {
            let mut bytes = EVERYTHING.as_bytes().to_vec();
            bytes[at] = byte;
            if let Ok(json) = CanonicalJson::parse(&bytes) {
                assert_eq!(CanonicalJson::from_canonical(json.as_str()), Ok(json));
            }
        }
    }
}

#[test]
fn json_error_syntax_names_the_offset() {
    let broken = [
        ("", 0),
        ("  ", 2),
        ("\u{feff}1", 0),
        ("nul", 0),
        ("nulL", 0),
        ("True", 0),
        ("'a'", 0),
        ("01", 1),
        ("-", 1),
        ("-a", 1),
        ("+1", 0),
        (".5", 0),
        ("1.", 2),
        ("1.e5", 2),
        ("1e", 2),
        ("1e+", 3),
        ("0x1", 1),
        ("[1,]", 3),
        ("[,1]", 1),
        ("[1 2]", 3),
        ("[1", 2),
        ("[1}", 2),
        ("{", 1),
        ("{,}", 1),
        ("{a:1}", 1),
        ("{1:1}", 1),
        ("{\"a\"}", 4),
        ("{\"a\":}", 5),
        ("{\"a\":1,}", 7),
        ("{\"a\" 1}", 5),
        ("{\"a\":1]", 6),
        ("\"a", 2),
        ("\"\\", 2),
        ("\"\\x\"", 2),
        ("\"\\u12\"", 5),
        ("\"\\u+123\"", 3),
        ("\"\\u00zz\"", 5),
        ("\"\t\"", 1),
        ("\"a\nb\"", 2),
        ("\"\u{0}\"", 1),
        ("\u{a0}1", 0),
        ("/**/1", 0),
    ];
    for (text, at) in broken {
        let why = canonical(text).unwrap_err();
        let trailing = JsonError::TrailingData { at };
        assert!(why == JsonError::Syntax { at } || why == trailing, "{text:?}: {why:?}");
    }
}

#[test]
fn json_error_syntax_refuses_every_bare_control_character_in_a_string() {
    for control in 0..0x20_u8 {
        let text = format!("\"{}\"", char::from(control));
        assert_eq!(canonical(&text), Err(JsonError::Syntax { at: 1 }), "{control:#x}");
    }
    assert_eq!(canonical("\"\u{7f}\"").as_deref(), Ok("\"\u{7f}\""));
}

#[test]
fn json_error_trailing_data_names_the_offset() {
    for (text, at) in
        [("1 1", 2), ("{} {}", 3), ("null,", 4), ("[]]", 2), ("\"a\"b", 3), ("1\0", 1)]
    {
        assert_eq!(canonical(text), Err(JsonError::TrailingData { at }), "{text:?}");
    }
}

#[test]
fn json_error_utf8_names_the_offset() {
    let broken: [&[u8]; 4] = [b"[\"\xff\"]", b"[\"\xc3", b"[\"\xed\xa0\x80\"]", b"[\"\xc0\xaf\"]"];
    for bytes in broken {
        assert_eq!(CanonicalJson::parse(bytes), Err(JsonError::Utf8 { at: 2 }), "{bytes:x?}");
    }
}

#[test]
fn json_error_duplicate_key_compares_names_after_their_escapes() {
    let repeated = [
        (r#"{"a":1,"a":1}"#, 7),
        (r#"{"a":1,"b":2,"\u0061":3}"#, 13),
        (r#"{"\u00e9":1,"é":2}"#, 12),
        (r#"{"\ud83d\ude00":1,"😀":2}"#, 18),
        (r#"{"/":1,"\/":2}"#, 7),
        (r#"{"":1,"":2}"#, 6),
        (r#"{"b":1,"a":1,"b":2,"a":2}"#, 13),
        (r#"{"z":{"a":1,"c":2,"a":3}}"#, 18),
        (r#"[0,{"a":1,"a":1,"a":1}]"#, 10),
    ];
    for (text, at) in repeated {
        assert_eq!(canonical(text), Err(JsonError::DuplicateKey { at }), "{text}");
    }
    let different = "{\"A\":1,\"a\":2,\"a \":3,\"\u{c5}\":4,\"A\u{30a}\":5}";
    assert!(canonical(different).is_ok());
    assert!(canonical(r#"[{"a":1},{"a":1},{"b":{"b":1}}]"#).is_ok());
}

#[test]
fn json_error_number_names_the_offset() {
    assert_eq!(canonical("{\"a\": 1e20}"), Err(JsonError::NumberOutOfRange { at: 6 }));
    assert_eq!(canonical("[0, -0.10000000000000001]"), Err(JsonError::NumberInexact { at: 4 }));
}

#[test]
fn json_error_not_canonical_is_asked_only_of_stored_text() {
    assert_eq!(CanonicalJson::from_canonical("1.0"), Err(JsonError::NotCanonical));
    assert_eq!(CanonicalJson::from_canonical("[1,"), Err(JsonError::Syntax { at: 3 }));
    assert!(CanonicalJson::parse(b"1.0").is_ok());
}

#[test]
fn case_mm_07_half_a_surrogate_pair_in_arguments_is_refused() {
    let lone = [
        (r#"{"name":"\ud99c"}"#, 9),
        (r#"{"\ud99c":1}"#, 2),
        (r#""\ud99c\u0041""#, 1),
        (r#""\ud99cA""#, 1),
        (r#""\ud99c\n""#, 1),
        (r#""\udc00""#, 1),
        (r#""\udfff\ud800""#, 1),
        (r#""ab\ud800\ud800\udc00""#, 3),
        (r#""\ud83d\ude00\ud83d""#, 13),
    ];
    for (text, at) in lone {
        assert_eq!(canonical(text), Err(JsonError::LoneSurrogate { at }), "{text}");
    }
    assert_eq!(canonical(r#""\ud83d\uDE00""#).as_deref(), Ok("\"😀\""));
    assert_eq!(canonical(r#""\ud800\udc00""#).as_deref(), Ok("\"\u{10000}\""));
    assert_eq!(canonical(r#""\udbff\udfff""#).as_deref(), Ok("\"\u{10ffff}\""));
    assert_eq!(canonical(r#""\uffff""#).as_deref(), Ok("\"\u{ffff}\""));
}

#[test]
fn each_error_says_what_is_wrong() {
    let said = [
        (JsonError::TooLarge, "a JSON document has at most 1048576 bytes"),
        (JsonError::Depth, "JSON is nested at most 64 deep"),
        (JsonError::Entries, "a JSON array or object has at most 4096 entries"),
        (JsonError::Nodes, "a JSON document has at most 65536 values"),
        (JsonError::Utf8 { at: 7 }, "the byte at offset 7 is not UTF-8"),
        (JsonError::Syntax { at: 7 }, "unexpected character or end at offset 7"),
        (JsonError::TrailingData { at: 7 }, "more data follows the JSON value at offset 7"),
        (
            JsonError::DuplicateKey { at: 7 },
            "the member at offset 7 has the name of an earlier one",
        ),
        (JsonError::LoneSurrogate { at: 7 }, "the escape at offset 7 is half of a surrogate pair"),
        (
            JsonError::NumberOutOfRange { at: 7 },
            "the whole number at offset 7 does not fit 64 bits",
        ),
        (JsonError::NumberInexact { at: 7 }, "the number at offset 7 would be rounded"),
        (JsonError::NotCanonical, "the JSON text is not in canonical form"),
    ];
    for (error, words) in said {
        assert_eq!(error.to_string(), words, "{error:?}");
    }
}
