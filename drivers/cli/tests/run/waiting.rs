//! What waits for people and for workers, and how a watchman hears of it.

use super::approvals::asking;
use super::{CHARGE, act, complains, desk, desk_with, everstep, json, killed, line, says};

const PEOPLE: [&str; 3] = ["list", "--waiting-for", "people"];

fn count(at: &std::path::Path, party: &str) -> serde_json::Value {
    json(at, &["list"])[party]["count"].clone()
}

#[test]
fn dur_017_a_watchman_hears_of_a_doubt_that_has_waited_too_long() {
    let home = desk();
    let at = home.path();
    killed(at, "tool.invoke/after");
    // Until somebody has looked, it waits for a worker.
    assert_eq!((count(at, "people"), count(at, "worker")), (0.into(), 1.into()));
    says(&act(at, &["list"]), &["1 waits for a worker, for "]);
    says(&act(at, &[&PEOPLE[..], &["--fail-if-any"]].concat()), &["nothing"]);

    assert_eq!(line(at, &[]).code, 4);
    says(&act(at, &["list"]), &["1 waits for people, for "]);
    let overdue = |than: &str| {
        let more = ["--older-than", than, "--fail-if-any"];
        act(at, &[&PEOPLE[..], &more].concat())
    };
    std::thread::sleep(std::time::Duration::from_millis(5));
    let alarm = overdue("0s");
    assert_eq!(alarm.code, 4, "{}{}", alarm.out, alarm.err);
    assert!(alarm.out.contains("unknown") && alarm.err.is_empty(), "{}{}", alarm.out, alarm.err);
    says(&overdue("1h"), &["nothing"]);
    let workers = ["list", "--waiting-for", "worker", "--fail-if-any"];
    says(&act(at, &workers), &["nothing"]);

    let told = json(at, &["list"]);
    let only = &told["submissions"][0];
    assert_eq!(only["waiting_for"], "people");
    let (since, admitted) = (only["waiting_since_ms"].as_u64(), only["admitted_ms"].as_u64());
    assert!(since > admitted, "a doubt is younger than its submission: {told}");
    assert!(told["people"]["oldest_ms"].as_u64() > Some(0), "{told}");
    assert_eq!((&told["worker"]["count"], &told["worker"]["oldest_ms"]), (&0.into(), &().into()));

    // What is said is for a worker to record.
    let id = only["submission"].as_str().expect("an id");
    says(&act(at, &["resolve", id, "never-started"]), &["noted"]);
    assert_eq!((count(at, "people"), count(at, "worker")), (0.into(), 1.into()));
    says(&line(at, &[]), &["went through"]);
    says(&act(at, &["list", "--fail-if-any"]), &["nothing"]);
}

#[test]
fn dur_017_a_settled_submission_with_an_open_doubt_still_waits_for_people() {
    let home = desk();
    let at = home.path();
    killed(at, "tool.invoke/after");
    assert_eq!(line(at, &[]).code, 4);
    let id = json(at, &["list"])["submissions"][0]["submission"].clone();
    let id = id.as_str().expect("an id");
    says(&act(at, &["abort", id]), &["asked for"]);
    assert_eq!(count(at, "worker"), 1);
    assert_eq!(line(at, &[]).code, 1);
    assert_eq!(act(at, &[&PEOPLE[..], &["--fail-if-any"]].concat()).code, 4);
}

#[test]
fn cap_006_a_request_waits_for_people_until_it_is_decided() {
    let home = desk_with(&asking());
    let at = home.path();
    assert_eq!(line(at, &[]).code, 4);
    assert_eq!(count(at, "people"), 1);
    let id = json(at, &["list"])["submissions"][0]["submission"].clone();
    says(&act(at, &["approve", id.as_str().expect("an id")]), &["approved"]);
    assert_eq!((count(at, "people"), count(at, "worker")), (0.into(), 1.into()));
}

#[test]
fn case_cr_05_a_run_of_which_nobody_has_the_agent_waits_for_people() {
    let home = desk();
    let at = home.path();
    killed(at, "model.call/during");
    let id = json(at, &["list"])["submissions"][0]["submission"].clone();
    let id = id.as_str().expect("an id");
    let other = CHARGE.replace("went through", "was made");
    std::fs::write(at.join("new.toml"), other).expect("it is written");
    let ran = everstep(at, &["run", "new.toml", "--resume", id]);
    assert_eq!(ran.code, 4, "{}{}", ran.out, ran.err);
    assert_eq!(count(at, "people"), 1);
    says(&act(at, &["rebind", id]), &["carries on"]);
    assert_eq!(count(at, "people"), 0);
}

#[test]
fn ops_02_what_cannot_be_listed_is_said() {
    let home = desk();
    let at = home.path();
    says(&line(at, &[]), &["went through"]);
    complains(&act(at, &["list", "--older-than", "10"]), 2, &["--older-than", "10m"]);
    complains(&act(at, &["list", "--waiting-for", "godot"]), 2, &["people", "worker"]);
    complains(&act(at, &["list", "--all", "--waiting-for", "people"]), 2, &["--all"]);
    says(&act(at, &["list", "--all"]), &["completed"]);
}
