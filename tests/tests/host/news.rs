//! Who is woken by what, counted: looks at the lanes, glances, and readings of rows.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use everstep_machine::agent::ToolOutcome;
use everstep_machine::identity::ConversationId;
use everstep_machine::scheduler::Findings;
use everstep_machine::store::{Pipeline, Replies, Shared, Store, StoreCommand, StoreFault};
use everstep_runtime::{Config, Host, LookOut, ScanFailed, Standing, Tools, block_on, pause};
use everstep_sqlite::SqliteStore;

use crate::support::{Desk, NEVER, admitted, call, is_claim, lane, pay, ports};

/// What was done how often.
#[derive(Default)]
struct Counts {
    claims: AtomicUsize,
    glances: AtomicUsize,
    /// Glances that saw a commit of somebody else.
    changes: AtomicUsize,
    /// Readings of one row.
    rows: AtomicUsize,
    scans: AtomicUsize,
}

impl Counts {
    fn of(counter: &AtomicUsize) -> usize {
        counter.load(Ordering::SeqCst)
    }
}

fn count(counter: &AtomicUsize) {
    counter.fetch_add(1, Ordering::SeqCst);
}

/// A store that counts.
struct Counting {
    store: SqliteStore,
    counts: Arc<Counts>,
}

impl Store for Counting {
    fn execute(&mut self, pipeline: &Pipeline) -> Result<Replies, StoreFault> {
        match pipeline.commands.as_slice() {
            [StoreCommand::ReadLane(_)] => count(&self.counts.rows),
            commands if commands.iter().any(is_claim) => count(&self.counts.claims),
            _ => {}
        }
        self.store.execute(pipeline)
    }
}

impl Shared for Counting {
    fn changed_elsewhere(&mut self) -> bool {
        count(&self.counts.glances);
        let changed = self.store.changed_elsewhere();
        if changed {
            count(&self.counts.changes);
        }
        changed
    }
}

struct CountedLook<L>(L, Arc<Counts>);

impl<L: LookOut> LookOut for CountedLook<L> {
    fn scan(&mut self, after: Option<&ConversationId>) -> Result<Findings, ScanFailed> {
        count(&self.1.scans);
        self.0.scan(after)
    }
}

/// A host that is counted.
fn host(desk: &Desk, tools: Tools, config: impl FnOnce(Config) -> Config) -> (Host, Arc<Counts>) {
    let counts = Arc::new(Counts::default());
    let store = Counting { store: desk.store(), counts: Arc::clone(&counts) };
    let lookout = CountedLook(desk.lookout(), Arc::clone(&counts));
    (desk.host_with(store, lookout, ports(tools), config), counts)
}

fn quick() -> Tools {
    Tools::default()
        .with(pay(), |invocation| async move { ToolOutcome::Success(invocation.parameters) })
}

async fn settled(host: &Host, name: &str, key: &str) {
    let submission = host.submit(call(name, key)).await.unwrap().submission;
    let standing = host.wait(&lane(name), submission).await.unwrap();
    assert!(matches!(standing, Standing::Settled(_)), "{standing:?}");
}

#[test]
fn store_012_a_host_alone_on_its_file_does_not_take_its_own_commits_for_another_s() {
    let desk = Desk::new();
    block_on(async {
        let glance = Duration::from_millis(1);
        let (host, counts) = host(&desk, quick(), |config| Config { glance, ..config });
        // It commits a lot between glances, and is glanced at a lot.
        let mut submissions = 0;
        while submissions < 20 || Counts::of(&counts.glances) < 20 {
            settled(&host, "a", &submissions.to_string()).await;
            submissions += 1;
        }
        assert_eq!(Counts::of(&counts.changes), 0, "all of it was its own");
        let scans = Counts::of(&counts.scans);
        assert!(scans <= 1 + submissions, "the first one, and one an attempt: {scans}");
        host.stop().await;
    })
    .unwrap();
}

#[test]
fn store_012_what_another_process_commits_is_seen_by_a_host_that_is_at_rest() {
    let desk = Desk::new();
    block_on(async {
        let glance = Duration::from_millis(1);
        let (host, counts) = host(&desk, quick(), |config| Config { glance, ..config });
        settled(&host, "a", "1").await;
        // This host never glances, so that only the other one can find the work.
        let idle = |config| Config { glance: NEVER, slots: 1, ..config };
        let (other, _) = self::host(&desk, quick(), idle);
        settled(&other, "a", "2").await;
        other.stop().await;
        while Counts::of(&counts.changes) == 0 {
            pause(glance).await;
        }
        let submission = admitted(&mut desk.store(), call("b", "1"));
        let standing = host.wait(&lane("b"), submission).await.unwrap();
        assert!(matches!(standing, Standing::Settled(_)), "{standing:?}");
        host.stop().await;
    })
    .unwrap();
}

#[test]
fn store_012_a_hundred_waiters_are_each_woken_by_their_own_lane_only() {
    const LANES: usize = 100;
    let desk = Desk::new();
    block_on(async {
        let idle = |config| Config { glance: NEVER, slots: 4, ..config };
        let (host, counts) = host(&desk, quick(), idle);
        let host = Arc::new(host);
        let waiters: Vec<_> = (0..LANES)
            .map(|n| {
                let host = Arc::clone(&host);
                async move { settled(&host, &format!("lane {n}"), "1").await }
            })
            .collect();
        together(waiters).await;
        let (rows, claims) = (Counts::of(&counts.rows), Counts::of(&counts.claims));
        assert_eq!(claims, LANES);
        // When it begins to wait, and after each attempt, of which there may be a needless one.
        assert!(rows <= 3 * LANES, "{rows} readings for {LANES} waiters");
    })
    .unwrap();
}

/// All of them at the same time, in one task.
async fn together(futures: Vec<impl Future<Output = ()>>) {
    let mut futures: Vec<_> = futures.into_iter().map(|it| Some(Box::pin(it))).collect();
    std::future::poll_fn(|context| {
        for slot in &mut futures {
            if slot.as_mut().is_some_and(|it| it.as_mut().poll(context).is_ready()) {
                *slot = None;
            }
        }
        if futures.iter().all(Option::is_none) {
            std::task::Poll::Ready(())
        } else {
            std::task::Poll::Pending
        }
    })
    .await;
}
