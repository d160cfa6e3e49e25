//! The number rule, held against decimal arithmetic on text.

use alloc::format;
use alloc::string::{String, ToString};
use alloc::vec::Vec;

use proptest::prelude::*;

use super::documents::{cases, double, number};
use super::oracle::outside_strings;
use super::{canonical, digest};
use crate::json::JsonError;

/// A decimal value in its one form: digits without zeros at either end, times a power of ten.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Value {
    negative: bool,
    digits: String,
    pub(super) exponent: i64,
}

impl Value {
    /// The value, where it is whole and fits.
    pub(super) fn whole(&self) -> Option<i128> {
        let zeros = "0".repeat(usize::try_from(self.exponent).ok()?.min(64));
        let digits = format!("0{}{zeros}", self.digits);
        digits.parse().ok().map(|whole: i128| if self.negative { -whole } else { whole })
    }
}

pub(super) fn value_of(literal: &str) -> Value {
    let (mantissa, power) = literal.split_once(['e', 'E']).unwrap_or((literal, "0"));
    // What does not fit decides by its sign alone, whatever the digits are.
    let power: i64 =
        power.parse().unwrap_or(if power.starts_with('-') { -1 << 40 } else { 1 << 40 });
    let (whole, fraction) = mantissa.split_once('.').unwrap_or((mantissa, ""));
    let all = format!("{}{fraction}", whole.trim_start_matches('-'));
    let significant = all.trim_end_matches('0');
    if significant.is_empty() {
        return Value { negative: false, digits: String::new(), exponent: 0 };
    }
    let exponent = power - fraction.len() as i64 + (all.len() - significant.len()) as i64;
    let digits = significant.trim_start_matches('0').to_string();
    Value { negative: whole.starts_with('-'), digits, exponent }
}

/// The number literals of a document, as far as it is one.
pub(super) fn literals(text: &str) -> Vec<&str> {
    let mut found = Vec::new();
    let mut end = 0;
    for (at, byte) in outside_strings(text) {
        if at >= end && matches!(byte, b'-' | b'0'..=b'9') {
            end = at + literal_length(&text[at..]);
            found.push(&text[at..end]);
        }
    }
    found
}

fn literal_length(text: &str) -> usize {
    let digits = |at: usize| text[at..].bytes().take_while(u8::is_ascii_digit).count();
    let mut end = usize::from(text.starts_with('-'));
    end += digits(end);
    if text[end..].starts_with('.') && digits(end + 1) > 0 {
        end += 1 + digits(end + 1);
    }
    if text[end..].starts_with(['e', 'E']) {
        let sign = usize::from(text[end + 1..].starts_with(['+', '-']));
        let size = digits(end + 1 + sign);
        end += if size > 0 { 1 + sign + size } else { 0 };
    }
    end
}

#[test]
fn whole_numbers_are_exact_up_to_64_bits_in_any_notation() {
    let kept = [
        ("9223372036854775807", "9223372036854775807"),
        ("-9223372036854775808", "-9223372036854775808"),
        ("18446744073709551615", "18446744073709551615"),
        ("9007199254740993", "9007199254740993"),
        ("9007199254740993.0", "9007199254740993"),
        ("-9007199254740993.000e0", "-9007199254740993"),
        ("900719925474099.3e1", "9007199254740993"),
        ("90071992547409930e-1", "9007199254740993"),
        ("1e19", "10000000000000000000"),
        ("0.0000000001e10", "1"),
        ("1.0", "1"),
        ("1e2", "100"),
        ("-0", "0"),
        ("-0.0e-9", "0"),
    ];
    for (literal, expected) in kept {
        assert_eq!(canonical(literal).as_deref(), Ok(expected), "{literal}");
    }
    let refused = [
        "18446744073709551616",
        "-9223372036854775809",
        "18446744073709551615.0e1",
        "1e20",
        "1e21",
        "1E30",
        "1e400",
        "-1e400",
        "1e99999999999999999999",
        "100000000000000000000",
        "340282366920938463463374607431768211456",
        "9223372036854775808000e-2",
    ];
    for literal in refused {
        let expected = JsonError::NumberOutOfRange { at: 1 };
        assert_eq!(canonical(&format!("[{literal}]")), Err(expected), "{literal}");
    }
}

#[test]
fn fractions_are_kept_where_a_double_prints_as_their_value() {
    let kept = [
        ("0.1", "0.1"),
        ("0.10", "0.1"),
        ("-1e-1", "-0.1"),
        ("4.50", "4.5"),
        ("0.000001", "0.000001"),
        ("0.0000001", "1e-7"),
        ("15e-8", "1.5e-7"),
        ("-0.0000033333333333333333", "-0.0000033333333333333333"),
        ("1424953923781206.2", "1424953923781206.2"),
        ("5e-324", "5e-324"),
        // A power of two: the nearest text of this length is below it, and another double's.
        ("5.684341886080802e-14", "5.684341886080802e-14"),
        ("2.2250738585072014e-308", "2.2250738585072014e-308"),
    ];
    for (literal, expected) in kept {
        assert_eq!(canonical(literal).as_deref(), Ok(expected), "{literal}");
    }
    let refused = [
        "0.1000000000000000055511151231257827",
        "0.10000000000000001",
        "333333333.33333329",
        "9007199254740993.5",
        "4.9e-324",
        // Equally near to one double as the even text that it prints as.
        "1424953923781206.3",
        "1e-400",
        "1e-99999999999999999999",
        "0.30000000000000001",
        "123456789012345678901234567890.5",
        "18446744073709551615.5",
    ];
    for literal in refused {
        let expected = JsonError::NumberInexact { at: 2 };
        assert_eq!(canonical(&format!("[ {literal}]")), Err(expected), "{literal}");
    }
}

#[test]
fn a_number_of_a_megabyte_is_answered() {
    let digits = "7".repeat(1024 * 1024);
    assert_eq!(canonical(&digits), Err(JsonError::NumberOutOfRange { at: 0 }));
    let zeros = format!("0.{}1e1000001", "0".repeat(1_000_000));
    assert_eq!(canonical(&zeros).as_deref(), Ok("1"));
    let fraction = format!("1.{}", "3".repeat(1_000_000));
    assert_eq!(canonical(&fraction), Err(JsonError::NumberInexact { at: 0 }));
}

/// Two numbers of 64 bits, signed or not, far apart or close together.
fn integers() -> impl Strategy<Value = (i128, i128)> {
    let range = i128::from(i64::MIN)..=i128::from(u64::MAX);
    let step = prop_oneof![-3_i128..=3, -(1_i128 << 64)..=1 << 64];
    (range.clone(), step)
        .prop_map(move |(one, step)| (one, (one + step).clamp(*range.start(), *range.end())))
}

proptest! {
    #![proptest_config(cases(512))]

    #[test]
    fn distinct_integers_have_distinct_digests((one, other) in integers()) {
        prop_assert_eq!(canonical(&one.to_string()), Ok(one.to_string()));
        prop_assert_eq!(canonical(&other.to_string()), Ok(other.to_string()));
        let equal = digest(&one.to_string()) == digest(&other.to_string());
        prop_assert_eq!(equal, one == other);
    }

    #[test]
    fn neighbours_beyond_the_doubles_have_distinct_digests(one in (1_u64 << 53)..u64::MAX) {
        prop_assert_eq!(canonical(&format!("{one}.0")), Ok(one.to_string()));
        prop_assert_ne!(digest(&one.to_string()), digest(&(one + 1).to_string()));
    }

    #[test]
    fn an_accepted_literal_keeps_its_value(literal in number()) {
        if let Ok(text) = canonical(&literal) {
            prop_assert_eq!(value_of(&text), value_of(&literal));
        }
    }

    #[test]
    fn every_double_with_a_fraction_is_accepted_as_it_prints(double in double()) {
        let text = serde_json_canonicalizer::to_string(&double).unwrap();
        if value_of(&text).exponent >= 0 {
            return Ok(());
        }
        prop_assert_eq!(canonical(&text), Ok(text.clone()));
        prop_assert_eq!(text.parse::<f64>().unwrap().to_bits(), double.to_bits());
        // Every other text of the same double is refused: it would be rounded.
        for digits in 0..20 {
            let other = format!("{double:.digits$e}");
            let same = value_of(&other) == value_of(&text);
            if other.parse() == Ok(double) && value_of(&other).exponent < 0 {
                let inexact = Err(JsonError::NumberInexact { at: 0 });
                let expected = if same { Ok(text.clone()) } else { inexact };
                prop_assert_eq!(canonical(&other), expected, "{}", other);
            }
        }
    }

    #[test]
    fn two_spellings_have_one_text_exactly_when_they_have_one_value(
        literal in number(),
        shift in 0_i64..40,
        zeros in 0_usize..4,
    ) {
        let (mantissa, power) = literal.split_once(['e', 'E']).unwrap_or((&literal, "0"));
        let power: i64 = power.parse().unwrap();
        let point = if mantissa.contains('.') { "" } else { "." };
        let zeros = "0".repeat(zeros + 1);
        let longer = format!("{mantissa}{point}{zeros}e{power}");
        prop_assert_eq!(canonical(&literal), canonical(&longer));
        let moved = format!("{mantissa}e{}", power - shift);
        if let (Ok(one), Ok(other)) = (canonical(&literal), canonical(&moved)) {
            prop_assert_eq!(one == other, value_of(&literal) == value_of(&moved));
        }
    }
}
