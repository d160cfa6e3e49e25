//! What only somebody with the connection in hand can bring about.

use std::sync::Arc;

use everstep_machine::admission::{AdmissionMachine, Call, Effect, Input, State};
use everstep_machine::agent::{AgentDefinition, Allowance, Binding};
use everstep_machine::contract::Machine;
use everstep_machine::digest::Digest;
use everstep_machine::identity::{
    AdmissionSequence, AgentId, IdempotencyKey, PrincipalId, ProducerId, TenantId,
};

use super::*;
use crate::testkit::{desk, text};

fn admission(key: u32) -> Pipeline {
    let id = AgentId::new("clerk").unwrap();
    let definition = AgentDefinition::new(id, "You refund.", vec![], 4).unwrap();
    let model = Digest::of("test/model", b"scripted");
    let call = Call {
        conversation: desk(),
        principal: PrincipalId::new("ada").unwrap(),
        tenant: TenantId::new("shop").unwrap(),
        key: IdempotencyKey::new(&key.to_string()).unwrap(),
        input: text(&"refund this, please ".repeat(50)),
        allowance: Allowance::default(),
        steers: None,
        binding: Arc::new(Binding { definition, model }),
        producer: ProducerId::new("front").unwrap(),
    };
    match AdmissionMachine::step(State::new(call), Input::Started).effects.remove(0) {
        Effect::Store(pipeline) => pipeline,
        other => panic!("an admission begins at the store, not with {other:?}"),
    }
}

#[test]
fn store_error_full_a_limit_of_pages_loses_nothing() {
    for mode in CommitMode::ALL {
        let folder = tempfile::TempDir::new().unwrap();
        let file = folder.path().join("agent.db");
        let mut store = SqliteStore::open(Options::new(&file).mode(*mode)).unwrap();
        store.connection.pragma_update_and_check(None, "max_page_count", 40, |_| Ok(())).unwrap();
        let all = 0..1_000;
        let full = all.clone().find_map(|n| store.perform(&admission(n)).err().map(|why| (n, why)));
        let (accepted, why) = full.expect("forty pages are not enough for a thousand");
        assert!(matches!(why, StoreError::Full { .. }), "{why:?}");
        assert_eq!(why.fault(), StoreFault::Indeterminate);
        assert!(accepted > 10);
        let readies = |reader: &SqliteReader| {
            let rows = reader.rows(&desk(), AdmissionSequence(0), 1_000).unwrap().entries;
            let ready = everstep_machine::ledger::Phase::Ready;
            rows.iter().filter(|row| row.phase == ready).count() as u32
        };
        assert_eq!(readies(&store.reader().unwrap()), accepted, "{mode}");
        store.reader().unwrap().verify(&desk()).unwrap();
        // There is space again: the identical pipeline goes through, on the same connection.
        store
            .connection
            .pragma_update_and_check(None, "max_page_count", 4_000, |_| Ok(()))
            .unwrap();
        store.perform(&admission(accepted)).unwrap();
        assert_eq!(readies(&store.reader().unwrap()), accepted + 1);
        store.reader().unwrap().verify_file().unwrap();
    }
}

#[test]
fn a_store_and_a_reader_can_be_given_to_a_thread() {
    let folder = tempfile::TempDir::new().unwrap();
    let mut store = SqliteStore::open(Options::new(folder.path().join("agent.db"))).unwrap();
    let reader = store.reader().unwrap();
    let writer = std::thread::spawn(move || store.perform(&admission(1)).map(|it| it.len()));
    assert_eq!(writer.join().unwrap().unwrap(), 3);
    let looker = std::thread::spawn(move || reader.verify(&desk()).map(|it| it.rows));
    assert_eq!(looker.join().unwrap().unwrap(), 1);
}

#[test]
fn every_connection_is_durable_and_believes_little() {
    let folder = tempfile::TempDir::new().unwrap();
    let store = SqliteStore::open(Options::new(folder.path().join("agent.db"))).unwrap();
    let number = |name: &str| -> i64 {
        store.connection.pragma_query_value(None, name, |row| row.get(0)).unwrap()
    };
    let mode: String =
        store.connection.pragma_query_value(None, "journal_mode", |row| row.get(0)).unwrap();
    assert_eq!(mode, "wal");
    assert_eq!(number("synchronous"), 2, "FULL");
    assert_eq!(number("wal_autocheckpoint"), 1_000);
    assert_eq!((number("trusted_schema"), number("cell_size_check")), (0, 1));
    assert_eq!(number("user_version"), i64::from(crate::Format::CURRENT.user_version()));
}

#[test]
fn store_003_only_a_transaction_that_reads_remembers() {
    let folder = tempfile::TempDir::new().unwrap();
    let mut store = SqliteStore::open(Options::new(folder.path().join("agent.db"))).unwrap();
    let look = StoreCommand::ReadLog { from: everstep_machine::identity::Sequence(0) };
    let mut admit = admission(1);
    admit.commands.push(look.clone());
    let look = Pipeline { lane: desk(), commands: vec![look] };
    let seen = |replies: Replies| match replies.last() {
        Some(everstep_machine::store::Reply::Log(page)) => page.batches.clone(),
        other => panic!("no page: {other:?}"),
    };
    let written = seen(store.perform(&admit).unwrap());
    assert_eq!(written.len(), 1);
    for recalled in [0, 1, 2] {
        assert_eq!(seen(store.perform(&look).unwrap()), written);
        assert_eq!(store.counters().recalled, recalled);
    }
    let mut store = SqliteStore::open(Options::new(store.path()).memory(0)).unwrap();
    for _ in 0..2 {
        assert_eq!(seen(store.perform(&look).unwrap()), written);
        assert_eq!(store.counters().recalled, 0);
    }
}

#[test]
fn a_statement_that_is_kept_is_planned_once_for_all_values() {
    let folder = tempfile::TempDir::new().unwrap();
    let mut store = SqliteStore::open(Options::new(folder.path().join("agent.db"))).unwrap();
    store.perform(&admission(1)).unwrap();
    // The planner looks at values where an index is partial, and where there is a limit.
    let sql = "SELECT sequence FROM ledger_row INDEXED BY ledger_row_waiting
        WHERE conversation = ?1 AND standing = ?2 AND standing <> 2 ORDER BY sequence LIMIT ?3";
    let mut statement = store.connection.prepare(sql).unwrap();
    for (standing, found) in [(0, true), (1, false), (3, false), (0, true)] {
        assert_eq!(statement.exists((desk().as_str(), standing, 1)).unwrap(), found);
    }
    assert_eq!(statement.get_status(rusqlite::StatementStatus::RePrepare), 0);
}

#[test]
fn store_error_full_of_those_who_share_a_commit_each_that_fits_goes_through() {
    let folder = tempfile::TempDir::new().unwrap();
    let mut store = SqliteStore::open(Options::new(folder.path().join("agent.db"))).unwrap();
    store.connection.pragma_update_and_check(None, "max_page_count", 40, |_| Ok(())).unwrap();
    let (mut accepted, mut refused, mut saved) = (0, 0, 0);
    for group in (0..80).collect::<Vec<_>>().chunks(8) {
        let pipelines: Vec<Pipeline> = group.iter().map(|n| admission(*n)).collect();
        let (before, so_far) = (store.counters().commits, accepted);
        store.perform_all(&pipelines, |answer| match answer {
            Ok(_) => accepted += 1,
            Err(StoreError::Full { .. }) => refused += 1,
            Err(other) => panic!("{other:?}"),
        });
        saved += accepted - so_far - (store.counters().commits - before);
        let verified = store.reader().unwrap().verify(&desk()).unwrap();
        assert_eq!(verified.rows, accepted);
    }
    assert!(accepted > 9 && refused > 9 && saved > 6, "{accepted}, {refused}, {saved}");
    assert!(!accepted.is_multiple_of(8), "some of a group fitted, and the others did not");
}
