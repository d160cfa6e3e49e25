//! Files that are none, and texts that are no TOML.

use std::fs;
use std::io::ErrorKind;

use super::super::{Fault, Place, SCENARIO_BYTES, Scenario};
use super::{SMALL, fault_at, refused, small_with};

fn folder_with(name: &str, bytes: &[u8]) -> (tempfile::TempDir, std::path::PathBuf) {
    let folder = tempfile::tempdir().expect("a scratch folder");
    let path = folder.path().join(name);
    fs::write(&path, bytes).expect("a scratch file");
    (folder, path)
}

#[test]
fn scenario_file_is_read_and_named_after_its_stem() {
    let (_folder, path) = folder_with("small.v2.toml", SMALL.as_bytes());
    let scenario = Scenario::read(&path).expect("it is one");
    assert_eq!(scenario.name, "small.v2");
    assert_eq!(Scenario::parse("a/b\\small.v2", SMALL).map(|s| s.name), Ok("small.v2".to_owned()));
}

#[test]
fn scenario_missing_file_names_the_nearest_one_beside_it() {
    let (folder, path) = folder_with("ordinary.toml", SMALL.as_bytes());
    let error = Scenario::read(&folder.path().join("ordnary.toml")).expect_err("it is missing");
    let nearest = Some(path.to_string_lossy().into_owned());
    assert_eq!(*error.fault(), Fault::Missing { nearest });
    let text = error.to_string();
    assert!(text.starts_with("error: there is no such file\n --> "), "{text}");
    assert!(text.contains("did you mean `"), "{text}");

    let error = Scenario::read(&folder.path().join("other.toml")).expect_err("it is missing");
    assert_eq!(*error.fault(), Fault::Missing { nearest: None });
    let error = Scenario::read(&folder.path().join("no/such.toml")).expect_err("it is missing");
    assert_eq!(*error.fault(), Fault::Missing { nearest: None });
    assert_eq!(error.line_column(), None);
}

#[test]
fn scenario_folder_is_told_apart_from_a_file() {
    let folder = tempfile::tempdir().expect("a scratch folder");
    let error = Scenario::read(folder.path()).expect_err("it is a folder");
    assert_eq!(*error.fault(), Fault::Folder);
    assert!(error.to_string().contains("help: name one of the files"), "{error}");
}

#[test]
fn scenario_path_through_a_file_is_unreadable() {
    let (_folder, path) = folder_with("small.toml", SMALL.as_bytes());
    let error = Scenario::read(&path.join("inside.toml")).expect_err("no folder there");
    assert_eq!(*error.fault(), Fault::Unreadable(ErrorKind::NotADirectory));
}

#[test]
fn scenario_empty_file_is_told_so() {
    for text in ["", "\n \t\r\n", "# nothing but words\n", "\u{feff}"] {
        let error = refused(text);
        assert_eq!(*error.fault(), Fault::Empty, "{text:?}");
        assert_eq!(*error.place(), Place::File { path: "small.toml".to_owned() });
        assert!(error.to_string().contains("schema = 1"), "{error}");
    }
}

#[test]
fn scenario_huge_file_is_refused_before_it_is_parsed() {
    let comment = "#".repeat(SCENARIO_BYTES - SMALL.len());
    let fits = format!("{SMALL}{comment}");
    assert!(Scenario::parse("fits", &fits).is_ok());
    // One byte more; and what is not even UTF-8 or TOML gets the same answer.
    assert_eq!(*refused(&format!("{fits}#")).fault(), Fault::TooLarge);
    let (_folder, path) = folder_with("huge.toml", &vec![0xff; SCENARIO_BYTES + 1]);
    let error = Scenario::read(&path).expect_err("it is too large");
    assert_eq!(*error.fault(), Fault::TooLarge);
    assert!(error.to_string().contains("1048576 bytes"), "{error}");
}

#[cfg(unix)]
#[test]
fn scenario_endless_device_is_refused_at_the_bound() {
    let error = Scenario::read("/dev/zero".as_ref()).expect_err("it does not end");
    assert_eq!(*error.fault(), Fault::TooLarge);
}

#[test]
fn scenario_not_utf8_names_line_and_column_of_the_first_bad_byte() {
    let mut bytes = "schema = 1\r\nabout = \"für \u{1F600} ".as_bytes().to_vec();
    bytes.extend(b"\xe9t\xe9\"\nmore");
    let error = Scenario::decode("latin.toml", &bytes).expect_err("it is not UTF-8");
    assert_eq!(*error.fault(), Fault::NotUtf8 { byte: 0xe9 });
    assert_eq!(error.line_column(), Some((2, 16)));
    let text = error.to_string();
    assert!(text.contains("latin.toml:2:16"), "{text}");
    assert!(text.contains("2 | about = \"für \u{1F600} \u{fffd}t\u{fffd}\"\n"), "{text}");

    for (bytes, byte) in [(&b"\xff\xfes\0"[..], 0xff), (b"\x80", 0x80), (b"\xf0\x9f", 0xf0)] {
        let error = Scenario::decode("x", bytes).expect_err("it is not UTF-8");
        assert_eq!(*error.fault(), Fault::NotUtf8 { byte });
        assert_eq!(error.line_column(), Some((1, 1)));
    }
}

#[test]
fn scenario_not_toml_names_line_and_column() {
    let fault = fault_at("schema = 1\nabout = small\n", 2, 9, "small");
    assert!(matches!(fault, Fault::NotToml { .. }), "{fault:?}");
    let unclosed = refused("schema = 1\nabout = \"sma");
    assert!(matches!(unclosed.fault(), Fault::NotToml { .. }), "{unclosed}");
    assert_eq!(unclosed.line_column().map(|(line, _)| line), Some(2));
    let twice = fault_at("schema = 1\nschema = 1\n", 2, 1, "schema");
    assert_eq!(twice, Fault::NotToml { message: "duplicate key".to_owned() });
    let json = refused("{\"schema\": 1}");
    assert!(matches!(json.fault(), Fault::NotToml { .. }), "{json}");
    let binary = refused("\0\u{1}\u{2}");
    assert!(matches!(binary.fault(), Fault::NotToml { .. }), "{binary}");
}

#[test]
fn scenario_nesting_beyond_the_bound_is_refused_not_a_stack_overflow() {
    let deep = small_with("input = 1", &format!("input = {}", "[".repeat(100_000)));
    assert!(matches!(refused(&deep).fault(), Fault::NotToml { .. }));
    let keys = small_with("input = 1", &format!("input.{}b = 1", "a.".repeat(100_000)));
    assert!(matches!(refused(&keys).fault(), Fault::NotToml { .. } | Fault::BadJson(_)));
}

#[test]
fn scenario_schema_version_is_asked_first() {
    let fault = fault_at("shema = 1\n", 1, 1, "shema");
    assert!(matches!(fault, Fault::UnknownKey { nearest: Some("schema"), .. }), "{fault:?}");
    let error = refused("about = \"small\"\n");
    assert_eq!(*error.fault(), Fault::MissingKey { key: "schema", table: "the file" });
    assert_eq!(error.line_column(), Some((1, 1)));

    // Keys of another version are not this version's business.
    let newer = "schema = 2\nagents = []\n";
    let fault = fault_at(newer, 1, 10, "2");
    assert_eq!(fault, Fault::UnknownSchema { found: "2".to_owned() });
    assert!(refused(newer).to_string().contains("this version reads schema 1"));
    for other in ["0", "-1", "99999999999999999999999"] {
        let fault =
            refused(&small_with("schema = 1", &format!("schema = {other}"))).fault().clone();
        assert_eq!(fault, Fault::UnknownSchema { found: other.to_owned() });
    }
    let fault = refused(&small_with("schema = 1", "schema = \"1\"")).fault().clone();
    assert!(matches!(fault, Fault::WrongType { key: "schema", .. }), "{fault:?}");
}
