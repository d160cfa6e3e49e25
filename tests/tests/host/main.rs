//! The host on a real file: what the machines ask for is done, whatever handlers do.

mod callers;
mod calling_off;
mod clearance;
mod faults;
mod news;
mod panics;
mod permits;
mod reading;
mod served;
mod state;
mod steps;
mod stopping;
mod support;

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use everstep_machine::agent::ToolOutcome;
use everstep_machine::json::CanonicalJson;
use everstep_machine::record::{Record, Settlement};
use everstep_machine::store::Store;
use everstep_runtime::{HostError, Standing, Tools, block_on};
use support::{Desk, NEVER, OFTEN, abort, call, lane, pay};

fn returns(value: &str) -> Tools {
    let value = CanonicalJson::string(value).unwrap();
    Tools::default().with(pay(), move |_| {
        let value = value.clone();
        async move { ToolOutcome::Success(value) }
    })
}

fn outcome(standing: Result<Standing, HostError>) -> Settlement {
    match standing.unwrap() {
        Standing::Settled(record) => record.settlement.clone(),
        Standing::Unknown(row) | Standing::Suspended(row) | Standing::Incompatible(row) => {
            panic!("not settled: {row:?}")
        }
    }
}

#[test]
fn arc_14_store_012_what_is_accepted_settles_and_the_waiter_is_woken_without_polling() {
    let desk = Desk::new();
    let settled = block_on(async {
        // Nobody ever glances here: only what is said can wake the waiter.
        let host = desk.host(returns("receipt"), 1, NEVER);
        let receipt = host.submit(call("a", "1")).await.unwrap();
        let first = outcome(host.wait(&lane("a"), receipt.submission).await);
        let settled = [first, outcome(host.wait(&lane("a"), receipt.submission).await)];
        assert_eq!(host.submit(call("a", "1")).await.unwrap(), receipt);
        host.stop().await;
        settled
    });
    assert!(settled.unwrap().iter().all(|it| matches!(it, Settlement::Completed { .. })));
}

#[test]
fn arc_05_many_lanes_share_few_slots_and_all_of_them_settle() {
    let (desk, running, most) =
        (Desk::new(), Arc::new(AtomicUsize::new(0)), Arc::new(AtomicUsize::new(0)));
    let (counted, peak) = (Arc::clone(&running), Arc::clone(&most));
    let tools = Tools::default().with(pay(), move |invocation| {
        let (running, most) = (Arc::clone(&counted), Arc::clone(&peak));
        async move {
            most.fetch_max(running.fetch_add(1, Ordering::SeqCst) + 1, Ordering::SeqCst);
            everstep_runtime::pause(Duration::from_millis(1)).await;
            running.fetch_sub(1, Ordering::SeqCst);
            ToolOutcome::Success(invocation.parameters)
        }
    });
    let names: Vec<String> = (0..24).map(|n| format!("lane {n}")).collect();
    block_on(async {
        let host = desk.host(tools, 3, NEVER);
        let mut receipts = Vec::new();
        for name in &names {
            for key in ["1", "2"] {
                receipts.push((name, host.submit(call(name, key)).await.unwrap().submission));
            }
        }
        for (name, submission) in receipts {
            outcome(host.wait(&lane(name), submission).await);
        }
    })
    .unwrap();
    assert!((1..=3).contains(&most.load(Ordering::SeqCst)), "{most:?}");
    for name in &names {
        let records = desk.records(name);
        let settled = records.iter().filter(|it| matches!(it, Record::SubmissionSettled(_)));
        assert_eq!(settled.count(), 2, "{name}");
    }
}

#[test]
fn arc_12_a_handler_that_panics_is_a_defect_and_its_words_are_not_kept() {
    let desk = Desk::new();
    let tools = Tools::default().with(pay(), |_| async { panic!("the password is swordfish") });
    let settled = block_on(async {
        let host = desk.host(tools, 1, NEVER);
        let submission = host.submit(call("a", "1")).await.unwrap().submission;
        outcome(host.wait(&lane("a"), submission).await)
    });
    assert!(matches!(settled.unwrap(), Settlement::Completed { .. }), "the model goes on");
    let records = desk.records("a");
    let broken = records.iter().any(|record| {
        matches!(record, Record::ToolSettled(it) if matches!(&*it.outcome, ToolOutcome::Defect(_)))
    });
    assert!(broken, "{records:?}");
    assert!(!format!("{records:?}").contains("swordfish"), "{records:?}");
}

#[test]
fn dur_012_an_abort_from_outside_reaches_a_run_whose_tool_never_returns() {
    let desk = Desk::new();
    let invoked = Arc::new(AtomicUsize::new(0));
    let count = Arc::clone(&invoked);
    let tools = Tools::default().with(pay(), move |_| {
        count.fetch_add(1, Ordering::SeqCst);
        std::future::pending()
    });
    let settled = block_on(async {
        let host = desk.host(tools, 1, OFTEN);
        let submission = host.submit(call("a", "1")).await.unwrap().submission;
        while invoked.load(Ordering::SeqCst) == 0 {
            everstep_runtime::pause(Duration::from_millis(1)).await;
        }
        desk.store().execute(&abort(submission)).unwrap();
        outcome(host.wait(&lane("a"), submission).await)
    });
    assert_eq!(settled.unwrap(), Settlement::Aborted);
    let records = desk.records("a");
    let unknown = records.iter().filter(|record| matches!(record, Record::ToolUnknown(_)));
    assert_eq!((unknown.count(), invoked.load(Ordering::SeqCst)), (1, 1), "{records:?}");
}

#[test]
fn case_cr_01_a_host_that_looks_around_leaves_alone_what_another_one_works_on() {
    let (desk, calls) = (Desk::new(), Arc::new(AtomicUsize::new(0)));
    let tools = |takes: u64| {
        let calls = Arc::clone(&calls);
        Tools::default().with(pay(), move |it| {
            calls.fetch_add(1, Ordering::SeqCst);
            async move {
                everstep_runtime::pause(Duration::from_millis(takes)).await;
                ToolOutcome::Success(it.parameters)
            }
        })
    };
    let settled = block_on(async {
        let first = desk.host(tools(200), 1, NEVER);
        let submission = first.submit(call("a", "1")).await.unwrap().submission;
        while calls.load(Ordering::SeqCst) == 0 {
            everstep_runtime::pause(Duration::from_millis(1)).await;
        }
        // It looks at everything when it begins, and then a hundred times a second.
        let second = desk.host(tools(0), 1, OFTEN);
        let epoch = || desk.reader().lane(&lane("a")).unwrap().unwrap().epoch;
        let before = epoch();
        everstep_runtime::pause(Duration::from_millis(100)).await;
        assert_eq!(epoch(), before, "a living owner keeps its lane");
        let settled = outcome(first.wait(&lane("a"), submission).await);
        second.stop().await;
        first.stop().await;
        settled
    });
    assert!(matches!(settled.unwrap(), Settlement::Completed { .. }));
    assert_eq!(calls.load(Ordering::SeqCst), 1);
}

#[test]
fn dur_005_two_hosts_on_one_file_settle_everything_once() {
    let desk = Desk::new();
    let names: Vec<String> = (0..12).map(|n| format!("lane {n}")).collect();
    let invoked = Arc::new(AtomicUsize::new(0));
    let tools = || {
        let count = Arc::clone(&invoked);
        Tools::default().with(pay(), move |invocation| {
            count.fetch_add(1, Ordering::SeqCst);
            async move { ToolOutcome::Success(invocation.parameters) }
        })
    };
    block_on(async {
        let (one, two) = (desk.host(tools(), 2, OFTEN), desk.host(tools(), 2, OFTEN));
        let mut receipts = Vec::new();
        for (at, name) in names.iter().enumerate() {
            let host = if at.is_multiple_of(2) { &one } else { &two };
            receipts.push((name, host.submit(call(name, "1")).await.unwrap().submission));
        }
        for (name, submission) in receipts {
            outcome(one.wait(&lane(name), submission).await);
            outcome(two.wait(&lane(name), submission).await);
        }
    })
    .unwrap();
    assert_eq!(invoked.load(Ordering::SeqCst), names.len());
}
