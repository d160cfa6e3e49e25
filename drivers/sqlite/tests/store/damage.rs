//! Databases of ours in which something is not as it was written.

use std::fs;
use std::path::Path;
use std::sync::Arc;

use everstep_machine::identity::{AdmissionSequence, ConversationId, Sequence, Timestamp};
use everstep_machine::ledger::{Lane, Row};
use everstep_machine::record::{Corruption, StoredBatch};
use everstep_machine::store::{Pipeline, Store, StoreCommand, StoreFault};
use everstep_sqlite::{Flaw, Place, SqliteReader, StoreError, Verified};

use crate::support::{BRIEF, Folder, Worker, admit, call, conversation, log};

fn desk() -> ConversationId {
    conversation("desk")
}

/// A database with two lanes, some settled and some not, closed.
fn ours() -> Folder {
    let folder = Folder::new();
    let mut store = folder.open();
    for lane in ["desk", "shop"].map(conversation) {
        for key in ["1", "2", "3"] {
            admit(&mut store, call(&lane, key, "refund this, please"));
        }
        let mut worker = Worker::new(vec!["pay"]);
        worker.work(&mut store, &lane);
        worker.work(&mut store, &lane);
    }
    folder
}

/// Everything that a file says, if it can be believed.
#[derive(Debug, PartialEq)]
struct Observed {
    lanes: Vec<Lane>,
    rows: Vec<Vec<Arc<Row>>>,
    logs: Vec<Vec<Arc<StoredBatch>>>,
    verified: Vec<Verified>,
}

fn observe(path: &Path) -> Result<Observed, String> {
    let said = |error: StoreError| error.to_string();
    let reader = SqliteReader::open(path, BRIEF).map_err(|error| error.to_string())?;
    let names = ["desk", "shop"].map(conversation);
    let verified = names.iter().map(|name| reader.verify(name)).collect::<Result<_, _>>();
    let verified = verified.map_err(said)?;
    reader.verify_file().map_err(said)?;
    let lanes = reader.lanes(None, 8).map_err(said)?.entries;
    let rows = names.iter().map(|name| reader.rows(name, AdmissionSequence(0), 8));
    let rows = rows.map(|page| page.map(|page| page.entries));
    let rows = rows.collect::<Result<_, _>>().map_err(said)?;
    let logs = names.iter().map(|name| log(&reader, name)).collect();
    Ok(Observed { lanes, rows, logs, verified })
}

#[test]
fn store_006_a_flipped_bit_anywhere_is_seen_or_changes_nothing() {
    let folder = ours();
    let whole = fs::read(folder.file()).unwrap();
    let truth = observe(&folder.file()).unwrap();
    let (mut seen, mut harmless) = (0, 0);
    let damaged = Folder::new();
    for (turn, at) in (0..whole.len()).step_by(83).enumerate() {
        let mut bytes = whole.clone();
        bytes[at] ^= 1 << (turn % 8);
        for (stale, _) in damaged.bytes() {
            fs::remove_file(stale).unwrap();
        }
        fs::write(damaged.file(), bytes).unwrap();
        match observe(&damaged.file()) {
            Err(_) => seen += 1,
            Ok(observed) => {
                assert_eq!(observed, truth, "byte {at}");
                harmless += 1;
            }
        }
    }
    // Most of the bytes that are not seen belong to the empty part of a page.
    assert!(seen > 100, "{seen} seen, {harmless} harmless");
}

/// Changes bytes of a cell where they are in the file, as a failing disk would.
fn damage(folder: &Folder, sql: &str) {
    let sql = format!("UPDATE {sql}");
    assert!(folder.sql().execute(&sql, ()).unwrap() > 0, "{sql}");
}

/// Replaces the 5th byte from the end by one that it was not.
const FLIP: &str = "CAST(substr(%, 1, length(%) - 5) ||
    CASE substr(%, -5, 1) WHEN x'00' THEN x'01' ELSE x'00' END || substr(%, -4) AS BLOB)";

fn flip(table: &str, column: &str, which: &str) -> String {
    format!("{table} SET {column} = {} WHERE {which}", FLIP.replace('%', column))
}

fn corrupt(error: &StoreError) -> (&Place, &Flaw) {
    match error {
        StoreError::Corrupt { place, flaw, .. } => (place, flaw),
        other => panic!("not corrupt: {other:?}"),
    }
}

#[test]
fn store_006_a_flipped_byte_in_a_record_stops_the_conversation_and_names_the_batch() {
    let folder = ours();
    damage(&folder, &flip("log_batch", "bytes", "conversation = 'desk' AND first_sequence = 1"));
    let mut store = folder.open();
    let commands = vec![StoreCommand::ReadLog { from: Sequence(0) }];
    let pipeline = Pipeline { lane: desk(), commands };
    let error = store.perform(&pipeline).unwrap_err();
    let (place, flaw) = corrupt(&error);
    assert_eq!(*place, Place::Batch(desk(), Sequence(1)));
    assert_eq!(place.conversation(), Some(&desk()));
    assert!(matches!(flaw, Flaw::Batch(_)), "{flaw:?}");
    assert!(matches!(store.execute(&pipeline), Err(StoreFault::Corrupt(_))));
    let said = error.to_string();
    assert!(said.contains("the batch at sequence 1 of conversation desk"), "{said}");
    // The neighbour is not concerned.
    assert_eq!(folder.reader().verify(&conversation("shop")).unwrap().rows, 3);
}

#[test]
fn store_006_every_table_names_its_place() {
    let row = Place::Row(desk(), AdmissionSequence(1));
    let places = [
        (flip("ledger_lane", "cell", "conversation = 'desk'"), Place::Lane(desk())),
        (flip("ledger_row", "cell", "conversation = 'desk' AND sequence = 1"), row),
        (flip("log_tail", "cell", "conversation = 'desk'"), Place::Tail(desk())),
        (
            "log_record SET sequence = 0 WHERE conversation = 'desk' AND sequence = 2".to_owned(),
            Place::Records(desk()),
        ),
    ];
    for (sql, expected) in places {
        let folder = ours();
        damage(&folder, &sql);
        let error = folder.reader().verify(&desk()).unwrap_err();
        assert_eq!(*corrupt(&error).0, expected, "{sql}");
        assert!(matches!(error.fault(), StoreFault::Corrupt(_)));
        assert_eq!(folder.reader().verify(&conversation("shop")).unwrap().rows, 3);
    }
}

#[test]
fn store_006_a_corrupt_lane_keeps_nobody_else_from_being_found() {
    let folder = ours();
    damage(&folder, &flip("ledger_row", "cell", "conversation = 'desk' AND sequence = 2"));
    let reader = folder.reader();
    let scan = reader.scan(Timestamp(u64::MAX), None, 8).unwrap();
    let place = Place::Row(desk(), AdmissionSequence(2));
    assert_eq!(scan.claimable.len(), 1);
    assert_eq!(scan.claimable[0].0, conversation("shop"));
    assert!(scan.corrupt.len() == 1 && scan.corrupt[0].place == place, "{:?}", scan.corrupt);
    let waiting = reader.waiting(None, 1).unwrap();
    assert_eq!((waiting.entries.len(), &waiting.corrupt), (0, &scan.corrupt));
    assert_eq!(waiting.after, Some((desk(), AdmissionSequence(2))));
    let rest = reader.waiting(Some((&desk(), AdmissionSequence(2))), 8).unwrap();
    assert_eq!((rest.entries.len(), rest.after), (1, None));

    damage(&folder, &flip("ledger_lane", "cell", "conversation = 'desk'"));
    let lanes = reader.lanes(None, 8).unwrap();
    assert_eq!((lanes.entries.len(), lanes.corrupt.len()), (1, 1));
    assert_eq!(lanes.corrupt[0].place, Place::Lane(desk()));
}

#[test]
fn store_006_a_corrupt_row_does_not_end_the_listing_of_its_lane() {
    let folder = ours();
    damage(&folder, &flip("ledger_row", "cell", "conversation = 'desk' AND sequence = 1"));
    let reader = folder.reader();
    let (mut listed, mut corrupt, mut from) = (vec![], vec![], Some(AdmissionSequence(0)));
    while let Some(place) = from {
        let page = reader.rows(&desk(), place, 1).unwrap();
        listed.extend(page.entries.iter().map(|row| row.sequence.0));
        corrupt.extend(page.corrupt.into_iter().map(|it| it.place));
        from = page.after;
    }
    assert_eq!((listed, corrupt), (vec![0, 2], vec![Place::Row(desk(), AdmissionSequence(1))]));
}

#[test]
fn store_006_a_name_that_is_none_hides_nobody() {
    // They stand between those of the others: one is no text, the other has a line's end.
    for bad in ["CAST(x'6573ff' AS TEXT)", "CAST(x'65' AS TEXT) || char(10)"] {
        let folder = ours();
        let sql = folder.sql();
        admit(&mut folder.open(), call(&conversation("other"), "1", "hello"));
        for table in ["ledger_lane", "ledger_row", "log_tail", "log_batch", "log_record"] {
            let which = "conversation = 'other'";
            let change = format!("UPDATE {table} SET conversation = {bad} WHERE {which}");
            assert!(sql.execute(&change, ()).unwrap() > 0, "{change}");
        }
        let reader = folder.reader();
        let both = ["desk", "shop"].map(conversation);
        let names = reader.conversations(None, 8).unwrap();
        assert_eq!((names.entries.as_slice(), names.corrupt.len()), (&both[..], 1), "{bad}");
        let lanes = reader.lanes(None, 2).unwrap();
        let found: Vec<_> = lanes.entries.iter().map(|it| it.conversation.clone()).collect();
        assert_eq!((found.as_slice(), lanes.corrupt.len()), (&both[..], 1), "{bad}");
        let waiting = reader.waiting(None, 8).unwrap();
        assert_eq!((waiting.entries.len(), waiting.corrupt.len()), (2, 1), "{bad}");
        let scan = reader.scan(Timestamp(u64::MAX), None, 8).unwrap();
        assert_eq!((scan.claimable.len(), scan.corrupt.len()), (2, 1), "{bad}");
        assert_eq!(scan.after, None);
    }
}

#[test]
fn store_006_what_is_gone_is_missed() {
    let losses = [
        "ledger_row WHERE conversation = 'desk' AND sequence = 1",
        "ledger_row WHERE conversation = 'desk' AND sequence = 2",
        "ledger_lane WHERE conversation = 'desk'",
        "log_tail WHERE conversation = 'desk'",
        "log_batch WHERE conversation = 'desk' AND first_sequence = 1",
        "log_batch WHERE conversation = 'desk' AND first_sequence =
            (SELECT max(first_sequence) FROM log_batch WHERE conversation = 'desk')",
        "log_record WHERE conversation = 'desk' AND sequence = 2",
    ];
    for loss in losses {
        let folder = ours();
        let sql = format!("DELETE FROM {loss}");
        assert_eq!(folder.sql().execute(&sql, ()).unwrap(), 1, "{sql}");
        let error = folder.reader().verify(&desk()).unwrap_err();
        assert_eq!(corrupt(&error).0.conversation(), Some(&desk()), "{sql}: {error}");
    }
}

#[test]
fn store_006_what_is_left_of_a_conversation_is_found_and_missed() {
    let (tail, batch, record) = ("log_tail", "log_batch", "log_record");
    let losses: [(&[&str], Place); 4] = [
        (&["ledger_lane", "ledger_row"], Place::Lane(desk())),
        (&["ledger_lane", tail, batch, record], Place::Lane(desk())),
        (&["ledger_lane", "ledger_row", tail, record], Place::Tail(desk())),
        (&["ledger_lane", "ledger_row", tail, batch], Place::Tail(desk())),
    ];
    for (tables, expected) in losses {
        let folder = ours();
        for table in tables {
            let sql = format!("DELETE FROM {table} WHERE conversation = 'desk'");
            assert!(folder.sql().execute(&sql, ()).unwrap() > 0, "{sql}");
        }
        let reader = folder.reader();
        let all = reader.conversations(None, 8).unwrap();
        assert_eq!(all.entries, ["desk", "shop"].map(conversation), "{tables:?}");
        let first = reader.conversations(None, 1).unwrap();
        assert_eq!((first.entries, first.after), (vec![desk()], Some(desk())));
        let error = reader.verify(&desk()).unwrap_err();
        assert_eq!(corrupt(&error), (&expected, &Flaw::Missing), "{tables:?}");
    }
}

#[test]
fn store_006_flaw_ahead_a_row_that_knows_more_than_the_log() {
    let folder = ours();
    let sql = "DELETE FROM log_batch WHERE conversation = 'desk';
        DELETE FROM log_record WHERE conversation = 'desk';
        DELETE FROM log_tail WHERE conversation = 'desk'";
    folder.sql().execute_batch(sql).unwrap();
    let error = folder.reader().verify(&desk()).unwrap_err();
    let expected = (&Place::Row(desk(), AdmissionSequence(0)), &Flaw::Ahead);
    assert_eq!(corrupt(&error), expected);
}

#[test]
fn store_006_a_batch_of_another_log_does_not_link() {
    let folder = ours();
    let sql = "UPDATE log_batch SET bytes =
        (SELECT bytes FROM log_batch AS o WHERE o.conversation = 'shop' AND o.first_sequence = 1)
        WHERE conversation = 'desk' AND first_sequence = 1";
    assert_eq!(folder.sql().execute(sql, ()).unwrap(), 1);
    let error = folder.reader().log_page(&desk(), Sequence(0)).unwrap_err();
    let expected = (&Place::Batch(desk(), Sequence(1)), &Flaw::Column("conversation"));
    assert_eq!(corrupt(&error), expected);
}

#[test]
fn store_006_a_history_that_was_cut_at_its_end_does_not_reach_its_tail() {
    let folder = ours();
    let sql = "DELETE FROM log_batch WHERE conversation = 'desk' AND first_sequence > 3";
    assert!(folder.sql().execute(sql, ()).unwrap() > 0);
    let error = folder.reader().verify(&desk()).unwrap_err();
    match corrupt(&error) {
        (Place::Tail(_), Flaw::Batch(Corruption::Gap { .. })) => {}
        other => panic!("{other:?}"),
    }
}

#[test]
fn store_006_flaw_sqlite_a_page_of_garbage_is_corruption_of_the_file() {
    let folder = ours();
    let page: u64 = folder
        .sql()
        .query_row("SELECT rootpage FROM sqlite_schema WHERE name = 'log_batch'", (), |row| {
            row.get(0)
        })
        .unwrap();
    let mut bytes = fs::read(folder.file()).unwrap();
    let at = (page as usize - 1) * 4096;
    bytes[at..at + 4096].fill(0x5a);
    fs::write(folder.file(), bytes).unwrap();
    let mut store = folder.open();
    let commands = vec![StoreCommand::ReadLog { from: Sequence(0) }];
    let error = store.perform(&Pipeline { lane: desk(), commands }).unwrap_err();
    let (place, flaw) = corrupt(&error);
    assert_eq!((place, place.conversation()), (&Place::File, None));
    assert!(matches!(flaw, Flaw::Sqlite(_)), "{flaw:?}");
    assert_eq!(error.fault(), StoreFault::Corrupt(Corruption::Undecodable));
    assert!(folder.reader().verify_file().is_err());
}
