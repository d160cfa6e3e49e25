//! Random JSON, in every notation that the grammar allows.

use alloc::collections::BTreeMap;
use alloc::format;
use alloc::string::{String, ToString};
use alloc::vec::Vec;

use proptest::prelude::*;

/// How many cases a property of this folder is tried on.
pub(super) fn cases(cases: u32) -> ProptestConfig {
    ProptestConfig { cases, failure_persistence: None, ..ProptestConfig::default() }
}

/// A document before it is spelled. Numbers are literals; names may repeat.
#[derive(Clone, Debug)]
pub(super) enum Json {
    Word(&'static str),
    Number(String),
    Text(String),
    Array(Vec<Json>),
    Object(Vec<(String, Json)>),
}

/// Choices of notation, used in turn and over again.
#[derive(Clone, Debug)]
pub(super) struct Style {
    choices: Vec<u8>,
    used: usize,
}

pub(super) fn style() -> impl Strategy<Value = Style> {
    prop::collection::vec(any::<u8>(), 1..32).prop_map(|choices| Style { choices, used: 0 })
}

impl Style {
    fn choose(&mut self, options: u8) -> u8 {
        self.used += 1;
        self.choices[self.used % self.choices.len()] % options
    }
}

impl Json {
    pub(super) fn render(&self, mut style: Style) -> String {
        let mut out = String::new();
        self.write(&mut out, &mut style);
        out
    }

    fn write(&self, out: &mut String, style: &mut Style) {
        space(out, style);
        match self {
            Self::Word(word) => out.push_str(word),
            Self::Number(literal) => out.push_str(literal),
            Self::Text(text) => write_text(out, text, style),
            Self::Array(items) => {
                out.push('[');
                for (index, item) in items.iter().enumerate() {
                    out.push_str(if index == 0 { "" } else { "," });
                    item.write(out, style);
                }
                out.push(']');
            }
            Self::Object(members) => {
                out.push('{');
                for (index, (name, value)) in members.iter().enumerate() {
                    out.push_str(if index == 0 { "" } else { "," });
                    space(out, style);
                    write_text(out, name, style);
                    space(out, style);
                    out.push(':');
                    value.write(out, style);
                }
                out.push('}');
            }
        }
        space(out, style);
    }
}

fn space(out: &mut String, style: &mut Style) {
    out.push_str(["", "", "", " ", "\n  ", "\r\n\t"][usize::from(style.choose(6))]);
}

fn write_text(out: &mut String, text: &str, style: &mut Style) {
    out.push('"');
    for letter in text.chars() {
        let short = match letter {
            '"' | '\\' => Some(letter),
            '/' => Some('/').filter(|_| style.choose(2) == 0),
            '\u{8}' => Some('b'),
            '\u{c}' => Some('f'),
            '\n' => Some('n'),
            '\r' => Some('r'),
            '\t' => Some('t'),
            _ => None,
        };
        match (short, style.choose(4)) {
            (Some(short), 0..=2) => out.extend(['\\', short]),
            (None, 0..=2) if !letter.is_ascii_control() => out.push(letter),
            (_, choice) => {
                for unit in letter.encode_utf16(&mut [0; 2]) {
                    let lower = format!("\\u{unit:04x}");
                    let upper = format!("\\u{unit:04X}");
                    out.push_str(if choice == 3 { &lower } else { &upper });
                }
            }
        }
    }
    out.push('"');
}

pub(super) fn text() -> impl Strategy<Value = String> {
    prop_oneof![
        "[a-z]{0,4}",
        prop::collection::vec(any::<char>(), 0..6).prop_map(String::from_iter),
        // On both sides of where UTF-16 and UTF-8 order differ.
        "[\u{d7ff}\u{e000}\u{fb33}\u{ffff}\u{10000}\u{10ffff}]{1,2}",
    ]
}

/// Finite doubles: any bits; few bits behind the point, where two shortest texts can lie equally
/// near; and both neighbours of a power of two, where the gaps are uneven.
pub(super) fn double() -> impl Strategy<Value = f64> {
    let halves = (1_u64 << 46..1 << 53, 1_i32..9);
    let powers = (1_u64..2046, -1_i64..=1);
    let any = prop_oneof![
        any::<u64>().prop_map(f64::from_bits),
        halves.prop_map(|(whole, bits)| whole as f64 / f64::from(1 << bits)),
        powers.prop_map(|(power, off)| f64::from_bits((power << 52).wrapping_add_signed(off))),
    ];
    any.prop_filter("finite", |double| double.is_finite())
}

/// Literals of every notation, crowded where doubles, 64-bit integers and notations meet.
pub(super) fn number() -> impl Strategy<Value = String> {
    let edges = [1_i128 << 53, 1 << 63, 1 << 64, 0, 1_000_000_000_000_000_000_000];
    let near = (prop::sample::select(edges.to_vec()), -3_i128..=3, any::<bool>());
    let near =
        near.prop_map(|(edge, off, negative)| if negative { -edge + off } else { edge + off });
    prop_oneof![
        any::<i64>().prop_map(|whole| whole.to_string()),
        any::<u64>().prop_map(|whole| whole.to_string()),
        near.clone().prop_map(|whole| whole.to_string()),
        near.prop_map(|whole| format!("{whole}.0")),
        double().prop_map(|double| format!("{double:e}")),
        double().prop_map(|double| format!("{double}")),
        (-9999_i32..=9999, -25_i32..=25).prop_map(|(digits, power)| format!("{digits}E{power}")),
        (-999_i32..=999, 0_u32..=9999).prop_map(|(whole, part)| format!("{whole}.{part}")),
        "-?(0|[1-9][0-9]{0,22})(\\.[0-9]{1,22})?([eE][+-]?[0-9]{1,3})?",
    ]
}

fn scalar() -> impl Strategy<Value = Json> {
    prop_oneof![
        prop::sample::select(["null", "true", "false"].to_vec()).prop_map(Json::Word),
        number().prop_map(Json::Number),
        text().prop_map(Json::Text),
    ]
}

pub(super) fn json() -> impl Strategy<Value = Json> {
    scalar().prop_recursive(4, 24, 5, |inner| {
        prop_oneof![
            prop::collection::vec(inner.clone(), 0..5).prop_map(Json::Array),
            prop::collection::vec((text(), inner), 0..5).prop_map(Json::Object),
        ]
    })
}

/// Members of an object without repeated names.
pub(super) fn object() -> impl Strategy<Value = Vec<(String, Json)>> {
    let members = prop::collection::vec((text(), json()), 1..8);
    members
        .prop_map(|members| members.into_iter().collect::<BTreeMap<_, _>>().into_iter().collect())
}

/// Texts that are JSON, nearly JSON, and made of its letters only.
pub(super) fn any_text() -> impl Strategy<Value = String> {
    let whole = (json(), style()).prop_map(|(json, style)| json.render(style)).boxed();
    let letter =
        prop::sample::select("[]{}\",:\\0159.eE+-untf 'a\u{1}é".chars().collect::<Vec<_>>());
    let edit = (any::<prop::sample::Index>(), prop::option::of(letter));
    let broken = (whole.clone(), prop::collection::vec(edit, 1..4)).prop_map(|(whole, edits)| {
        let mut letters: Vec<char> = whole.chars().collect();
        for (index, letter) in edits {
            let at = index.index(letters.len() + 1);
            match letter {
                Some(letter) => letters.insert(at, letter),
                None => drop(letters.splice(at..letters.len().min(at + 1), [])),
            }
        }
        letters.into_iter().collect()
    });
    let escapes = "\"(\\\\u[dD][89a-fA-F][0-9a-f]{2}|\\\\u00[0-9a-f]{2}|a){1,4}\"";
    let soup = "[\\[\\]{}\",:0-9eE+.\\-\\\\ a-fntu]{0,16}";
    prop_oneof![4 => whole, 4 => broken, 1 => escapes, 1 => soup]
}
