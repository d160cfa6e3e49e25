//! How a client finds the settlement of its submission in a long log.

use std::sync::{Arc, Mutex};

use everstep_machine::agent::ToolOutcome;
use everstep_machine::identity::{ConversationId, Sequence};
use everstep_machine::projection::Reader;
use everstep_machine::record::Settlement;
use everstep_machine::store::{Pipeline, Replies, Reply, Shared, Store, StoreCommand, StoreFault};
use everstep_runtime::{Config, Standing, Tools, block_on};
use everstep_sqlite::SqliteStore;

use crate::support::{Desk, call, lane, pay, ports};

/// Batches in a page: so few that every log is long.
const PAGE: usize = 2;

/// A store with short pages, that remembers from where logs are read.
struct Short {
    store: SqliteStore,
    read: Arc<Mutex<Vec<Sequence>>>,
}

impl Store for Short {
    fn execute(&mut self, pipeline: &Pipeline) -> Result<Replies, StoreFault> {
        let read = pipeline.commands.iter().filter_map(|command| match command {
            StoreCommand::ReadLog { from } => Some(*from),
            StoreCommand::Ledger(_) | StoreCommand::Conversation(_) | StoreCommand::ReadLane(_) => {
                None
            }
        });
        self.read.lock().unwrap().extend(read);
        let mut replies = self.store.execute(pipeline)?;
        for reply in &mut replies {
            if let Reply::Log(page) = reply {
                page.batches.truncate(PAGE);
            }
        }
        Ok(replies)
    }
}

impl Shared for Short {
    fn changed_elsewhere(&mut self) -> bool {
        self.store.changed_elsewhere()
    }

    fn checkpoint(&mut self, lane: &ConversationId) -> Option<Reader> {
        self.store.checkpoint(lane)
    }

    fn keep_checkpoint(&mut self, lane: &ConversationId, bytes: &[u8]) {
        self.store.keep_checkpoint(lane, bytes);
    }
}

#[test]
fn store_012_the_settlement_in_a_long_log_is_looked_for_from_its_end() {
    let (desk, read) = (Desk::new(), Arc::new(Mutex::new(Vec::new())));
    let store = Short { store: desk.store(), read: Arc::clone(&read) };
    let tools = Tools::default()
        .with(pay(), |invocation| async move { ToolOutcome::Success(invocation.parameters) });
    block_on(async {
        let host = desk.host_on(store, ports(tools), |config| config);
        let mut receipts = Vec::new();
        for key in ["1", "2", "3"] {
            receipts.push(host.submit(call("a", key)).await.unwrap().submission);
        }
        for submission in &receipts {
            host.wait(&lane("a"), *submission).await.unwrap();
        }
        let end = desk.records("a").len() as u64;
        for (at, submission) in receipts.iter().enumerate() {
            read.lock().unwrap().clear();
            let standing = host.wait(&lane("a"), *submission).await.unwrap();
            let Standing::Settled(found) = standing else { panic!("{standing:?}") };
            assert_eq!(found.submission, *submission);
            assert!(matches!(found.settlement, Settlement::Completed { .. }));
            let read = read.lock().unwrap().clone();
            if at + 1 == receipts.len() {
                assert_eq!(read, [Sequence(0), Sequence(end - PAGE as u64)]);
            } else {
                assert!(read.len() > 2, "further back it takes longer: {read:?}");
            }
        }
        host.stop().await;
    })
    .unwrap();
}

#[test]
fn store_007_a_host_reads_of_a_lane_it_has_worked_on_only_what_is_new() {
    for (folds, is_remembered) in [(1 << 20, true), (0, false)] {
        let (desk, read) = (Desk::new(), Arc::new(Mutex::new(Vec::new())));
        let store = Short { store: desk.store(), read: Arc::clone(&read) };
        let tools = Tools::default()
            .with(pay(), |invocation| async move { ToolOutcome::Success(invocation.parameters) });
        block_on(async {
            let host = desk.host_on(store, ports(tools), |config| Config { folds, ..config });
            for key in ["1", "2", "3"] {
                let end = Sequence(desk.page("a").tail.map_or(0, |tail| tail.next_sequence.0));
                read.lock().unwrap().clear();
                let submission = host.submit(call("a", key)).await.unwrap().submission;
                host.wait(&lane("a"), submission).await.unwrap();
                let first = read.lock().unwrap()[0];
                assert_eq!(first, if is_remembered { end } else { Sequence(0) }, "{key}");
            }
            host.stop().await;
        })
        .unwrap();
    }
}

/// Where the first reading of a host that begins anew starts, once it has settled this submission.
fn begun_anew(desk: &Desk, key: &str, checkpoint: u64) -> Sequence {
    let read = Arc::new(Mutex::new(Vec::new()));
    let store = Short { store: desk.store(), read: Arc::clone(&read) };
    let tools = Tools::default()
        .with(pay(), |invocation| async move { ToolOutcome::Success(invocation.parameters) });
    block_on(async {
        let host = desk.host_on(store, ports(tools), |config| Config { checkpoint, ..config });
        let submission = host.submit(call("a", key)).await.unwrap().submission;
        host.wait(&lane("a"), submission).await.unwrap();
        host.stop().await;
    })
    .unwrap();
    let read = read.lock().unwrap();
    read[0]
}

#[test]
fn store_007_a_host_that_begins_anew_reads_only_what_came_since_the_last_checkpoint() {
    let desk = Desk::new();
    assert_eq!(begun_anew(&desk, "1", 4), Sequence(0));
    let end = desk.records("a").len() as u64;
    assert_eq!(begun_anew(&desk, "2", 1_000), Sequence(end), "and goes on from it");
    // Nothing was kept since.
    assert_eq!(begun_anew(&desk, "3", 4), Sequence(end));
    let end = desk.records("a").len() as u64;
    assert_eq!(begun_anew(&desk, "4", 0), Sequence(0), "it is not wanted");
    assert_eq!(begun_anew(&desk, "5", 4), Sequence(end));
}
