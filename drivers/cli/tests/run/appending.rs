//! The file that a tool appends to: whole lines, or nothing.

use std::fs;
use std::path::Path;
use std::process::Command;

use super::{CHARGE, desk, desk_with, everstep, line, says};

const NOTIFY: &str = include_str!("../../../../corpus/agents/notify.toml");

fn text(home: &Path, file: &str) -> String {
    fs::read_to_string(home.join(file)).expect("it is read")
}

#[test]
fn dur_009_a_line_that_somebody_left_open_is_ended_before_the_next() {
    let home = desk();
    fs::write(home.path().join("charges.txt"), "left open").expect("it can be written");
    says(&line(home.path(), &[]), &["went through"]);
    let text = text(home.path(), "charges.txt");
    let lines: Vec<_> = text.lines().collect();
    assert_eq!((lines.len(), lines[0]), (2, "left open"), "{text}");
    assert!(lines[1].ends_with(r#" {"cents":4200}"#) && text.ends_with('\n'), "{text}");
}

/// The line, where no file may become longer than so many bytes, a multiple of 1 024. In blocks of
/// 512 bytes, or of as many as this shell takes.
fn bounded(home: &Path, bytes: usize) -> std::process::Output {
    let script = "ulimit -f $2; test \"$(ulimit -f)\" = $2; trap '' XFSZ; \
                  head -c $3 /dev/zero > probe; exec \"$1\" run charge.toml 'order 7'";
    let blocks = |size: usize| (bytes / size).to_string();
    let run = |size: usize| {
        let args = ["-eu", "-c", script, "sh", env!("CARGO_BIN_EXE_everstep")];
        let mut command = Command::new("sh");
        command.args(args).args([blocks(size), bytes.to_string()]).current_dir(home);
        command.output().expect("a shell")
    };
    let is_full = |home: &Path| {
        fs::metadata(home.join("probe")).is_ok_and(|probe| probe.len() == bytes as u64)
    };
    // The larger unit would allow twice as much: the probe is written in full either way.
    let ran = run(1_024);
    if is_full(home) { ran } else { run(512) }
}

#[test]
fn dur_009_a_line_that_does_not_fit_is_taken_back_whole() {
    const FULL: usize = 1 << 20;
    let home = desk_with(CHARGE);
    let file = home.path().join("charges.txt");
    // A line has more than ten bytes, so a part of it would fit.
    let before = format!("{}\n", "x".repeat(FULL - 11));
    fs::write(&file, &before).expect("it can be written");
    let ran = bounded(home.path(), FULL);
    let said = String::from_utf8_lossy(&ran.stdout);
    assert_eq!(ran.status.code(), Some(0), "{said}{}", String::from_utf8_lossy(&ran.stderr));
    assert!(fs::read(&file).expect("it is read") == before.as_bytes(), "a part of it is left");
    let log = everstep(home.path(), &["log", "show", "run-"]);
    says(&log, &["ToolSettled", "AppendFailed"]);
}

#[test]
fn run_014_only_a_whole_line_proves_that_a_call_was_made() {
    let home = desk_with(NOTIFY);
    let at = home.path();
    says(&line(at, &[]), &["Ada has been told."]);
    let whole = text(at, "notices.txt");
    let id = whole.split(' ').next().expect("the call's id");
    let again = |found: &str| {
        // Without the database the same line makes the same call again, under the same id.
        fs::remove_file(at.join("everstep.db")).expect("it is there");
        // A busy machine may not have had the time to tidy up beside it.
        let _ = fs::remove_file(at.join("everstep.db-wal"));
        fs::write(at.join("notices.txt"), found).expect("it can be written");
        says(&line(at, &[]), &["Ada has been told."]);
        text(at, "notices.txt")
    };
    assert_eq!(again(&whole), whole, "it is there, and need not be again");
    let other = format!("a line about {whole}");
    assert_eq!(again(&other), format!("{other}{whole}"), "a line begins with its id");
    for cut in [whole.trim_end(), id, &whole[..id.len() + 5]] {
        assert_eq!(again(cut), format!("{cut}\n{whole}"), "it was cut off");
    }
}
