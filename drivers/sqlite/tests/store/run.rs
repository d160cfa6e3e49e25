//! Whole submissions by the machines that decide them, on a file.

use everstep_machine::attempt::End;
use everstep_machine::identity::{AdmissionSequence, Timestamp};
use everstep_machine::ledger::Phase;
use everstep_sqlite::{CommitMode, Verified};

use crate::support::{Folder, TestClock, Worker, admit, call, conversation};

#[test]
fn dur_002_a_submission_settles_on_a_file_in_both_commit_modes() {
    for mode in CommitMode::ALL {
        let (folder, clock, desk) = (Folder::new(), TestClock::at(1_000), conversation("desk"));
        let mut store = folder.open_as(*mode, &clock);
        let receipt = admit(&mut store, call(&desk, "1", "hello"));
        drop(store);
        let mut store = folder.open_as(*mode, &clock);
        let mut worker = Worker::new(vec!["pay", "pay"]);
        assert_eq!(worker.work(&mut store, &desk), End::Settled, "{mode}");
        drop(store);
        let mut store = folder.open_as(*mode, &clock);
        assert_eq!(worker.work(&mut store, &desk), End::Idle);
        assert_eq!(admit(&mut store, call(&desk, "1", "hello")), receipt);
        let reader = folder.reader();
        let row = reader.row(&desk, receipt.submission).unwrap().unwrap();
        assert!(matches!(row.phase, Phase::Settled(_)), "{:?}", row.phase);
        let Verified { rows, batches, records, .. } = reader.verify(&desk).unwrap();
        assert!(rows == 1 && batches > 3 && records >= batches);
        reader.verify_file().unwrap();
        assert_eq!(reader.waiting(None, 8).unwrap().entries, []);
        let idle = reader.scan(Timestamp(u64::MAX), None, 8).unwrap();
        assert_eq!(idle, everstep_sqlite::Scan::default());
    }
}

#[test]
fn store_002_a_submission_without_tools_is_three_commits() {
    let (folder, desk) = (Folder::new(), conversation("desk"));
    let mut store = folder.open();
    let mut worker = Worker::new(vec![]);
    for n in 0..20_u64 {
        let before = store.counters().commits;
        let receipt = admit(&mut store, call(&desk, &n.to_string(), "hello"));
        assert_eq!(receipt.position, AdmissionSequence(n));
        assert_eq!(store.counters().commits - before, 1, "an admission is one commit");
        assert_eq!(worker.work(&mut store, &desk), End::Settled);
        assert_eq!(store.counters().commits - before, 3, "admission, start and end");
    }
}
