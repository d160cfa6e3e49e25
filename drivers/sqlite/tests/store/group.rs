//! Pipelines that are executed together: one commit, and nobody suffers for another.

use std::io::{BufRead as _, BufReader};
use std::process::Stdio;
use std::sync::{Arc, Mutex};

use everstep_machine::admission::{AdmissionMachine, Effect, Input, State};
use everstep_machine::contract::Machine;
use everstep_machine::identity::{AdmissionSequence, Sequence};
use everstep_machine::store::{Pipeline, StoreCommand};
use everstep_sqlite::{CommitMode, Options, Place, SqliteStore, StoreError};

use crate::support::{BRIEF, Folder, admit, call, conversation, worker};

fn admission(lane: &str, key: &str) -> Pipeline {
    let state = State::new(call(&conversation(lane), key, "hello"));
    match AdmissionMachine::step(state, Input::Started).effects.remove(0) {
        Effect::Store(pipeline) => pipeline,
        other => panic!("an admission begins at the store, not with {other:?}"),
    }
}

fn glance(lane: &str) -> Pipeline {
    let commands = vec![StoreCommand::ReadLog { from: Sequence(0) }];
    Pipeline { lane: conversation(lane), commands }
}

/// Executes all of them and tells whether each went through.
fn together(store: &mut SqliteStore, pipelines: &[Pipeline]) -> Vec<Result<(), StoreError>> {
    let mut answers = Vec::new();
    store.perform_all(pipelines, |answer| answers.push(answer.map(drop)));
    answers
}

const LANES: [&str; 4] = ["desk", "hall", "shop", "yard"];

#[test]
fn store_003_who_waits_at_the_same_time_shares_a_commit() {
    let folder = Folder::new();
    let mut store = folder.open();
    let told = Arc::new(Mutex::new(Vec::new()));
    let mine = Arc::clone(&told);
    store.on_commit(move |lane| mine.lock().unwrap().push(lane.clone()));
    let pipelines = LANES.map(|lane| admission(lane, "1"));
    let answers = together(&mut store, &pipelines);
    assert!(answers.iter().all(Result::is_ok), "{answers:?}");
    assert_eq!(store.counters().commits, 1);
    assert_eq!(*told.lock().unwrap(), LANES.map(conversation), "each hears of it");
    // Sent again they change nothing, and nobody who reads is in the way.
    let both = [&pipelines[..1], &[glance("desk")], &pipelines[1..]].concat();
    let answers = together(&mut store, &both);
    assert!(answers.len() == 5 && answers.iter().all(Result::is_ok), "{answers:?}");
    assert_eq!((store.counters().commits, told.lock().unwrap().len()), (1, 4));
}

#[test]
fn dur_019_where_every_moment_counts_nobody_shares() {
    for listens in [true, false] {
        let folder = Folder::new();
        let mode = if listens { CommitMode::Fused } else { CommitMode::PerCommand };
        let mut store = SqliteStore::open(Options::new(folder.file()).mode(mode)).unwrap();
        let passed = Arc::new(Mutex::new(Vec::new()));
        if listens {
            let (mine, reader) = (Arc::clone(&passed), folder.reader());
            store.on_failpoint(move |failpoint| {
                let lanes = reader.lanes(None, 8).unwrap().entries.len();
                mine.lock().unwrap().push((failpoint.to_string(), lanes));
            });
        }
        let answers = together(&mut store, &LANES.map(|lane| admission(lane, "1")));
        assert!(answers.iter().all(Result::is_ok), "{answers:?}");
        assert_eq!(store.counters().commits, if listens { 4 } else { 12 });
        let on_disk = passed.lock().unwrap();
        let after = on_disk.iter().filter(|(name, _)| name == "ledger.ready/after");
        let expected: &[usize] = if listens { &[1, 2, 3, 4] } else { &[] };
        assert_eq!(after.map(|(_, lanes)| *lanes).collect::<Vec<_>>(), expected);
    }
}

#[test]
fn store_006_a_corrupt_lane_does_not_hurt_its_neighbours() {
    let folder = Folder::new();
    let mut store = folder.open();
    for lane in LANES {
        admit(&mut store, call(&conversation(lane), "1", "hello"));
    }
    let damage = "UPDATE ledger_lane SET cell = x'00' WHERE conversation = 'hall'";
    assert_eq!(folder.sql().execute(damage, ()).unwrap(), 1);
    let answers = together(&mut store, &LANES.map(|lane| admission(lane, "2")));
    for (lane, answer) in LANES.into_iter().zip(answers) {
        match (lane, answer) {
            ("hall", Err(StoreError::Corrupt { place, .. })) => {
                assert_eq!(place, Place::Lane(conversation("hall")));
            }
            (_, Ok(())) => assert_eq!(folder.reader().verify(&conversation(lane)).unwrap().rows, 2),
            (lane, other) => panic!("{lane}: {other:?}"),
        }
    }
}

#[test]
fn store_error_busy_is_said_once_to_all_who_wait() {
    let folder = Folder::new();
    drop(folder.open());
    let mut store = SqliteStore::open(Options::new(folder.file()).busy(BRIEF)).unwrap();
    let theirs = folder.sql();
    theirs.execute_batch("BEGIN IMMEDIATE").unwrap();
    let answers = together(&mut store, &LANES.map(|lane| admission(lane, "1")));
    let is_busy = |it: &Result<(), StoreError>| matches!(it, Err(StoreError::Busy { .. }));
    assert!(answers.len() == 4 && answers.iter().all(is_busy), "{answers:?}");
    assert_eq!(store.counters().transactions, 0);
}

#[test]
fn dur_001_a_kill_in_the_midst_of_many_loses_nothing_that_was_acknowledged() {
    for turn in 0..12 {
        let folder = Folder::new();
        let file = folder.file();
        let mut command = worker(&["crowd", file.to_str().unwrap()]);
        let mut child = command.stdout(Stdio::piped()).spawn().unwrap();
        let mut said = BufReader::new(child.stdout.take().unwrap()).lines();
        let mut acknowledged: Vec<String> =
            said.by_ref().take(20 + turn * 3).map(Result::unwrap).collect();
        child.kill().unwrap();
        child.wait().unwrap();
        acknowledged.extend(said.map_while(Result::ok));
        let reader = folder.reader();
        for receipt in acknowledged {
            let (lane, place) = receipt.split_once(' ').unwrap();
            let verified = reader.verify(&conversation(lane)).unwrap();
            let place: u64 = place.parse().unwrap();
            assert!(verified.rows > place, "{receipt} of {}", verified.rows);
            let from = AdmissionSequence(place);
            let row = reader.rows(&conversation(lane), from, 1).unwrap().entries.remove(0);
            assert_eq!(row.phase, everstep_machine::ledger::Phase::Ready, "{receipt}");
        }
    }
}
