//! Tools that hang: none runs for longer than its definition says.

use std::fs::File;
use std::time::{Duration, Instant};

use super::{CHARGE, charges, desk_with, line, says};

/// Longer than a line takes on any machine, and far shorter than its tools would.
const LONG: Duration = Duration::from_secs(600);

fn with(keys: &str) -> String {
    let agent = CHARGE.replace("append =", &format!("timeout_ms = 150\n{keys}append ="));
    assert_ne!(agent, CHARGE);
    agent
}

#[test]
fn run_014_of_a_call_that_hangs_nobody_knows_and_it_is_not_repeated() {
    let home = desk_with(&with("latency_ms = 3600000\n"));
    let at = home.path();
    let began = Instant::now();
    let ran = line(at, &[]);
    assert_eq!(ran.code, 4, "{}{}", ran.out, ran.err);
    assert!(ran.out.contains("nobody knows what became of 1 call"), "{}", ran.out);
    assert!(began.elapsed() < LONG, "{:?}", began.elapsed());
    assert_eq!(charges(at), 0);
}

#[test]
fn run_014_a_call_that_waits_for_its_file_is_left_when_its_time_is_over() {
    let home = desk_with(&with(""));
    let at = home.path();
    let file = File::create(at.join("charges.txt")).expect("a file");
    file.lock().expect("nobody else has it");
    // Whoever waited for the file would wait for ever.
    let ran = line(at, &[]);
    assert_eq!(ran.code, 4, "{}{}", ran.out, ran.err);
    drop(file);
    assert_eq!(line(at, &[]).code, 4, "it stays unknown");
}

#[test]
fn run_014_a_call_without_effects_that_hangs_has_failed_and_the_model_is_told() {
    let agent = with("latency_ms = 3600000\nclass = \"readonly\"\n");
    let agent: String = agent
        .lines()
        .filter(|line| !line.starts_with("append ="))
        .map(|it| format!("{it}\n"))
        .collect();
    let agent = agent.replace("class = \"ordinary\"\n", "");
    let home = desk_with(&agent);
    let began = Instant::now();
    says(&line(home.path(), &[]), &["went through"]);
    assert!(began.elapsed() < LONG, "{:?}", began.elapsed());
}
