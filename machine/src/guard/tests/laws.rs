use alloc::format;
use alloc::string::String;
use alloc::vec::Vec;

use proptest::prelude::*;

use super::*;

/// Texts that look like commands.
fn command() -> impl Strategy<Value = String> {
    let words = [
        "ls", "rm", "-rf", "/", "sh", "-c", "env", "eval", "A=1", "'", "\"", "`", "$(", ")", "{",
        "}", "&&", ";", "|", ">", "<<", "\\", "\n", "*", "$'\\x", "${", "#", "\u{440}", "a,b",
        "()",
    ];
    let word = prop::sample::select(Vec::from(words));
    let glue = prop_oneof![3 => Just(" "), 1 => Just("")];
    prop::collection::vec((word, glue), 0..24)
        .prop_map(|words| words.into_iter().flat_map(|(word, glue)| [word, glue]).collect())
}

proptest! {
    #[test]
    fn auth_09_any_text_is_judged(text in ".{0,200}", environment in any::<bool>()) {
        let environment = if environment { Environment::Explicit } else { Environment::Inherited };
        let judged = judge(&text, environment);
        prop_assert_eq!(judged.verdict == Verdict::Allow, judged.reason == Reason::ReadOnly);
        prop_assert!(judged.verdict > Verdict::Allow || environment == Environment::Inherited);
    }

    #[test]
    fn auth_09_only_plain_words_are_let_through(text in command()) {
        let judged = judged(&text);
        if judged.verdict == Verdict::Allow {
            prop_assert!(judged.is_resolved && text.is_ascii());
            let mut quote = None;
            let bare: String = text.chars().filter(|letter| match (quote, letter) {
                (None, '\'' | '"') => { quote = Some(*letter); false }
                (Some(open), letter) => { if open == *letter { quote = None; } false }
                (None, _) => true,
            }).collect();
            let steers = |letter: char| ";&|()<>$`*{}#".contains(letter);
            prop_assert!(!bare.trim().contains(steers), "{}", bare);
        }
    }

    #[test]
    fn case_gr_01_what_stands_beside_a_blocked_command_does_not_free_it(
        before in prop::collection::vec("[a-z]{1,6}", 0..4),
        after in prop::collection::vec("[a-z]{1,6}", 0..4),
        joint in prop::sample::select(Vec::from(["; ", " && ", " | ", "\n", " & ", " || "])),
    ) {
        let text = format!("{}{joint}rm -rf /{joint}{}", before.join(" "), after.join(" "));
        prop_assert_eq!(verdict(&text), Verdict::Block);
    }

    #[test]
    fn auth_09_the_worse_of_two_verdicts_is_their_least_upper_bound(
        one in command(), two in command(), three in command(),
    ) {
        let (one, two, three) = (judged(&one), judged(&two), judged(&three));
        prop_assert_eq!(one.worse(one), one);
        prop_assert_eq!(one.worse(two).verdict, two.worse(one).verdict);
        prop_assert_eq!(one.worse(two).worse(three), one.worse(two.worse(three)));
        prop_assert!(one.worse(two).verdict >= one.verdict);
        prop_assert!(one.is_resolved || !one.worse(two).is_resolved);
    }
}
