//! What a scalar without quotes is: the core schema of YAML 1.2, and of its numbers those that JSON
//! spells in the same way. `no`, `on` and dates are texts.

use std::borrow::Cow;

use super::Beyond;
use crate::scenario::tree::{Node, Whole};

/// The value of a plain scalar.
pub(super) fn node(text: Cow<'_, str>) -> Result<Node<'_>, Beyond> {
    match text.as_ref() {
        "" | "~" | "null" | "Null" | "NULL" => return Ok(Node::Null),
        "true" | "True" | "TRUE" => return Ok(Node::Flag(true)),
        "false" | "False" | "FALSE" => return Ok(Node::Flag(false)),
        ".nan" | ".NaN" | ".NAN" => return Ok(Node::Float(text)),
        _ => {}
    }
    for (prefix, radix) in [("0o", 8), ("0x", 16)] {
        if let Some(digits) = text.strip_prefix(prefix)
            && !digits.is_empty()
            && digits.chars().all(|digit| digit.is_digit(radix))
        {
            return Ok(Node::Whole(Whole { digits: digits.to_owned().into(), radix }));
        }
    }
    let unsigned = text.strip_prefix(['+', '-']).unwrap_or(&text);
    if matches!(unsigned, ".inf" | ".Inf" | ".INF") {
        return Ok(Node::Float(text));
    }
    let Some(number) = Number::of(unsigned) else { return Ok(Node::Text(text)) };
    let is_padded = number.whole.len() > 1 && number.whole.starts_with('0');
    if number.whole.is_empty() || is_padded || number.fraction == Some("") {
        return Err(Beyond::Number { text: text.into_owned() });
    }
    Ok(if number.fraction.is_none() && !number.has_exponent {
        Node::Whole(Whole { digits: text, radix: 10 })
    } else {
        Node::Float(text)
    })
}

/// A number without its sign, in decimal.
struct Number<'a> {
    whole: &'a str,
    fraction: Option<&'a str>,
    has_exponent: bool,
}

impl<'a> Number<'a> {
    /// The parts of a number, if the core schema takes the text for one.
    fn of(text: &'a str) -> Option<Self> {
        let is_digits = |text: &str| text.bytes().all(|byte| byte.is_ascii_digit());
        let (mantissa, exponent) = match text.split_once(['e', 'E']) {
            Some((mantissa, exponent)) => (mantissa, Some(exponent)),
            None => (text, None),
        };
        if let Some(exponent) = exponent {
            let digits = exponent.strip_prefix(['+', '-']).unwrap_or(exponent);
            if digits.is_empty() || !is_digits(digits) {
                return None;
            }
        }
        let (whole, fraction) = match mantissa.split_once('.') {
            Some((whole, fraction)) => (whole, Some(fraction)),
            None => (mantissa, None),
        };
        let has_digits = !whole.is_empty() || fraction.is_some_and(|digits| !digits.is_empty());
        let is_number = has_digits && is_digits(whole) && fraction.is_none_or(is_digits);
        is_number.then_some(Self { whole, fraction, has_exponent: exponent.is_some() })
    }
}
