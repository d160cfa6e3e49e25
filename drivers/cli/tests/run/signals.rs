//! Asked to end: by Ctrl-C, or by whoever supervises the process.

use std::fs::{self, File};
use std::path::Path;
use std::process::{Child, Command};
use std::time::{Duration, Instant};

use super::{CHARGE, charges, command, desk_with, line, says};
use crate::common::{Ran, ended, everstep};

const NOTIFY: &str = include_str!("../../../../corpus/agents/notify.toml");

/// How long anything here may take on a machine that has much else to do.
const PATIENCE: Duration = Duration::from_secs(60);

/// Starts the line, and returns when it has passed this failpoint.
pub(super) fn started(home: &Path, more: &[&str], point: &str) -> Child {
    let trace = home.join("trace");
    let child = command(home, more).env("EVERSTEP_FAILPOINT_TRACE", &trace).spawn();
    let began = Instant::now();
    while !fs::read_to_string(&trace).is_ok_and(|text| text.lines().any(|line| line == point)) {
        assert!(began.elapsed() < PATIENCE, "{point} is not passed");
        std::thread::yield_now();
    }
    child.expect("the binary can be run")
}

pub(super) fn signal(child: &Child, name: &str) {
    let kill = format!("kill -{name} {}", child.id());
    assert!(Command::new("sh").args(["-c", &kill]).status().expect("a shell").success());
}

/// How it ends after that signal.
fn after(child: Child, name: &str) -> Ran {
    signal(&child, name);
    ended(child.wait_with_output().expect("it ends"))
}

#[track_caller]
fn is_stopped(ran: &Ran) {
    assert_eq!((ran.code, ran.out.as_str()), (4, ""), "{}", ran.err);
    assert_eq!(ran.err, "stopped; the same line carries on\n");
}

/// An agent whose tool takes so many milliseconds.
pub(super) fn takes(agent: &str, ms: u64) -> String {
    agent.replace("append =", &format!("latency_ms = {ms}\nappend ="))
}

#[test]
fn ops_03_a_signal_lets_a_call_come_back_and_the_same_line_carries_on_at_once() {
    for name in ["INT", "TERM"] {
        let home = desk_with(&takes(CHARGE, 300));
        let lease = ["--lease-ms", "3600000"];
        let child = started(home.path(), &lease, "tool.invoke/during");
        is_stopped(&after(child, name));
        assert_eq!(charges(home.path()), 1, "what was begun has come to its end");
        assert!(!home.path().join("everstep.db-wal").exists(), "the file is closed");
        let trace = fs::read_to_string(home.path().join("trace")).expect("it is written");
        let asked = trace.lines().filter(|line| *line == "model.call/before").count();
        assert_eq!(asked, 1, "the model is not asked for the next turn");
        assert!(trace.contains("ledger.release/after"), "{trace}");

        // Nobody waits for the lease, which lasts an hour.
        says(&line(home.path(), &lease), &["The charge went through."]);
        assert_eq!(charges(home.path()), 1);
    }
}

#[test]
fn ops_03_a_call_that_does_not_come_back_in_time_is_dropped() {
    let home = desk_with(&takes(NOTIFY, 4_000));
    let lease = ["--lease-ms", "300"];
    let child = started(home.path(), &lease, "tool.invoke/during");
    is_stopped(&after(child, "TERM"));
    let notices = || fs::read_to_string(home.path().join("notices.txt")).unwrap_or_default();
    assert_eq!(notices(), "", "the process has ended before");
    says(&line(home.path(), &lease), &["Ada has been told."]);
    assert_eq!(notices().lines().count(), 1);
}

#[test]
fn ops_03_a_second_signal_ends_the_process_at_once() {
    let home = desk_with(CHARGE);
    // A handler that blocks: the file that it appends to is locked.
    let file = File::create(home.path().join("charges.txt")).expect("it can be written");
    file.lock().expect("it can be locked");
    let mut child = started(home.path(), &["--lease-ms", "300"], "tool.invoke/during");
    let began = Instant::now();
    while child.try_wait().expect("it can be asked").is_none() {
        assert!(began.elapsed() < PATIENCE, "it does not end");
        signal(&child, "INT");
    }
    // Two seconds of grace, and two for the handler, if it had been only one signal.
    assert!(began.elapsed() < Duration::from_millis(3_500), "{:?}", began.elapsed());
    is_stopped(&ended(child.wait_with_output().expect("it has ended")));
    drop(file);
    let ran = line(home.path(), &["--lease-ms", "300"]);
    assert_eq!(ran.code, 4, "nobody knows what became of the call: {}{}", ran.out, ran.err);
    assert!(ran.out.contains("unknown"), "{}", ran.out);
}

#[test]
fn ops_03_a_signal_ends_a_line_that_waits_for_somebody_elses_lease() {
    let home = desk_with(CHARGE);
    let lease = ["--lease-ms", "3600000"];
    let armed = ("EVERSTEP_FAILPOINT", "model.call/during=kill");
    let dead = command(home.path(), &lease).envs([armed]).output().expect("the binary can be run");
    assert_eq!(dead.status.code(), None);
    let child = started(home.path(), &lease, "ledger.ready/after");
    is_stopped(&after(child, "INT"));
    assert_eq!(charges(home.path()), 0);
}

#[test]
fn ops_03_what_somebody_else_settles_while_it_stops_is_told_with_its_own_code() {
    let home = desk_with(&takes(NOTIFY, 1_000));
    let lease = ["--lease-ms", "300"];
    let child = started(home.path(), &lease, "tool.invoke/during");
    // It stands still until another process has taken the lane over and settled it.
    signal(&child, "STOP");
    says(&line(home.path(), &lease), &["Ada has been told."]);
    signal(&child, "TERM");
    let ran = after(child, "CONT");
    assert_eq!((ran.code, ran.out.as_str()), (0, "Ada has been told.\n"), "{}", ran.err);
    let notices = fs::read_to_string(home.path().join("notices.txt")).expect("it is written");
    assert_eq!(notices.lines().count(), 1, "under its id it is written once: {notices}");
}

#[test]
fn ops_03_what_settles_while_it_stops_is_told_with_its_own_code() {
    let home = desk_with(&takes(CHARGE, 20_000));
    // Nothing is renewed, so that it does not stand still with the lock in its hands.
    let lease = ["--lease-ms", "3600000"];
    let child = started(home.path(), &lease, "tool.invoke/during");
    // It stands still, so that it hears of the signal and of the abort at once.
    signal(&child, "STOP");
    let listed = everstep(home.path(), &["submissions", "list"]);
    let id = listed.out.lines().nth(1).and_then(|line| line.get(..8)).expect("an id");
    says(&everstep(home.path(), &["submissions", "abort", id]), &["asked for"]);
    signal(&child, "TERM");
    let ran = after(child, "CONT");
    assert!(ran.code == 1 && ran.out.starts_with("aborted\n"), "{}{}", ran.out, ran.err);
    assert!(!home.path().join("everstep.db-wal").exists(), "the file is closed");
}

#[test]
fn dur_002_a_line_whose_database_is_deleted_is_not_told_to_run_again_without_it() {
    let home = desk_with(&takes(CHARGE, 300));
    let child = started(home.path(), &[], "tool.invoke/during");
    let aside = home.path().join("aside");
    fs::create_dir(&aside).expect("a folder");
    let files = ["everstep.db", "everstep.db-wal", "everstep.db-shm"];
    for file in files {
        fs::rename(home.path().join(file), aside.join(file)).expect("it is there");
    }
    let ran = ended(child.wait_with_output().expect("it ends"));
    assert_eq!(ran.code, 3, "{}{}", ran.out, ran.err);
    assert!(ran.err.contains("moved, replaced or deleted"), "{}", ran.err);
    assert!(ran.err.contains("do not run the same line again before"), "{}", ran.err);
    assert!(!ran.err.contains("start again"), "{}", ran.err);
    // Once it is back, nothing is charged twice.
    for file in files {
        fs::rename(aside.join(file), home.path().join(file)).expect("it is there");
    }
    let ran = line(home.path(), &[]);
    assert_eq!((ran.code, charges(home.path())), (4, 1), "{}{}", ran.out, ran.err);
}

#[cfg(target_os = "linux")]
#[test]
fn dur_019_a_trace_that_cannot_be_written_is_said_once_and_stops_nothing() {
    let home = desk_with(CHARGE);
    let full = command(home.path(), &[]).env("EVERSTEP_FAILPOINT_TRACE", "/dev/full").output();
    let ran = ended(full.expect("the binary can be run"));
    says(&ran, &["went through"]);
    assert_eq!(ran.err.matches("EVERSTEP_FAILPOINT_TRACE").count(), 1, "{}", ran.err);
    assert!(!ran.err.contains("panicked"), "{}", ran.err);
}
