//! What an operator lists and a host looks for.

use std::sync::{Arc, Mutex};

use everstep_machine::identity::{AdmissionSequence, ConversationId, Sequence, Timestamp};
use everstep_machine::ledger::{AbortIntent, Command};
use everstep_machine::store::{Pipeline, Shared, Store, StoreCommand};
use everstep_sqlite::{CommitMode, LanePlace};

use crate::support::{Folder, TestClock, Worker, admit, call, conversation};

#[test]
fn store_003_lists_go_on_where_they_ended() {
    let folder = Folder::new();
    let mut store = folder.open();
    let lanes: Vec<ConversationId> = (0..7).map(|n| conversation(&format!("lane {n}"))).collect();
    for lane in &lanes {
        for key in ["1", "2", "3"] {
            admit(&mut store, call(lane, key, "hello"));
        }
    }
    let reader = store.reader().unwrap();
    let (mut listed, mut after) = (Vec::new(), None);
    loop {
        let page = reader.lanes(after.as_ref(), 3).unwrap();
        listed.extend(page.entries.into_iter().map(|lane| lane.conversation));
        after = page.after;
        if after.is_none() {
            break;
        }
    }
    assert_eq!(listed, lanes);

    let (mut listed, mut after): (Vec<_>, Option<LanePlace>) = (Vec::new(), None);
    loop {
        let from = after.as_ref().map(|(lane, place)| (lane, *place));
        let page = reader.waiting(from, 2).unwrap();
        listed.extend(page.entries.into_iter().map(|(lane, row)| (lane, row.sequence.0)));
        after = page.after;
        if after.is_none() {
            break;
        }
    }
    let places = lanes.iter().flat_map(|lane| (0..3).map(|place| (lane.clone(), place)));
    assert_eq!(listed, places.collect::<Vec<_>>());

    let second = reader.rows(&lanes[4], AdmissionSequence(1), 1).unwrap().entries;
    assert_eq!(second.len(), 1);
    let found = reader.find(second[0].admission.submission).unwrap();
    assert_eq!(found.entries, [(lanes[4].clone(), Arc::clone(&second[0]))]);
    assert_eq!(reader.lane(&conversation("nobody")).unwrap(), None);
    assert_eq!(reader.lane(&lanes[0]).unwrap().unwrap().next, AdmissionSequence(3));
}

#[test]
fn store_012_a_scan_names_what_can_be_claimed_and_when_to_look_again() {
    let (folder, clock) = (Folder::new(), TestClock::at(1_000));
    let mut store = folder.open_as(CommitMode::Fused, &clock);
    let lanes = ["a", "b", "c", "d"].map(conversation);
    for lane in &lanes {
        admit(&mut store, call(lane, "1", "hello"));
    }
    // `a` is done; `b` is owned by somebody who went away; `c` and `d` wait.
    Worker::new(vec![]).work(&mut store, &lanes[0]);
    let submission = call(&lanes[1], "1", "hello").submission();
    let claim = everstep_machine::ledger::Claim {
        submission,
        expected: everstep_machine::identity::Epoch(0),
        token: everstep_machine::identity::Token([1; 16]),
        producer: everstep_machine::identity::ProducerId::new("worker").unwrap(),
        lease: everstep_machine::identity::DurationMs(30_000),
        productive: None,
    };
    let commands = vec![StoreCommand::Ledger(Command::Claim(claim))];
    store.execute(&Pipeline { lane: lanes[1].clone(), commands }).unwrap();

    let reader = store.reader().unwrap();
    let names = |scan: &everstep_sqlite::Scan| {
        scan.claimable.iter().map(|(lane, _)| lane.clone()).collect::<Vec<_>>()
    };
    let scan = reader.scan(clock.now(), None, 8).unwrap();
    assert_eq!(names(&scan), lanes[2..]);
    assert_eq!((scan.wakes_at, scan.after), (Some(Timestamp(31_000)), None));
    let later = reader.scan(Timestamp(31_000), None, 8).unwrap();
    assert_eq!(names(&later), lanes[1..]);
    assert_eq!(later.wakes_at, None);

    let first = reader.scan(clock.now(), None, 2).unwrap();
    assert_eq!(names(&first), lanes[2..3]);
    let rest = reader.scan(clock.now(), first.after.as_ref(), 2).unwrap();
    assert_eq!((names(&rest), rest.after), (lanes[3..].to_vec(), None));
}

#[test]
fn store_012_every_commit_is_told_with_its_lane_and_seen_by_other_connections() {
    let folder = Folder::new();
    let mut store = folder.open();
    let told: Arc<Mutex<Vec<ConversationId>>> = Arc::default();
    let mine = Arc::clone(&told);
    store.on_commit(move |lane| mine.lock().unwrap().push(lane.clone()));
    let (reader, lane) = (store.reader().unwrap(), conversation("desk"));
    let blank = reader.data_version().unwrap();
    assert_eq!(reader.data_version().unwrap(), blank, "nothing happened");

    let receipt = admit(&mut store, call(&lane, "1", "hello"));
    assert_eq!(*told.lock().unwrap(), std::slice::from_ref(&lane));
    let admitted = reader.data_version().unwrap();
    assert_ne!(admitted, blank);

    admit(&mut store, call(&lane, "1", "hello"));
    assert_eq!(told.lock().unwrap().len(), 1, "a replay changes nothing");
    assert_eq!(reader.data_version().unwrap(), admitted);

    let principal = everstep_machine::identity::PrincipalId::new("bob").unwrap();
    let intent = AbortIntent { principal, reason: "enough".into() };
    let abort = Command::Abort { submission: receipt.submission, intent };
    let commands = vec![StoreCommand::Ledger(abort)];
    store.execute(&Pipeline { lane: lane.clone(), commands }).unwrap();
    assert_eq!(told.lock().unwrap().len(), 2);
    assert_ne!(reader.data_version().unwrap(), admitted);
}

#[test]
fn store_012_a_store_tells_commits_of_others_from_its_own() {
    let folder = Folder::new();
    let (mut store, mut other) = (folder.open(), folder.open());
    let lane = conversation("desk");
    assert!(!store.changed_elsewhere(), "nothing happened since it was opened");
    // So much that it moves the log into the file and begins it anew.
    let large = "x".repeat(200_000);
    for key in 0..30 {
        admit(&mut store, call(&lane, &key.to_string(), &large));
        assert!(!store.changed_elsewhere(), "{key}: its own");
    }
    admit(&mut other, call(&lane, "other", "hello"));
    // A commit of its own in between hides nothing.
    admit(&mut store, call(&lane, "mine", "hello"));
    assert!(store.changed_elsewhere() && !store.changed_elsewhere(), "it is told once");
    assert!(other.changed_elsewhere());
}

#[test]
fn store_003_a_reader_sees_all_of_a_pipeline_or_nothing() {
    let folder = Folder::new();
    let mut store = folder.open();
    let (reader, lane) = (store.reader().unwrap(), conversation("desk"));
    let seen: Arc<Mutex<Vec<(bool, bool)>>> = Arc::default();
    let mine = Arc::clone(&seen);
    let of = lane.clone();
    store.on_failpoint(move |_| {
        let row = reader.rows(&of, AdmissionSequence(0), 1).unwrap().entries.len() == 1;
        let log = reader.log_page(&of, Sequence(0)).unwrap().tail.is_some();
        mine.lock().unwrap().push((row, log));
    });
    admit(&mut store, call(&lane, "1", "hello"));
    let seen = seen.lock().unwrap();
    assert!(seen.iter().all(|(row, log)| row == log), "{seen:?}");
    assert_eq!((seen.first(), seen.last()), (Some(&(false, false)), Some(&(true, true))));
}
