//! A damaged index hides nothing that was admitted: what was done once is not done again.

use std::fs;

use everstep_machine::admission::{self, AdmissionMachine, Call};
use everstep_machine::contract::Machine as _;
use everstep_machine::identity::AdmissionSequence;
use everstep_machine::ledger::Command;
use everstep_machine::store::{Pipeline, Replies, StoreCommand};
use everstep_sqlite::{Flaw, Place, SqliteStore, StoreError};

use crate::support::{Folder, admit, call, conversation};

const INDEXES: [&str; 2] = ["ledger_row_submission", "ledger_row_again"];

fn of_key(key: &str) -> Call {
    call(&conversation("desk"), key, "hello")
}

/// A closed database with three submissions, and one byte of the second flipped in one index.
fn flipped(index: &str) -> Folder {
    let folder = Folder::new();
    let mut store = folder.open();
    for key in ["1", "2", "3"] {
        admit(&mut store, of_key(key));
    }
    drop(store);
    let root = "SELECT rootpage FROM sqlite_schema WHERE name = ?1";
    let root: usize = folder.sql().query_row(root, [index], |row| row.get(0)).unwrap();
    let mut bytes = fs::read(folder.file()).unwrap();
    let page = &mut bytes[(root - 1) * 4_096..root * 4_096];
    let submission = of_key("2").submission().0;
    let at = page.windows(16).position(|it| it == submission).expect("the index has it");
    page[at] ^= 0x10;
    fs::write(folder.file(), bytes).unwrap();
    folder
}

/// The first thing that a client's call does.
fn submit(store: &mut SqliteStore, call: Call) -> Result<Replies, StoreError> {
    let mut step = AdmissionMachine::step(admission::State::new(call), admission::Input::Started);
    match step.effects.pop() {
        Some(admission::Effect::Store(pipeline)) => store.perform(&pipeline),
        other => panic!("it asks for nothing: {other:?}"),
    }
}

fn ready(store: &mut SqliteStore) -> Result<Replies, StoreError> {
    let submission = of_key("2").submission();
    let commands = vec![StoreCommand::Ledger(Command::Ready { submission })];
    store.perform(&Pipeline { lane: conversation("desk"), commands })
}

#[test]
fn store_006_a_flipped_byte_in_an_index_admits_nothing_a_second_time() {
    for index in INDEXES {
        let folder = flipped(index);
        let mut store = folder.open();
        let first = index == INDEXES[0];
        for answer in [submit(&mut store, of_key("2")), ready(&mut store)] {
            match answer {
                Err(StoreError::Corrupt { place, flaw, .. }) if first => {
                    assert_eq!(place, Place::Row(conversation("desk"), AdmissionSequence(1)));
                    assert_eq!(*flaw, Flaw::Index);
                }
                // The index that is asked first is whole.
                Ok(_) if !first => {}
                other => panic!("{index}: {other:?}"),
            }
        }
        // Nobody else is concerned.
        submit(&mut store, of_key("1")).unwrap();
        submit(&mut store, of_key("4")).unwrap();
        let reader = folder.reader();
        let rows = reader.rows(&conversation("desk"), AdmissionSequence(0), 9).unwrap();
        assert_eq!(rows.entries.len(), 4, "{index}");
        let verified = reader.verify(&conversation("desk")).unwrap_err();
        assert!(matches!(verified, StoreError::Corrupt { .. }), "{verified}");
        assert!(reader.verify_file().is_err());
        let found = reader.find(of_key("2").submission()).unwrap();
        assert_eq!(found.entries.len(), 1, "{index}");
    }
}
