//! Documents that are generated and committed, so that a reader sees them and a test keeps them
//! true.

use std::fs;

use crate::repository;

/// Compares a committed document with what it should say, or rewrites it where the environment
/// has `UPDATE` set. `filter` is what to give `cargo test` to run the calling test alone.
///
/// # Panics
///
/// When the two differ: the message names the first such line and the command that rewrites the
/// document.
pub fn assert_current(path: &str, expected: &str, filter: &str) {
    let place = repository::root().join(path);
    if std::env::var_os("UPDATE").is_some() {
        fs::write(&place, expected).expect("the document can be written");
    }
    let committed = fs::read_to_string(&place).unwrap_or_default();
    if let Some(difference) = first_difference(&committed, expected) {
        panic!(
            "{path} is out of date, {difference}\n\
             rewrite it with: UPDATE=1 cargo test -p everstep-tests {filter}"
        );
    }
}

/// Where two texts part, told by line; nothing when they are equal.
pub fn first_difference(committed: &str, expected: &str) -> Option<String> {
    if committed == expected {
        return None;
    }
    let (old, new) = (committed.lines(), expected.lines());
    let same = old.clone().zip(new.clone()).take_while(|(old, new)| old == new).count();
    let line = |mut lines: core::str::Lines<'_>| lines.nth(same).unwrap_or("(end)").to_owned();
    Some(format!("line {}:\n  committed  {}\n  expected   {}", same + 1, line(old), line(new)))
}

#[cfg(test)]
mod tests {
    use super::first_difference;

    #[test]
    fn house_a_stale_document_is_told_by_its_first_line() {
        assert_eq!(first_difference("a\nb\n", "a\nb\n"), None);
        let told = first_difference("a\nb\n", "a\nc\nd\n").expect("they differ");
        assert!(told.contains("line 2") && told.contains("  b") && told.contains("  c"), "{told}");
        let shorter = first_difference("a\n", "a\nb\n").expect("they differ");
        assert!(shorter.contains("(end)"), "{shorter}");
    }
}
