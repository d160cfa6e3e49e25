//! Durable tools on a real file: hosts that are dropped, stopped and replaced between steps.

use std::collections::BTreeMap;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use everstep_machine::admission::Call;
use everstep_machine::agent::{Diagnostic, ToolOutcome};
use everstep_machine::identity::{DurationMs, StepKey};
use everstep_machine::permits::Limits;
use everstep_machine::record::{Record, Settlement};
use everstep_runtime::{
    Config, Ephemeral, Failed, Host, How, NoFailure, StepError, Steps, Tool, ToolContext, Toolkit,
    block_on, pause,
};

use crate::support::{self, Desk, lane};
use crate::{OFTEN, outcome};

/// What a lease takes of whoever is dropped without a word.
const SHORT: DurationMs = DurationMs(200);
const LONG: DurationMs = DurationMs(60_000);

/// What the model calls the tool with: `amount`.
type Order = BTreeMap<String, u32>;

/// What the bodies of steps have done, over all hosts.
#[derive(Clone, Debug, Default)]
struct Done(Arc<Mutex<Vec<(&'static str, StepKey)>>>);

impl Done {
    fn does(&self, step: &'static str, key: StepKey) {
        self.0.lock().unwrap().push((step, key));
    }

    /// How often each of these steps ran.
    fn times<const N: usize>(&self, steps: [&str; N]) -> [usize; N] {
        let done = self.0.lock().unwrap();
        steps.map(|step| done.iter().filter(|(it, _)| *it == step).count())
    }

    /// Waits until a step has run.
    async fn until(&self, step: &str) {
        while self.times([step]) == [0] {
            pause(Duration::from_millis(1)).await;
        }
    }
}

/// A tool of three steps, of which the second waits for as long as `held` says.
fn pay(done: &Done, held: &Arc<AtomicUsize>) -> Toolkit {
    let (done, held) = (done.clone(), Arc::clone(held));
    tool(move |order: Order, steps: Steps, _| {
        let (done, held) = (done.clone(), Arc::clone(&held));
        async move {
            let hold: u32 = steps
                .run("hold", 1, async |key| {
                    done.does("hold", key);
                    Ok(order["amount"])
                })
                .await?;
            let charged: u32 = steps
                .run("charge", 1, async |key| {
                    done.does("charge", key);
                    while held.load(Ordering::SeqCst) > 0 {
                        pause(Duration::from_millis(1)).await;
                    }
                    Ok(hold + 1)
                })
                .await?;
            steps
                .run("send", 1, async |key| {
                    done.does("send", key);
                    Ok(charged + 1)
                })
                .await
        }
    })
}

fn tool<F>(handler: impl Fn(Order, Steps, ToolContext) -> F + Send + Sync + 'static) -> Toolkit
where
    F: Future<Output = Result<u32, StepError<NoFailure>>> + Send + 'static,
{
    Toolkit::new([Tool::durable("pay", handler)]).unwrap()
}

fn host(desk: &Desk, toolkit: Toolkit, lease: DurationMs) -> Host {
    desk.host_on(desk.store(), support::served(toolkit), |config| Config {
        lease,
        glance: OFTEN,
        ..config
    })
}

fn call(toolkit: &Toolkit) -> Call {
    Call { binding: support::binding_of(toolkit), ..support::call("a", "1") }
}

/// The steps that are recorded, with what they gave.
fn recorded(records: &[Record]) -> Vec<(u32, String)> {
    let step = |record: &Record| match record {
        Record::StepRecorded(it) => {
            let (name, gave) = (&it.output.step.name, it.output.output.as_str());
            Some((it.ordinal, format!("{name} {gave}")))
        }
        _ => None,
    };
    records.iter().filter_map(step).collect()
}

fn result(records: &[Record]) -> ToolOutcome {
    let result = records.iter().find_map(|record| match record {
        Record::ToolSettled(it) => Some(ToolOutcome::clone(&it.outcome)),
        _ => None,
    });
    result.expect("the call has ended")
}

#[track_caller]
fn is_defect(records: &[Record], tag: &str) -> Diagnostic {
    match result(records) {
        ToolOutcome::Defect(why) if why.tag() == tag => why,
        other => panic!("{other:?} is no {tag}"),
    }
}

fn whole() -> Vec<(u32, String)> {
    vec![(0, "hold 4".into()), (1, "charge 5".into()), (2, "send 6".into())]
}

/// Runs the one call on a host of its own until it is settled, whoever worked on it before.
async fn finish(desk: &Desk, toolkit: Toolkit, lease: DurationMs) -> Settlement {
    let call = call(&toolkit);
    let host = host(desk, toolkit, lease);
    let submission = host.submit(call).await.unwrap().submission;
    let settled = outcome(host.wait(&lane("a"), submission).await);
    host.stop().await;
    settled
}

#[test]
fn dur_010_a_durable_call_runs_each_step_once_and_records_it_before_the_next() {
    let (desk, done, held) = (Desk::new(), Done::default(), Arc::default());
    let settled = block_on(finish(&desk, pay(&done, &held), LONG)).unwrap();
    assert!(matches!(settled, Settlement::Completed { .. }), "{settled:?}");
    let records = desk.records("a");
    assert_eq!((recorded(&records), done.times(["hold", "charge", "send"])), (whole(), [1; 3]));
    assert!(matches!(result(&records), ToolOutcome::Success(it) if it.as_str() == "6"));
}

#[test]
fn dur_010_a_host_that_is_dropped_in_a_step_repeats_that_step_alone_and_under_its_key() {
    let (desk, done) = (Desk::new(), Done::default());
    let held = Arc::new(AtomicUsize::new(1));
    block_on(async {
        let toolkit = pay(&done, &held);
        let call = call(&toolkit);
        let first = host(&desk, toolkit, SHORT);
        first.submit(call).await.unwrap();
        done.until("charge").await;
        drop(first);
        held.store(0, Ordering::SeqCst);
        let settled = finish(&desk, pay(&done, &held), SHORT).await;
        assert!(matches!(settled, Settlement::Completed { .. }), "{settled:?}");
    })
    .unwrap();
    assert_eq!(done.times(["hold", "charge", "send"]), [1, 2, 1]);
    assert_eq!(recorded(&desk.records("a")), whole());
    let charges: Vec<_> =
        done.0.lock().unwrap().iter().filter(|it| it.0 == "charge").copied().collect();
    assert_eq!(charges[0], charges[1], "whoever charges can tell");
}

#[test]
fn ops_03_a_host_that_stops_lets_the_handler_rest_behind_its_step_and_nobody_waits_for_a_lease() {
    let (desk, done) = (Desk::new(), Done::default());
    let held = Arc::new(AtomicUsize::new(1));
    block_on(async {
        let toolkit = pay(&done, &held);
        let call = call(&toolkit);
        let first = host(&desk, toolkit, LONG);
        first.submit(call).await.unwrap();
        done.until("charge").await;
        let later = Arc::clone(&held);
        let release = std::thread::spawn(move || {
            std::thread::sleep(Duration::from_millis(50));
            later.store(0, Ordering::SeqCst);
        });
        first.stop().await;
        release.join().unwrap();
        assert_eq!(done.times(["hold", "charge", "send"]), [1, 1, 0]);
        assert_eq!(recorded(&desk.records("a")), whole()[..2]);
        finish(&desk, pay(&done, &held), LONG).await;
    })
    .unwrap();
    assert_eq!(done.times(["hold", "charge", "send"]), [1; 3]);
    assert_eq!(recorded(&desk.records("a")), whole());
}

#[test]
fn case_cr_09_a_handler_that_was_changed_is_a_typed_incompatibility_and_none_of_it_runs() {
    let (desk, done) = (Desk::new(), Done::default());
    let held = Arc::new(AtomicUsize::new(1));
    let other = done.clone();
    block_on(async {
        let toolkit = pay(&done, &held);
        let call = call(&toolkit);
        let first = host(&desk, toolkit, SHORT);
        first.submit(call).await.unwrap();
        done.until("charge").await;
        drop(first);
        let changed = tool(move |_, steps: Steps, _| {
            let done = other.clone();
            async move {
                // It goes on whatever it is told: that changes nothing.
                let one: Result<u32, StepError<NoFailure>> = steps
                    .run("hold", 2, async |key| {
                        done.does("changed", key);
                        Ok(1)
                    })
                    .await;
                Ok(one.unwrap_or(7))
            }
        });
        let settled = finish(&desk, changed, SHORT).await;
        assert!(matches!(settled, Settlement::Completed { .. }), "the lane goes on: {settled:?}");
    })
    .unwrap();
    let records = desk.records("a");
    let why = is_defect(&records, "StepsIncompatible");
    let words = "step 1 is recorded as `hold` version 1, and the handler asks for `hold` version 2";
    assert_eq!(why.message(), words);
    assert_eq!(done.times(["changed", "hold"]), [0, 1]);
    assert_eq!(recorded(&records), whole()[..1], "what was done stays in the log");
}

#[test]
fn arc_12_dur_010_a_panic_in_a_step_is_a_defect_of_the_call_and_leaves_what_was_recorded() {
    let desk = Desk::new();
    let panics = tool(|order: Order, steps: Steps, _| async move {
        steps.run::<u32, NoFailure>("hold", 1, async |_| Ok(order["amount"])).await?;
        steps.run("charge", 1, async |_| panic!("the password is swordfish")).await
    });
    let settled = block_on(finish(&desk, panics, LONG)).unwrap();
    assert!(matches!(settled, Settlement::Completed { .. }), "{settled:?}");
    let records = desk.records("a");
    is_defect(&records, "Panic");
    assert_eq!(recorded(&records), whole()[..1]);
    assert!(!format!("{records:?}").contains("swordfish"));
}

#[test]
fn dur_010_the_failure_of_a_step_is_the_call_s_and_is_not_recorded() {
    let (desk, done) = (Desk::new(), Done::default());
    let counted = done.clone();
    let fails = Tool::durable("pay", move |order: Order, steps: Steps, _| {
        let done = counted.clone();
        async move {
            let held = steps.run("hold", 1, async |_| Ok(order["amount"]));
            let held: u32 = held.await?;
            let charged: u32 = steps
                .run("charge", 1, async |key| {
                    done.does("charge", key);
                    Err(Failed::HadNoEffect("no funds".to_owned()))
                })
                .await?;
            Ok::<u32, StepError<Failed<String>>>(held + charged)
        }
    });
    // A step is recorded: that there was no effect at all is not believed, and there is no other try.
    let fails = fails.retry(everstep_machine::agent::RetryClass::Transient);
    block_on(finish(&desk, Toolkit::new([fails]).unwrap(), LONG)).unwrap();
    let records = desk.records("a");
    assert!(
        matches!(result(&records), ToolOutcome::Failure(why) if why.message() == "\"no funds\"")
    );
    assert_eq!((recorded(&records), done.times(["charge"])), (whole()[..1].to_vec(), [1]));
}

#[test]
fn run_014_a_durable_call_that_takes_too_long_is_entered_again_where_it_was() {
    let (desk, done) = (Desk::new(), Done::default());
    let counted = done.clone();
    let slow = Tool::durable("pay", move |order: Order, steps: Steps, _| {
        let done = counted.clone();
        async move {
            let held: u32 = steps
                .run("hold", 1, async |key| {
                    done.does("hold", key);
                    Ok(order["amount"])
                })
                .await?;
            let charged: u32 = steps
                .run("charge", 1, async |key| {
                    done.does("charge", key);
                    if done.times(["charge"]) == [1] {
                        std::future::pending::<()>().await;
                    }
                    Ok(held + 1)
                })
                .await?;
            Ok::<_, StepError<NoFailure>>(charged)
        }
    });
    let slow = Toolkit::new([slow.timeout(Duration::from_millis(50))]).unwrap();
    block_on(finish(&desk, slow, LONG)).unwrap();
    assert_eq!(done.times(["hold", "charge"]), [1, 2]);
    let records = desk.records("a");
    assert!(matches!(result(&records), ToolOutcome::Success(it) if it.as_str() == "5"));
    let starts = records.iter().filter(|it| matches!(it, Record::ToolPrepared(_)));
    assert_eq!(starts.count(), 2);
}

#[test]
fn run_001_an_ephemeral_run_has_durable_tools_too() {
    let (done, held) = (Done::default(), Arc::default());
    let toolkit = pay(&done, &held);
    let call = call(&toolkit);
    let ended = block_on(async {
        let limits = Limits { agent: 8, group: 8, groups: BTreeMap::new(), host: 8 };
        let run = Ephemeral::start(&call, support::served(toolkit), limits, |_| {}).unwrap();
        run.ended().await
    })
    .unwrap();
    assert!(matches!(ended.how, How::Settled(Settlement::Completed { .. })), "{:?}", ended.how);
    let records: Vec<_> = ended.history.iter().flat_map(|batch| batch.records().to_vec()).collect();
    assert_eq!((recorded(&records), done.times(["hold", "charge", "send"])), (whole(), [1; 3]));
}
