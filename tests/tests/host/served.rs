//! A tool without a handler is found out when the host is built, or when its agent turns up.

use std::sync::Arc;
use std::time::Duration;

use everstep_machine::agent::{
    AgentDefinition, AgentPolicy, Binding, ExecutionClass, Schema, ToolDefinition, ToolOutcome,
};
use everstep_machine::digest::Digest;
use everstep_machine::effect::Reconciliation;
use everstep_machine::identity::{AgentId, ConversationId, ProducerId, ToolName};
use everstep_runtime::{
    Bindings, Config, Ephemeral, EphemeralError, Event, Host, Ports, StartError, Tool, Toolkit,
    Tools, block_on, pause,
};

use crate::support::{Desk, call, lane, pay, ports};

fn echo(tool: ToolName) -> Tools {
    Tools::default().with(tool, |it| async move { ToolOutcome::Success(it.parameters) })
}

fn other() -> Tools {
    echo(ToolName::new("wire").unwrap())
}

#[test]
fn cap_001_a_host_without_a_handler_for_a_tool_of_its_agents_is_not_started() {
    let desk = Desk::new();
    let config = Config::new(ProducerId::new("host").unwrap());
    let started = block_on(async {
        Host::start(desk.store(), desk.lookout(), ports(other()), config).map(drop)
    });
    let Err(why @ StartError::NotServed(_)) = started.unwrap() else { panic!("it has started") };
    let said = why.to_string();
    assert!(said.contains("clerk") && said.contains("pay"), "both by name: {said}");
}

#[test]
fn cap_001_an_ephemeral_run_without_a_handler_does_not_begin() {
    let limits = Config::new(ProducerId::new("host").unwrap()).permits;
    let started = block_on(async {
        Ephemeral::start(&call("a", "1"), ports(other()), limits, |_| {}).map(drop)
    });
    let Err(why @ EphemeralError::NotServed(_)) = started.unwrap() else { panic!("it has begun") };
    assert!(why.to_string().contains("pay"), "{why}");
}

/// Knows its agent, and says so only when it is asked.
struct Quiet(Arc<dyn Bindings>);

impl Bindings for Quiet {
    fn agents(&self) -> Vec<Arc<Binding>> {
        Vec::new()
    }

    fn binding(&self, of: &ConversationId) -> Option<Arc<Binding>> {
        self.0.binding(of)
    }
}

#[test]
fn cap_001_an_agent_that_turns_up_later_and_is_not_served_is_left_to_others() {
    let desk = Desk::new();
    block_on(async {
        let lacking = ports(other());
        let bindings = Arc::new(Quiet(Arc::clone(&lacking.bindings)));
        let host =
            desk.host_on(desk.store(), everstep_runtime::Ports { bindings, ..lacking }, |config| {
                config
            });
        let (tell, told) = std::sync::mpsc::channel();
        host.on_event(move |event| {
            if let Event::NotServed { lane, why } = event {
                let _ = tell.send((lane, why.to_string()));
            }
        });
        let submission = host.submit(call("a", "1")).await.unwrap().submission;
        let (left, why) = loop {
            match told.try_recv() {
                Ok(it) => break it,
                Err(_) => pause(Duration::from_millis(1)).await,
            }
        };
        assert!(left == lane("a") && why.contains("pay"), "{left} {why}");
        let row = desk.reader().row(&lane("a"), submission).unwrap().unwrap();
        assert_eq!(row.phase, everstep_machine::ledger::Phase::Ready, "nobody has claimed it");
        // Whoever has the handler takes it.
        let able =
            Tools::default().with(pay(), |it| async move { ToolOutcome::Success(it.parameters) });
        let able = desk.host(able, 1, crate::OFTEN);
        let settled = crate::outcome(able.wait(&lane("a"), submission).await);
        assert!(matches!(settled, everstep_machine::record::Settlement::Completed { .. }));
        able.stop().await;
        host.stop().await;
    })
    .unwrap();
}

/// Knows one agent, and says so before it is asked, or not.
struct One {
    binding: Arc<Binding>,
    early: bool,
}

impl Bindings for One {
    fn agents(&self) -> Vec<Arc<Binding>> {
        if self.early { vec![Arc::clone(&self.binding)] } else { Vec::new() }
    }

    fn binding(&self, _: &ConversationId) -> Option<Arc<Binding>> {
        Some(Arc::clone(&self.binding))
    }
}

fn clerk(tool: ToolDefinition, policy: AgentPolicy) -> Arc<Binding> {
    let id = AgentId::new("clerk").unwrap();
    let definition = AgentDefinition::with_policy(id, "You refund.", vec![tool], policy).unwrap();
    Arc::new(Binding { definition, model: Digest::of("test/model", b"once") })
}

/// What is said by a host that is to start, by an ephemeral run that is to begin, and by a host that
/// comes upon the agent in a lane.
fn refusals(binding: &Arc<Binding>, with: impl Fn() -> Ports) -> [String; 3] {
    let desk = Desk::new();
    let knowing = |early| {
        let bindings = Arc::new(One { binding: Arc::clone(binding), early });
        Ports { bindings, ..with() }
    };
    block_on(async {
        let config = Config::new(ProducerId::new("host").unwrap());
        let mut asks = call("a", "1");
        asks.binding = Arc::clone(binding);
        let begun = Ephemeral::start(&asks, knowing(true), config.permits.clone(), |_| {});
        let begun = begun.map(drop).expect_err("it has begun").to_string();
        let started = Host::start(desk.store(), desk.lookout(), knowing(true), config);
        let started = started.map(drop).expect_err("it has started").to_string();
        let host = desk.host_on(desk.store(), knowing(false), |config| config);
        let (tell, told) = std::sync::mpsc::channel();
        host.on_event(move |event| {
            if let Event::NotServed { why, .. } = event {
                let _ = tell.send(why.to_string());
            }
        });
        host.submit(asks).await.unwrap();
        let left = loop {
            match told.try_recv() {
                Ok(it) => break it,
                Err(_) => pause(Duration::from_millis(1)).await,
            }
        };
        host.stop().await;
        [started, begun, left]
    })
    .unwrap()
}

#[test]
fn cap_001_dur_010_handlers_that_are_not_made_of_steps_serve_no_durable_tool() {
    let tool = ToolDefinition::new(pay(), ExecutionClass::Durable);
    for said in refusals(&clerk(tool, AgentPolicy::default()), || ports(echo(pay()))) {
        assert!(said.contains("pay durable") && said.contains("clerk"), "by name: {said}");
    }
}

#[test]
fn cap_002_an_output_contract_that_is_not_sound_is_found_out_beside_plain_handlers_too() {
    let output = Some(Schema::parse(br#"{"type":"strin"}"#).unwrap());
    let policy = AgentPolicy { output, ..AgentPolicy::default() };
    let tool = ToolDefinition::new(pay(), ExecutionClass::Ordinary);
    for said in refusals(&clerk(tool, policy), || ports(echo(pay()))) {
        assert!(said.contains("the output of the agent clerk"), "by name: {said}");
    }
}

#[test]
fn cap_001_a_tool_that_reconciles_wants_a_reconciler_that_knows_it() {
    let tool = ToolDefinition::new(pay(), ExecutionClass::Ordinary).reconciling();
    let kit = |name| {
        let tool = ToolDefinition::new(name, ExecutionClass::Ordinary);
        let tool = Tool::dynamic(tool, |it, _| async move { Ok(it) });
        let tool = tool.reconciler(|_| async { Reconciliation::Unprovable });
        Arc::new(Toolkit::new([tool]).unwrap())
    };
    let binding = clerk(tool, AgentPolicy::default());
    let foreign =
        || Ports { reconciler: kit(ToolName::new("wire").unwrap()), ..ports(echo(pay())) };
    let nobody = refusals(&binding, || ports(echo(pay())));
    for said in nobody.into_iter().chain(refusals(&binding, foreign)) {
        assert!(said.contains("pay reconciles, but has no reconciler"), "by name: {said}");
    }
    let desk = Desk::new();
    let bindings = Arc::new(One { binding, early: true });
    let knows = Ports { reconciler: kit(pay()), bindings, ..ports(echo(pay())) };
    let config = Config::new(ProducerId::new("host").unwrap());
    let started =
        block_on(async { Host::start(desk.store(), desk.lookout(), knows, config).map(drop) });
    started.unwrap().expect("somebody knows it");
}
