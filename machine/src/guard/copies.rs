//! Normalized copies of a command: what somebody sees in it, and what a shell makes of it.

use alloc::string::String;
use alloc::vec::Vec;

/// Whether a text holds characters that nobody sees and that change what is shown.
pub(super) fn is_hidden(text: &str) -> bool {
    let hides = |letter: char| {
        let is_kept = matches!(letter, '\n' | '\t');
        let turns = matches!(letter, '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}');
        (letter.is_control() && !is_kept) || turns
    };
    text.chars().any(hides)
}

/// The text itself, and what it may be taken for.
pub(super) fn of(text: &str) -> Vec<String> {
    let seen: String = text.chars().filter_map(seen).collect();
    let spread = spread(&seen);
    let mut copies = Vec::from([String::from(text), seen, spread]);
    copies.dedup();
    copies
}

/// The ASCII letter that one looks like; none for what is not seen at all.
fn seen(letter: char) -> Option<char> {
    Some(match letter {
        '\u{ff01}'..='\u{ff5e}' => shifted(letter, 0xff01, '!', 94),
        '\u{1d400}'..='\u{1d6a3}' => {
            let place = (u32::from(letter) - 0x1d400) % 52;
            let (from, offset) = if place < 26 { ('A', place) } else { ('a', place - 26) };
            char::from_u32(u32::from(from) + offset)?
        }
        '\u{a0}' | '\u{1680}' | '\u{2000}'..='\u{200a}' | '\u{202f}' | '\u{205f}' | '\u{3000}' => {
            ' '
        }
        '\u{85}' | '\u{2028}' | '\u{2029}' => '\n',
        '\u{ad}'
        | '\u{34f}'
        | '\u{180e}'
        | '\u{200b}'..='\u{200f}'
        | '\u{2060}'..='\u{2064}'
        | '\u{feff}'
        | '\u{300}'..='\u{34e}'
        | '\u{350}'..='\u{36f}'
        | '\u{fe00}'..='\u{fe0f}'
        | '\u{e0000}'..='\u{e007f}' => return None,
        'а' | 'α' | 'ɑ' => 'a',
        'в' => 'b',
        'с' | 'ϲ' | 'ⅽ' => 'c',
        'ԁ' | 'ⅾ' => 'd',
        'е' | 'ҽ' => 'e',
        'ɡ' => 'g',
        'һ' | 'н' => 'h',
        'і' | 'ı' | 'ι' | 'ⅰ' => 'i',
        'ј' => 'j',
        'к' | 'κ' => 'k',
        'ӏ' | 'ⅼ' => 'l',
        'м' | 'ⅿ' => 'm',
        'ո' | 'η' => 'n',
        'о' | 'ο' | 'օ' => 'o',
        'р' | 'ρ' => 'p',
        'ԛ' => 'q',
        'г' => 'r',
        'ѕ' | 'ſ' => 's',
        'т' | 'τ' => 't',
        'υ' | 'ս' => 'u',
        'ν' | 'ѵ' | 'ⅴ' => 'v',
        'ԝ' | 'ω' => 'w',
        'х' | 'χ' | 'ⅹ' => 'x',
        'у' | 'ү' => 'y',
        '∕' | '⁄' | '⧸' => '/',
        '‐' | '‑' | '‒' | '–' | '—' | '―' | '−' | '﹣' => '-',
        '\u{37e}' | '﹔' => ';',
        '∣' | 'ǀ' => '|',
        '∗' | '⁎' => '*',
        '․' => '.',
        '∼' | '˜' => '~',
        '‘' | '’' | 'ʹ' => '\'',
        '“' | '”' => '"',
        other => other,
    })
}

/// The letter as far from `to` as it is from `from`, if it is no further than `most`.
fn shifted(letter: char, from: u32, to: char, most: u32) -> char {
    let offset = (u32::from(letter) - from).min(most);
    char::from_u32(u32::from(to) + offset).unwrap_or(letter)
}

/// Blanks where a shell would find some, in the variable that separates words and between the words
/// in braces; and nothing where it would find nothing.
fn spread(text: &str) -> String {
    let mut spread = text.replace("${IFS}", " ").replace("$IFS", " ");
    for nothing in ["${@}", "$@", "${*}", "$*"] {
        spread = spread.replace(nothing, "");
    }
    braces(&spread)
}

/// A text whose lists in braces, those with a comma, are the words that a shell makes of them. Every
/// letter is looked at once.
fn braces(text: &str) -> String {
    let mut letters: Vec<Option<char>> = text.chars().map(Some).collect();
    // Commas that belong to braces which are open, and where each of these braces is.
    let (mut commas, mut open) = (Vec::new(), Vec::new());
    for (at, letter) in text.chars().enumerate() {
        match letter {
            '{' => open.push((at, commas.len())),
            ',' if !open.is_empty() => commas.push(at),
            '}' => {
                let Some((from, first)) = open.pop() else { continue };
                let own = commas.split_off(first);
                if own.is_empty() {
                    continue;
                }
                let turns = own.into_iter().map(|comma| (comma, Some(' ')));
                for (place, turned) in turns.chain([(from, None), (at, None)]) {
                    letters.get_mut(place).into_iter().for_each(|letter| *letter = turned);
                }
            }
            _ => {}
        }
    }
    letters.into_iter().flatten().collect()
}

#[cfg(test)]
mod tests {
    use super::braces;

    #[test]
    fn case_gr_01_lists_in_braces_are_the_words_that_a_shell_makes_of_them() {
        for (text, expected) in [
            ("{rm,-rf,/}", "rm -rf /"),
            ("{rm,{-rf,/}}", "rm -rf /"),
            ("{rm,{-rf},/}", "rm {-rf} /"),
            ("{a{b,c},d}", "ab c d"),
            ("{a{b,c}d}", "{ab cd}"),
            ("{ {a,b}", "{ a b"),
            ("{a,b}} {c", "a b} {c"),
            ("{a} {,}", "{a}  "),
            ("a,b", "a,b"),
            ("{\u{fc},b}", "\u{fc} b"),
        ] {
            assert_eq!(braces(text), expected, "{text}");
        }
    }
}
