//! A host whose store does not say what became of what it is told.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use everstep_machine::agent::ToolOutcome;
use everstep_machine::effect::EffectClass;
use everstep_machine::record::{Record, Settlement};
use everstep_machine::store::{Pipeline, Replies, Shared, Store, StoreCommand, StoreFault};
use everstep_runtime::{HostError, Standing, Tools, block_on};
use everstep_sqlite::SqliteStore;

use crate::support::{Desk, abort, call, lane, pay, ports};

/// A store that does what it is told and does not say so, if it is told this.
struct Mute {
    store: SqliteStore,
    mute: fn(&Pipeline) -> bool,
}

impl Store for Mute {
    fn execute(&mut self, pipeline: &Pipeline) -> Result<Replies, StoreFault> {
        let replies = self.store.execute(pipeline)?;
        if (self.mute)(pipeline) {
            return Err(StoreFault::Indeterminate);
        }
        Ok(replies)
    }
}

impl Shared for Mute {
    fn changed_elsewhere(&mut self) -> bool {
        self.store.changed_elsewhere()
    }
}

fn tools(calls: &Arc<AtomicUsize>) -> Tools {
    let calls = Arc::clone(calls);
    Tools::default().with(pay(), move |invocation| {
        calls.fetch_add(1, Ordering::SeqCst);
        async move { ToolOutcome::Success(invocation.parameters) }
    })
}

fn reads(pipeline: &Pipeline) -> bool {
    pipeline.commands.iter().all(|command| command.kind().class() != EffectClass::Durable)
}

fn reads_log(pipeline: &Pipeline) -> bool {
    let is_log = |command: &StoreCommand| matches!(command, StoreCommand::ReadLog { .. });
    reads(pipeline) && pipeline.commands.iter().any(is_log)
}

#[test]
fn ops_01_a_store_that_answers_no_read_is_told_to_whoever_waits() {
    // Every read, and those that only an attempt makes before there is a settlement.
    for mute in [reads, reads_log] {
        let (desk, calls) = (Desk::new(), Arc::new(AtomicUsize::new(0)));
        let waited = block_on(async {
            let store = Mute { store: desk.store(), mute };
            let host = desk.host_on(store, ports(tools(&calls)), |config| config);
            let submission = host.submit(call("a", "1")).await.unwrap().submission;
            host.wait(&lane("a"), submission).await
        });
        assert_eq!(waited.unwrap(), Err(HostError::StoreUnsure));
        assert_eq!(calls.load(Ordering::SeqCst), 0, "nothing is done on doubt");
    }
}

fn writes(pipeline: &Pipeline) -> bool {
    !reads(pipeline)
}

#[test]
fn store_012_what_is_settled_is_told_whatever_the_store_says_of_writes() {
    let (desk, calls) = (Desk::new(), Arc::new(AtomicUsize::new(0)));
    let waited = block_on(async {
        let host = desk.host_on(desk.store(), ports(tools(&calls)), |config| config);
        let settled = host.submit(call("a", "1")).await.unwrap().submission;
        host.wait(&lane("a"), settled).await.unwrap();
        host.stop().await;

        let store = Mute { store: desk.store(), mute: writes };
        let host = desk.host_on(store, ports(tools(&calls)), |config| config);
        let refused = host.submit(call("b", "1")).await;
        assert_eq!(refused, Err(HostError::StoreUnsure));
        host.wait(&lane("a"), settled).await
    });
    let waited = waited.unwrap();
    assert!(matches!(waited, Ok(Standing::Settled(_))), "{waited:?}");
}

/// A store that is busy for so many writes.
struct Busy {
    store: SqliteStore,
    left: Arc<AtomicUsize>,
}

impl Store for Busy {
    fn execute(&mut self, pipeline: &Pipeline) -> Result<Replies, StoreFault> {
        let less = |left: usize| left.checked_sub(1);
        let is_busy = || self.left.fetch_update(Ordering::SeqCst, Ordering::SeqCst, less).is_ok();
        if !reads(pipeline) && is_busy() {
            return Err(StoreFault::Indeterminate);
        }
        self.store.execute(pipeline)
    }
}

impl Shared for Busy {
    fn changed_elsewhere(&mut self) -> bool {
        self.store.changed_elsewhere()
    }
}

/// Nothing of a run is committed behind its abort but what was on its way: its call had returned,
/// and the store was busy.
#[test]
fn case_ab_05_after_an_abort_in_a_busy_store_only_what_was_on_its_way_is_committed() {
    let (desk, left) = (Desk::new(), Arc::new(AtomicUsize::new(0)));
    let (busy, other) = (Arc::clone(&left), std::sync::Mutex::new(desk.store()));
    let submission = call("a", "1").submission();
    let tools = Tools::default().with(pay(), move |it| {
        // Somebody aborts while it runs, and from then on the store is busy for a while.
        other.lock().unwrap().execute(&abort(submission)).unwrap();
        busy.store(3, Ordering::SeqCst);
        async move { ToolOutcome::Success(it.parameters) }
    });
    let settled = block_on(async {
        let store = Busy { store: desk.store(), left: Arc::clone(&left) };
        let host = desk.host_on(store, ports(tools), |it| it);
        host.submit(call("a", "1")).await.unwrap();
        crate::outcome(host.wait(&lane("a"), submission).await)
    });
    assert_eq!(settled.unwrap(), Settlement::Aborted);
    assert_eq!(left.load(Ordering::SeqCst), 0, "it was busy, and was asked again");
    let records = desk.records("a");
    let [.., settled, abort, end] = &records[..] else { panic!("{records:?}") };
    assert!(matches!(settled, Record::ToolSettled(_)), "it was on its way: {settled:?}");
    assert!(matches!(abort, Record::AbortRequested(_)), "{abort:?}");
    assert!(matches!(end, Record::SubmissionSettled(_)), "and nobody asked the model: {end:?}");
}
