//! Runs without a store, with real tasks: they end, they can be called off, and nothing of them
//! outlives them.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};

use everstep_machine::admission::Call;
use everstep_machine::agent::{
    AgentDefinition, AgentPolicy, Allowance, Binding, ExecutionClass, FinishReason, ModelFault,
    ModelRequest, ModelResponse, ResponsePart, ToolCall, ToolDefinition, ToolOutcome, Usage,
};
use everstep_machine::digest::Digest;
use everstep_machine::effect::Invocation;
use everstep_machine::event::{EventSequence, check_trace};
use everstep_machine::identity::{
    AgentId, ConversationId, DurationMs, GroupName, IdempotencyKey, PrincipalId, ProducerId,
    SubmissionId, TenantId, ToolName,
};
use everstep_machine::json::CanonicalJson;
use everstep_machine::permits::Limits;
use everstep_machine::record::{FinishKind, PolicyLimit, Record, Settlement};
use everstep_machine::run::Wanted;
use everstep_runtime::{
    AllowAll, Bindings, BoxFuture, Clearance, End, Ephemeral, Event, How, Model, NoApprover,
    NoFailure, NoReconciler, NotSaid, Parts, Ports, Tool, ToolContext, Toolkit, Tools, block_on,
};
use tokio::sync::{Notify, watch};

fn json(text: &str) -> CanonicalJson {
    CanonicalJson::parse(text.as_bytes()).unwrap()
}

fn name(text: &str) -> ToolName {
    ToolName::new(text).unwrap()
}

/// A model that calls a tool so often in its first turn, and then says what it was told last.
struct Script {
    calls: usize,
    faults: AtomicUsize,
}

impl Model for Script {
    fn respond(
        &self,
        request: Arc<ModelRequest>,
        parts: Parts,
    ) -> BoxFuture<Result<(), ModelFault>> {
        let fault = self.faults.load(Ordering::SeqCst);
        if fault > 0 {
            self.faults.store(fault - 1, Ordering::SeqCst);
            let why = everstep_machine::agent::Diagnostic::cut("Busy", "later");
            return Box::pin(async move { Err(ModelFault::Unavailable(why)) });
        }
        let calls = if request.turn.0 == 0 { self.calls } else { 0 };
        let call = |n: usize| {
            let (label, parameters) = (format!("{n}").into(), json(&format!("{{\"n\":{n}}}")));
            ResponsePart::Call(ToolCall { label, tool: name("work"), parameters })
        };
        let mut said: Vec<ResponsePart> = (0..calls).map(call).collect();
        said.push(ResponsePart::Text(format!("{} messages", request.messages.len()).into()));
        let finish = if calls > 0 { FinishReason::ToolCalls } else { FinishReason::Stop };
        let response = ModelResponse { parts: said, finish, usage: Some(Usage::default()) };
        Box::pin(async move {
            let _ = parts.send_whole(&response).await;
            Ok(())
        })
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

fn ports(calls: usize, faults: usize, tools: Tools) -> Ports {
    Ports {
        model: Arc::new(Script { calls, faults: AtomicUsize::new(faults) }),
        tools: Arc::new(tools),
        clearance: Clearance::default(),
        approver: Arc::new(NoApprover),
        authorizer: Arc::new(AllowAll),
        reconciler: Arc::new(NoReconciler),
        bindings: Arc::new(NoLane),
    }
}

fn call(policy: AgentPolicy) -> Call {
    let work = ToolDefinition {
        group: Some(GroupName::new("workers").unwrap()),
        ..ToolDefinition::new(name("work"), ExecutionClass::Ordinary)
    };
    let id = AgentId::new("clerk").unwrap();
    let definition = AgentDefinition::with_policy(id, "Work.", vec![work], policy).unwrap();
    Call {
        conversation: ConversationId::new("here").unwrap(),
        principal: PrincipalId::new("ada").unwrap(),
        tenant: TenantId::new("shop").unwrap(),
        key: IdempotencyKey::new("1").unwrap(),
        input: json("\"work\""),
        allowance: Allowance::default(),
        steers: None,
        binding: Arc::new(Binding { definition, model: Digest::of("test/model", b"1") }),
        producer: ProducerId::new("here").unwrap(),
    }
}

fn limits() -> Limits {
    Limits { agent: 8, group: 8, groups: Default::default(), host: 8 }
}

fn start(policy: AgentPolicy, ports: Ports) -> Ephemeral {
    Ephemeral::start(&call(policy), ports, limits(), |_| {}).unwrap()
}

fn answer(ended: &End) -> &str {
    match &ended.how {
        How::Settled(Settlement::Completed { output, finish: FinishKind::ModelStop, .. }) => {
            output.as_str()
        }
        other => panic!("{other:?} is no answer"),
    }
}

fn records(ended: &End, wanted: fn(&Record) -> bool) -> usize {
    ended.history.iter().flat_map(|batch| batch.records()).filter(|record| wanted(record)).count()
}

fn done() -> ToolOutcome {
    ToolOutcome::Success(json("true"))
}

#[test]
fn run_001_a_run_without_a_store_ends_with_its_whole_history() {
    let tools = Tools::default().with(name("work"), |_: Invocation| async { done() });
    let ended = block_on(async { start(AgentPolicy::default(), ports(3, 0, tools)).ended().await });
    let ended = ended.unwrap();
    assert_eq!(answer(&ended), "\"5 messages\"");
    let counts = [
        records(&ended, |it| matches!(it, Record::ConversationCreated(_))),
        records(&ended, |it| matches!(it, Record::InputRecorded(_))),
        records(&ended, |it| matches!(it, Record::ModelResponded(_))),
        records(&ended, |it| matches!(it, Record::ToolPrepared(_))),
        records(&ended, |it| matches!(it, Record::ToolSettled(_))),
    ];
    assert_eq!(counts, [1, 1, 2, 3, 3]);
}

#[test]
fn run_009_a_group_of_one_runs_one_call_at_a_time() {
    let (running, most) = (Arc::new(AtomicUsize::new(0)), Arc::new(AtomicUsize::new(0)));
    let seen = Arc::clone(&most);
    let tools = Tools::default().with(name("work"), move |_: Invocation| {
        let (running, most) = (Arc::clone(&running), Arc::clone(&most));
        async move {
            most.fetch_max(running.fetch_add(1, Ordering::SeqCst) + 1, Ordering::SeqCst);
            everstep_runtime::pause(std::time::Duration::from_millis(2)).await;
            running.fetch_sub(1, Ordering::SeqCst);
            done()
        }
    });
    let ended = block_on(async {
        let limits = Limits { group: 1, ..limits() };
        let ports = ports(6, 0, tools);
        let call = call(AgentPolicy::default());
        Ephemeral::start(&call, ports, limits, |_| {}).unwrap().ended().await
    });
    assert_eq!((answer(&ended.unwrap()), seen.load(Ordering::SeqCst)), ("\"8 messages\"", 1));
}

/// Tells when it is dropped.
struct Guard(Arc<AtomicBool>);

impl Drop for Guard {
    fn drop(&mut self) {
        self.0.store(true, Ordering::SeqCst);
    }
}

#[test]
fn run_008_arc_07_an_interrupted_run_ends_after_everything_it_has_in_flight() {
    let (stopped, begun) = (Arc::new(AtomicBool::new(false)), Arc::new(Notify::new()));
    let (guarded, beginning) = (Arc::clone(&stopped), Arc::clone(&begun));
    let tools = Tools::default().with(name("work"), move |_: Invocation| {
        let (guard, begun) = (Guard(Arc::clone(&guarded)), Arc::clone(&beginning));
        async move {
            let _guard = guard;
            begun.notify_one();
            std::future::pending::<()>().await;
            done()
        }
    });
    let ended = block_on(async {
        let run = start(AgentPolicy::default(), ports(1, 0, tools));
        begun.notified().await;
        run.interrupt();
        let ended = run.ended().await;
        assert!(stopped.load(Ordering::SeqCst), "the handler has ended first");
        ended
    });
    let ended = ended.unwrap();
    assert_eq!(ended.how, How::Interrupted);
    assert_eq!(records(&ended, |it| matches!(it, Record::ToolSettled(_))), 0, "and has no result");
}

#[test]
fn arc_06_arc_12_a_handler_that_panics_is_a_defect_of_its_call_and_of_nothing_else() {
    let tools = Tools::default().with(name("work"), |it: Invocation| async move {
        assert!(!it.parameters.as_str().contains('1'), "a secret");
        done()
    });
    let ended = block_on(async { start(AgentPolicy::default(), ports(3, 0, tools)).ended().await });
    let ended = ended.unwrap();
    assert_eq!(answer(&ended), "\"5 messages\"");
    let broken = |it: &Record| match it {
        Record::ToolSettled(it) => match &*it.outcome {
            ToolOutcome::Defect(why) => !why.message().contains("secret"),
            _ => false,
        },
        _ => false,
    };
    assert_eq!(records(&ended, broken), 1);
}

#[test]
fn dur_018_a_model_that_is_busy_is_asked_again_after_its_pause() {
    let mut policy = AgentPolicy::default();
    (policy.retry.first, policy.retry.longest) = (DurationMs(2), DurationMs(4));
    let busy = |faults| {
        let idle = Tools::default().with(name("work"), |_: Invocation| async { done() });
        let ports = ports(0, faults, idle);
        block_on(async { start(policy.clone(), ports).ended().await }).unwrap()
    };
    assert_eq!(answer(&busy(2)), "\"1 messages\"");
    let How::Settled(Settlement::Failed { diagnostic, .. }) = busy(3).how else { panic!() };
    assert_eq!(diagnostic.tag(), "Busy");
}

#[test]
fn run_027_a_run_whose_time_is_over_fails_with_its_dimension() {
    let mut policy = AgentPolicy::default();
    policy.allowance.duration = Some(DurationMs(20));
    let tools = Tools::default().with(name("work"), |_: Invocation| async {
        everstep_runtime::pause(std::time::Duration::from_millis(60)).await;
        done()
    });
    let ended = block_on(async { start(policy, ports(1, 0, tools)).ended().await }).unwrap();
    let How::Settled(Settlement::Failed { limit: Some(limit), .. }) = ended.how else { panic!() };
    assert_eq!(limit, PolicyLimit::Budget(everstep_machine::agent::Dimension::Duration));
    assert_eq!(records(&ended, |it| matches!(it, Record::ToolSettled(_))), 1, "what ran has ended");
}

#[test]
fn run_012_what_is_said_to_a_run_is_shown_with_its_next_request() {
    let (go, gone) = watch::channel(false);
    let tools = Tools::default().with(name("work"), move |_: Invocation| {
        let mut gone = gone.clone();
        async move {
            let _ = gone.wait_for(|gone| *gone).await;
            done()
        }
    });
    let ended = block_on(async {
        let run = start(AgentPolicy::default(), ports(1, 0, tools));
        let ada = PrincipalId::new("ada").unwrap();
        run.say(SubmissionId([7; 16]), ada, json("\"stop\""), Wanted::Soon).unwrap();
        go.send_replace(true);
        run.ended().await
    });
    assert_eq!(answer(&ended.unwrap()), "\"4 messages\"");
}

#[test]
fn arc_05_what_waits_to_come_into_a_run_is_bounded() {
    let (go, gone) = watch::channel(false);
    let tools = Tools::default().with(name("work"), move |_: Invocation| {
        let mut gone = gone.clone();
        async move {
            let _ = gone.wait_for(|gone| *gone).await;
            done()
        }
    });
    let (said, ended) = block_on(async {
        let run = start(AgentPolicy::default(), ports(1, 0, tools));
        let say = |n: u32| {
            let mut id = [0; 16];
            id[..4].copy_from_slice(&n.to_be_bytes());
            let ada = PrincipalId::new("ada").unwrap();
            run.say(SubmissionId(id), ada, json("\"stop\""), Wanted::Soon)
        };
        let said = (0..10_000).take_while(|n| say(*n).is_ok()).count();
        assert_eq!(say(20_000), Err(NotSaid::TooMuchWaits));
        // It waits in the machine now, and is bounded there too.
        everstep_runtime::pause(std::time::Duration::from_millis(50)).await;
        assert_eq!(say(20_000), Err(NotSaid::TooMuchWaits));
        go.send_replace(true);
        (said, run.ended().await)
    })
    .unwrap();
    assert_eq!(said, 256);
    assert_eq!(records(&ended, |it| matches!(it, Record::InputRecorded(_))), 1 + said);
}

#[test]
fn run_010_a_watcher_that_never_comes_back_holds_nothing_up() {
    let tools = Tools::default().with(name("work"), |_: Invocation| async { done() });
    let (hold, held) = std::sync::mpsc::channel::<()>();
    let ended = block_on(async {
        let ports = ports(2, 0, tools);
        let watcher = move |_: Event| {
            let _ = held.recv();
        };
        let call = call(AgentPolicy::default());
        let ended = Ephemeral::start(&call, ports, limits(), watcher).unwrap().ended().await;
        drop(hold);
        ended
    });
    assert_eq!(answer(&ended.unwrap()), "\"4 messages\"");
}

#[test]
fn run_002_the_live_events_of_a_run_are_a_whole_trace() {
    let tools = Tools::default().with(name("work"), |_: Invocation| async { done() });
    let events = block_on(async {
        let run = start(AgentPolicy::default(), ports(2, 0, tools));
        let mut stream = run.watch(EventSequence(0)).unwrap();
        let mut events = Vec::new();
        loop {
            let page = stream.page().await.unwrap();
            events.extend(page.events);
            if page.ended {
                break;
            }
        }
        run.ended().await;
        events
    });
    let events = events.unwrap();
    assert_eq!(check_trace(&events), Ok(()), "{events:?}");
    let words: String =
        events.iter().filter_map(|it| it.event.words().cloned()).map(|it| it.to_string()).collect();
    assert!(words.contains("4 messages"), "{words}");
}

#[derive(serde::Deserialize, schemars::JsonSchema)]
struct Work {
    n: u8,
}

#[test]
fn run_003_a_tool_as_users_write_it_never_sees_what_does_not_fit() {
    let (seen, calls) = (Arc::new(AtomicUsize::new(0)), Arc::new(AtomicUsize::new(0)));
    let count = Arc::clone(&calls);
    let work = Tool::new("work", move |work: Work, context: ToolContext| {
        count.fetch_add(1, Ordering::SeqCst);
        seen.fetch_add(usize::from(work.n), Ordering::SeqCst);
        context.progress("at it");
        async move { Ok::<u8, NoFailure>(work.n) }
    });
    let toolkit = Toolkit::new([work]).unwrap();
    let definition = |tools| {
        let id = AgentId::new("clerk").unwrap();
        AgentDefinition::with_policy(id, "Work.", tools, AgentPolicy::default()).unwrap()
    };
    let fits = definition(toolkit.definitions());
    toolkit.check([&fits]).unwrap();
    let run = |said: &'static str, toolkit: Toolkit| {
        let mut call = call(AgentPolicy::default());
        call.binding = Arc::new(Binding {
            definition: definition(toolkit.definitions()),
            model: Digest::of("test/model", b"1"),
        });
        let model = Arc::new(Says(said));
        let ports = Ports { tools: Arc::new(toolkit), model, ..ports(0, 0, Tools::default()) };
        block_on(async { Ephemeral::start(&call, ports, limits(), |_| {}).unwrap().ended().await })
            .unwrap()
    };
    let settled = |ended: &End, wanted: fn(&ToolOutcome) -> bool| {
        let outcomes = ended.history.iter().flat_map(|batch| batch.records());
        let outcomes = outcomes.filter_map(|record| match record {
            Record::ToolSettled(it) => Some(it.outcome.clone()),
            _ => None,
        });
        outcomes.filter(|outcome| wanted(outcome)).count()
    };
    let ended = run(r#"{"n":3}"#, toolkit.clone());
    assert_eq!(settled(&ended, |it| *it == ToolOutcome::Success(json("3"))), 1);
    assert_eq!(calls.load(Ordering::SeqCst), 1);
    let ended = run(r#"{"n":"three"}"#, toolkit);
    assert_eq!(settled(&ended, |it| matches!(it, ToolOutcome::InvalidInput(_))), 1);
    assert_eq!(calls.load(Ordering::SeqCst), 1, "the handler was not called");
}

/// A model that calls `work` once with these parameters.
struct Says(&'static str);

impl Model for Says {
    fn respond(
        &self,
        request: Arc<ModelRequest>,
        parts: Parts,
    ) -> BoxFuture<Result<(), ModelFault>> {
        let call = ToolCall { label: "1".into(), tool: name("work"), parameters: json(self.0) };
        let (part, finish) = match request.turn.0 {
            0 => (ResponsePart::Call(call), FinishReason::ToolCalls),
            _ => (ResponsePart::Text("done".into()), FinishReason::Stop),
        };
        let parts_of = vec![part];
        let response = ModelResponse { parts: parts_of, finish, usage: Some(Usage::default()) };
        Box::pin(async move {
            let _ = parts.send_whole(&response).await;
            Ok(())
        })
    }
}

#[test]
fn dur_017_an_ordinary_tool_that_never_answers_leaves_a_doubt_and_no_result() {
    let work = Tool::new("work", |_: Work, _: ToolContext| async {
        std::future::pending::<()>().await;
        Ok::<u8, NoFailure>(0)
    });
    let toolkit = Toolkit::new([work.timeout(std::time::Duration::from_millis(20))]).unwrap();
    let id = AgentId::new("clerk").unwrap();
    let mut call = call(AgentPolicy::default());
    call.binding = Arc::new(Binding {
        definition: AgentDefinition::new(id, "Work.", toolkit.definitions(), 4).unwrap(),
        model: Digest::of("test/model", b"1"),
    });
    let model = Arc::new(Says(r#"{"n":3}"#));
    let ports = Ports { tools: Arc::new(toolkit), model, ..ports(0, 0, Tools::default()) };
    let ended =
        block_on(async { Ephemeral::start(&call, ports, limits(), |_| {}).unwrap().ended().await });
    let ended = ended.unwrap();
    assert!(matches!(&ended.how, How::Unknown(doubts) if doubts.len() == 1), "{:?}", ended.how);
    assert_eq!(records(&ended, |it| matches!(it, Record::ToolSettled(_))), 0);
}

#[test]
fn run_014_an_idempotent_tool_that_does_not_answer_is_called_again_under_its_key() {
    let made = Arc::new(std::sync::Mutex::new(Vec::new()));
    let calls = Arc::clone(&made);
    let work = Tool::new("work", move |_: Work, context: ToolContext| {
        let first = {
            let mut calls = calls.lock().unwrap();
            calls.push((context.call(), context.epoch()));
            calls.len() == 1
        };
        async move {
            if first {
                std::future::pending::<()>().await;
            }
            Ok::<u8, NoFailure>(0)
        }
    });
    let work = work.class(ExecutionClass::Idempotent).timeout(std::time::Duration::from_millis(20));
    let toolkit = Toolkit::new([work]).unwrap();
    let id = AgentId::new("clerk").unwrap();
    let mut call = call(AgentPolicy::default());
    call.binding = Arc::new(Binding {
        definition: AgentDefinition::new(id, "Work.", toolkit.definitions(), 4).unwrap(),
        model: Digest::of("test/model", b"1"),
    });
    let model = Arc::new(Says(r#"{"n":3}"#));
    let ports = Ports { tools: Arc::new(toolkit), model, ..ports(0, 0, Tools::default()) };
    let ended =
        block_on(async { Ephemeral::start(&call, ports, limits(), |_| {}).unwrap().ended().await });
    assert!(matches!(ended.unwrap().how, How::Settled(Settlement::Completed { .. })));
    let made = made.lock().unwrap();
    let [(first, one), (second, two)] = made[..] else { panic!("{made:?}") };
    assert_eq!((first, one.next()), (second, two), "the same key, another start");
}
