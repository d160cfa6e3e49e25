//! What it takes to judge a command grows with its bytes: counted, not timed.

use alloc::format;
use alloc::string::String;

use super::super::weigh::looks;
use super::*;
use crate::limits::{COMMAND_BYTES, COMMAND_FUNCTIONS};

/// A command as long as the guard reads, of this over and over.
fn full(start: &str, word: &str) -> String {
    format!("{start}{}", word.repeat((COMMAND_BYTES - start.len()) / word.len()))
}

#[test]
fn auth_09_each_word_of_a_hostile_command_is_looked_at_once() {
    for (start, word) in [
        ("sudo ", "rm "),
        ("sudo ", "-r "),
        ("xargs ", "dd of=x "),
        ("env ", "mv a "),
        ("find ", "-delete "),
        ("nice ", "kill "),
        ("rm ", "/a "),
        ("", "sudo rm;"),
        ("ls", "|sudo rm"),
    ] {
        let text = full(start, word);
        let words = text.split([' ', ';', '|']).filter(|word| !word.is_empty()).count();
        assert_eq!(looks(&text), words, "{start}{word}");
        assert_eq!(verdict(&text), Verdict::Prompt, "{start}{word}");
    }
}

/// What an interpreter is told is read once as a whole and once word by word.
#[test]
fn auth_09_whatever_is_within_a_command_is_looked_at_a_bounded_number_of_times() {
    for (start, word) in [
        ("sh ", "rm "),
        ("sh -c '", "sudo rm "),
        ("", "$(sudo rm) "),
        ("sh ", "$(sh rm) "),
        ("sudo sh ", "'rm rm' "),
        ("", "`sh rm` "),
        ("", "$("),
        ("", "<(sh "),
    ] {
        let text = full(start, word);
        assert!(looks(&text) <= 4 * COMMAND_BYTES, "{start}{word}: {}", looks(&text));
        assert!(verdict(&text) >= Verdict::Prompt);
    }
}

#[test]
fn case_gr_01_a_blocked_command_behind_any_number_of_words_is_found() {
    let last = " rm -rf /";
    for (start, word) in [("sudo ", "a "), ("sudo ", "rm "), ("xargs ", "-n1 "), ("env ", "A=1 ")] {
        let many = full(start, word);
        let text = format!("{}{last}", &many[..COMMAND_BYTES - last.len()]);
        assert_eq!(verdict(&text), Verdict::Block, "{start}{word}");
    }
    let lists = format!("{{rm,-rf,/}} {}", full("", "{a,b}"));
    assert_eq!(verdict(&lists[..COMMAND_BYTES]), Verdict::Block);
}

#[test]
fn auth_09_more_functions_than_anybody_follows_are_blocked() {
    let functions = |count: usize| {
        let each = |at: usize| format!("f{at}() {{ ls; }}; ");
        (0..count).map(each).collect::<String>()
    };
    assert_eq!(verdict(&functions(COMMAND_FUNCTIONS)), Verdict::Prompt);
    let more = judged(&functions(COMMAND_FUNCTIONS + 1));
    assert_eq!((more.verdict, more.reason), (Verdict::Block, Reason::TooDeep));
    let bomb = format!("{}b() {{ b | b & }}; b", functions(COMMAND_FUNCTIONS - 1));
    assert_eq!(judged(&bomb).reason, Reason::Stops);
}
