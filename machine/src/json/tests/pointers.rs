//! Places in values: looked at, and taken out.

use alloc::vec::Vec;

use crate::agent::{Pointer, PointerError};
use crate::json::CanonicalJson;

fn json(text: &str) -> CanonicalJson {
    CanonicalJson::parse(text.as_bytes()).unwrap()
}

fn at(text: &str, place: &str) -> Option<alloc::string::String> {
    json(text).at(&Pointer::new(place).unwrap()).map(|found| found.as_str().into())
}

const VALUE: &str = r#"{"a/b":1,"list":[10,{"deep":"x,\"y\""},[],true],"m~n":2,"":3,"z":"end"}"#;

#[test]
fn sec_04_a_pointer_finds_what_rfc_6901_says() {
    let found = [
        ("/a~1b", "1"),
        ("/list/0", "10"),
        ("/list/1", r#"{"deep":"x,\"y\""}"#),
        ("/list/1/deep", r#""x,\"y\"""#),
        ("/list/2", "[]"),
        ("/list/3", "true"),
        ("/m~0n", "2"),
        ("/", "3"),
        ("/z", "\"end\""),
    ];
    for (place, expected) in found {
        assert_eq!(at(VALUE, place).as_deref(), Some(expected), "{place}");
    }
    assert_eq!(at(VALUE, "").as_deref(), Some(json(VALUE).as_str()));
}

#[test]
fn sec_04_a_pointer_to_nothing_finds_nothing() {
    let missing =
        ["/nope", "/list/4", "/list/01", "/list/-", "/list/+1", "/z/0", "/list/2/0", "/a/b"];
    for place in missing {
        assert_eq!(at(VALUE, place), None, "{place}");
    }
    assert_eq!((at("[]", "/0"), at("{}", "/a"), at("3", "/a")), (None, None, None));
}

#[test]
fn sec_04_a_text_that_is_no_pointer_is_refused() {
    for text in ["a", "/a~2", "/~", "a/b"] {
        assert_eq!(Pointer::new(text), Err(PointerError), "{text}");
    }
}

fn redacted(text: &str, places: &[&str]) -> alloc::string::String {
    let places: Vec<Pointer> = places.iter().map(|it| Pointer::new(it).unwrap()).collect();
    json(text).redacted(&places).as_str().into()
}

#[test]
fn sec_04_what_is_taken_out_is_gone_whole() {
    let card = r#"{"card":{"cvc":"123","number":"4111"},"sum":12}"#;
    assert_eq!(redacted(card, &["/card"]), r#"{"card":"[redacted]","sum":12}"#);
    let both = r#"{"card":{"cvc":"[redacted]","number":"4111"},"sum":"[redacted]"}"#;
    assert_eq!(redacted(card, &["/sum", "/card/cvc"]), both);
    let nested = redacted(card, &["/card/cvc", "/card", "/nope"]);
    assert_eq!(nested, r#"{"card":"[redacted]","sum":12}"#);
    assert_eq!(redacted(card, &[""]), "\"[redacted]\"");
}
