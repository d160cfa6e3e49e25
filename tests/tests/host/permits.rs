//! Permits that runs of a host share: who waits for one has not begun, and is in nobody's doubt.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::time::Duration;

use everstep_machine::agent::ToolOutcome;
use everstep_machine::permits::Limits;
use everstep_machine::record::{Record, Settlement};
use everstep_runtime::{Config, Host, Ports, Tools, block_on, pause};

use crate::outcome;
use crate::stopping::Thrice;
use crate::support::{Desk, OFTEN, call, count, lane, pay, ports};

/// Tools that count how many of their calls run at once and wait until they are let go.
#[derive(Clone, Default)]
struct Counter {
    begun: Arc<AtomicUsize>,
    running: Arc<AtomicUsize>,
    most: Arc<AtomicUsize>,
    go: Arc<AtomicBool>,
}

impl Counter {
    fn tools(&self) -> Tools {
        let it = self.clone();
        Tools::default().with(pay(), move |invocation| {
            let it = it.clone();
            async move {
                it.begun.fetch_add(1, Ordering::SeqCst);
                let now = it.running.fetch_add(1, Ordering::SeqCst) + 1;
                it.most.fetch_max(now, Ordering::SeqCst);
                while !it.go.load(Ordering::SeqCst) {
                    pause(Duration::from_millis(1)).await;
                }
                it.running.fetch_sub(1, Ordering::SeqCst);
                ToolOutcome::Success(invocation.parameters)
            }
        })
    }

    async fn has_begun(&self, calls: usize) {
        while self.begun.load(Ordering::SeqCst) < calls {
            pause(Duration::from_millis(1)).await;
        }
        // Whoever else wants to begin has had time to.
        pause(Duration::from_millis(50)).await;
    }
}

fn host(desk: &Desk, counter: &Counter, most: usize) -> Host {
    let ports = Ports { model: Arc::new(Thrice), ..ports(counter.tools()) };
    desk.host_on(desk.store(), ports, |config| {
        let permits = Limits { host: most, ..config.permits.clone() };
        Config { permits, glance: OFTEN, ..config }
    })
}

fn prepared(desk: &Desk, lanes: &[&str]) -> usize {
    let is_prepared = |it: &Record| matches!(it, Record::ToolPrepared(_));
    lanes.iter().map(|lane| count(&desk.records(lane), is_prepared)).sum()
}

#[test]
fn run_009_a_call_that_waits_for_a_permit_of_its_host_is_not_prepared() {
    let (desk, counter) = (Desk::new(), Counter::default());
    let settled = block_on(async {
        let host = host(&desk, &counter, 2);
        let first = host.submit(call("a", "1")).await.unwrap().submission;
        let second = host.submit(call("b", "1")).await.unwrap().submission;
        counter.has_begun(2).await;
        assert_eq!(prepared(&desk, &["a", "b"]), 2, "six calls, two permits");
        counter.go.store(true, Ordering::SeqCst);
        let first = outcome(host.wait(&lane("a"), first).await);
        let second = outcome(host.wait(&lane("b"), second).await);
        host.stop().await;
        [first, second]
    });
    for settled in settled.unwrap() {
        assert!(matches!(settled, Settlement::Completed { .. }), "{settled:?}");
    }
    assert_eq!(counter.begun.load(Ordering::SeqCst), 6, "each call once");
    assert_eq!(counter.most.load(Ordering::SeqCst), 2);
}

/// A host that is gone without a word leaves in doubt what ran, and not what waited.
#[test]
fn dur_009_after_a_crash_only_what_had_its_permit_is_in_doubt() {
    let (desk, counter) = (Desk::new(), Counter::default());
    block_on(async {
        let host = host(&desk, &counter, 1);
        host.submit(call("a", "1")).await.unwrap();
        counter.has_begun(1).await;
        drop(host);
    })
    .unwrap();
    assert_eq!(prepared(&desk, &["a"]), 1, "three calls, one permit");
    assert_eq!(counter.begun.load(Ordering::SeqCst), 1);
}

#[test]
fn ops_03_run_009_who_waits_for_a_permit_does_not_begin_while_its_host_stops() {
    let (desk, counter) = (Desk::new(), Counter::default());
    block_on(async {
        let host = host(&desk, &counter, 1);
        host.submit(call("a", "1")).await.unwrap();
        counter.has_begun(1).await;
        let go = Arc::clone(&counter.go);
        let releases = async {
            pause(Duration::from_millis(50)).await;
            go.store(true, Ordering::SeqCst);
            std::future::pending::<()>().await;
        };
        beside(host.stop(), releases).await;
    })
    .unwrap();
    assert_eq!(counter.begun.load(Ordering::SeqCst), 1, "the others wait for the next host");
    let records = desk.records("a");
    assert_eq!(count(&records, |it| matches!(it, Record::ToolSettled(_))), 1, "{records:?}");
    assert_eq!(desk.reader().lane(&lane("a")).unwrap().unwrap().owner, None);
}

#[test]
fn ops_03_run_009_a_lane_that_only_waits_for_a_permit_is_given_back_when_its_host_stops() {
    let (desk, counter) = (Desk::new(), Counter::default());
    block_on(async {
        let host = host(&desk, &counter, 1);
        host.submit(call("a", "1")).await.unwrap();
        counter.has_begun(1).await;
        host.submit(call("b", "1")).await.unwrap();
        let is_responded = |it: &Record| matches!(it, Record::ModelResponded(_));
        while count(&desk.records("b"), is_responded) == 0 {
            pause(Duration::from_millis(1)).await;
        }
        pause(Duration::from_millis(50)).await;
        host.stop().await;
    })
    .unwrap();
    let owner = |name: &str| desk.reader().lane(&lane(name)).unwrap().unwrap().owner;
    assert_eq!(owner("b"), None, "nothing of it was out");
    assert!(owner("a").is_some(), "its call was, and is dropped: its lease runs out");
}

/// Runs the first to its end, and the second beside it.
async fn beside(first: impl Future<Output = ()>, second: impl Future<Output = ()>) {
    let (mut first, mut second) = (std::pin::pin!(first), std::pin::pin!(second));
    std::future::poll_fn(|context| {
        let _ = second.as_mut().poll(context);
        first.as_mut().poll(context)
    })
    .await;
}
