use std::sync::Arc;

use super::{CHOICES, Fault, HOLDS, TRACE_BYTES, Trace};
use crate::defect::Defect;
use crate::oracle::Property;
use crate::profile::Profile;
use crate::scenario::{Scenario, corpus};
use crate::schedule::Schedule;

fn trace() -> Trace {
    let (name, text) = corpus::builtin().next().expect("the corpus has scenarios");
    let scenario = Scenario::parse(name, text).expect("it is a scenario");
    let schedule = "ledger.admit/after@2=crash, tool.invoke/during@1=crash-done";
    Trace {
        scenario: Arc::new(scenario),
        text: text.to_owned(),
        profile: Profile::Strong,
        defect: Some(Defect::NoEpochCheck),
        schedule: schedule.parse().expect("it is a schedule"),
        property: Some(Property::Fencing),
        commit: Some("0123abc".to_owned()),
    }
}

#[test]
fn a_trace_comes_back_from_its_file() {
    let full = trace();
    assert_eq!(Trace::from_toml("t.trace", &full.to_toml()), Ok(full.clone()));
    let least =
        Trace { defect: None, property: None, commit: None, schedule: Schedule::calm(), ..full };
    assert!(least.to_toml().contains(&format!("\"{HOLDS}\"")));
    assert_eq!(Trace::from_toml("t.trace", &least.to_toml()), Ok(least.clone()));
    let folder = tempfile::tempdir().expect("there is room for a file");
    let path = folder.path().join("t.trace");
    std::fs::write(&path, least.to_toml()).expect("the file can be written");
    assert_eq!(Trace::read(&path), Ok(least));
}

#[test]
fn every_scenario_of_the_corpus_survives_being_embedded() {
    for (name, text) in corpus::builtin() {
        let scenario = Arc::new(Scenario::parse(name, text).expect("it is a scenario"));
        let embedded = Trace { scenario, text: text.to_owned(), ..trace() };
        assert_eq!(Trace::from_toml("t", &embedded.to_toml()), Ok(embedded));
    }
}

/// What is said of a trace in which one piece of text was replaced.
fn broken(old: &str, new: &str) -> (Fault, Option<(usize, usize)>, String) {
    let text = trace().to_toml();
    assert!(text.contains(old), "{old} in {text}");
    let text = text.replacen(old, new, 1);
    let error = Trace::from_toml("t.trace", &text).expect_err("it is broken");
    (error.fault().clone(), error.line_column(), error.to_string())
}

#[test]
fn each_fault_is_told_with_its_place() {
    let (fault, at, _) = broken("schema = 1", "schema = 2");
    assert_eq!((fault, at), (Fault::UnknownSchema { found: 2 }, Some((1, 10))));
    let (fault, at, text) = broken("profile = \"strong\"", "profile = \"strnog\"");
    assert!(matches!(fault, Fault::UnknownWord { what: "store profile", .. }));
    assert_eq!(at, Some((3, 11)));
    assert!(text.contains("t.trace:3:11") && text.contains("weak, strong"), "{text}");
    let (fault, ..) = broken("no-epoch-check", "no-epoch-chekc");
    assert!(matches!(fault, Fault::UnknownWord { what: "planted defect", .. }));
    let (fault, ..) = broken(Property::Fencing.name(), "nothing breaks");
    assert!(matches!(fault, Fault::UnknownWord { what: "verdict", .. }));
    let (fault, at, _) = broken("ledger.admit/after@2=crash", "ledger.admit/after@2=krash");
    assert!(matches!(fault, Fault::Choice(_)), "{fault:?}");
    assert_eq!(at.map(|(line, _)| line), Some(7));
    let (fault, ..) = broken("choices = [", "choises = [");
    assert!(matches!(fault, Fault::NotATrace { .. }));
    let (fault, ..) = broken("profile = \"strong\"", "profile = strong");
    assert!(matches!(fault, Fault::NotATrace { .. }));
}

#[test]
fn a_scenario_that_is_wrong_is_told_with_its_own_place() {
    let bad = Trace { text: "nonsense = 1".to_owned(), ..trace() };
    let error = Trace::from_toml("t.trace", &bad.to_toml()).expect_err("it is broken");
    assert!(matches!(error.fault(), Fault::Scenario(_)), "{error}");
    assert!(error.to_string().contains("nonsense"), "{error}");
}

#[test]
fn files_that_are_none_are_refused() {
    let folder = tempfile::tempdir().expect("there is room for files");
    let path = folder.path().join("t.trace");
    let fault = || Trace::read(&path).expect_err("it is broken").fault().clone();
    assert!(matches!(fault(), Fault::Unreadable(std::io::ErrorKind::NotFound)));
    std::fs::write(&path, b"schema = 1\nproperty = \"\xff\"").expect("the file can be written");
    assert_eq!(fault(), Fault::NotUtf8);
    assert_eq!(Trace::read(&path).expect_err("it is broken").line_column(), Some((2, 13)));
    let file = std::fs::File::create(&path).expect("the file can be written");
    file.set_len(TRACE_BYTES + 1).expect("the file can be enlarged");
    assert_eq!(fault(), Fault::TooLarge);
    std::fs::write(&path, "").expect("the file can be written");
    assert!(matches!(fault(), Fault::NotATrace { .. }));
    let many = vec![trace().schedule.choices()[0]; CHOICES + 1];
    let many = Trace { schedule: Schedule::of(many), ..trace() };
    std::fs::write(&path, many.to_toml()).expect("the file can be written");
    assert_eq!(fault(), Fault::TooManyChoices);
}
