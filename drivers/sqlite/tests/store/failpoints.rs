//! The moments at which a host can kill the process: their names, their order, and what is on
//! disk at each.

use std::sync::{Arc, Mutex};

use everstep_machine::admission::{AdmissionMachine, Effect, Input, State};
use everstep_machine::contract::Machine;
use everstep_machine::identity::{AdmissionSequence, Sequence};
use everstep_machine::ledger::Phase;
use everstep_machine::store::{Pipeline, Store, StoreCommand, StoreFault};
use everstep_machine::{conversation, ledger};
use everstep_sqlite::{CommitMode, SqliteStore};

use crate::support::{Folder, TestClock, call, conversation as named};

/// What another process sees at a moment: how far the admission is on disk.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum OnDisk {
    Nothing,
    Admitted,
    Materialized,
    Ready,
}

type Passed = Arc<Mutex<Vec<(String, OnDisk)>>>;

/// Listens to a store, and looks at the file at every failpoint.
fn listen(folder: &Folder, store: &mut SqliteStore) -> Passed {
    let passed: Passed = Arc::default();
    let (mine, reader) = (Arc::clone(&passed), folder.reader());
    let desk = named("desk");
    store.on_failpoint(move |failpoint| {
        let rows = reader.rows(&desk, AdmissionSequence(0), 8).unwrap().entries;
        let log = reader.log_page(&desk, Sequence(0)).unwrap();
        let on_disk = match (rows.first().map(|row| &row.phase), log.tail) {
            (None, None) => OnDisk::Nothing,
            (Some(Phase::Admitted), None) => OnDisk::Admitted,
            (Some(Phase::Admitted), Some(_)) => OnDisk::Materialized,
            (Some(Phase::Ready), Some(_)) => OnDisk::Ready,
            other => panic!("no such state: {other:?}"),
        };
        mine.lock().unwrap().push((failpoint.to_string(), on_disk));
    });
    passed
}

fn admission() -> Pipeline {
    let state = State::new(call(&named("desk"), "1", "hello"));
    match AdmissionMachine::step(state, Input::Started).effects.remove(0) {
        Effect::Store(pipeline) => pipeline,
        other => panic!("an admission begins at the store, not with {other:?}"),
    }
}

fn passed(mode: CommitMode, pipeline: &Pipeline) -> Vec<(String, OnDisk)> {
    let folder = Folder::new();
    let mut store = folder.open_as(mode, &TestClock::at(1_000));
    let passed = listen(&folder, &mut store);
    // Refused or not is for the test to know.
    let _answer = store.execute(pipeline);
    passed.lock().unwrap().clone()
}

fn names(passed: &[(String, OnDisk)]) -> Vec<&str> {
    passed.iter().map(|(name, _)| name.as_str()).collect()
}

fn on_disk(passed: &[(String, OnDisk)]) -> Vec<OnDisk> {
    passed.iter().map(|(_, on_disk)| *on_disk).collect()
}

const ADMISSION: [&str; 6] = [
    "ledger.admit/before",
    "ledger.admit/after",
    "conversation.materialize/before",
    "conversation.materialize/after",
    "ledger.ready/before",
    "ledger.ready/after",
];

#[test]
fn dur_019_a_fused_pipeline_is_on_disk_at_its_last_after_and_not_before() {
    let passed = passed(CommitMode::Fused, &admission());
    assert_eq!(names(&passed), ADMISSION);
    use OnDisk::{Nothing, Ready};
    assert_eq!(on_disk(&passed), [Nothing, Nothing, Nothing, Nothing, Nothing, Ready]);
}

#[test]
fn dur_019_command_by_command_each_after_is_on_disk() {
    let passed = passed(CommitMode::PerCommand, &admission());
    assert_eq!(names(&passed), ADMISSION);
    use OnDisk::{Admitted, Materialized, Nothing, Ready};
    let expected = [Nothing, Admitted, Admitted, Materialized, Materialized, Ready];
    assert_eq!(on_disk(&passed), expected);
}

#[test]
fn dur_019_a_refused_command_has_no_after_and_what_came_before_it_stands() {
    let mut pipeline = admission();
    let append = StoreCommand::Conversation(conversation::Command::Fence {
        epoch: everstep_machine::identity::Epoch(1),
        expected: conversation::TailRef {
            next_sequence: Sequence(9),
            content: everstep_machine::digest::Digest::ZERO,
        },
    });
    pipeline.commands.insert(2, append);
    for mode in CommitMode::ALL {
        let passed = passed(*mode, &pipeline);
        let mut expected = ADMISSION[..4].to_vec();
        expected.push("conversation.fence/before");
        assert_eq!(names(&passed), expected, "{mode}");

        let folder = Folder::new();
        let mut store = folder.open_as(*mode, &TestClock::at(1_000));
        match store.execute(&pipeline) {
            Err(StoreFault::Refused { at: 2, .. }) => {}
            other => panic!("{mode}: {other:?}"),
        }
        let rows = folder.reader().rows(&named("desk"), AdmissionSequence(0), 8).unwrap().entries;
        assert_eq!(rows[0].phase, Phase::Admitted, "{mode}");
        assert!(folder.reader().log_page(&named("desk"), Sequence(0)).unwrap().tail.is_some());
        assert_eq!(store.counters().commits, if *mode == CommitMode::Fused { 1 } else { 2 });
    }
}

#[test]
fn store_002_what_changes_nothing_commits_nothing() {
    for mode in CommitMode::ALL {
        let folder = Folder::new();
        let mut store = folder.open_as(*mode, &TestClock::at(1_000));
        let first = store.execute(&admission());
        let before = store.counters();
        assert_eq!(store.execute(&admission()), first, "{mode}: answered as the first time");
        let refused = Pipeline {
            lane: named("desk"),
            commands: vec![StoreCommand::Ledger(ledger::Command::Ready {
                submission: everstep_machine::identity::SubmissionId([9; 16]),
            })],
        };
        assert!(store.execute(&refused).is_err());
        assert_eq!(store.execute(&Pipeline { commands: vec![], ..refused }), Ok(vec![]));
        assert_eq!(store.counters().commits, before.commits, "{mode}");
        assert!(store.counters().transactions > before.transactions);
    }
}
