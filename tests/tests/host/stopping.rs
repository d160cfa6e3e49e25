//! A host that stops: what it still does, and what it leaves to the next one.

use std::future::{Future as _, poll_fn};
use std::pin::pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::mpsc::{Receiver, Sender, channel};
use std::task::Poll;
use std::time::Duration;

use everstep_machine::agent::{
    AgentDefinition, AgentPolicy, Binding, FinishReason, ModelFault, ModelRequest, ModelResponse,
    ResponsePart, ToolCall, ToolOutcome, Usage,
};
use everstep_machine::effect::Authorization;
use everstep_machine::identity::{ConversationId, RunId, ToolCallId, Turn};
use everstep_machine::json::CanonicalJson;
use everstep_machine::ledger::Phase;
use everstep_machine::record::Record;
use everstep_machine::store::{Pipeline, Replies, Shared, Store, StoreCommand, StoreFault};
use everstep_runtime::{
    Authorizer, Bindings, BoxFuture, Config, Host, Model, Parts, Ports, Standing, Tools, block_on,
    pause,
};
use everstep_sqlite::SqliteStore;

use crate::support::{Desk, NEVER, OFTEN, call, count, is_claim, lane, pay, ports};

/// Tools that count their calls and take their time; so many milliseconds, or for ever.
fn slow(count: &Arc<AtomicUsize>, takes: Option<u64>) -> Tools {
    let count = Arc::clone(count);
    Tools::default().with(pay(), move |invocation| {
        count.fetch_add(1, Ordering::SeqCst);
        async move {
            match takes {
                Some(span) => pause(Duration::from_millis(span)).await,
                None => std::future::pending().await,
            }
            ToolOutcome::Success(invocation.parameters)
        }
    })
}

async fn called(count: &AtomicUsize) {
    while count.load(Ordering::SeqCst) == 0 {
        pause(Duration::from_millis(1)).await;
    }
}

async fn settled(host: &Host, key: &str) -> bool {
    let submission = host.submit(call("a", key)).await.unwrap().submission;
    matches!(host.wait(&lane("a"), submission).await, Ok(Standing::Settled(_)))
}

#[test]
fn ops_03_a_host_that_is_stopped_records_what_comes_back_and_gives_the_lane_back() {
    let (desk, calls) = (Desk::new(), Arc::new(AtomicUsize::new(0)));
    block_on(async {
        let host = desk.host(slow(&calls, Some(30)), 1, NEVER);
        let submission = host.submit(call("a", "1")).await.unwrap().submission;
        called(&calls).await;
        host.stop().await;
        let row = desk.reader().row(&lane("a"), submission).unwrap().unwrap();
        assert!(matches!(row.phase, Phase::Running(_)), "{row:?}");
        let owner = desk.reader().lane(&lane("a")).unwrap().unwrap().owner;
        assert_eq!(owner, None, "nobody has to wait for a lease");
        let records = desk.records("a");
        assert_eq!(count(&records, |it| matches!(it, Record::ToolSettled(_))), 1, "{records:?}");
        let asked = count(&records, |it| matches!(it, Record::ModelResponded(_)));
        assert_eq!(asked, 1, "the model is not asked any more: {records:?}");

        // The lease of the first would last a minute.
        let next = desk.host(slow(&calls, Some(0)), 1, NEVER);
        assert!(settled(&next, "1").await);
        next.stop().await;
    })
    .unwrap();
    assert_eq!(calls.load(Ordering::SeqCst), 1);
}

/// Calls the tool three times in its first turn, and then answers.
pub(crate) struct Thrice;

impl Model for Thrice {
    fn respond(
        &self,
        request: Arc<ModelRequest>,
        parts: Parts,
    ) -> BoxFuture<Result<(), ModelFault>> {
        let parameters = || CanonicalJson::parse(b"{\"amount\":4}").unwrap();
        let call = |_| ToolCall { label: "call".into(), tool: pay(), parameters: parameters() };
        let (said, finish) = match request.turn {
            Turn(0) => {
                ((0..3).map(call).map(ResponsePart::Call).collect(), FinishReason::ToolCalls)
            }
            _ => (vec![ResponsePart::Text("done".into())], FinishReason::Stop),
        };
        let response = ModelResponse { parts: said, finish, usage: Some(Usage::default()) };
        Box::pin(async move {
            let _ = parts.send_whole(&response).await;
            Ok(())
        })
    }
}

/// Knows the agent under a policy that lets one call run at a time.
struct OneByOne;

impl Bindings for OneByOne {
    fn agents(&self) -> Vec<Arc<Binding>> {
        Vec::new()
    }

    fn binding(&self, _: &ConversationId) -> Option<Arc<Binding>> {
        let binding = call("a", "1").binding;
        let (id, tools) = (binding.definition.id().clone(), binding.definition.tools().to_vec());
        let policy = AgentPolicy { parallel_calls: 1, ..binding.definition.policy().clone() };
        let definition = AgentDefinition::with_policy(id, "You refund.", tools, policy).unwrap();
        Some(Arc::new(Binding { definition, ..Binding::clone(&binding) }))
    }
}

#[test]
fn ops_03_run_009_of_calls_that_wait_for_a_place_none_starts_while_the_host_stops() {
    let (desk, calls) = (Desk::new(), Arc::new(AtomicUsize::new(0)));
    block_on(async {
        let (model, bindings) = (Arc::new(Thrice), Arc::new(OneByOne));
        let waves = Ports { model, bindings, ..ports(slow(&calls, Some(30))) };
        let host = desk.host_on(desk.store(), waves.clone(), |config| config);
        let submission = host.submit(call("a", "1")).await.unwrap().submission;
        called(&calls).await;
        host.stop().await;
        let records = desk.records("a");
        let prepared = count(&records, |it| matches!(it, Record::ToolPrepared(_)));
        let settled_calls = count(&records, |it| matches!(it, Record::ToolSettled(_)));
        assert_eq!((prepared, settled_calls), (1, 1), "{records:?}");
        assert_eq!(calls.load(Ordering::SeqCst), 1);
        let row = desk.reader().row(&lane("a"), submission).unwrap().unwrap();
        assert!(matches!(row.phase, Phase::Running(_)), "{row:?}");
        assert_eq!(desk.reader().lane(&lane("a")).unwrap().unwrap().owner, None);

        let next = desk.host_on(desk.store(), waves, |config| config);
        assert!(settled(&next, "1").await);
        next.stop().await;
    })
    .unwrap();
    let records = desk.records("a");
    assert_eq!(count(&records, |it| matches!(it, Record::ToolUnknown(_))), 0, "{records:?}");
    assert_eq!(calls.load(Ordering::SeqCst), 3);
}

/// Allows everything, but takes its time, and counts how often it is asked.
struct Slow(Arc<AtomicUsize>);

impl Authorizer for Slow {
    fn authorize(&self, _: RunId, _: Turn, _: Vec<ToolCallId>) -> BoxFuture<Authorization> {
        self.0.fetch_add(1, Ordering::SeqCst);
        Box::pin(async {
            pause(Duration::from_millis(30)).await;
            Authorization::Allowed
        })
    }
}

#[test]
fn ops_03_an_authorization_that_comes_back_while_it_stops_prepares_nothing() {
    let (desk, calls) = (Desk::new(), Arc::new(AtomicUsize::new(0)));
    let asked = Arc::new(AtomicUsize::new(0));
    block_on(async {
        let authorizer = Arc::new(Slow(Arc::clone(&asked)));
        let slowly = Ports { authorizer, ..ports(slow(&calls, Some(0))) };
        let host = desk.host_on(desk.store(), slowly.clone(), |config| config);
        host.submit(call("a", "1")).await.unwrap();
        called(&asked).await;
        host.stop().await;
        let records = desk.records("a");
        let prepared = count(&records, |it| matches!(it, Record::ToolPrepared(_)));
        assert_eq!((prepared, calls.load(Ordering::SeqCst)), (0, 0), "{records:?}");

        let next = desk.host_on(desk.store(), slowly, |config| config);
        assert!(settled(&next, "1").await);
        next.stop().await;
    })
    .unwrap();
    let records = desk.records("a");
    assert_eq!(count(&records, |it| matches!(it, Record::ToolUnknown(_))), 0, "{records:?}");
    assert_eq!((calls.load(Ordering::SeqCst), asked.load(Ordering::SeqCst)), (1, 2));
}

#[test]
fn ops_03_what_does_not_come_back_in_time_is_dropped_and_keeps_its_lease() {
    let (desk, calls) = (Desk::new(), Arc::new(AtomicUsize::new(0)));
    block_on(async {
        let short = |config| Config { grace: Duration::from_millis(20), ..config };
        let host = desk.host_on(desk.store(), ports(slow(&calls, None)), short);
        host.submit(call("a", "1")).await.unwrap();
        called(&calls).await;
        host.stop().await;
    })
    .unwrap();
    let owner = desk.reader().lane(&lane("a")).unwrap().unwrap().owner;
    assert!(owner.is_some(), "the call may still be going on somewhere");
    let records = desk.records("a");
    assert_eq!(count(&records, |it| matches!(it, Record::ToolPrepared(_))), 1, "{records:?}");
    assert_eq!(count(&records, |it| matches!(it, Record::ToolSettled(_))), 0, "{records:?}");
}

#[test]
fn ops_03_a_host_that_has_stopped_has_closed_its_file() {
    let (desk, calls) = (Desk::new(), Arc::new(AtomicUsize::new(0)));
    for glance in [NEVER, OFTEN] {
        block_on(async {
            let host = desk.host(slow(&calls, Some(0)), 1, glance);
            assert!(settled(&host, "1").await);
            assert!(desk.files().len() > 1, "it is open: {:?}", desk.files());
            host.stop().await;
        })
        .unwrap();
        assert_eq!(desk.files(), ["db"]);
    }
}

/// A store that says when it has made such a pipeline, and then waits until it is told to go on.
struct Held {
    store: SqliteStore,
    holds: fn(&StoreCommand) -> bool,
    made: Sender<()>,
    go_on: Receiver<()>,
}

impl Store for Held {
    fn execute(&mut self, pipeline: &Pipeline) -> Result<Replies, StoreFault> {
        let replies = self.store.execute(pipeline);
        if pipeline.commands.iter().any(self.holds) && self.made.send(()).is_ok() {
            // Nobody holds it any more once the other end is gone.
            let _ = self.go_on.recv();
        }
        replies
    }
}

impl Shared for Held {
    fn changed_elsewhere(&mut self) -> bool {
        self.store.changed_elsewhere()
    }
}

/// A model that must not be asked.
struct Unasked(Arc<AtomicUsize>);

impl Model for Unasked {
    fn respond(&self, _: Arc<ModelRequest>, _: Parts) -> BoxFuture<Result<(), ModelFault>> {
        self.0.fetch_add(1, Ordering::SeqCst);
        Box::pin(std::future::pending())
    }
}

fn reads_log(command: &StoreCommand) -> bool {
    matches!(command, StoreCommand::ReadLog { .. })
}

#[test]
fn ops_03_a_host_that_is_stopped_before_or_at_the_claim_asks_nothing() {
    for (holds, claims) in [(reads_log as fn(&StoreCommand) -> bool, 0), (is_claim, 1)] {
        let (desk, asked) = (Desk::new(), Arc::new(AtomicUsize::new(0)));
        let (made, is_made) = channel();
        let (release, go_on) = channel();
        let epoch = block_on(async {
            let model = Arc::new(Unasked(Arc::clone(&asked)));
            let ports = Ports { model, ..ports(slow(&asked, None)) };
            let store = Held { store: desk.store(), holds, made, go_on };
            let host = desk.host_on(store, ports, |config| config);
            host.submit(call("a", "1")).await.unwrap();
            is_made.recv().unwrap();
            drop(is_made);
            let mut stop = pin!(host.stop());
            let begun = poll_fn(|context| Poll::Ready(stop.as_mut().poll(context))).await;
            assert!(begun.is_pending(), "it waits for the store");
            release.send(()).unwrap();
            stop.await;
            let lane = desk.reader().lane(&lane("a")).unwrap().unwrap();
            assert_eq!(lane.owner, None, "nobody has to wait for a lease");
            lane.epoch.0
        });
        assert_eq!((epoch.unwrap(), asked.load(Ordering::SeqCst)), (claims, 0));
    }
}
