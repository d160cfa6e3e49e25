//! The write-ahead log stays short while somebody watches.

use std::fs;
use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::thread;

use everstep_machine::identity::{AdmissionSequence, Sequence, Timestamp};

use crate::support::{Folder, admit, call, conversation};

/// Where the log is too long, and as much again for the time until readers let go.
const BOUND: u64 = 24 << 20;

fn wal(folder: &Folder) -> u64 {
    let mut path = folder.file().into_os_string();
    path.push("-wal");
    fs::metadata(PathBuf::from(path)).map_or(0, |it| it.len())
}

/// Appends so many times and tells how long the log ever was.
fn append(folder: &Folder, count: u32) -> u64 {
    let mut store = folder.open();
    let lanes: Vec<_> = (0..8).map(|n| conversation(&format!("lane {n}"))).collect();
    let mut longest = 0;
    for n in 0..count {
        let lane = &lanes[n as usize % lanes.len()];
        admit(&mut store, call(lane, &n.to_string(), "hello"));
        if n % 64 == 0 {
            longest = longest.max(wal(folder));
        }
    }
    longest.max(wal(folder))
}

#[test]
fn case_sq_01_ten_thousand_appends_under_an_observer_keep_the_log_short() {
    let folder = Folder::new();
    drop(folder.open());
    let reader = folder.reader();
    let (stop, looks) = (Arc::new(AtomicBool::new(false)), Arc::new(AtomicU64::new(0)));
    let observer = thread::spawn({
        let (stop, looks, lane) = (Arc::clone(&stop), Arc::clone(&looks), conversation("lane 3"));
        move || {
            while !stop.load(Ordering::Relaxed) {
                let rows = reader.rows(&lane, AdmissionSequence(0), 256).unwrap();
                let page = reader.log_page(&lane, Sequence(0)).unwrap();
                let scan = reader.scan(Timestamp(0), None, 8).unwrap();
                assert!(page.batches.len() <= 1 && scan.claimable.len() <= 8);
                // Slow at using what it was given, with nothing open.
                let found: usize = rows.iter().map(|row| row.admission.input.as_str().len()).sum();
                looks.fetch_add(1 + found as u64 / 1_000_000, Ordering::Relaxed);
                thread::yield_now();
            }
        }
    });
    let longest = append(&folder, 10_000);
    stop.store(true, Ordering::Relaxed);
    observer.join().unwrap();
    assert!(looks.load(Ordering::Relaxed) > 100, "the observer looked");
    assert!(longest > 0 && longest < BOUND, "{longest} bytes");
}

#[test]
fn case_sq_01_an_open_cursor_is_what_the_bound_is_about() {
    // The control: what a reader of ours never does makes the log grow past the bound.
    let folder = Folder::new();
    drop(folder.open());
    let pinned = folder.sql();
    pinned.execute_batch("BEGIN; SELECT count(*) FROM ledger_row;").unwrap();
    let longest = append(&folder, 1_000);
    assert!(longest > BOUND, "{longest} bytes");
}
