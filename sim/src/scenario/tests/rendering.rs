//! How an error looks.

use super::super::Scenario;
use super::{refused, small_with};

#[test]
fn scenario_error_renders_like_a_compilers() {
    let text = small_with("name = \"charge\"\n", "name = \"charge\"\nclas = \"ordinary\"\n");
    let error = Scenario::parse("corpus/scenarios/x.toml", &text).expect_err("a slip");
    assert_eq!(
        error.to_string(),
        "error: unknown key `clas`\n  \
         --> corpus/scenarios/x.toml:10:1\n   \
         |\n\
         10 | clas = \"ordinary\"\n   \
         | ^^^^\n\
         help: did you mean `class`?"
    );
}

#[test]
fn scenario_error_without_a_line_names_the_file() {
    let error = Scenario::parse("x.toml", "").expect_err("it is empty");
    let shown = error.to_string();
    assert!(shown.starts_with("error: the file is empty\n --> x.toml\nhelp: "), "{shown}");
}

#[test]
fn scenario_columns_count_characters_and_carets_stand_below_them() {
    let text = small_with("about = \"small\"", "about = \"\u{e9}\u{1F600}\" x");
    let error = refused(&text);
    assert_eq!(error.line_column(), Some((2, 14)));
    let lines: Vec<_> = error.to_string().lines().map(str::to_owned).collect();
    let column = |line: &str, character| line.chars().position(|found| found == character);
    assert_eq!(column(&lines[3], 'x'), column(&lines[4], '^'), "{error}");

    // The mark that some editors put first takes no column; a tab takes one.
    let error = refused("\u{feff}schema = 1\n\tabuot = 1\n");
    assert_eq!(error.line_column(), Some((2, 2)));
    assert_eq!(refused("\u{feff}shema = 1\n").line_column(), Some((1, 1)));
    assert_eq!(refused("schema = 1\r\nabuot = 1\r\n").line_column(), Some((2, 1)));
}

#[test]
fn scenario_error_shows_nothing_that_steers_a_terminal() {
    let key = "\\u001b[31mred\\u202e";
    let text = small_with("[agent]", &format!("[agent]\n\"{key}\" = 1 # \u{202e}hidden"));
    let error = Scenario::parse("a\u{1b}]0;b", &text).expect_err("an unknown key");
    let shown = error.to_string();
    assert!(shown.contains("unknown key `\u{fffd}[31mred\u{fffd}`"), "{shown:?}");
    assert!(shown.contains("\u{fffd}hidden"), "{shown:?}");
    assert!(!shown.contains(['\u{1b}', '\u{202e}', '\r']), "{shown:?}");
}

#[test]
fn scenario_error_of_a_long_line_shows_its_surroundings_only() {
    let long = "y".repeat(50_000);
    let text = small_with("input = 1", &format!("input = [\"{long}\", nan, \"{long}\"]"));
    let error = refused(&text);
    let shown = error.to_string();
    assert!(shown.len() < 1_000, "{}", shown.len());
    let lines: Vec<_> = shown.lines().collect();
    let caret = lines[4].find('^').map(|at| lines[4][..at].chars().count()).expect("a caret");
    let meant: String = lines[3].chars().skip(caret).take(3).collect();
    assert_eq!(meant, "nan", "{shown}");

    let text = small_with("input = 1", &format!("input = 1\n{long} = 1"));
    let shown = refused(&text).to_string();
    assert!(shown.len() < 1_000, "{}", shown.len());
}
