//! Which lanes a host begins with and when, on a clock that a test moves: no store is needed for
//! that, only one that says which lanes it is asked about.

use std::collections::VecDeque;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use everstep_machine::agent::{AgentDefinition, Binding, ModelFault, ModelRequest};
use everstep_machine::digest::Digest;
use everstep_machine::identity::{AgentId, ConversationId, DurationMs, ProducerId};
use everstep_machine::limits::{DECLINED_MS, SCAN_RETRY_MS};
use everstep_machine::scheduler::Findings;
use everstep_machine::store::{Pipeline, Replies, Shared, Store, StoreFault};
use everstep_runtime::{
    AllowAll, Bindings, BoxFuture, Clearance, Config, Event, Host, LookOut, Model, NoApprover,
    NoReconciler, Parts, Ports, ScanFailed, Tools,
};
use tokio::sync::mpsc::{UnboundedReceiver, UnboundedSender, unbounded_channel};
use tokio::time::Instant;

/// Says which lane an attempt asks about, and answers nothing.
struct Asked(UnboundedSender<ConversationId>);

impl Store for Asked {
    fn execute(&mut self, pipeline: &Pipeline) -> Result<Replies, StoreFault> {
        // The test may be over.
        let _ = self.0.send(pipeline.lane.clone());
        Err(StoreFault::Indeterminate)
    }
}

impl Shared for Asked {
    fn changed_elsewhere(&mut self) -> bool {
        false
    }
}

struct Mute;

impl Model for Mute {
    fn respond(&self, _: Arc<ModelRequest>, _: Parts) -> BoxFuture<Result<(), ModelFault>> {
        Box::pin(std::future::pending())
    }
}

fn lane(name: &str) -> ConversationId {
    ConversationId::new(name).unwrap()
}

fn binding() -> Arc<Binding> {
    let id = AgentId::new("clerk").unwrap();
    let definition = AgentDefinition::new(id, "You answer.", Vec::new(), 4).unwrap();
    Arc::new(Binding { definition, model: Digest::of("test/model", b"mute") })
}

/// A host, and the lanes that its attempts ask the store about.
fn host(
    bindings: impl Bindings + 'static,
    lookout: impl LookOut,
) -> (Host, UnboundedReceiver<ConversationId>) {
    let (asked, lanes) = unbounded_channel();
    let ports = Ports {
        model: Arc::new(Mute),
        tools: Arc::new(Tools::default()),
        clearance: Clearance::default(),
        approver: Arc::new(NoApprover),
        authorizer: Arc::new(AllowAll),
        reconciler: Arc::new(NoReconciler),
        bindings: Arc::new(bindings),
    };
    let config = Config::new(ProducerId::new("host").unwrap());
    (Host::start(Asked(asked), lookout, ports, config).unwrap(), lanes)
}

/// A scan that always finds this lane.
fn finds(name: &str) -> Findings {
    Findings { claimable: vec![lane(name)], ..Findings::default() }
}

/// Knows the agent only once it is said so, and says when it is asked.
struct Later {
    is_known: Arc<AtomicBool>,
    asked: UnboundedSender<Instant>,
}

impl Later {
    fn new(is_known: bool) -> (Self, Arc<AtomicBool>, UnboundedReceiver<Instant>) {
        let ((asked, when), is_known) = (unbounded_channel(), Arc::new(AtomicBool::new(is_known)));
        (Self { is_known: Arc::clone(&is_known), asked }, is_known, when)
    }
}

impl Bindings for Later {
    fn agents(&self) -> Vec<Arc<Binding>> {
        Vec::new()
    }

    fn binding(&self, _: &ConversationId) -> Option<Arc<Binding>> {
        // The test may be over.
        let _ = self.asked.send(Instant::now());
        self.is_known.load(Ordering::SeqCst).then(binding)
    }
}

#[tokio::test(start_paused = true)]
async fn case_rt_05_an_unknown_agent_s_lane_waits_longer_and_longer_and_runs_once_it_is_known() {
    const HOUR: Duration = Duration::from_secs(3_600);
    let (bindings, is_known, mut asked) = Later::new(false);
    let lookout = |_: Option<&ConversationId>| Ok::<_, ScanFailed>(finds("a"));
    let (host, mut lanes) = host(bindings, lookout);
    // The clock moves by itself whenever everybody waits for it.
    let began = asked.recv().await.unwrap();
    let (mut last, mut least) = (began, Duration::from_millis(SCAN_RETRY_MS));
    while last - began < HOUR {
        let next = asked.recv().await.unwrap();
        let wait = next - last;
        assert!(wait >= least, "it waits {wait:?}, not {least:?}");
        assert!(wait < 2 * least, "nobody waits longer than is said: {wait:?}, not {least:?}");
        last = next;
        least = (least * 2).min(Duration::from_millis(DECLINED_MS));
    }
    assert!(lanes.try_recv().is_err(), "nothing was asked of the store");
    is_known.store(true, Ordering::SeqCst);
    assert_eq!(lanes.recv().await, Some(lane("a")));
    drop(host);
}

#[tokio::test(start_paused = true)]
async fn arc_12_a_look_out_that_panics_is_asked_again_and_the_host_goes_on() {
    let mut scans = VecDeque::from([None, None, Some(finds("a"))]);
    let (lives, mut is_gone) = unbounded_channel::<()>();
    let lookout = move |_: Option<&ConversationId>| match (scans.pop_front(), &lives) {
        (Some(None), _) => panic!("the look-out breaks"),
        (Some(Some(found)), _) => Ok(found),
        (None, _) => Ok::<_, ScanFailed>(Findings::default()),
    };
    let (bindings, _, _asked) = Later::new(true);
    let (host, mut lanes) = host(bindings, lookout);
    let began = Instant::now();
    let found = tokio::select! {
        found = lanes.recv() => found,
        _ = is_gone.recv() => panic!("the look-out is gone"),
    };
    assert_eq!(found, Some(lane("a")));
    assert!(began.elapsed() >= Duration::from_millis(2 * SCAN_RETRY_MS), "it is not a loop");
    // A hint goes through whatever the look-out does.
    host.hint(lane("b"));
    while lanes.recv().await != Some(lane("b")) {}
}

/// Finds a lane that can be claimed in five seconds, and at first one that can be claimed now; says
/// when it is asked.
fn leased(first: Vec<ConversationId>) -> (impl LookOut, UnboundedReceiver<()>) {
    let ((asked, scans), mut first) = (unbounded_channel(), Some(first));
    let lookout = move |_: Option<&ConversationId>| {
        // The test may be over.
        let _ = asked.send(());
        let claimable = first.take().unwrap_or_default();
        let wakes_in = Some(DurationMs(5_000));
        Ok::<_, ScanFailed>(Findings { claimable, wakes_in, after: None })
    };
    (lookout, scans)
}

#[tokio::test(start_paused = true)]
async fn ops_01_a_lease_is_awaited_only_where_it_is_somebody_else_s() {
    for (claimable, is_awaited) in [(vec![lane("a")], false), (vec![], true)] {
        let (lookout, mut scans) = leased(claimable);
        let (bindings, _, _asked) = Later::new(true);
        let (host, _lanes) = host(bindings, lookout);
        let (tell, mut told) = unbounded_channel();
        host.on_event(move |event| {
            // The test may be over.
            let _ = tell.send(event);
        });
        for _ in 0..3 {
            scans.recv().await.unwrap();
        }
        drop(host);
        let mut awaited = false;
        while let Some(event) = told.recv().await {
            awaited |= matches!(event, Event::LeaseAwaited { .. });
        }
        assert_eq!(awaited, is_awaited);
    }
}
