//! The write-ahead log stays short while somebody watches.

use std::fs;
use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::thread;

use everstep_machine::conversation::{Command, Reply, Tail};
use everstep_machine::identity::{
    ConversationId, PrincipalId, ProducerId, RunId, Sequence, SubmissionId, Timestamp,
};
use everstep_machine::json::CanonicalJson;
use everstep_machine::record::{Batch, InputRecorded, Record};
use everstep_machine::store::{Pipeline, Reply as StoreReply, Store, StoreCommand};
use everstep_sqlite::SqliteStore;

use crate::support::{Folder, admit, call, conversation};

/// Where the log is too long, and as much again for the time until readers let go.
const BOUND: u64 = 24 << 20;

fn wal(folder: &Folder) -> u64 {
    let mut path = folder.file().into_os_string();
    path.push("-wal");
    fs::metadata(PathBuf::from(path)).map_or(0, |it| it.len())
}

/// Appends so many batches to a few logs and tells how long the write-ahead log ever was.
fn append(folder: &Folder, count: u64) -> u64 {
    let mut store = folder.open();
    let mut logs: Vec<Log> = (0..8).map(|n| Log::begin(&mut store, n)).collect();
    let mut longest = 0;
    for n in 0..count {
        logs[(n % 8) as usize].append(&mut store, n);
        if n % 64 == 0 {
            longest = longest.max(wal(folder));
        }
    }
    longest.max(wal(folder))
}

/// A producer of one log.
struct Log {
    lane: ConversationId,
    tail: Tail,
}

impl Log {
    fn begin(store: &mut SqliteStore, n: u8) -> Self {
        let lane = conversation(&format!("lane {n}"));
        admit(store, call(&lane, "1", "hello"));
        let page = store.reader().unwrap().log_page(&lane, Sequence(0)).unwrap();
        Self { tail: page.tail.expect("an admission begins a log"), lane }
    }

    fn append(&mut self, store: &mut SqliteStore, n: u64) {
        let input = InputRecorded {
            submission: SubmissionId(u128::from(n).to_be_bytes()),
            principal: PrincipalId::new("ada").unwrap(),
            run: RunId([1; 16]),
            input: CanonicalJson::string("refund this, please").unwrap(),
            kind: everstep_machine::record::InputKind::First {
                bound: call(&self.lane, "1", "hello").binding.bound(),
            },
            at: everstep_machine::identity::Timestamp(1_000),
            allowance: everstep_machine::agent::Allowance::default(),
        };
        let batch = Batch::new(&self.lane, vec![Record::InputRecorded(input)]).unwrap();
        let append = Command::Append {
            epoch: self.tail.epoch,
            producer: ProducerId::new("worker").unwrap(),
            expected: self.tail.reference(),
            batch: Arc::new(batch),
        };
        let commands = vec![StoreCommand::Conversation(append)];
        let replies = store.execute(&Pipeline { lane: self.lane.clone(), commands }).unwrap();
        match replies[..] {
            [StoreReply::Conversation(Reply::Appended(tail))] => self.tail = tail,
            _ => panic!("not appended: {replies:?}"),
        }
    }
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
            let mut from = Sequence(0);
            while !stop.load(Ordering::Relaxed) {
                // The newest few: a page that takes long to read would measure the machine.
                let page = reader.log_page(&lane, from).unwrap();
                let end = page.tail.map_or(0, |it| it.next_sequence.0);
                from = Sequence(end.saturating_sub(32));
                let scan = reader.scan(Timestamp(0), None, 8).unwrap();
                assert!(page.batches.len() <= 2_000 && scan.claimable.len() <= 8);
                looks.fetch_add(1, Ordering::Relaxed);
                // Slow at using what it was given, with nothing open.
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
    let longest = append(&folder, 2_000);
    assert!(longest > BOUND, "{longest} bytes");
}
