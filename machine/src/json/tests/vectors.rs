//! The vectors that RFC 8785 and its reference implementation publish.
//!
//! Where the number rule refuses a published literal the test says so, and shows the published
//! bytes for the rest of the document.

use alloc::string::String;
use alloc::vec::Vec;

use super::canonical;
use crate::json::JsonError;

/// Section 3.2.2, also the reference file `values.json`.
const SAMPLE: &str = r#"{
  "numbers": [333333333.33333329, 1E30, 4.50,
              2e-3, 0.000000000000000000000000001],
  "string": "\u20ac$\u000F\u000aA'\u0042\u0022\u005c\\\"\/",
  "literals": [null, true, false]
}"#;

fn bytes(hex: &str) -> Vec<u8> {
    let pairs = hex.split_whitespace();
    pairs.map(|pair| u8::from_str_radix(pair, 16).expect("two hexadecimal digits")).collect()
}

#[test]
fn rfc_8785_section_3_2_the_sample_object() {
    // Two of its numbers fall under the number rule: one would be rounded, one needs 100 bits.
    let at = SAMPLE.find("333333333.33333329").unwrap();
    assert_eq!(canonical(SAMPLE), Err(JsonError::NumberInexact { at }));
    let printed = SAMPLE.replace("333333333.33333329", "333333333.3333333");
    let at = printed.find("1E30").unwrap();
    assert_eq!(canonical(&printed), Err(JsonError::NumberOutOfRange { at }));
    // Everything else is the published text (3.2.4), byte for byte.
    let expected = bytes(
        "7b 22 6c 69 74 65 72 61 6c 73 22 3a 5b 6e 75 6c 6c 2c 74 72
         75 65 2c 66 61 6c 73 65 5d 2c 22 6e 75 6d 62 65 72 73 22 3a
         5b 33 33 33 33 33 33 33 33 33 2e 33 33 33 33 33 33 33 2c 31
         65 2b 33 30 2c 34 2e 35 2c 30 2e 30 30 32 2c 31 65 2d 32 37
         5d 2c 22 73 74 72 69 6e 67 22 3a 22 e2 82 ac 24 5c 75 30 30
         30 66 5c 6e 41 27 42 5c 22 5c 5c 5c 5c 5c 22 2f 22 7d",
    );
    let expected = String::from_utf8(expected).unwrap();
    let without = canonical(&printed.replace(" 1E30,", "")).unwrap();
    assert_eq!(without, expected.replace("1e+30,", ""));
}

#[test]
fn rfc_8785_section_3_2_3_names_sort_by_utf_16_code_units() {
    let input = r#"{
  "\u20ac": "Euro Sign",
  "\r": "Carriage Return",
  "\ufb33": "Hebrew Letter Dalet With Dagesh",
  "1": "One",
  "\ud83d\ude00": "Emoji: Grinning Face",
  "\u0080": "Control",
  "\u00f6": "Latin Small Letter O With Diaeresis"
}"#;
    let expected = "{\"\\r\":\"Carriage Return\",\"1\":\"One\",\"\u{80}\":\"Control\",\
        \"ö\":\"Latin Small Letter O With Diaeresis\",\"€\":\"Euro Sign\",\
        \"😀\":\"Emoji: Grinning Face\",\"\u{fb33}\":\"Hebrew Letter Dalet With Dagesh\"}";
    assert_eq!(canonical(input).as_deref(), Ok(expected));
}

/// Appendix B: the bits of a double, its ECMAScript text, and whether the number rule keeps it.
const APPENDIX_B: [(u64, &str, bool); 24] = [
    (0x0000_0000_0000_0000, "0", true),
    (0x8000_0000_0000_0000, "-0", true),
    (0x0000_0000_0000_0001, "5e-324", true),
    (0x8000_0000_0000_0001, "-5e-324", true),
    (0x7fef_ffff_ffff_ffff, "1.7976931348623157e+308", false),
    (0xffef_ffff_ffff_ffff, "-1.7976931348623157e+308", false),
    (0x4340_0000_0000_0000, "9007199254740992", true),
    (0xc340_0000_0000_0000, "-9007199254740992", true),
    (0x4430_0000_0000_0000, "295147905179352830000", false),
    (0x44b5_2d02_c7e1_4af5, "9.999999999999997e+22", false),
    (0x44b5_2d02_c7e1_4af6, "1e+23", false),
    (0x44b5_2d02_c7e1_4af7, "1.0000000000000001e+23", false),
    (0x444b_1ae4_d6e2_ef4e, "999999999999999700000", false),
    (0x444b_1ae4_d6e2_ef4f, "999999999999999900000", false),
    (0x444b_1ae4_d6e2_ef50, "1e+21", false),
    (0x3eb0_c6f7_a0b5_ed8c, "9.999999999999997e-7", true),
    (0x3eb0_c6f7_a0b5_ed8d, "0.000001", true),
    (0x41b3_de43_5555_5553, "333333333.3333332", true),
    (0x41b3_de43_5555_5554, "333333333.33333325", true),
    (0x41b3_de43_5555_5555, "333333333.3333333", true),
    (0x41b3_de43_5555_5556, "333333333.3333334", true),
    (0x41b3_de43_5555_5557, "333333333.33333343", true),
    (0xbecb_f647_612f_3696, "-0.0000033333333333333333", true),
    (0x4314_3ff3_c1cb_0959, "1424953923781206.2", true),
];

#[test]
fn rfc_8785_appendix_b_numbers_print_as_published() {
    for (bits, text, kept) in APPENDIX_B {
        assert_eq!(text.parse::<f64>().unwrap().to_bits(), bits, "{text}");
        let expected = match (text, kept) {
            // The appendix prints the double -0 as 0.
            ("-0", _) => Ok("0"),
            (_, true) => Ok(text),
            (_, false) => Err(JsonError::NumberOutOfRange { at: 0 }),
        };
        assert_eq!(canonical(text).as_deref(), expected.as_ref().copied(), "{text}");
    }
    for none in ["NaN", "Infinity", "-Infinity"] {
        assert!(matches!(canonical(none), Err(JsonError::Syntax { .. })), "{none}");
    }
}

#[test]
fn reference_arrays() {
    let input = "[\r\n  56,\r\n  {\r\n    \"d\": true,\r\n    \"10\": null,\r\n    \"1\": [ ]\r\n  }\r\n]\r\n";
    assert_eq!(canonical(input).as_deref(), Ok(r#"[56,{"1":[],"10":null,"d":true}]"#));
}

#[test]
fn reference_french() {
    let input = r#"{
  "peach": "This sorting order",
  "péché": "is wrong according to French",
  "pêche": "but canonicalization MUST",
  "sin":   "ignore locale"
}
"#;
    let expected = r#"{"peach":"This sorting order","péché":"is wrong according to French","pêche":"but canonicalization MUST","sin":"ignore locale"}"#;
    assert_eq!(canonical(input).as_deref(), Ok(expected));
}

#[test]
fn reference_structures() {
    let input = r#"{
  "1": {"f": {"f": "hi","F": 5} ,"\n": 56.0},
  "10": { },
  "": "empty",
  "a": { },
  "111": [ {"e": "yes","E": "no" } ],
  "A": { }
}"#;
    let expected = r#"{"":"empty","1":{"\n":56,"f":{"F":5,"f":"hi"}},"10":{},"111":[{"E":"no","e":"yes"}],"A":{},"a":{}}"#;
    assert_eq!(canonical(input).as_deref(), Ok(expected));
}

#[test]
fn reference_unicode() {
    let input = "{\r\n  \"Unnormalized Unicode\":\"A\\u030a\"\r\n}\r\n";
    assert_eq!(canonical(input).as_deref(), Ok("{\"Unnormalized Unicode\":\"A\u{30a}\"}"));
}

#[test]
fn reference_weird() {
    let input = r#"{
  "\u20ac": "Euro Sign",
  "\r": "Carriage Return",
  "\u000a": "Newline",
  "1": "One",
  "\u0080": "Control\u007f",
  "\ud83d\ude02": "Smiley",
  "\u00f6": "Latin Small Letter O With Diaeresis",
  "\ufb33": "Hebrew Letter Dalet With Dagesh",
  "</script>": "Browser Challenge"
}
"#;
    let expected = "{\"\\n\":\"Newline\",\"\\r\":\"Carriage Return\",\"1\":\"One\",\
        \"</script>\":\"Browser Challenge\",\"\u{80}\":\"Control\u{7f}\",\
        \"ö\":\"Latin Small Letter O With Diaeresis\",\"€\":\"Euro Sign\",\"😂\":\"Smiley\",\
        \"\u{fb33}\":\"Hebrew Letter Dalet With Dagesh\"}";
    assert_eq!(canonical(input).as_deref(), Ok(expected));
}
