//! Ledgers that are made anew of their logs: what can be read is kept, and nothing is lost that the
//! log knows.

use std::sync::Arc;

use everstep_machine::attempt::End;
use everstep_machine::identity::{AdmissionSequence, Epoch};
use everstep_machine::ledger::{Phase, Row};
use everstep_machine::store::{Pipeline, Replies, Store, StoreFault};
use everstep_sqlite::{Exported, Imported, Rebuilt, SqliteStore};

use crate::support::{Folder, Worker, admit, call, conversation, log};

/// A store whose process dies where a call is out.
struct Dies(SqliteStore, u32);

impl Store for Dies {
    fn execute(&mut self, pipeline: &Pipeline) -> Result<Replies, StoreFault> {
        self.1 = self.1.checked_sub(1).ok_or(StoreFault::Indeterminate).expect("it dies");
        self.0.execute(pipeline)
    }
}

/// A file with a settled submission, one whose owner died when it had sent so many pipelines, and
/// one that waits.
fn lane(pipelines: u32) -> Folder {
    let (folder, desk) = (Folder::new(), conversation("desk"));
    let mut store = folder.open();
    admit(&mut store, call(&desk, "1", "hello"));
    assert_eq!(Worker::new(vec!["pay"]).work(&mut store, &desk), End::Settled);
    for key in ["2", "3"] {
        admit(&mut store, call(&desk, key, "hello"));
    }
    let died = std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| {
        Worker::new(vec!["pay"]).work(&mut Dies(store, pipelines), &desk)
    }));
    assert!(died.is_err());
    folder
}

fn rows(folder: &Folder) -> Vec<Arc<Row>> {
    let reader = folder.reader();
    reader.rows(&conversation("desk"), AdmissionSequence(0), 64).unwrap().entries
}

fn rebuilt(folder: &Folder) -> Rebuilt {
    let rebuilt = folder.open().rebuild(&conversation("desk")).unwrap();
    let reader = folder.reader();
    assert_eq!(reader.verify(&conversation("desk")).unwrap().rows, rebuilt.rows);
    reader.verify_file().unwrap();
    rebuilt
}

/// Works until nothing is left to do, and says how every row has ended.
fn ends(folder: &Folder) -> Vec<bool> {
    let mut store = folder.open();
    while Worker::new(vec!["pay"]).work(&mut store, &conversation("desk")) == End::Settled {}
    rows(folder).iter().map(|row| matches!(row.phase, Phase::Settled(_))).collect()
}

#[test]
fn dur_015_a_ledger_with_which_nothing_is_wrong_stays_as_it_is() {
    let folder = lane(3);
    let (before, lane) = (rows(&folder), folder.reader().lane(&conversation("desk")).unwrap());
    let rebuilt = rebuilt(&folder);
    assert_eq!(rebuilt, Rebuilt { rows: 3, ..Rebuilt::default() });
    assert_eq!(rows(&folder), before);
    assert_eq!(folder.reader().lane(&conversation("desk")).unwrap(), lane, "its owner too");
}

#[test]
fn dur_015_a_lane_that_is_lost_is_made_anew_and_nobody_is() {
    let folder = lane(3);
    let before = rows(&folder);
    folder.sql().execute("DELETE FROM ledger_lane", ()).unwrap();
    let rebuilt = rebuilt(&folder);
    assert_eq!(rebuilt, Rebuilt { was_needed: true, rows: 3, of_log: 0, lost: 0 });
    let admissions =
        |rows: &[Arc<Row>]| rows.iter().map(|row| row.admission.clone()).collect::<Vec<_>>();
    assert_eq!(admissions(&rows(&folder)), admissions(&before));
    let lane = folder.reader().lane(&conversation("desk")).unwrap().unwrap();
    assert!(lane.epoch > Epoch(1_000_000_000) && lane.owner.is_none(), "{lane:?}");
    assert_eq!(ends(&folder).len(), 3);
}

#[test]
fn dur_015_rows_that_are_lost_are_made_of_the_log_as_far_as_it_knows_them() {
    let folder = lane(3);
    let before = rows(&folder);
    let sql = folder.sql();
    // Of two nothing can be read; of them the log knows the settled one, and not the one that waits.
    sql.execute("UPDATE ledger_row SET cell = X'00' WHERE sequence IN (0, 2)", ()).unwrap();
    drop(sql);
    let rebuilt = rebuilt(&folder);
    assert_eq!(rebuilt, Rebuilt { was_needed: true, rows: 2, of_log: 1, lost: 1 });
    let after = rows(&folder);
    assert_eq!(after[0].admission.submission, before[0].admission.submission);
    assert!(matches!(after[0].phase, Phase::Settled(_)));
    assert_eq!(after[1].admission, before[1].admission);
}

#[test]
fn dur_015_dur_009_whatever_died_where_nothing_is_done_twice_after_a_rebuild_or_an_import() {
    for pipelines in 1..6 {
        let folder = lane(pipelines);
        let desk = conversation("desk");
        let reader = folder.reader();
        let lane = reader.lane(&desk).unwrap().unwrap();
        let batches = log(&reader, &desk).iter().map(|it| (**it).clone()).collect();
        let artifacts = std::collections::BTreeMap::new();
        let exported = Exported { lane, rows: rows(&folder), batches, artifacts };
        let other = Folder::new();
        let mut store = other.open();
        assert_eq!(store.import(&exported).unwrap(), Imported::Taken);
        assert_eq!(store.import(&exported).unwrap(), Imported::AlreadyThere);
        drop(store);
        folder.sql().execute("DELETE FROM ledger_lane", ()).unwrap();
        rebuilt(&folder);
        for folder in [&folder, &other] {
            let ended = ends(folder);
            let records = log(&folder.reader(), &desk);
            let records = records.iter().flat_map(|batch| batch.batch().records().to_vec());
            let records: Vec<_> = records.collect();
            let count = |wanted: fn(&everstep_machine::record::Record) -> bool| {
                records.iter().filter(|it| wanted(it)).count()
            };
            let starts =
                count(|it| matches!(it, everstep_machine::record::Record::ToolPrepared(_)));
            let unknown =
                count(|it| matches!(it, everstep_machine::record::Record::ToolUnknown(_)));
            // One of the first submission; of the second one, and of the third if it got its turn.
            assert!(starts <= 3 && unknown <= 1, "{pipelines}: {starts} starts, {unknown} unknown");
            assert_eq!(ended.len(), 3, "{pipelines}: nobody is lost");
            assert!(unknown == 1 || ended == [true; 3], "{pipelines}: {ended:?}");
            assert_eq!(folder.reader().verify(&desk).unwrap().rows, 3);
        }
    }
}
