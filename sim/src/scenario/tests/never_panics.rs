//! Whatever stands in a file, reading it ends with a scenario or an error that can be shown.

use proptest::prelude::*;
use proptest::sample::Index;

use super::super::Scenario;
use super::super::corpus::builtin;
use super::SMALL;

/// Reads bytes; the error, where there is one, must render and point into the text.
fn read(bytes: &[u8]) -> bool {
    match Scenario::decode("mutant.toml", bytes) {
        Ok(_) => true,
        Err(error) => {
            let shown = error.to_string();
            assert!(shown.starts_with("error: "), "{shown}");
            if let Some((line, column)) = error.line_column() {
                let lines = bytes.split(|byte| *byte == b'\n').count();
                assert!((1..=lines).contains(&line) && column >= 1, "{shown}");
                assert!(shown.contains('^'), "{shown}");
            }
            false
        }
    }
}

#[test]
fn scenario_truncated_at_every_byte_is_refused_or_read() {
    for (name, text) in builtin() {
        let read: Vec<_> = (0..text.len()).filter(|end| read(&text.as_bytes()[..*end])).collect();
        // A cut is readable only near the end: after the last key that is needed.
        assert!(read.iter().all(|end| *end > text.len() / 4), "{name}: {read:?}");
    }
}

#[test]
fn scenario_with_any_one_line_missing_is_refused_or_read() {
    for (_, text) in builtin() {
        let lines: Vec<_> = text.lines().collect();
        for skipped in 0..lines.len() {
            let kept = lines.iter().enumerate().filter(|(index, _)| *index != skipped);
            let text: String = kept.map(|(_, line)| format!("{line}\n")).collect();
            read(text.as_bytes());
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 512, failure_persistence: None, ..Default::default() })]

    #[test]
    fn scenario_of_random_bytes_is_refused(bytes in proptest::collection::vec(any::<u8>(), 0..512)) {
        prop_assert!(!read(&bytes));
    }

    #[test]
    fn scenario_with_one_byte_changed_never_panics(
        which in any::<Index>(), at in any::<Index>(), byte in any::<u8>(),
    ) {
        let texts: Vec<_> = builtin().collect();
        let mut bytes = which.get(&texts).1.as_bytes().to_vec();
        let at = at.index(bytes.len());
        bytes[at] = byte;
        read(&bytes);
    }

    #[test]
    fn scenario_with_passages_moved_never_panics(
        which in any::<Index>(), from in any::<Index>(), length in 0_usize..64, to in any::<Index>(),
    ) {
        let texts: Vec<_> = builtin().collect();
        let bytes = which.get(&texts).1.as_bytes();
        let from = from.index(bytes.len());
        let passage = &bytes[from..(from + length).min(bytes.len())];
        let to = to.index(bytes.len());
        read(&[&bytes[..to], passage, &bytes[to..]].concat());
    }

    #[test]
    fn scenario_with_any_value_never_panics(value in "\\PC{0,40}", key in "[a-z_.\\[\\]\" ]{0,20}") {
        read(SMALL.replacen("input = 1", &format!("input = {value}"), 1).as_bytes());
        read(format!("{SMALL}{key} = {value}\n").as_bytes());
    }
}

/// Headers that contradict each other, in every order.
#[test]
fn scenario_of_headers_in_any_order_never_panics() {
    let headers = ["[agent]", "[[agent]]", "[[turns]]", "[turns]", "[turns.calls]", "agent.id = 1"];
    for first in headers {
        for second in headers {
            for third in headers {
                assert!(!read(format!("schema = 1\n{first}\n{second}\n{third}\n").as_bytes()));
            }
        }
    }
}
