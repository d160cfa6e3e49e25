//! A person at a real terminal decides about calls (AUTH-10, AUTH-13, AUTH-14).

use std::fs::File;
use std::io::{Read as _, Write as _};
use std::path::Path;
use std::process::{Command, Stdio};
use std::sync::mpsc::{Receiver, RecvTimeoutError, channel};
use std::time::{Duration, Instant};

use rustix::pty::{OpenptFlags, grantpt, openpt, ptsname, unlockpt};

use super::{CHARGE, charges, desk_with, everstep, says};
use crate::common::{Ran, ended};

/// How long a prompt may take to come.
const PATIENCE: Duration = Duration::from_secs(60);

/// Runs the agent at a terminal: waits for each prompt, and types what stands beside it. What was
/// shown comes back with how it ended.
fn at_a_terminal(at: &Path, input: &str, typed: &[(&str, &str)]) -> (Ran, String) {
    let master = openpt(OpenptFlags::RDWR | OpenptFlags::NOCTTY).expect("a terminal");
    grantpt(&master).and_then(|()| unlockpt(&master)).expect("it can be used");
    let name = ptsname(&master, Vec::new()).expect("it has a name");
    let slave = || {
        let path = name.to_str().expect("a plain name");
        File::options().read(true).write(true).open(path).expect("it can be opened")
    };
    let mut master = File::from(master);
    let child = Command::new(env!("CARGO_BIN_EXE_everstep"))
        .args(["run", "charge.toml", input])
        .current_dir(at)
        .stdin(slave())
        .stderr(slave())
        .stdout(Stdio::piped())
        .spawn()
        .expect("the binary can be run");
    let mut reading = master.try_clone().expect("another handle");
    let (say, said) = channel();
    std::thread::spawn(move || {
        let mut bytes = [0; 4096];
        while let Ok(read @ 1..) = reading.read(&mut bytes) {
            if say.send(String::from_utf8_lossy(&bytes[..read]).into_owned()).is_err() {
                break;
            }
        }
    });
    let (mut shown, mut seen) = (String::new(), 0);
    for (prompt, line) in typed {
        seen = wait_for(&said, &mut shown, seen, prompt);
        master.write_all(line.as_bytes()).expect("somebody types");
    }
    let output = child.wait_with_output().expect("it ends");
    while let Ok(more) = said.recv_timeout(Duration::from_millis(200)) {
        shown.push_str(&more);
    }
    (ended(output), shown)
}

/// Where what was waited for ends.
fn wait_for(said: &Receiver<String>, shown: &mut String, from: usize, prompt: &str) -> usize {
    let until = Instant::now() + PATIENCE;
    loop {
        if let Some(at) = shown[from..].find(prompt) {
            return from + at + prompt.len();
        }
        match said.recv_timeout(until.saturating_duration_since(Instant::now())) {
            Ok(more) => shown.push_str(&more),
            Err(RecvTimeoutError::Timeout | RecvTimeoutError::Disconnected) => {
                panic!("`{prompt}` was not shown:\n{shown}")
            }
        }
    }
}

const ASKED: &str = "\n[approval]\ndefault = \"prompt\"\n";
const LETTERS: &str = "leave it to others";

/// An agent that charges twice in two turns, with the same parameters.
fn twice(more: &str) -> String {
    let call = "calls = [{ tool = \"charge\", parameters = { cents = 4200 } }]\n";
    assert!(CHARGE.contains(call), "{CHARGE}");
    CHARGE.replace(call, &format!("{call}\n[[turns]]\n{call}")) + more
}

#[test]
fn auth_14_who_sits_at_the_terminal_is_shown_the_call_and_decides() {
    let home = desk_with(&format!("{CHARGE}{ASKED}"));
    let at = home.path();
    let typed = [("may charge start?", ""), (LETTERS, "maybe\r"), ("one of the letters", "y\r")];
    let (ran, shown) = at_a_terminal(at, "order 7", &typed);
    assert_eq!((ran.code, charges(at)), (0, 1), "{shown}");
    for word in ["with    {\"cents\":4200}", "risk    medium", "the agent's policy wants it"] {
        assert!(shown.contains(word), "`{word}` is not in\n{shown}");
    }
    let log = everstep(at, &["log", "show", "run-"]);
    says(&log, &["approved by local: decided at the terminal"]);
}

#[test]
fn cap_006_what_is_denied_at_the_terminal_is_not_done() {
    let home = desk_with(&format!("{CHARGE}{ASKED}"));
    let (ran, shown) = at_a_terminal(home.path(), "order 7", &[(LETTERS, "n\r")]);
    assert_eq!((ran.code, charges(home.path())), (1, 0), "{shown}");
    assert!(ran.out.contains("ApprovalDenied"), "{}", ran.out);
}

#[test]
fn auth_14_what_is_left_to_others_waits_for_them() {
    let home = desk_with(&format!("{CHARGE}{ASKED}"));
    let at = home.path();
    for typed in ["l\r", "\u{4}"] {
        let (ran, shown) = at_a_terminal(at, "order 7", &[(LETTERS, typed)]);
        assert_eq!((ran.code, charges(at)), (4, 0), "{shown}");
        assert!(ran.out.contains("submissions approve"), "{}", ran.out);
        // It is asked for now, and nobody is asked at the terminal any more.
        if typed == "\u{4}" {
            break;
        }
        std::fs::remove_file(at.join("everstep.db")).expect("a fresh start");
    }
    let (id, _) = super::approvals::shown(at);
    says(&everstep(at, &["submissions", "approve", &id]), &["approved"]);
    let (ran, shown) = at_a_terminal(at, "order 7", &[]);
    assert_eq!((ran.code, charges(at)), (0, 1), "{shown}{}", ran.out);
}

#[test]
fn auth_10_what_is_allowed_for_the_session_is_not_asked_again_in_this_process() {
    let home = desk_with(&twice(ASKED));
    let at = home.path();
    let (ran, shown) = at_a_terminal(at, "order 7", &[("[s]", "s\r")]);
    assert_eq!((ran.code, charges(at)), (0, 2), "{shown}{}", ran.out);
    assert_eq!(shown.matches("may charge start?").count(), 1, "{shown}");
    let log = everstep(at, &["log", "show", "run-"]);
    says(&log, &["approved by local", "approved by what was said of request"]);
    // Another process asks anew.
    let (ran, shown) = at_a_terminal(at, "order 8", &[(LETTERS, "y\r"), (LETTERS, "y\r")]);
    assert_eq!((ran.code, charges(at)), (0, 4), "{shown}{}", ran.out);
}

#[test]
fn auth_10_what_is_critical_is_allowed_once_at_most() {
    let critical = "\n[tool_metadata.charge]\nrisk = \"critical\"\n";
    let home = desk_with(&twice(&format!("{ASKED}{critical}")));
    let again = [("may charge start?", ""), (LETTERS, "y\r")];
    let typed = [(LETTERS, "s\r"), ("one of the letters", "y\r"), again[0], again[1]];
    let (ran, shown) = at_a_terminal(home.path(), "order 7", &typed);
    assert_eq!((ran.code, charges(home.path())), (0, 2), "{shown}{}", ran.out);
    assert!(!shown.contains("[s]"), "{shown}");
}

#[test]
fn auth_14_what_was_typed_before_a_question_answers_none() {
    let home =
        desk_with(&format!("{CHARGE}{ASKED}").replace("append =", "latency_ms = 1\nappend ="));
    // Whole lines, and half of one.
    let typed = [("", "y\ry\ry"), (LETTERS, "\r"), ("one of the letters", "n\r")];
    let (ran, shown) = at_a_terminal(home.path(), "order 7", &typed);
    assert_eq!((ran.code, charges(home.path())), (1, 0), "{shown}");
}

#[test]
fn auth_14_an_input_that_is_closed_before_a_question_leaves_it_to_others() {
    let home = desk_with(&twice(ASKED));
    // The first is answered, and the input ends before the second is asked.
    let (ran, shown) = at_a_terminal(home.path(), "order 7", &[(LETTERS, "y\r\u{4}")]);
    assert_eq!((ran.code, charges(home.path())), (4, 1), "{shown}{}", ran.out);
    assert!(ran.out.contains("submissions approve"), "{}", ran.out);
}
