//! What breaks beside the handlers: the host goes on.

use std::sync::Arc;
use std::sync::mpsc::channel;
use std::thread;

use everstep_machine::agent::{Binding, ToolOutcome};
use everstep_machine::attempt::End;
use everstep_machine::identity::ConversationId;
use everstep_runtime::{Bindings, HostError, Ports, Standing, Tools, block_on};

use crate::support::{Desk, NEVER, call, lane, pay, ports};

fn quick() -> Tools {
    Tools::default()
        .with(pay(), |invocation| async move { ToolOutcome::Success(invocation.parameters) })
}

/// Breaks at one lane.
struct Broken(Arc<dyn Bindings>);

impl Bindings for Broken {
    fn agents(&self) -> Vec<Arc<Binding>> {
        self.0.agents()
    }

    fn binding(&self, of: &ConversationId) -> Option<Arc<Binding>> {
        assert_ne!(*of, lane("bad"), "the bindings break");
        self.0.binding(of)
    }
}

#[test]
fn arc_12_bindings_that_panic_cost_their_lane_and_the_host_goes_on() {
    let desk = Desk::new();
    block_on(async {
        let ports = ports(quick());
        let bindings = Arc::new(Broken(Arc::clone(&ports.bindings)));
        let broken = Ports { bindings, ..ports };
        let host = desk.host_on(desk.store(), broken, |config| config);
        let bad = host.submit(call("bad", "1")).await.unwrap().submission;
        let told = host.wait(&lane("bad"), bad).await;
        assert_eq!(told, Err(HostError::Quarantined(End::Defect)));
        let good = host.submit(call("good", "1")).await.unwrap().submission;
        let standing = host.wait(&lane("good"), good).await.unwrap();
        assert!(matches!(standing, Standing::Settled(_)), "{standing:?}");
        host.stop().await;
    })
    .unwrap();
}

#[test]
fn run_010_a_watcher_that_blocks_holds_up_nobody_and_has_a_thread_of_its_own() {
    let desk = Desk::new();
    let ((told, is_told), (go_on, may_go_on)) = (channel(), channel::<()>());
    block_on(async {
        let host = desk.host(quick(), 1, NEVER);
        host.on_event(move |_| {
            let _ = told.send(thread::current().name().map(str::to_owned));
            // It ends when the test lets go.
            let _ = may_go_on.recv();
        });
        let submission = host.submit(call("a", "1")).await.unwrap().submission;
        assert_eq!(is_told.recv().unwrap().as_deref(), Some("everstep-watcher"));
        let standing = host.wait(&lane("a"), submission).await.unwrap();
        assert!(matches!(standing, Standing::Settled(_)), "{standing:?}");
        drop(go_on);
        host.stop().await;
    })
    .unwrap();
}
