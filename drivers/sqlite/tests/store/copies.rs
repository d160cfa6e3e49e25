//! Backups, and databases made of them: nobody who claimed elsewhere is heard, and nothing that
//! was in flight is taken for done or for never begun.

use std::fs;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use everstep_machine::attempt::End;
use everstep_machine::conversation;
use everstep_machine::identity::{
    AdmissionSequence, ConversationId, Epoch, PrincipalId, Timestamp,
};
use everstep_machine::ledger::{self, AbortIntent, Lane, Phase, Row};
use everstep_machine::record::{Record, StoredBatch};
use everstep_machine::store::{Pipeline, Replies, Store, StoreCommand, StoreFault};
use everstep_sqlite::{
    CopyError, OpenError, Options, Restored, SqliteReader, SqliteStore, StoreError, backup, restore,
};

use crate::support::{BRIEF, Folder, Worker, admit, call, conversation, log};

/// Some time in 2027.
const NOW: Timestamp = Timestamp(1_800_000_000_000);

fn place(folder: &Folder, name: &str) -> PathBuf {
    folder.path().join(name)
}

fn restored(from: &Path, to: &Path, now: Timestamp) -> Restored {
    restore(from, to, now, None, BRIEF).unwrap()
}

fn open(path: &Path) -> SqliteStore {
    SqliteStore::open(Options::new(path).create(false)).unwrap()
}

/// Everything of a conversation.
fn all(path: &Path, name: &ConversationId) -> (Lane, Vec<Arc<Row>>, Vec<Arc<StoredBatch>>) {
    let reader = SqliteReader::open(path, BRIEF).unwrap();
    let rows = reader.rows(name, AdmissionSequence(0), 64).unwrap().entries;
    (reader.lane(name).unwrap().unwrap(), rows, log(&reader, name))
}

/// A store that makes a backup before it records how a call has ended, and remembers all that is
/// sent from then on.
struct Snapped {
    store: SqliteStore,
    out: PathBuf,
    sent: Vec<Pipeline>,
}

impl Store for Snapped {
    fn execute(&mut self, pipeline: &Pipeline) -> Result<Replies, StoreFault> {
        let settles = pipeline.commands.iter().any(|command| match command {
            StoreCommand::Conversation(conversation::Command::Append { batch, .. }) => {
                batch.records().iter().any(|it| matches!(it, Record::ToolSettled(_)))
            }
            _ => false,
        });
        if settles && self.sent.is_empty() {
            backup(self.store.path(), &self.out, BRIEF).unwrap();
        }
        if settles || !self.sent.is_empty() {
            self.sent.push(pipeline.clone());
        }
        self.store.execute(pipeline)
    }
}

/// A file whose one submission was backed up while its call was out, and has settled since; and what
/// was sent to it after the backup.
fn snapped() -> (Folder, Vec<Pipeline>) {
    let folder = Folder::new();
    let out = place(&folder, "backup");
    let mut store = Snapped { store: folder.open(), out, sent: Vec::new() };
    admit(&mut store, call(&conversation("desk"), "1", "hello"));
    assert_eq!(Worker::new(vec!["pay"]).work(&mut store, &conversation("desk")), End::Settled);
    assert!(store.sent.len() > 1);
    (folder, store.sent)
}

#[test]
fn store_013_a_backup_is_one_moment_of_a_file_in_use() {
    let folder = Folder::new();
    let mut store = folder.open();
    let (desk, other) = (conversation("desk"), conversation("other"));
    admit(&mut store, call(&desk, "1", "hello"));
    Worker::new(vec!["pay"]).work(&mut store, &desk);
    admit(&mut store, call(&desk, "2", "hello"));
    let before = all(&folder.file(), &desk);
    let copied = backup(&folder.file(), &place(&folder, "backup"), BRIEF).unwrap();
    assert_eq!((copied.conversations, copied.rows, copied.unsettled), (1, 2, 1));
    assert_eq!(copied.batches, before.2.len() as u64);

    admit(&mut store, call(&desk, "3", "hello"));
    admit(&mut store, call(&other, "1", "hello"));
    let target = place(&folder, "restored.db");
    assert_eq!(restored(&place(&folder, "backup"), &target, NOW).copied, copied);
    let after = all(&target, &desk);
    assert_eq!((&after.1, &after.2), (&before.1, &before.2), "rows and log are as they were");
    assert_eq!(after.0.next, before.0.next);
    let reader = SqliteReader::open(&target, BRIEF).unwrap();
    assert_eq!(reader.lane(&other).unwrap(), None, "what came later is not in it");
    drop(reader);
    // It is a database like any other.
    let mut store = open(&target);
    assert_eq!(Worker::new(vec![]).work(&mut store, &desk), End::Settled);
    assert_eq!(store.reader().unwrap().verify(&desk).unwrap().rows, 2);
}

#[test]
fn store_013_dur_006_nothing_that_was_sent_to_another_copy_is_done_in_a_restored_one() {
    let (folder, sent) = snapped();
    let target = place(&folder, "restored.db");
    let restored = restored(&place(&folder, "backup"), &target, NOW);
    let (desk, mut store) = (conversation("desk"), open(&target));
    let before = all(&target, &desk);
    assert_eq!((before.0.epoch, &before.0.owner), (restored.incarnation.epoch, &None));
    for pipeline in &sent {
        for command in &pipeline.commands {
            let reads = matches!(command, StoreCommand::ReadLane(_) | StoreCommand::ReadLog { .. });
            let alone = Pipeline { lane: desk.clone(), commands: vec![command.clone()] };
            let answer = store.execute(&alone);
            assert!(reads || matches!(answer, Err(StoreFault::Refused { .. })), "{command:?}");
        }
    }
    assert_eq!(all(&target, &desk), before, "and nothing is changed");
}

#[test]
fn store_013_dur_009_a_call_that_was_out_is_unknown_and_not_made_again() {
    let (folder, _) = snapped();
    let target = place(&folder, "restored.db");
    restored(&place(&folder, "backup"), &target, NOW);
    let (desk, mut store) = (conversation("desk"), open(&target));
    assert_eq!(Worker::new(vec!["pay"]).work(&mut store, &desk), End::Parked);
    let (_, rows, log) = all(&target, &desk);
    assert_eq!(rows[0].phase, Phase::Unknown);
    assert!(rows[0].fruitless.is_empty(), "nobody is said to have died of it");
    let records = log.iter().flat_map(|batch| batch.batch().records());
    let starts = records.filter(|it| matches!(it, Record::ToolPrepared(_))).count();
    assert_eq!(starts, 1, "the one that the backup knows");
    assert_eq!(store.reader().unwrap().verify(&desk).unwrap().rows, 1);
}

#[test]
fn store_013_no_epoch_is_given_in_two_copies() {
    let (folder, _) = snapped();
    let (from, desk, fresh) =
        (place(&folder, "backup"), conversation("desk"), conversation("fresh"));
    // In the original, a lane of which the backup knows nothing.
    let mut original = folder.open();
    admit(&mut original, call(&fresh, "1", "hello"));
    Worker::new(vec!["pay"]).work(&mut original, &fresh);
    drop(original);
    let mut taken: Vec<Vec<Epoch>> = Vec::new();
    let epochs = |path: &Path| {
        let lanes = [&desk, &fresh].map(|name| all(path, name));
        let lanes = lanes.iter().flat_map(|(lane, _, log)| {
            log.iter().map(|it| it.envelope().epoch).chain([lane.epoch])
        });
        lanes.filter(|epoch| *epoch > Epoch(0)).collect::<Vec<_>>()
    };
    taken.push(epochs(&folder.file()));
    for (name, at) in [("one.db", NOW), ("two.db", Timestamp(NOW.0 + 1))] {
        let target = place(&folder, name);
        let base = restored(&from, &target, at).incarnation.epoch;
        let mut store = open(&target);
        admit(&mut store, call(&fresh, "1", "hello"));
        Worker::new(vec!["pay"]).work(&mut store, &fresh);
        Worker::new(vec!["pay"]).work(&mut store, &desk);
        drop(store);
        let of_backup = |epoch: &Epoch| *epoch > Epoch(1);
        let own: Vec<Epoch> = epochs(&target).into_iter().filter(of_backup).collect();
        assert!(own.iter().all(|epoch| *epoch > base), "{own:?}");
        assert!(own.len() >= 4, "both lanes were claimed: {own:?}");
        taken.push(own);
    }
    assert!(taken[1].iter().all(|it| taken[0].iter().all(|before| before < it)), "{taken:?}");
    assert!(taken[2].iter().all(|it| taken[1].iter().all(|before| before < it)), "{taken:?}");
}

#[test]
fn store_013_a_backup_of_a_restored_file_leads_above_it_again() {
    let (folder, _) = snapped();
    let [from, one, again, two] =
        ["backup", "one.db", "again", "two.db"].map(|name| place(&folder, name));
    let first = restored(&from, &one, NOW).incarnation;
    backup(&one, &again, BRIEF).unwrap();
    // Even if the clock has been set back since.
    let second = restored(&again, &two, Timestamp(5)).incarnation;
    assert!(second.epoch > first.epoch && second.since >= first.since, "{first:?} {second:?}");
}

#[test]
fn store_013_the_end_of_what_was_not_settled_can_be_asked_for() {
    let folder = Folder::new();
    let mut store = folder.open();
    let desk = conversation("desk");
    for key in ["1", "2", "3"] {
        admit(&mut store, call(&desk, key, "hello"));
    }
    Worker::new(vec!["pay"]).work(&mut store, &desk);
    let (from, target) = (place(&folder, "backup"), place(&folder, "restored.db"));
    backup(&folder.file(), &from, BRIEF).unwrap();
    let principal = PrincipalId::new("ada").unwrap();
    let intent = AbortIntent { principal, reason: "lost".into() };
    let restored = restore(&from, &target, NOW, Some(&intent), BRIEF).unwrap();
    assert_eq!((restored.aborted, restored.copied.unsettled), (2, 2));
    let mut store = open(&target);
    let mut worker = Worker::new(vec!["pay"]);
    while worker.work(&mut store, &desk) == End::Settled {}
    let (_, rows, log) = all(&target, &desk);
    assert!(rows.iter().all(|row| matches!(row.phase, Phase::Settled(_))));
    let records = log.iter().flat_map(|batch| batch.batch().records());
    let starts = records.filter(|it| matches!(it, Record::ToolPrepared(_))).count();
    assert_eq!(starts, 1, "nothing was begun since");
}

#[test]
fn store_013_nobody_works_on_a_backup_and_everybody_may_look_at_it() {
    let (folder, _) = snapped();
    let from = place(&folder, "backup");
    let bytes = fs::read(&from).unwrap();
    let opened = SqliteStore::open(Options::new(&from).busy(BRIEF));
    let refused = opened.expect_err("it is not opened");
    assert!(matches!(refused, OpenError::Backup { .. }), "{refused:?}");
    assert!(refused.to_string().contains("everstep restore"), "{refused}");
    let reader = SqliteReader::open(&from, BRIEF).unwrap();
    assert_eq!(reader.verify(&conversation("desk")).unwrap().rows, 1);
    drop(reader);
    let of_backup = backup(&from, &place(&folder, "copy"), BRIEF).unwrap();
    assert_eq!(of_backup.rows, 1, "it can be copied");
    assert!(fs::read(&from).unwrap() == bytes, "nothing was written to it");
}

#[test]
fn store_013_nothing_is_overwritten_and_what_is_no_backup_is_not_restored() {
    let (folder, _) = snapped();
    let (from, target) = (place(&folder, "backup"), place(&folder, "restored.db"));
    let taken = |it: Result<Restored, CopyError>| matches!(it, Err(CopyError::Taken { .. }));
    let again = backup(&folder.file(), &from, BRIEF);
    assert!(matches!(again, Err(CopyError::Taken { .. })), "{again:?}");
    assert!(taken(restore(&from, &folder.file(), NOW, None, BRIEF)));
    // SQLite would take what is in this one for a part of the new database.
    fs::write(place(&folder, "restored.db-wal"), "of another one").unwrap();
    assert!(taken(restore(&from, &target, NOW, None, BRIEF)));
    assert!(!target.exists());
    fs::remove_file(place(&folder, "restored.db-wal")).unwrap();
    let plain = restore(&folder.file(), &target, NOW, None, BRIEF);
    assert!(matches!(plain, Err(CopyError::NoBackup { .. })), "{plain:?}");
    let nowhere = place(&folder, "no/folder");
    let nowhere = restore(&from, &nowhere, NOW, None, BRIEF);
    assert!(matches!(nowhere, Err(CopyError::Open(OpenError::NoFolder { .. }))), "{nowhere:?}");
    for (bytes, what) in [(&b""[..], "empty"), (b"a letter to a friend", "a letter")] {
        let other = place(&folder, "other");
        fs::write(&other, bytes).unwrap();
        assert!(restore(&other, &target, NOW, None, BRIEF).is_err(), "{what}");
    }
    assert!(restore(&place(&folder, "nothing"), &target, NOW, None, BRIEF).is_err());
    assert!(!target.exists());
    let partial = |it: &str| it.contains("partial");
    let names = fs::read_dir(folder.path()).unwrap();
    let left: Vec<String> =
        names.map(|it| it.unwrap().file_name().into_string().unwrap()).collect();
    assert!(!left.iter().any(|it| partial(it)), "{left:?}");
}

#[test]
fn store_013_store_006_damage_anywhere_is_found_before_anything_is_made() {
    let (folder, _) = snapped();
    let (from, target, bad) =
        (place(&folder, "backup"), place(&folder, "restored.db"), place(&folder, "bad"));
    let good = fs::read(&from).unwrap();
    restored(&from, &target, NOW);
    let desk = conversation("desk");
    let (_, rows, log) = all(&target, &desk);
    let mut found = 0;
    for at in (0..good.len()).step_by(331) {
        let mut bytes = good.clone();
        bytes[at] ^= 1 << (at % 8);
        fs::remove_file(&target).unwrap();
        fs::write(&bad, &bytes).unwrap();
        match restore(&bad, &target, NOW, None, BRIEF) {
            // The byte belongs to nothing: what is in the file is what was in the good one.
            Ok(_) => {
                let made = all(&target, &desk);
                assert_eq!((&made.1, &made.2), (&rows, &log), "byte {at}");
            }
            Err(_) => {
                found += 1;
                assert!(!target.exists(), "byte {at}");
                fs::write(&target, "").unwrap();
            }
        }
    }
    assert!(found > 5, "{found}");
    fs::remove_file(&target).unwrap();
    for length in [0, 50, 100, good.len() / 2, good.len() - 1] {
        fs::write(&bad, &good[..length]).unwrap();
        assert!(restore(&bad, &target, NOW, None, BRIEF).is_err(), "{length} bytes");
        assert!(!target.exists(), "{length} bytes");
    }
}

#[test]
fn store_013_a_database_that_does_not_verify_gets_no_backup() {
    let (folder, _) = snapped();
    let (sql, first) = (folder.sql(), "WHERE first_sequence = 0");
    let read = format!("SELECT bytes FROM log_batch {first}");
    let mut bytes: Vec<u8> = sql.query_row(&read, (), |row| row.get(0)).unwrap();
    bytes[20] ^= 1;
    sql.execute(&format!("UPDATE log_batch SET bytes = ?1 {first}"), [bytes]).unwrap();
    drop(sql);
    let out = place(&folder, "another");
    let made = backup(&folder.file(), &out, BRIEF);
    let corrupt = |it: &CopyError| matches!(it, CopyError::Store(StoreError::Corrupt { .. }));
    assert!(made.as_ref().is_err_and(corrupt), "{made:?}");
    assert!(!out.exists());
}

#[test]
fn store_013_a_file_without_its_incarnation_is_said_so() {
    let (folder, _) = snapped();
    folder.sql().execute("DELETE FROM ledger_incarnation", ()).unwrap();
    let mut store = folder.open();
    assert!(store.reader().unwrap().verify_file().is_err());
    let submission = call(&conversation("new"), "1", "hello").submission();
    let command = StoreCommand::Ledger(ledger::Command::Ready { submission });
    let pipeline = Pipeline { lane: conversation("new"), commands: vec![command] };
    assert!(matches!(store.execute(&pipeline), Err(StoreFault::Corrupt(_))), "no lane begins at 0");
}

#[cfg(unix)]
#[test]
fn store_013_a_copy_is_read_by_those_who_read_its_source() {
    use std::os::unix::fs::PermissionsExt as _;

    let (folder, _) = snapped();
    let mode = |path: &Path| fs::metadata(path).unwrap().permissions().mode() & 0o777;
    let (from, out) = (place(&folder, "backup"), place(&folder, "another"));
    fs::set_permissions(folder.file(), fs::Permissions::from_mode(0o600)).unwrap();
    backup(&folder.file(), &out, BRIEF).unwrap();
    assert_eq!(mode(&out), 0o600);
    fs::set_permissions(&from, fs::Permissions::from_mode(0o440)).unwrap();
    let target = place(&folder, "restored.db");
    restored(&from, &target, NOW);
    assert_eq!(mode(&target), 0o640, "and written by its owner");
}
