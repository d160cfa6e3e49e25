//! An abort from outside: handlers are told, have their time, and are gone when the run ends.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::time::Duration;

use everstep_machine::agent::ToolOutcome;
use everstep_machine::record::{Record, Settlement};
use everstep_machine::store::Store as _;
use everstep_runtime::{Config, NoFailure, Tool, ToolContext, Toolkit, Tools, block_on, pause};

use crate::outcome;
use crate::support::{self, Desk, OFTEN, abort, call, count, lane};

/// Says when it is dropped.
struct Gone(Arc<AtomicBool>);

impl Drop for Gone {
    fn drop(&mut self) {
        self.0.store(true, Ordering::SeqCst);
    }
}

#[test]
fn run_008_a_handler_of_a_durable_run_is_told_and_what_it_says_is_recorded() {
    let (desk, calls) = (Desk::new(), Arc::new(AtomicUsize::new(0)));
    let begun = Arc::clone(&calls);
    let pays = move |_: BTreeMap<String, u32>, context: ToolContext| {
        begun.fetch_add(1, Ordering::SeqCst);
        async move {
            context.cancelled().await;
            // It takes back what it has begun, and says so.
            pause(Duration::from_millis(20)).await;
            Ok::<_, NoFailure>("taken back".to_owned())
        }
    };
    let toolkit = Toolkit::new([Tool::new("pay", pays)]).unwrap();
    let settled = block_on(async {
        let host = desk
            .host_on(desk.store(), support::served(toolkit), |it| Config { glance: OFTEN, ..it });
        let submission = host.submit(call("a", "1")).await.unwrap().submission;
        while calls.load(Ordering::SeqCst) == 0 {
            pause(Duration::from_millis(1)).await;
        }
        desk.store().execute(&abort(submission)).unwrap();
        let settled = outcome(host.wait(&lane("a"), submission).await);
        host.stop().await;
        settled
    })
    .unwrap();
    assert_eq!(settled, Settlement::Aborted);
    let records = desk.records("a");
    let taken_back =
        |it: &Record| matches!(it, Record::ToolSettled(it) if is_taken_back(&it.outcome));
    assert_eq!(count(&records, taken_back), 1, "{records:?}");
    assert_eq!(count(&records, |it| matches!(it, Record::ToolUnknown(_))), 0, "{records:?}");
}

fn is_taken_back(outcome: &ToolOutcome) -> bool {
    matches!(outcome, ToolOutcome::Success(said) if said.as_str() == "\"taken back\"")
}

#[test]
fn run_008_a_handler_that_does_not_stop_is_gone_before_the_run_has_ended() {
    let (desk, calls) = (Desk::new(), Arc::new(AtomicUsize::new(0)));
    let gone = Arc::new(AtomicBool::new(false));
    let (begun, dropped) = (Arc::clone(&calls), Arc::clone(&gone));
    let tools = Tools::default().with(support::pay(), move |_| {
        begun.fetch_add(1, Ordering::SeqCst);
        let gone = Gone(Arc::clone(&dropped));
        async move {
            std::future::pending::<()>().await;
            drop(gone);
            unreachable!("it never comes back")
        }
    });
    let is_gone = block_on(async {
        let host = desk.host(tools, 1, OFTEN);
        let submission = host.submit(call("a", "1")).await.unwrap().submission;
        while calls.load(Ordering::SeqCst) == 0 {
            pause(Duration::from_millis(1)).await;
        }
        desk.store().execute(&abort(submission)).unwrap();
        assert_eq!(outcome(host.wait(&lane("a"), submission).await), Settlement::Aborted);
        let is_gone = gone.load(Ordering::SeqCst);
        host.stop().await;
        is_gone
    });
    assert!(is_gone.unwrap(), "the run has ended and its handler has not");
    let records = desk.records("a");
    assert_eq!(count(&records, |it| matches!(it, Record::ToolUnknown(_))), 1, "{records:?}");
}
