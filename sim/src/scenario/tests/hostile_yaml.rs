//! YAML that is made to hurt: each ends with a clear error, in time that grows with the file alone.

use proptest::prelude::*;
use proptest::sample::Index;

use super::super::{AgentFile, Beyond, Fault, Place, SCENARIO_BYTES, ScenarioError};

const HEAD: &str = "schema: 1\nagent:\n  id: a\n  instructions: b\nturns:\n  - text: Done.\n";

/// Reads bytes; an error must render and point into the text.
fn read(bytes: &[u8]) -> Result<AgentFile, ScenarioError> {
    let read = AgentFile::decode("hostile.yaml", bytes);
    if let Err(error) = &read {
        let shown = error.to_string();
        assert!(shown.starts_with("error: ") && shown.len() < 4_000, "{shown}");
        if let Some((line, column)) = error.line_column() {
            let lines = bytes.split(|byte| *byte == b'\n').count();
            assert!((1..=lines).contains(&line) && column >= 1 && shown.contains('^'), "{shown}");
        }
    }
    read
}

/// The fault of a text, where it is, and what its carets show.
#[track_caller]
fn fault(text: &str) -> (Fault, (usize, usize), String) {
    let error = read(text.as_bytes()).expect_err("the text is refused");
    let Place::Text { line, column, source, width, .. } = error.place() else {
        panic!("no place in the text: {error}")
    };
    let shown = source.chars().skip(column - 1).take(*width).collect();
    (error.fault().clone(), (*line, *column), shown)
}

/// The fault of the head with this behind it; lines count from it on.
#[track_caller]
fn behind(more: &str) -> (Fault, (usize, usize), String) {
    let (fault, (line, column), shown) = fault(&format!("{HEAD}{more}"));
    (fault, (line.saturating_sub(6), column), shown)
}

#[test]
fn auth_17_yaml_without_anything_is_an_empty_file() {
    for text in ["", "\n \n", "# words\n", "\u{feff}", "---\n", "---\n...\n", "null", "~\n"] {
        let error = read(text.as_bytes()).unwrap_err();
        assert_eq!(*error.fault(), Fault::Empty, "{text:?}");
        assert_eq!(*error.place(), Place::File { path: "hostile.yaml".to_owned() });
        assert!(error.to_string().contains("schema: 1"), "{error}");
    }
    assert!(read(HEAD.as_bytes()).is_ok());
}

#[test]
fn auth_17_yaml_that_is_no_utf_8_or_too_large_is_refused_before_it_is_parsed() {
    let mut bytes = HEAD.as_bytes().to_vec();
    bytes.extend(b"about: \xe9\n");
    let error = read(&bytes).unwrap_err();
    assert_eq!(*error.fault(), Fault::NotUtf8 { byte: 0xe9 });
    assert_eq!(error.line_column(), Some((7, 8)));
    for text in ["#".repeat(10 << 20), "- ".repeat(5 << 20), "[".repeat(10 << 20)] {
        assert_eq!(*read(text.as_bytes()).unwrap_err().fault(), Fault::TooLarge);
    }
    let comment = "#".repeat(SCENARIO_BYTES - HEAD.len());
    assert!(read(format!("{HEAD}{comment}").as_bytes()).is_ok());
}

#[test]
fn auth_17_anchors_and_aliases_are_refused_so_nothing_is_said_once_and_meant_often() {
    let (fault, at, shown) = behind("about: &a x\n");
    assert_eq!((fault, at, shown.as_str()), (Beyond::Anchor.into(), (1, 8), "&a"));
    let (fault, at, shown) = behind("approver: &people\n  denies: []\n");
    assert_eq!((fault, at, shown.as_str()), (Beyond::Anchor.into(), (1, 11), "&people"));
    let (fault, at, shown) = behind("approver: &it { denies: [] }\n");
    assert_eq!((fault, at, shown.as_str()), (Beyond::Anchor.into(), (1, 11), "&it"));
    let (fault, at, _) = behind("approver:\n  denies: &x [a]\n");
    assert_eq!((fault, at), (Beyond::Anchor.into(), (2, 11)));
    let (fault, at, _) = behind("&k about: x\n");
    assert_eq!((fault, at), (Beyond::Anchor.into(), (1, 1)));
    let (fault, at, _) = behind("about: *nobody\n");
    assert_eq!((fault, at), (Beyond::Alias.into(), (1, 8)));
    let (fault, at, _) = behind("capabilities:\n  defaults:\n    *: { scope: core }\n");
    assert_eq!((fault, at), (Beyond::Alias.into(), (3, 5)));

    // A thousand million times nothing.
    let mut bomb = String::from("l0: &l0 [x, x, x, x, x, x, x, x, x, x]\n");
    for level in 1..10 {
        let ten = vec![format!("*l{}", level - 1); 10].join(", ");
        bomb.push_str(&format!("l{level}: &l{level} [{ten}]\n"));
    }
    assert_eq!(self::fault(&bomb).0, Beyond::Anchor.into());
    // A table that holds itself.
    assert_eq!(self::fault("&a a: *a\n").0, Beyond::Anchor.into());
    assert_eq!(self::fault("a: &a [*a]\n").0, Beyond::Anchor.into());
    // The merge key of older versions is a key like any other.
    assert!(matches!(behind("<<: {}\n").0, Fault::UnknownKey { key, .. } if key == "<<"));
}

#[test]
fn auth_17_tags_and_directives_are_refused() {
    for (tag, more) in [
        ("!!str", "about: !!str 7\n"),
        ("!x", "about: !x y\n"),
        ("!<tag:yaml.org,2002:str>", "about: !<tag:yaml.org,2002:str> y\n"),
        ("!", "about: ! 7\n"),
        ("!!map", "about: !!map { a: 1 }\n"),
        ("!!seq", "about: !!seq\n  - a\n"),
    ] {
        let (fault, at, shown) = behind(more);
        assert_eq!((fault, at, shown.as_str()), (Beyond::Tag.into(), (1, 8), tag), "{more}");
    }
    for directive in ["%YAML 1.1", "%TAG ! tag:example.com,2026:", "%ANY thing"] {
        let text = format!("# words\n\n{directive}\n---\n{HEAD}");
        let (fault, at, shown) = self::fault(&text);
        assert_eq!((fault, at, shown.as_str()), (Beyond::Directive.into(), (3, 1), directive));
    }
}

#[test]
fn auth_17_one_document_is_a_file() {
    for more in ["---\n", "---\nschema: 1\n", "...\n---\nschema: 1\n", "--- x\n"] {
        let (fault, (line, _), _) = behind(more);
        assert_eq!(fault, Beyond::Document.into(), "{more:?}");
        assert!((1..=2).contains(&line), "{more:?}: {line}");
    }
    assert!(read(format!("{HEAD}...\n# the end\n").as_bytes()).is_ok());
}

#[test]
fn auth_17_a_key_is_one_text_and_there_once() {
    for key in ["1", "1.5", "true", "~", "007", "? [a]\n", "? { a: 1 }\n", "[a]", "{ a: 1 }", ""] {
        let (fault, (line, _), _) = behind(&format!("{key}: x\n"));
        let is_number = fault == Beyond::Number { text: key.to_owned() }.into();
        assert!(fault == Beyond::Key.into() || is_number, "{key:?}: {fault:?}");
        assert!((1..=2).contains(&line), "{key:?}");
    }
    let duplicate = Fault::NotYaml { message: "duplicate key".to_owned() };
    let (fault, at, shown) = behind("about: x\n'about': y\n");
    assert_eq!((fault, at, shown.as_str()), (duplicate.clone(), (2, 1), "'about'"));
    let (fault, at, _) = behind("approval:\n  tools: {}\n  tools: {}\n");
    assert_eq!((fault, at), (duplicate.clone(), (3, 3)));
    let (fault, at, _) = behind("tools:\n  - name: a\n    result: { a: 1, \"\\u0061\": 2 }\n");
    assert_eq!((fault, at), (duplicate, (3, 21)));
}

#[test]
fn auth_17_what_is_no_yaml_names_line_and_column() {
    for (more, at) in [
        ("approver:\n\tdenies: []\n", (2, None)),
        ("approver:\n  denies: []\n\tpeople: []\n", (3, None)),
        ("approver:\n  denies: []\n   people: []\n", (3, None)),
        ("about: [a\n", (2, None)),
        ("about: \"x\n", (1, None)),
        ("about: a: b\n", (1, None)),
        ("about: @x\n", (1, Some(8))),
        ("about: `x\n", (1, Some(8))),
        ("about: x]\nnot a key\n", (2, None)),
        ("about: \"\\q\"\n", (1, None)),
    ] {
        let (fault, (line, column), _) = behind(more);
        assert!(matches!(fault, Fault::NotYaml { .. }), "{more:?}: {fault:?}");
        assert!(line.abs_diff(at.0) <= 1, "{more:?}: {line}");
        assert!(at.1.is_none_or(|expected| expected == column), "{more:?}: {column}");
    }
    let toml = self::fault("schema = 1\n\n[agent]\nid = \"a\"\n").0;
    assert!(matches!(toml, Fault::NotYaml { .. } | Fault::WrongType { .. }), "{toml:?}");
}

/// A parser may take one of them for the end, and what stands behind it would count for nothing.
#[test]
fn auth_17_letters_that_nobody_sees_are_refused() {
    for (letter, code) in [('\0', 0), ('\u{1b}', 0x1b), ('\u{7f}', 0x7f), ('\u{9b}', 0x9b)] {
        let (fault, at, _) = behind(&format!("about: x{letter}\napproval: {{ default: deny }}\n"));
        assert_eq!((fault, at), (Beyond::Control { code }.into(), (1, 9)));
    }
}

#[test]
fn auth_17_depth_is_bounded_and_never_a_stack_overflow() {
    let nesting = Fault::from(Beyond::Nesting);
    for deep in [
        "[".repeat(100_000),
        "{a: ".repeat(100_000),
        "- ".repeat(100_000),
        "? ".repeat(100_000),
        "[{a: ".repeat(60),
        "[[[[".repeat(50) + &"]]]]".repeat(50),
    ] {
        let (fault, ..) = behind(&format!("tools:\n  - name: a\n    result:\n      {deep}\n"));
        let is_scanned = matches!(fault, Fault::NotYaml { .. } | Fault::Beyond(Beyond::Key));
        assert!(fault == nesting || is_scanned, "{fault:?}");
    }
    let mut stairs = String::from("tools:\n  - name: a\n    result:\n");
    for depth in 0..500 {
        stairs.push_str(&format!("{}a:\n", " ".repeat(depth + 6)));
    }
    assert_eq!(behind(&stairs).0, nesting);
    // What JSON can hold can be written down.
    let most = |depth: usize| {
        let value = format!("{}{}", "[".repeat(depth), "]".repeat(depth));
        read(format!("{HEAD}tools:\n  - name: a\n    result: {value}\n").as_bytes())
    };
    assert!(most(64).is_ok());
    assert!(matches!(most(66).unwrap_err().fault(), Fault::BadJson(_)));
}

/// Files that a careless parser takes minutes for; the test runner ends those.
#[test]
fn auth_17_a_large_file_is_read_in_one_go() {
    let most = SCENARIO_BYTES / 8;
    let fill = |pattern: &str| pattern.repeat(most / pattern.len());
    for (open, pattern, close) in [
        ("about: \"", "\\\"", "\"\n"),
        ("about: '", "''", "'\n"),
        ("about: ", "a ", "\n"),
        ("about: |\n", "  a\n", ""),
        ("about: >\n", "\n", "  a\n"),
        ("about: ", "a: ", "\n"),
        ("about: [", "a,", "]\n"),
        ("about: [", "[],", "]\n"),
        ("about: {", "a: b,", "}\n"),
        ("about:\n", "  - a\n", ""),
        ("about:\n", "- a\n", ""),
        ("", "&a ", "\n"),
        ("", "!a ", "\n"),
        ("", "*a ", "\n"),
        ("", "? ", "\n"),
        ("", ": ", "\n"),
        ("", "- ", "\n"),
        ("", "#\n", ""),
        ("", " ", "a\n"),
        ("", "\t", "a\n"),
        ("", "---\n", ""),
        ("", "\"", "\n"),
        ("", "ü: ", "\n"),
    ] {
        let _either = read(format!("{HEAD}{open}{}{close}", fill(pattern)).as_bytes());
    }
    let many: String = (0..60_000).map(|key| format!("k{key}: x\n")).collect();
    assert!(matches!(behind(&many).0, Fault::UnknownKey { .. }));
    let many: String = (0..60_000).map(|key| format!("      k{key}: x\n")).collect();
    let tool = format!("{HEAD}tools:\n  - name: a\n    result:\n{many}");
    assert!(read(tool.as_bytes()).is_err(), "a result is bounded");
}

const CHARGE: &str = include_str!("../../../../corpus/agents/charge.yaml");

#[test]
fn auth_17_yaml_truncated_at_every_byte_is_refused_or_read() {
    let read: Vec<_> =
        (0..CHARGE.len()).filter(|end| read(&CHARGE.as_bytes()[..*end]).is_ok()).collect();
    assert!(read.iter().all(|end| *end > CHARGE.len() / 2), "{read:?}");
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 512, failure_persistence: None, ..Default::default() })]

    #[test]
    fn auth_17_yaml_with_one_byte_changed_never_panics(at in any::<Index>(), byte in any::<u8>()) {
        let mut bytes = CHARGE.as_bytes().to_vec();
        let at = at.index(bytes.len());
        bytes[at] = byte;
        let _either = read(&bytes);
    }

    #[test]
    fn auth_17_yaml_with_passages_moved_never_panics(
        from in any::<Index>(), length in 0_usize..64, to in any::<Index>(),
    ) {
        let bytes = CHARGE.as_bytes();
        let from = from.index(bytes.len());
        let passage = &bytes[from..(from + length).min(bytes.len())];
        let to = to.index(bytes.len());
        let _either = read(&[&bytes[..to], passage, &bytes[to..]].concat());
    }

    #[test]
    fn auth_17_yaml_of_its_own_signs_never_panics(
        signs in prop::collection::vec(prop::sample::select(vec![
            "a", "1", "-", "- ", ":", ": ", "?", "? ", ",", "[", "]", "{", "}", "#", " #", "&", "&a ",
            "*", "*a ", "!", "!!str ", "|", "|\n", ">", ">-\n", "'", "\"", "%", "@", "`", "\n", "\n  ",
            "\n    ", "\t", " ", "---\n", "...\n", "\r", "\u{feff}", "\u{85}", "\u{2028}", "ü", "\\", "\0",
        ]), 0..40),
        has_head in any::<bool>(),
    ) {
        let text = format!("{}{}", if has_head { HEAD } else { "" }, signs.concat());
        let _either = read(text.as_bytes());
    }

    #[test]
    fn auth_17_yaml_of_any_value_never_panics(value in "\\PC{0,40}", key in "\\PC{0,12}") {
        let _either = read(format!("{HEAD}about: {value}\n").as_bytes());
        let _either = read(format!("{HEAD}{key}: {value}\n").as_bytes());
    }
}
