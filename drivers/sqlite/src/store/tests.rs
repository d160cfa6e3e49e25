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
            let rows = reader.rows(&desk(), AdmissionSequence(0), 1_000).unwrap();
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
