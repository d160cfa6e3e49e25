//! What is granted while a host works, and what people are asked at once (AUTH-10, AUTH-11, AUTH-15).

use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use everstep_machine::agent::{
    AgentDefinition, Binding, ExecutionClass, Judgement, RejectionReason, ToolDefinition,
    ToolOutcome,
};
use everstep_machine::approval::Answer;
use everstep_machine::authority::{self, CapabilityKey, Grant, Policy, Scope};
use everstep_machine::clearance::Said;
use everstep_machine::digest::Digest;
use everstep_machine::effect::ApprovalQuestion;
use everstep_machine::identity::{AgentId, ConversationId, PrincipalId, RunId, Turn};
use everstep_machine::record::{Record, Resolver, Settlement};
use everstep_runtime::{
    Approver, Bindings, BoxFuture, Clearance, Config, Decision, Host, Ports, Standing, Tools,
    block_on, pause,
};

use crate::outcome;
use crate::stopping::Thrice;
use crate::support::{Desk, OFTEN, call, count, lane, pay, ports, principal};

const MONEY: &str = "money.send";

/// An agent whose tool takes money, and which somebody is asked about if this says so.
struct Teller(Arc<Binding>);

impl Teller {
    fn with(approval: Judgement) -> Self {
        Self::taking(MONEY, approval)
    }

    fn taking(capability: &str, approval: Judgement) -> Self {
        let tool = ToolDefinition {
            capability: Some(CapabilityKey::new(capability).unwrap()),
            approval,
            ..ToolDefinition::new(pay(), ExecutionClass::Ordinary)
        };
        let id = AgentId::new("teller").unwrap();
        let definition = AgentDefinition::new(id, "You pay.", vec![tool], 4).unwrap();
        Self(Arc::new(Binding { definition, model: Digest::of("test/model", b"once") }))
    }
}

impl Bindings for Teller {
    fn agents(&self) -> Vec<Arc<Binding>> {
        vec![Arc::clone(&self.0)]
    }

    fn binding(&self, _: &ConversationId) -> Option<Arc<Binding>> {
        Some(Arc::clone(&self.0))
    }
}

/// Somebody who is shown questions, and answers each when told to.
#[derive(Clone)]
struct Person {
    shown: Arc<Mutex<Vec<ApprovalQuestion>>>,
    speaks: Arc<AtomicUsize>,
    answer: Answer,
}

impl Person {
    fn who_says(answer: Answer) -> Self {
        Self { shown: Arc::default(), speaks: Arc::default(), answer }
    }

    fn shown(&self) -> usize {
        self.shown.lock().unwrap().len()
    }

    async fn is_shown(&self, questions: usize) {
        while self.shown() < questions {
            pause(Duration::from_millis(1)).await;
        }
        // Whoever else asks has had time to.
        pause(Duration::from_millis(50)).await;
    }
}

impl Approver for Person {
    fn approve(
        &self,
        _: RunId,
        _: Turn,
        questions: Vec<ApprovalQuestion>,
    ) -> BoxFuture<Vec<Decision>> {
        let it = self.clone();
        it.shown.lock().unwrap().extend(questions.iter().cloned());
        Box::pin(async move {
            while it.speaks.load(Ordering::SeqCst) == 0 {
                pause(Duration::from_millis(1)).await;
            }
            it.speaks.fetch_sub(1, Ordering::SeqCst);
            let said = |question: &ApprovalQuestion| Decision {
                request: question.request,
                said: Said {
                    answer: it.answer,
                    by: Resolver::Person(PrincipalId::new("bob").unwrap()),
                    reason: "I know them".into(),
                },
            };
            questions.iter().map(said).collect()
        })
    }
}

fn granting() -> Clearance {
    granting_just(MONEY)
}

fn granting_just(grant: &str) -> Clearance {
    let defaults = [(Grant::new(grant).unwrap(), Scope::Core)].into();
    let policy = Policy { defaults, ..Policy::default() };
    Clearance::of(&call("a", "1").tenant, &principal(), policy)
}

fn counting(calls: &Arc<AtomicUsize>) -> Tools {
    let calls = Arc::clone(calls);
    Tools::default().with(pay(), move |invocation| {
        calls.fetch_add(1, Ordering::SeqCst);
        async move { ToolOutcome::Success(invocation.parameters) }
    })
}

fn host(desk: &Desk, ports: Ports) -> Host {
    desk.host_on(desk.store(), ports, |config| Config { glance: OFTEN, ..config })
}

fn rejections(records: &[Record]) -> Vec<RejectionReason> {
    let rejected = records.iter().filter_map(|record| match record {
        Record::ToolSettled(it) => match &*it.outcome {
            ToolOutcome::Rejected(reason) => Some(*reason),
            _ => None,
        },
        _ => None,
    });
    rejected.collect()
}

fn resolvers(records: &[Record]) -> Vec<Resolver> {
    let decided = records.iter().filter_map(|record| match record {
        Record::ApprovalDecided(it) => Some(it.resolver.clone()),
        _ => None,
    });
    decided.collect()
}

#[test]
fn auth_15_what_is_not_granted_does_not_begin_and_nobody_is_asked() {
    let (desk, calls) = (Desk::new(), Arc::default());
    let person = Person::who_says(Answer::Once);
    let settled = block_on(async {
        let (approver, bindings) =
            (Arc::new(person.clone()), Arc::new(Teller::with(Judgement::Prompt)));
        let host = host(&desk, Ports { approver, bindings, ..ports(counting(&calls)) });
        let asked = host.submit(call("a", "1")).await.unwrap().submission;
        let settled = outcome(host.wait(&lane("a"), asked).await);
        host.stop().await;
        settled
    });
    let Settlement::Failed { diagnostic, .. } = settled.unwrap() else { panic!("it is denied") };
    assert_eq!(diagnostic.tag(), "PolicyDenied");
    assert_eq!((calls.load(Ordering::SeqCst), person.shown()), (0, 0));
    let records = desk.records("a");
    let expected = RejectionReason::NotGranted(authority::Layer::Membership);
    assert_eq!(rejections(&records), [expected]);
    assert_eq!(count(&records, |it| matches!(it, Record::ToolPrepared(_))), 0);
}

/// The person is still thinking: then nothing is granted any more, and the answer comes too late.
#[test]
fn case_ap_23_an_answer_behind_a_revocation_or_a_replaced_session_lets_nothing_through() {
    for revokes in [true, false] {
        let (desk, calls, clearance) = (Desk::new(), Arc::default(), granting());
        let person = Person::who_says(Answer::ForSession);
        let settled = block_on(async {
            let (approver, bindings) =
                (Arc::new(person.clone()), Arc::new(Teller::with(Judgement::Prompt)));
            let (tools, held) = (counting(&calls), clearance.clone());
            let ports = Ports { approver, bindings, clearance: held, ..ports(tools) };
            let host = host(&desk, ports);
            let asked = host.submit(call("a", "1")).await.unwrap().submission;
            person.is_shown(1).await;
            if revokes {
                clearance.revoke(call("a", "1").tenant, principal());
            } else {
                clearance.replace_session(call("a", "1").tenant, principal(), lane("a"));
            }
            let settled = outcome(host.wait(&lane("a"), asked).await);
            person.speaks.fetch_add(1, Ordering::SeqCst);
            host.stop().await;
            settled
        });
        let Settlement::Failed { diagnostic, .. } = settled.unwrap() else {
            panic!("it is denied")
        };
        assert_eq!(diagnostic.tag(), "ApprovalDenied");
        assert_eq!(calls.load(Ordering::SeqCst), 0);
        let records = desk.records("a");
        assert_eq!(resolvers(&records), [Resolver::Policy], "and that is canonical");
        let reason = records.iter().find_map(|record| match record {
            Record::ApprovalDecided(it) => Some(it.reason.to_string()),
            _ => None,
        });
        let expected = if revokes { "revoked" } else { "replaced" };
        assert!(reason.unwrap().contains(expected));
    }
}

#[test]
fn auth_11_equal_calls_of_a_conversation_share_one_question_and_one_answer() {
    let (desk, calls) = (Desk::new(), Arc::default());
    let person = Person::who_says(Answer::Once);
    let settled = block_on(async {
        let (approver, bindings) =
            (Arc::new(person.clone()), Arc::new(Teller::with(Judgement::Prompt)));
        let model = Arc::new(Thrice);
        let ports =
            Ports { approver, bindings, model, clearance: granting(), ..ports(counting(&calls)) };
        let host = host(&desk, ports);
        let asked = host.submit(call("a", "1")).await.unwrap().submission;
        person.is_shown(1).await;
        assert_eq!(person.shown(), 1, "three equal calls");
        person.speaks.fetch_add(1, Ordering::SeqCst);
        let settled = outcome(host.wait(&lane("a"), asked).await);
        host.stop().await;
        settled
    });
    assert!(matches!(settled.unwrap(), Settlement::Completed { .. }));
    assert_eq!(calls.load(Ordering::SeqCst), 3);
    let bob = Resolver::Person(PrincipalId::new("bob").unwrap());
    assert_eq!(resolvers(&desk.records("a")), [bob.clone(), bob.clone(), bob]);
}

#[test]
fn auth_10_what_is_allowed_for_the_session_is_answered_at_once_and_says_by_which_request() {
    let (desk, calls) = (Desk::new(), Arc::default());
    let person = Person::who_says(Answer::ForSession);
    block_on(async {
        let (approver, bindings) =
            (Arc::new(person.clone()), Arc::new(Teller::with(Judgement::Prompt)));
        let ports = Ports { approver, bindings, clearance: granting(), ..ports(counting(&calls)) };
        let host = host(&desk, ports);
        let first = host.submit(call("a", "1")).await.unwrap().submission;
        person.is_shown(1).await;
        person.speaks.fetch_add(1, Ordering::SeqCst);
        outcome(host.wait(&lane("a"), first).await);
        let second = host.submit(call("a", "2")).await.unwrap().submission;
        outcome(host.wait(&lane("a"), second).await);
        assert_eq!(person.shown(), 1);
        // Another conversation is another session.
        let other = host.submit(call("b", "1")).await.unwrap().submission;
        person.is_shown(2).await;
        person.speaks.fetch_add(1, Ordering::SeqCst);
        outcome(host.wait(&lane("b"), other).await);
        host.stop().await;
    })
    .unwrap();
    assert_eq!((calls.load(Ordering::SeqCst), person.shown()), (3, 2));
    let records = desk.records("a");
    let original = records.iter().find_map(|record| match record {
        Record::ApprovalRequested(it) => Some(it.request),
        _ => None,
    });
    let bob = Resolver::Person(PrincipalId::new("bob").unwrap());
    assert_eq!(resolvers(&records), [bob, Resolver::Session { original: original.unwrap() }]);
}

/// A person who never answers at once: whoever goes leaves it to people, and the next host may ask.
#[test]
fn auth_14_a_question_that_its_host_takes_along_is_asked_again_by_the_next_one() {
    let (desk, calls) = (Desk::new(), Arc::default());
    let [first, second] = [Person::who_says(Answer::Once), Person::who_says(Answer::Once)];
    let standing = block_on(async {
        let ports = |person: &Person| Ports {
            approver: Arc::new(person.clone()),
            bindings: Arc::new(Teller::with(Judgement::Prompt)),
            clearance: granting(),
            ..ports(counting(&calls))
        };
        let host_of = |person| host(&desk, ports(person));
        let one = host_of(&first);
        let asked = one.submit(call("a", "1")).await.unwrap().submission;
        first.is_shown(1).await;
        one.stop().await;
        let two = host_of(&second);
        two.hint(lane("a"));
        second.is_shown(1).await;
        second.speaks.fetch_add(1, Ordering::SeqCst);
        let standing = two.wait(&lane("a"), asked).await.unwrap();
        two.stop().await;
        standing
    });
    assert!(matches!(standing.unwrap(), Standing::Settled(_)));
    assert_eq!(calls.load(Ordering::SeqCst), 1);
}

/// A scripted server: its connections and its calls are counted.
#[test]
fn auth_05_a_server_is_connected_to_and_called_under_two_grants_and_not_before() {
    for (takes, granted, is_reached) in [
        ("mcp.connect:docs", "mcp.connect:docs", true),
        ("mcp.connect:docs", "mcp.connect:*", true),
        ("mcp.call:docs", "mcp.call:docs", true),
        ("mcp.call:docs", "mcp.connect:docs", false),
        ("mcp.connect:docs", "mcp.call:*", false),
        ("mcp.call:docs", "mcp.call:other", false),
    ] {
        let (desk, reached) = (Desk::new(), Arc::default());
        let settled = block_on(async {
            let bindings = Arc::new(Teller::taking(takes, Judgement::Auto));
            let clearance = granting_just(granted);
            let host = host(&desk, Ports { bindings, clearance, ..ports(counting(&reached)) });
            let asked = host.submit(call("a", "1")).await.unwrap().submission;
            let settled = outcome(host.wait(&lane("a"), asked).await);
            host.stop().await;
            settled
        });
        let is_completed = matches!(settled.unwrap(), Settlement::Completed { .. });
        assert_eq!(is_completed, is_reached, "{takes} under {granted}");
        assert_eq!(reached.load(Ordering::SeqCst), usize::from(is_reached));
    }
}
