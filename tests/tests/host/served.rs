//! A tool without a handler is found out when the host is built, or when its agent turns up.

use std::sync::Arc;
use std::time::Duration;

use everstep_machine::agent::{Binding, ToolOutcome};
use everstep_machine::identity::{ConversationId, ProducerId, ToolName};
use everstep_runtime::{
    Bindings, Config, Ephemeral, EphemeralError, Event, Host, StartError, Tools, block_on, pause,
};

use crate::support::{Desk, call, lane, pay, ports};

fn other() -> Tools {
    let name = ToolName::new("wire").unwrap();
    Tools::default().with(name, |it| async move { ToolOutcome::Success(it.parameters) })
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
