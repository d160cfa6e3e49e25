//! Agent files whose model's script stands in a file beside them.

use std::fs;
use std::path::PathBuf;

use super::super::{AgentFile, AgentSource, Fault, Place, ScenarioError};

const AGENT: &str = r#"schema = 1

[agent]
id = "cashier"
instructions = "Charge once."

[[tools]]
name = "charge"

[model]
script = "scripts/charge.toml"
"#;

const SCRIPT: &str = r#"schema = 1

[[turns]]
calls = [{ tool = "charge" }]

[[turns]]
text = "Done."
"#;

/// A folder with an agent, and a script where the agent has it.
struct Desk(tempfile::TempDir);

impl Desk {
    fn new(agent: &str, script: &[u8]) -> Self {
        let home = tempfile::tempdir().unwrap();
        fs::create_dir(home.path().join("scripts")).unwrap();
        fs::write(home.path().join("agent.toml"), agent).unwrap();
        fs::write(home.path().join("scripts/charge.toml"), script).unwrap();
        Self(home)
    }

    fn path(&self, name: &str) -> PathBuf {
        self.0.path().join(name)
    }

    fn read(&self) -> Result<(AgentFile, AgentSource), ScenarioError> {
        AgentFile::read(&self.path("agent.toml"))
    }

    /// The fault, which must be in the script.
    #[track_caller]
    fn refused(&self) -> (Fault, Option<(usize, usize)>) {
        let error = self.read().unwrap_err();
        let (Place::File { path } | Place::Text { path, .. }) = error.place() else {
            panic!("{error}")
        };
        assert_eq!(path, &*self.path("scripts/charge.toml").to_string_lossy());
        (error.fault().clone(), error.line_column())
    }
}

/// The fault of this script.
#[track_caller]
fn script(old: &str, new: &str) -> (Fault, Option<(usize, usize)>) {
    assert!(SCRIPT.contains(old), "the script has no {old:?}");
    Desk::new(AGENT, SCRIPT.replacen(old, new, 1).as_bytes()).refused()
}

#[test]
fn a_script_is_read_from_the_folder_of_the_agent_file() {
    let desk = Desk::new(AGENT, SCRIPT.as_bytes());
    let (file, source) = desk.read().unwrap();
    let turns = SCRIPT.split_once("\n\n").unwrap().1;
    let model = AGENT.split_once("[model]").unwrap().1;
    let one = AGENT.replace(&format!("[model]{model}"), turns);
    assert_eq!(file, AgentFile::parse("one.toml", &one).unwrap(), "as if it stood in one file");
    let (agent, script) = (AGENT.as_bytes().to_vec(), Some(SCRIPT.as_bytes().to_vec()));
    assert_eq!(source, AgentSource { agent, script });
    fs::write(desk.path("agent.toml"), one).unwrap();
    assert_eq!(desk.read().unwrap().1.script, None);
}

#[test]
fn what_is_wrong_with_a_script_is_said_in_the_script() {
    let (fault, place) = script("tool = \"charge\"", "tool = \"chrge\"");
    assert!(matches!(fault, Fault::Undeclared { nearest: Some(near), .. } if near == "charge"));
    assert_eq!(place, Some((4, 19)));
    let (fault, place) = script("text =", "txet =");
    assert!(matches!(fault, Fault::UnknownKey { nearest: Some("text"), .. }));
    assert_eq!(place, Some((7, 1)));
    let (fault, place) = script("schema = 1\n", "schema = 1\n[agent]\nid = \"x\"\n");
    assert!(matches!(fault, Fault::UnknownKey { key, .. } if key == "agent"));
    assert_eq!(place, Some((2, 2)));
    assert!(matches!(script("schema = 1", "schema = 2").0, Fault::UnknownSchema { .. }));
    assert!(matches!(script("schema = 1", "schema 1"), (Fault::NotToml { .. }, Some((1, _)))));
    assert_eq!(Desk::new(AGENT, b"schema = 1\n\xff").refused().1, Some((2, 1)));
    assert_eq!(Desk::new(AGENT, b"").refused(), (Fault::Empty, None));
    let no_turns = Desk::new(AGENT, b"schema = 1\n").refused().0;
    assert_eq!(no_turns, Fault::MissingKey { key: "turns", table: "the file" });
    let about = format!("about = \"{}\"\n{SCRIPT}", "x".repeat(70_000));
    assert_eq!(Desk::new(AGENT, about.as_bytes()).refused().0, Fault::TextTooLong { key: "about" });
    let large = Desk::new(AGENT, &vec![b'#'; 2 << 20]).refused().0;
    assert_eq!(large, Fault::TooLarge);
}

#[test]
fn a_script_that_is_not_there_is_named_with_what_was_probably_meant() {
    let desk = Desk::new(AGENT, SCRIPT.as_bytes());
    fs::rename(desk.path("scripts/charge.toml"), desk.path("scripts/chagre.toml")).unwrap();
    let near = desk.path("scripts/chagre.toml").to_string_lossy().into_owned();
    assert_eq!(desk.refused().0, Fault::Missing { nearest: Some(near) });
    fs::create_dir(desk.path("scripts/charge.toml")).unwrap();
    assert_eq!(desk.refused().0, Fault::Folder);
}

#[test]
fn an_agent_has_one_script() {
    let refused = |agent: &str| AgentFile::parse("agent.toml", agent).unwrap_err().fault().clone();
    let both = format!("{AGENT}\n[[turns]]\ntext = \"Done.\"\n");
    assert_eq!(refused(&both), Fault::Excluded { key: "model", other: "turns" });
    let none = AGENT.split_once("[model]").unwrap().0;
    assert!(matches!(refused(none), Fault::OneOf { keys: ["turns", "model"], .. }));
    let nameless = AGENT.replace("\"scripts/charge.toml\"", "\"\"");
    assert!(matches!(refused(&nameless), Fault::BadName { key: "script", .. }));
    let silent = AGENT.replace("script = \"scripts/charge.toml\"", "");
    assert_eq!(refused(&silent), Fault::MissingKey { key: "script", table: "[model]" });
}
