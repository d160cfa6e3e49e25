//! The number rule: a literal is kept by its exact decimal value, or refused.
//!
//! A literal is brought to *significant digits × ten to an exponent*, where the digits begin and
//! end with one that is not zero. That form is unique to a value, so whatever is computed from it
//! is the same for every spelling. The only use of floating point is to ask whether a double
//! prints as exactly these digits (RFC 8785, 3.2.2.3); reading and printing doubles is `core`'s,
//! correctly rounded and the same everywhere.

use alloc::format;
use alloc::string::{String, ToString};

use super::JsonError;

/// No double needs more to be told from its neighbours.
const DOUBLE_DIGITS: usize = 17;
/// Decimal digits of 2⁶⁴ − 1.
const INTEGER_DIGITS: i64 = 20;

/// A number as it stands in the text.
pub(super) struct Literal<'a> {
    /// Offset of the first character.
    pub(super) at: usize,
    pub(super) negative: bool,
    /// Digits before the point.
    pub(super) whole: &'a str,
    /// Digits after the point, or none.
    pub(super) fraction: &'a str,
    /// Power of ten; capped, far beyond what decides anything.
    pub(super) exponent: i64,
}

/// Writes the canonical text of a literal.
pub(super) fn write(out: &mut String, literal: &Literal<'_>) -> Result<(), JsonError> {
    let Some(decimal) = Decimal::of(literal) else {
        out.push('0');
        return Ok(());
    };
    let text = if decimal.exponent >= 0 {
        decimal.whole().ok_or(JsonError::NumberOutOfRange { at: literal.at })?
    } else {
        decimal.fractional().ok_or(JsonError::NumberInexact { at: literal.at })?
    };
    if literal.negative {
        out.push('-');
    }
    out.push_str(&text);
    Ok(())
}

/// The value of a literal other than zero, its sign aside.
struct Decimal<'a> {
    literal: &'a Literal<'a>,
    /// Zeros before the first significant digit.
    leading: usize,
    /// Significant digits, at least one.
    count: usize,
    /// Power of ten of the last significant digit.
    exponent: i64,
}

impl<'a> Decimal<'a> {
    /// None where the value is zero.
    fn of(literal: &'a Literal<'a>) -> Option<Self> {
        let total = literal.whole.len() + literal.fraction.len();
        let leading = digits(literal).take_while(|digit| *digit == b'0').count();
        if leading == total {
            return None;
        }
        let trailing = digits(literal).rev().take_while(|digit| *digit == b'0').count();
        let exponent = literal.exponent - literal.fraction.len() as i64 + trailing as i64;
        Some(Self { literal, leading, count: total - leading - trailing, exponent })
    }

    /// The significant digits as one number; only asked where they are few.
    fn significand(&self) -> u128 {
        let significant = digits(self.literal).skip(self.leading).take(self.count);
        significant.fold(0, |sum, digit| sum * 10 + u128::from(digit - b'0'))
    }

    /// The power of ten of the first significant digit, plus one: how many digits stand before
    /// the point, or with a minus sign how many zeros stand behind it.
    const fn point(&self) -> i64 {
        self.exponent + self.count as i64
    }

    /// Plain digits of a whole value; none where it does not fit 64 bits.
    fn whole(&self) -> Option<String> {
        if self.point() > INTEGER_DIGITS {
            return None;
        }
        let value = self.significand() * 10_u128.pow(u32::try_from(self.exponent).ok()?);
        let largest = if self.literal.negative { 1 << 63 } else { u128::from(u64::MAX) };
        (value <= largest).then(|| value.to_string())
    }

    /// ECMAScript's text of a value with a fraction; none where no double prints as this value.
    fn fractional(&self) -> Option<String> {
        if self.count > DOUBLE_DIGITS {
            return None;
        }
        let digits = self.significand().to_string();
        let scientific = scientific(&digits, self.point() - 1);
        let double: f64 = scientific.parse().ok()?;
        (printed(double) == scientific).then(|| layout(&digits, self.point(), scientific))
    }
}

/// What ECMAScript prints for a double, in scientific notation.
///
/// `core` finds as few digits as ECMAScript does. Where two texts of that length lie equally near,
/// ECMAScript wants the even one (RFC 8785, appendix B), which is what `core` gives when it rounds
/// to a set number of digits; next to a power of two that one may be another double's, though.
fn printed(double: f64) -> String {
    let shortest = format!("{double:e}");
    let significant = shortest.bytes().take_while(|byte| *byte != b'e');
    let decimals = significant.filter(u8::is_ascii_digit).count().saturating_sub(1);
    let rounded = format!("{double:.decimals$e}");
    if rounded.parse() == Ok(double) { rounded } else { shortest }
}

fn digits(literal: &Literal<'_>) -> impl DoubleEndedIterator<Item = u8> {
    literal.whole.bytes().chain(literal.fraction.bytes())
}

/// `1e-7`, `1.5e-7`: what both `core` and ECMAScript print for small values.
fn scientific(digits: &str, exponent: i64) -> String {
    let (first, rest) = digits.split_at(1);
    let point = if rest.is_empty() { "" } else { "." };
    format!("{first}{point}{rest}e{exponent}")
}

/// `Number::toString` for a value with a fraction (ECMA-262, 6.1.6.1.20).
fn layout(digits: &str, point: i64, scientific: String) -> String {
    match usize::try_from(point) {
        Ok(0) => format!("0.{digits}"),
        Ok(point) => {
            let (whole, fraction) = digits.split_at(point);
            format!("{whole}.{fraction}")
        }
        Err(_) if point > -6 => {
            let zeros = "0".repeat(point.unsigned_abs() as usize);
            format!("0.{zeros}{digits}")
        }
        Err(_) => scientific,
    }
}
