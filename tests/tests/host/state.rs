//! Agents' state on a real file: hosts that die between a write and the end of its call (CAP-012).

use std::collections::BTreeMap;
use std::process::Command;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use everstep_machine::admission::Call;
use everstep_machine::agent::ExecutionClass;
use everstep_machine::agent_state::{Address, Owner, Refusal, Slot, Whose, WriteClass};
use everstep_machine::identity::{AgentId, DurationMs, RunId, StateKey, TenantId};
use everstep_machine::record::{Record, Settlement};
use everstep_runtime::{Config, Host, StateError, Tool, ToolContext, Toolkit, block_on, pause};

use crate::support::{self, Desk, lane};
use crate::{OFTEN, outcome};

/// What a lease takes of whoever is dropped without a word.
const SHORT: DurationMs = DurationMs(200);

/// What the model calls the tool with: `amount`.
type Order = BTreeMap<String, u32>;

/// Counts up by the amount: what is there, and one write over it.
async fn count_up(
    context: &ToolContext,
    class: WriteClass,
    amount: u32,
) -> Result<u32, StateError> {
    let state = context.state();
    let whose = if class == WriteClass::RunLocal { Whose::Run } else { Whose::Agent };
    let there = state.get::<u32>(whose, "total", 1).await?;
    let (revision, total) = there.map_or((None, 0), |it| (Some(it.revision), it.value));
    state.put(class, "total", revision, 1, &(total + amount)).await?;
    Ok(total + amount)
}

/// A tool that counts up and then does not come back as long as `held` says.
fn counting(class: WriteClass, held: &Arc<AtomicUsize>, entered: &Arc<AtomicUsize>) -> Toolkit {
    let (held, entered) = (Arc::clone(held), Arc::clone(entered));
    toolkit(ExecutionClass::Idempotent, move |order, context| {
        let (held, entered) = (Arc::clone(&held), Arc::clone(&entered));
        async move {
            let total = count_up(&context, class, order["amount"]).await;
            entered.fetch_add(1, Ordering::SeqCst);
            while held.load(Ordering::SeqCst) > 0 {
                pause(Duration::from_millis(1)).await;
            }
            total.map_err(|why| why.to_string())
        }
    })
}

fn toolkit<F>(
    class: ExecutionClass,
    handler: impl Fn(Order, ToolContext) -> F + Send + Sync + 'static,
) -> Toolkit
where
    F: Future<Output = Result<u32, String>> + Send + 'static,
{
    Toolkit::new([Tool::new("pay", handler).class(class)]).unwrap()
}

fn host(desk: &Desk, toolkit: Toolkit) -> Host {
    desk.host_on(desk.store(), support::served(toolkit), |config| Config {
        lease: SHORT,
        glance: OFTEN,
        ..config
    })
}

fn call(toolkit: &Toolkit, key: &str) -> Call {
    Call { binding: support::binding_of(toolkit), ..support::call("a", key) }
}

fn total() -> Address {
    let (tenant, agent) = (TenantId::new("shop").unwrap(), AgentId::new("clerk").unwrap());
    Address::of_agent(Owner { tenant, agent }, StateKey::new("total").unwrap())
}

fn text(slot: &Slot) -> Option<String> {
    slot.current.as_ref().map(|it| it.value.json.as_str().to_owned())
}

/// Submits and lets one host die between the write and the end of the call; what another one makes
/// of it, and what others see meanwhile.
fn dies_once(desk: &Desk, class: WriteClass, key: &str) -> (Slot, Settlement) {
    let (held, entered) = (Arc::new(AtomicUsize::new(1)), Arc::new(AtomicUsize::new(0)));
    let tools = || counting(class, &held, &entered);
    let (meanwhile, settled) = block_on(async {
        let first = host(desk, tools());
        let submission = first.submit(call(&tools(), key)).await.unwrap().submission;
        while entered.load(Ordering::SeqCst) == 0 {
            pause(Duration::from_millis(1)).await;
        }
        drop(first);
        let meanwhile = desk.reader().state(&total()).unwrap();
        held.store(0, Ordering::SeqCst);
        let second = host(desk, tools());
        let settled = outcome(second.wait(&lane("a"), submission).await);
        second.stop().await;
        (meanwhile, settled)
    })
    .unwrap();
    assert_eq!(entered.load(Ordering::SeqCst), 2, "it is entered again");
    (meanwhile, settled)
}

#[test]
fn cap_012_who_dies_between_a_write_and_the_end_of_its_call_has_it_written_once() {
    for class in WriteClass::ALL {
        let desk = Desk::new();
        let (_, settled) = dies_once(&desk, class, "1");
        assert!(matches!(settled, Settlement::Completed { .. }), "{settled:?}");
        let (meanwhile, _) = dies_once(&desk, class, "2");
        let (reader, four, eight) = (desk.reader(), Some("4".to_owned()), Some("8".to_owned()));
        let (seen, after) = match class {
            WriteClass::RunLocal => (None, None),
            WriteClass::Canonical => (four, eight),
            WriteClass::Compensatable | WriteClass::Uncertain => (eight.clone(), eight),
        };
        assert_eq!(text(&meanwhile), seen, "{class:?}: while nobody knows how the call ends");
        assert_eq!(meanwhile.hold.is_some(), class.holds(), "{class:?}");
        let slot = reader.state(&total()).unwrap();
        assert_eq!((text(&slot), slot.hold), (after.clone(), None), "{class:?}");
        let left = reader.states(None, 9).unwrap();
        assert_eq!(left.entries.len(), after.iter().count(), "{class:?}: what is a run's is gone");
        reader.verify_file().unwrap();
        let settled =
            desk.records("a").into_iter().filter(|it| matches!(it, Record::ToolSettled(_)));
        assert_eq!(settled.count(), 2);
    }
}

#[test]
fn cap_012_what_a_call_has_written_is_taken_back_if_it_fails_and_only_where_it_says_so() {
    for (class, left) in [
        (WriteClass::Canonical, None),
        (WriteClass::Compensatable, None),
        (WriteClass::Uncertain, Some("4".to_owned())),
    ] {
        let desk = Desk::new();
        let tools = || {
            toolkit(ExecutionClass::Ordinary, move |order, context| async move {
                let _ = count_up(&context, class, order["amount"]).await;
                Err("no".to_owned())
            })
        };
        block_on(async {
            let host = host(&desk, tools());
            let submission = host.submit(call(&tools(), "1")).await.unwrap().submission;
            outcome(host.wait(&lane("a"), submission).await);
            host.stop().await;
        })
        .unwrap();
        let slot = desk.reader().state(&total()).unwrap();
        assert_eq!((text(&slot), slot.hold), (left, None), "{class:?}");
        desk.reader().verify_file().unwrap();
    }
}

#[test]
fn cap_012_a_readonly_tool_reads_and_never_writes_and_a_version_is_compared() {
    let desk = Desk::new();
    let said = Arc::new(std::sync::Mutex::new(Vec::new()));
    let tools = |class, version: u32| {
        let said = Arc::clone(&said);
        toolkit(class, move |order, context| {
            let said = Arc::clone(&said);
            async move {
                let state = context.state();
                let there = state.get::<u32>(Whose::Agent, "total", version).await;
                let revision = there.as_ref().ok().and_then(|it| it.as_ref().map(|it| it.revision));
                let put = state.put(WriteClass::Uncertain, "total", revision, 1, &1).await;
                said.lock().unwrap().push((there.map(|it| it.map(|it| it.value)), put.err()));
                Ok(order["amount"])
            }
        })
    };
    for (key, class, version) in [
        ("1", ExecutionClass::Readonly, 1),
        ("2", ExecutionClass::Ordinary, 1),
        ("3", ExecutionClass::Readonly, 1),
        ("4", ExecutionClass::Readonly, 2),
    ] {
        block_on(async {
            let host = host(&desk, tools(class, version));
            let submission =
                host.submit(call(&tools(class, version), key)).await.unwrap().submission;
            outcome(host.wait(&lane("a"), submission).await);
            host.stop().await;
        })
        .unwrap();
    }
    let refused = Some(StateError::Refused(Refusal::NotPrepared));
    let version = StateError::Version { expected: 2, found: 1 };
    let expected = vec![
        (Ok(None), refused),
        (Ok(None), None),
        (Ok(Some(1)), refused),
        (Err(version), refused),
    ];
    assert_eq!(*said.lock().unwrap(), expected);
}

/// Where the child of the next test finds its file.
const CHILD: &str = "EVERSTEP_TEST_STATE_CHILD";

/// The child: works on the file until its tool has written, and is gone then.
fn child(file: &std::path::Path) -> ! {
    let desk = Desk::at(file);
    let tools = toolkit(ExecutionClass::Idempotent, |order, context| async move {
        count_up(&context, WriteClass::Compensatable, order["amount"]).await.unwrap();
        std::process::abort()
    });
    block_on(async {
        let _host = host(&desk, tools);
        pause(Duration::from_secs(30)).await;
    })
    .unwrap();
    unreachable!("its tool ends it")
}

#[test]
fn cap_012_a_process_that_is_killed_between_a_write_and_the_end_of_its_call_has_written_once() {
    if let Some(file) = std::env::var_os(CHILD) {
        child(file.as_ref());
    }
    let desk = Desk::new();
    let (held, entered) = (Arc::new(AtomicUsize::new(0)), Arc::new(AtomicUsize::new(0)));
    let tools = || counting(WriteClass::Compensatable, &held, &entered);
    let submission = support::admitted(&mut desk.store(), call(&tools(), "1"));
    let name = "state::cap_012_a_process_that_is_killed_between_a_write_and_the_end_of_its_call_has_written_once";
    for killed in 1..=2 {
        let mut process = Command::new(std::env::current_exe().unwrap());
        let ended = process.args([name, "--exact"]).env(CHILD, desk.path()).output().unwrap();
        assert!(!ended.status.success(), "{ended:?}");
        let slot = desk.reader().state(&total()).unwrap();
        assert_eq!(text(&slot).as_deref(), Some("4"), "after {killed} of them");
    }
    let settled = block_on(async {
        let host = host(&desk, tools());
        outcome(host.wait(&lane("a"), submission).await)
    });
    assert!(matches!(settled.unwrap(), Settlement::Completed { .. }));
    let slot = desk.reader().state(&total()).unwrap();
    assert_eq!((text(&slot).as_deref(), slot.hold), (Some("4"), None));
    assert_eq!(entered.load(Ordering::SeqCst), 1);
    assert!(desk.records("a").iter().any(
        |it| matches!(it, Record::SubmissionSettled(it) if it.run == Some(RunId::derive(submission)))
    ));
}
