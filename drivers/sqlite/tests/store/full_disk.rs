//! No space left, below SQLite: what was acknowledged is there, what was not is not, and the work
//! goes on once there is space again.

use std::process::{Command, Output};

use crate::support::{Folder, conversation};

fn worker() -> &'static str {
    env!("CARGO_BIN_EXE_everstep-sqlite-worker")
}

fn text(bytes: &[u8]) -> String {
    String::from_utf8_lossy(bytes).into_owned()
}

/// Runs a script in a shell, with the worker and a folder as its first arguments.
fn shell(wrapper: &[&str], script: &str, folder: &Folder) -> Output {
    let mut words = wrapper.to_vec();
    words.extend(["sh", "-eu", "-c", script, "sh", worker(), folder.path().to_str().unwrap()]);
    Command::new(words[0]).args(&words[1..]).output().unwrap()
}

/// The first number that a script printed.
fn number(output: &str) -> u64 {
    output.lines().next().and_then(|line| line.parse().ok()).unwrap_or_else(|| panic!("{output}"))
}

#[test]
fn store_error_io_a_limit_on_the_size_of_files_loses_nothing() {
    // Below SQLite, a write fails; nobody dies of it.
    let folder = Folder::new();
    let script = "ulimit -f 1000; trap '' XFSZ; \"$1\" fill \"$2/agent.db\" desk";
    let output = shell(&[], script, &folder);
    let said = text(&output.stdout);
    assert!(output.status.success(), "{said}{}", text(&output.stderr));
    let accepted = number(&said);
    assert!(accepted > 10, "{said}");
    assert!(said.contains("Io {") && said.contains("send the same again"), "{said}");
    let verified = folder.reader().verify(&conversation("desk")).unwrap();
    assert_eq!(verified.rows, accepted);
    folder.reader().verify_file().unwrap();
}

/// A small file system in a world of its own, which ends with the process. Prints `refused` where
/// the kernel lets nobody make one.
const SMALL_DISK: &str = r#"
mount -t tmpfs -o size=1m tmpfs "$2" || { echo refused; exit 0; }
head -c 400000 /dev/zero > "$2/ballast"
"$1" fill "$2/agent.db" desk
"$1" verify "$2/agent.db" desk || true
head -c 2000000 /dev/zero > "$2/rest" 2>/dev/null || true
"$1" open "$2/other.db" || true
rm "$2/ballast" "$2/rest"
"$1" verify "$2/agent.db" desk
"$1" submit "$2/agent.db" desk 3
"$1" open "$2/other.db"
"#;

#[test]
fn store_error_full_a_disk_that_fills_up_loses_nothing() {
    let folder = Folder::new();
    let is_superuser = text(&Command::new("id").arg("-u").output().unwrap().stdout).trim() == "0";
    let wrapper: &[&str] = if is_superuser { &["unshare", "-m"] } else { &["unshare", "-Urm"] };
    let output = shell(wrapper, SMALL_DISK, &folder);
    let said = format!("{}{}", text(&output.stdout), text(&output.stderr));
    if said.contains("refused") || said.contains("unshare failed") {
        // `store_error_full_a_limit_of_pages_loses_nothing` holds the same everywhere.
        return;
    }
    assert!(output.status.success(), "{said}");
    let accepted = number(&said);
    assert!(accepted > 10, "{said}");
    let full = "no space is left; free some, then send the same again";
    assert!(said.contains("Full {") && said.contains(full), "{said}");
    assert!(said.contains("no space is left on its disk"), "opening says it too: {said}");
    assert!(said.contains(&format!("{accepted} rows")), "{said}");
    assert!(text(&output.stdout).ends_with("3\nopen\n"), "the work goes on: {said}");
}
