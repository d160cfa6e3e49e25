//! Transactions of SQLite alone, as durable as the store's.

use std::path::Path;
use std::time::{Duration, Instant};

use rusqlite::{Connection, Transaction, TransactionBehavior};

use crate::wal;

/// Bytes of a row of which two do not fit a page: as many pages as rows.
const ROW_BYTES: usize = 2_500;

/// A file with nothing in it but rows that are written again and again.
pub(crate) struct Bare {
    connection: Connection,
    written: u64,
    elapsed: Duration,
}

impl Bare {
    /// Makes a file whose transactions write so many pages each.
    pub(crate) fn new(file: &Path, pages: u64) -> Self {
        let connection = Connection::open(file).expect("a new database");
        let wal = "PRAGMA journal_mode = wal; PRAGMA synchronous = FULL";
        connection.execute_batch(wal).expect("a write-ahead log");
        let create = "CREATE TABLE bare (k INTEGER PRIMARY KEY, v BLOB)";
        connection.execute_batch(create).expect("a table");
        for k in 0..pages {
            let insert = "INSERT INTO bare VALUES (?1, ?2)";
            connection.execute(insert, (k, vec![0; ROW_BYTES])).expect("written");
        }
        let mut bare = Self { connection, written: 0, elapsed: Duration::ZERO };
        // A log that still grows is slower to write to than one that is written over.
        while wal::restarts(&wal::beside(file)) == 0 {
            bare.transact();
        }
        bare.written = 0;
        bare
    }

    /// Writes for so long.
    pub(crate) fn run(&mut self, span: Duration) {
        let began = Instant::now();
        while began.elapsed() < span {
            self.transact();
        }
        self.elapsed += began.elapsed();
    }

    fn transact(&mut self) {
        let behavior = TransactionBehavior::Immediate;
        let transaction = Transaction::new_unchecked(&self.connection, behavior).expect("begun");
        let mut put = transaction.prepare_cached("UPDATE bare SET v = ?1").expect("a statement");
        put.execute([vec![self.written.to_le_bytes()[0]; ROW_BYTES]]).expect("written");
        drop(put);
        transaction.commit().expect("committed");
        self.written += 1;
    }

    /// Transactions a second, over all the runs.
    pub(crate) fn rate(&self) -> f64 {
        self.written as f64 / self.elapsed.as_secs_f64()
    }
}

/// Has the write-ahead log of a database that others have open begun anew by who writes next.
pub(crate) fn restart_log(file: &Path) {
    let connection = Connection::open(file).expect("it is there");
    connection.busy_timeout(Duration::from_secs(5)).expect("patience");
    let checkpoint = "PRAGMA wal_checkpoint(RESTART)";
    let kept: bool = connection.query_row(checkpoint, (), |row| row.get(0)).expect("an answer");
    assert!(!kept, "nobody reads for as long as that");
}
