//! Printing: whole texts at once, colours only where somebody sees them.

use std::io::Write as _;

use anstyle::{AnsiColor, Style};

use crate::exit::{Complaint, Exit};

/// For what holds.
pub(crate) const GOOD: Style = AnsiColor::Green.on_default();
/// For what does not, and for what was broken on purpose.
pub(crate) const BAD: Style = AnsiColor::Red.on_default().bold();
/// For headings.
pub(crate) const HEAD: Style = Style::new().bold();
/// For what matters less.
pub(crate) const FAINT: Style = Style::new().dimmed();

/// A text in a style.
pub(crate) fn styled(style: Style, text: impl std::fmt::Display) -> String {
    format!("{style}{text}{style:#}")
}

/// Prints to standard output. A reader that has gone away has seen enough.
///
/// # Errors
/// Standard output cannot be written for any other reason.
pub(crate) fn print(text: &str) -> Result<(), Complaint> {
    let mut out = anstream::stdout().lock();
    match out.write_all(text.as_bytes()).and_then(|()| out.flush()) {
        Err(why) if why.kind() != std::io::ErrorKind::BrokenPipe => {
            Err(Complaint::new(Exit::Environment, format!("standard output: {why}")))
        }
        Ok(()) | Err(_) => Ok(()),
    }
}

/// Prints to standard error, if anybody listens.
pub(crate) fn complain(text: &str) {
    let text = text.strip_prefix("error: ").unwrap_or(text);
    let _ = writeln!(anstream::stderr(), "{}: {text}", styled(BAD, "error"));
}

/// Prints to standard error what is no complaint, if anybody listens.
pub(crate) fn note(text: &str) {
    let _ = writeln!(anstream::stderr(), "{text}");
}

/// A text of somebody else, on one line: what would break the line, move the cursor or turn the
/// direction of writing is spelled out, so that nothing in it looks like a line of ours.
pub(crate) fn one_line(text: &str) -> String {
    let mut line = String::with_capacity(text.len());
    for letter in text.chars() {
        if breaks(letter) {
            line.extend(letter.escape_default());
        } else {
            line.push(letter);
        }
    }
    line
}

/// Whether a letter does more than show itself.
pub(crate) fn breaks(letter: char) -> bool {
    let turns = matches!(letter, '\u{200e}' | '\u{200f}' | '\u{2028}'..='\u{202e}' | '\u{2066}'..='\u{2069}');
    letter.is_control() || turns || is_unseen(letter)
}

/// Whether nobody sees that a letter is there.
const fn is_unseen(letter: char) -> bool {
    matches!(
        letter,
        '\u{ad}'
            | '\u{34f}'
            | '\u{115f}'..='\u{1160}'
            | '\u{17b4}'..='\u{17b5}'
            | '\u{180b}'..='\u{180f}'
            | '\u{200b}'..='\u{200d}'
            | '\u{2060}'..='\u{2065}'
            | '\u{3164}'
            | '\u{fe00}'..='\u{fe0f}'
            | '\u{feff}'
            | '\u{ffa0}'
            | '\u{e0000}'..='\u{e0fff}'
    )
}

/// A number in groups of three digits.
pub(crate) fn grouped(number: u64) -> String {
    let digits = number.to_string();
    let mut text = String::new();
    for (at, digit) in digits.chars().enumerate() {
        if at > 0 && (digits.len() - at).is_multiple_of(3) {
            text.push(' ');
        }
        text.push(digit);
    }
    text
}

/// How many a second.
pub(crate) fn rate(number: u64, seconds: f64) -> u64 {
    if seconds > 0.0 { (number as f64 / seconds) as u64 } else { 0 }
}

/// `1 schedule`, `2 schedules`.
pub(crate) fn counted(number: u64, noun: &str) -> String {
    format!("{} {noun}{}", grouped(number), if number == 1 { "" } else { "s" })
}

#[cfg(test)]
mod tests {
    use super::{counted, grouped, one_line, rate};

    #[test]
    fn sec_07_what_somebody_else_says_stays_on_its_line() {
        let forged = "ok\n     7  epoch 1   SubmissionSettled\u{1b}[2K\u{202e}";
        let line = one_line(forged);
        assert_eq!(line, r"ok\n     7  epoch 1   SubmissionSettled\u{1b}[2K\u{202e}");
        assert_eq!(one_line("Grüße, \"ok\""), "Grüße, \"ok\"");
    }

    #[test]
    fn numbers_are_grouped_by_three() {
        let texts = [0, 12, 123, 1_234, 123_456, 1_234_567].map(grouped);
        assert_eq!(texts, ["0", "12", "123", "1 234", "123 456", "1 234 567"]);
        assert_eq!([counted(1, "world"), counted(2, "world")], ["1 world", "2 worlds"]);
        assert_eq!([rate(10, 2.0), rate(10, 0.0)], [5, 0]);
    }
}
