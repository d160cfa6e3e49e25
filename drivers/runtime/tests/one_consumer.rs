//! A run for one consumer waits for it; nothing is lost, nothing is reordered, and a consumer who
//! leaves or a run that is called off holds nobody up.

use std::future::pending;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use everstep_machine::admission::Call;
use everstep_machine::agent::{
    AgentDefinition, AgentPolicy, Allowance, Binding, FinishReason, ModelFault, ModelRequest,
    ModelResponse, ResponsePart, Usage,
};
use everstep_machine::digest::Digest;
use everstep_machine::event::{Enveloped, EventSequence, check_trace};
use everstep_machine::identity::{
    AgentId, ConversationId, IdempotencyKey, PrincipalId, ProducerId, TenantId,
};
use everstep_machine::json::CanonicalJson;
use everstep_machine::permits::Limits;
use everstep_machine::record::Settlement;
use everstep_runtime::{
    AllowAll, Bindings, BoxFuture, Clearance, Ephemeral, How, Model, NoApprover, NoReconciler,
    Parts, Ports, RunStream, Tools, block_on, pause,
};

/// Pieces of the one answer.
const PIECES: usize = 300;

/// A model that says its answer in many pieces, and counts how many were taken.
struct Talks(Arc<AtomicUsize>);

impl Model for Talks {
    fn respond(&self, _: Arc<ModelRequest>, parts: Parts) -> BoxFuture<Result<(), ModelFault>> {
        let said = Arc::clone(&self.0);
        Box::pin(async move {
            let words = |n: usize| ResponsePart::Text(format!("{n} ").into());
            let response = ModelResponse {
                parts: (0..PIECES).map(words).collect(),
                finish: FinishReason::Stop,
                usage: Some(Usage::default()),
            };
            for part in everstep_machine::response::parts_of(&response) {
                if parts.send(part).await.is_err() {
                    return Ok(());
                }
                said.fetch_add(1, Ordering::SeqCst);
            }
            Ok(())
        })
    }
}

/// A model that never answers.
struct Mute;

impl Model for Mute {
    fn respond(&self, _: Arc<ModelRequest>, _: Parts) -> BoxFuture<Result<(), ModelFault>> {
        Box::pin(pending())
    }
}

struct NoLane;

impl Bindings for NoLane {
    fn agents(&self) -> Vec<Arc<Binding>> {
        Vec::new()
    }

    fn binding(&self, _: &ConversationId) -> Option<Arc<Binding>> {
        None
    }
}

fn start(model: impl Model + 'static, queue: usize) -> (Ephemeral, RunStream) {
    let id = AgentId::new("clerk").unwrap();
    let definition =
        AgentDefinition::with_policy(id, "Talk.", vec![], AgentPolicy::default()).unwrap();
    let call = Call {
        conversation: ConversationId::new("here").unwrap(),
        principal: PrincipalId::new("ada").unwrap(),
        tenant: TenantId::new("shop").unwrap(),
        key: IdempotencyKey::new("1").unwrap(),
        input: CanonicalJson::string("talk").unwrap(),
        allowance: Allowance::default(),
        steers: None,
        binding: Arc::new(Binding { definition, model: Digest::of("test/model", b"1") }),
        producer: ProducerId::new("here").unwrap(),
    };
    let ports = Ports {
        model: Arc::new(model),
        tools: Arc::new(Tools::default()),
        clearance: Clearance::default(),
        approver: Arc::new(NoApprover),
        authorizer: Arc::new(AllowAll),
        reconciler: Arc::new(NoReconciler),
        bindings: Arc::new(NoLane),
    };
    let limits = Limits { agent: 8, group: 8, groups: Default::default(), host: 8 };
    Ephemeral::start_for_one(&call, ports, limits, queue).unwrap()
}

async fn read(stream: &mut RunStream) -> Vec<Enveloped> {
    let mut events = Vec::new();
    loop {
        let page = stream.page().await.unwrap();
        assert_eq!(page.missed, 0);
        events.extend(page.events);
        if page.ended {
            return events;
        }
    }
}

/// Waits until a number stays as it is for a while.
async fn at_rest(count: &AtomicUsize) -> usize {
    let mut last = usize::MAX;
    loop {
        let now = count.load(Ordering::SeqCst);
        if now == last {
            return now;
        }
        last = now;
        pause(Duration::from_millis(50)).await;
    }
}

#[test]
fn run_010_run_031_a_run_for_one_consumer_waits_for_it_and_loses_nothing() {
    let said = Arc::new(AtomicUsize::new(0));
    let (events, waited_at, how) = block_on(async {
        let (run, mut stream) = start(Talks(Arc::clone(&said)), 4);
        let waited_at = at_rest(&said).await;
        assert!(run.watch(EventSequence(0)).is_none(), "they are for one consumer");
        let events = read(&mut stream).await;
        (events, waited_at, run.ended().await.how)
    })
    .unwrap();
    assert!(waited_at < PIECES, "the model was {waited_at} parts ahead of a reader who reads none");
    assert!(matches!(how, How::Settled(Settlement::Completed { .. })), "{how:?}");
    assert_eq!(check_trace(&events), Ok(()));
    let words = events.iter().filter_map(|it| it.event.words().cloned()).map(|it| it.to_string());
    let expected: String = (0..PIECES).map(|n| format!("{n} ")).collect();
    assert_eq!(words.collect::<String>(), expected);
}

#[test]
fn run_010_a_consumer_who_leaves_holds_nothing_up() {
    let how = block_on(async {
        let (run, stream) = start(Talks(Arc::default()), 1);
        drop(stream);
        run.ended().await.how
    });
    assert!(matches!(how.unwrap(), How::Settled(Settlement::Completed { .. })));
}

#[test]
fn run_008_run_010_a_run_that_waits_for_its_consumer_can_be_called_off() {
    let (events, how) = block_on(async {
        let said = Arc::new(AtomicUsize::new(0));
        let (run, mut stream) = start(Talks(Arc::clone(&said)), 1);
        at_rest(&said).await;
        run.interrupt();
        (read(&mut stream).await, run.ended().await.how)
    })
    .unwrap();
    assert_eq!(how, How::Interrupted);
    assert_eq!(check_trace(&events), Ok(()), "its end is told all the same");
    let (events, how) = block_on(async {
        let (run, mut stream) = start(Mute, 1);
        run.interrupt();
        (read(&mut stream).await, run.ended().await.how)
    })
    .unwrap();
    assert_eq!(
        (how, events.last().map(|it| it.event.is_terminal())),
        (How::Interrupted, Some(true))
    );
}
