//! The scenarios that come with the product.

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};

use everstep_machine::agent::ExecutionClass;
use everstep_machine::limits::CALL_STARTS;

use super::super::corpus::builtin;
use super::super::{ModelScript, Scenario};

fn folder() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../corpus/scenarios")
}

#[test]
fn scenario_corpus_in_the_binary_equals_the_folder() {
    let entries = fs::read_dir(folder()).expect("the corpus is a folder");
    let files: BTreeSet<_> = entries
        .map(|entry| entry.expect("it can be listed").file_name().into_string().expect("UTF-8"))
        .collect();
    let carried: Vec<_> = builtin().map(|(name, _)| format!("{name}.toml")).collect();
    assert!(carried.is_sorted(), "{carried:?}");
    assert_eq!(carried.into_iter().collect::<BTreeSet<_>>(), files);
}

#[test]
fn scenario_corpus_parses_and_says_what_may_happen() {
    assert!(builtin().len() >= 16);
    for (name, text) in builtin() {
        let read = Scenario::read(&folder().join(format!("{name}.toml")));
        let scenario = read.unwrap_or_else(|error| panic!("{error}"));
        assert_eq!(Scenario::parse(name, text), Ok(scenario.clone()));
        assert_eq!(scenario.name, name);
        assert!(scenario.about.len() > 20, "{name}: {}", scenario.about);
        for submission in &scenario.submissions {
            assert!(!submission.expect.is_empty(), "{name}: {} expects nothing", submission.name);
        }
    }
}

/// A part of a scenario that no schedule reaches would make its verdict vacuous.
#[test]
fn scenario_corpus_has_no_part_that_is_never_used() {
    for (name, text) in builtin() {
        let scenario = Scenario::parse(name, text).unwrap_or_else(|error| panic!("{error}"));
        let turns = scenario.submissions.iter().flat_map(|submission| &submission.turns);
        let mut called: BTreeSet<_> =
            turns.flat_map(|turn| turn.calls()).map(|call| call.tool.clone()).collect();
        if let ModelScript::Live(rules) = &scenario.model {
            called.extend(rules.iter().flat_map(|rule| rule.then.calls.clone()));
        }
        for tool in &scenario.tools {
            assert!(called.contains(&tool.definition.name), "{name}: nobody calls a tool");
        }
    }
}

/// Whoever waits for an operator must have one: an ordinary call can stay unknown unless a
/// reconciler answers for it or the authorizer keeps it from starting, and an idempotent or a durable
/// one if it never gives an answer or what it takes is taken back while it is out.
#[test]
fn scenario_corpus_answers_every_doubt_that_can_arise() {
    for (name, text) in builtin() {
        let scenario = Scenario::parse(name, text).unwrap_or_else(|error| panic!("{error}"));
        for tool in &scenario.tools {
            let definition = &tool.definition;
            let doubtful = definition.class == ExecutionClass::Ordinary
                && !definition.reconciles
                && !scenario.denied.contains(&definition.name)
                && !scenario.disapproved.contains(&definition.name);
            let repeats =
                matches!(definition.class, ExecutionClass::Idempotent | ExecutionClass::Durable);
            let is_hopeless = repeats
                && (scenario.revocation.is_some()
                    || tool.latency > definition.timeout
                    || tool.silent_starts >= CALL_STARTS as u32);
            let answered = scenario.resolution(&definition.name).is_some();
            assert_eq!(doubtful || is_hopeless, answered, "{name}: {}", definition.name);
        }
    }
}
