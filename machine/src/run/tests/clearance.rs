//! What is granted, and what the policy says, comes before anybody is asked and before anything of a
//! batch begins; and what may have happened is never said to have been turned down.

use super::*;
use crate::agent::{
    AgentPolicy, ExecutionClass, Judgement, RejectionReason, Resolution, ToolDefinition,
};
use crate::approval;
use crate::authority::{self, CapabilityKey};
use crate::effect::{Clearance, Clearances};
use crate::identity::ToolName;
use crate::projection::StartState;
use crate::testkit::{bound, policy};

/// An agent with a tool that takes something and one that takes nothing.
fn agent(class: ExecutionClass) -> Arc<crate::agent::Binding> {
    let tool = |name, class| ToolDefinition::new(ToolName::new(name).unwrap(), class);
    let pay = ToolDefinition {
        capability: Some(CapabilityKey::new("money.send").unwrap()),
        ..tool("pay", class)
    };
    bound(alloc::vec![pay, tool("look", ExecutionClass::Readonly)], AgentPolicy { ..policy() })
}

fn said(of: &External, each: &[Clearance]) -> Answer {
    let External::Clear { run, turn, asker, calls } = of else {
        panic!("{of:?} is another question")
    };
    let policy = asker.binding.definition.approval_digest();
    let calls = calls.iter().map(|it| it.call).zip(each.iter().cloned()).collect();
    Answer::Cleared { run: *run, turn: *turn, said: Clearances { policy, calls } }
}

const NOT_GRANTED: RejectionReason = RejectionReason::NotGranted(authority::Layer::Policy);

/// A run whose batch is being asked about.
fn asking(class: ExecutionClass, story: &Story, epoch: u64) -> (Bench, External) {
    let mut bench = Bench::resting_with(agent(class), story, epoch).told_alone(RESUMED);
    let [question] = &asked(&bench.look())[..] else { panic!("one question") };
    assert_eq!(question.kind().name(), "authority.clear", "AUTH-15: nothing comes before");
    (bench, question.clone())
}

fn declared() -> Story {
    Story::new().tell([ONE.input(), ONE.responded(0, &["pay", "look"])])
}

#[test]
fn auth_15_a_batch_of_which_a_call_is_refused_starts_nothing_and_asks_nobody() {
    let refusals = [
        (NOT_GRANTED, "`pay` takes `money.send`, which the tenant's policy does not grant"),
        (
            RejectionReason::PolicyDenied(approval::Layer::Global),
            "the host's policy denies calls of `pay`",
        ),
    ];
    for (reason, words) in refusals {
        let (bench, question) = asking(ExecutionClass::Ordinary, &declared(), 1);
        let each = [Clearance::Refused(reason), Clearance::Auto];
        let effects = bench.told_alone(Input::Answered(said(&question, &each))).look();
        assert_eq!(asked(&effects), [], "nobody is asked, and nothing starts");
        let ends = [
            ONE.tool_settled(ONE.call(0, 0), ToolOutcome::Rejected(reason)),
            ONE.tool_settled(ONE.call(0, 1), ToolOutcome::Rejected(RejectionReason::BatchRefused)),
        ];
        assert_eq!(committed(&effects), ends);
        assert_eq!((failure(&effects).tag(), failure(&effects).message()), ("PolicyDenied", words));
    }
}

#[test]
fn sec_02_a_call_of_which_nothing_is_said_is_refused() {
    let (bench, question) = asking(ExecutionClass::Ordinary, &declared(), 1);
    let effects = bench.told_alone(Input::Answered(said(&question, &[Clearance::Auto]))).look();
    let refused = ToolOutcome::Rejected(RejectionReason::NotAuthorized);
    assert_eq!(committed(&effects)[1], ONE.tool_settled(ONE.call(0, 1), refused));
}

#[test]
fn auth_15_what_is_let_through_goes_to_people_first_and_to_the_host_last() {
    let (bench, question) = asking(ExecutionClass::Ordinary, &declared(), 1);
    let rule = approval::Rule { layer: approval::Layer::Core, entry: approval::Entry::Default };
    let risk = crate::agent::Risk::Critical;
    let each = [Clearance::Prompt { risk, rule: rule.clone() }, Clearance::Auto];
    let mut bench = bench.told_alone(Input::Answered(said(&question, &each)));
    let effects = bench.look();
    let [External::Approve { questions, .. }] = &asked(&effects)[..] else { panic!("{effects:?}") };
    let [one] = &questions[..] else { panic!("one call wants it") };
    assert_eq!((one.call, one.risk, &one.rule), (ONE.call(0, 0), risk, &rule));
    assert_eq!(one.capability, CapabilityKey::new("money.send").ok());

    let both = [Clearance::Auto, Clearance::Auto];
    let (bench, question) = asking(ExecutionClass::Ordinary, &declared(), 1);
    let mut bench = bench.told_alone(Input::Answered(said(&question, &both)));
    assert_eq!(questions_of(&mut bench), ["authorizer.authorize"]);
    let effects = bench.authorized(0).look();
    let [External::InvokeTool(pay), External::InvokeTool(look)] = &asked(&effects)[..] else {
        panic!("{effects:?}")
    };
    let action = pay.action.as_ref().expect("AUTH-15: it is looked at once more at the door");
    assert_eq!(action.capability.as_str(), "money.send");
    assert_eq!(action.component.as_ref().map(|it| it.as_str()), Some("agent/tools/pay"));
    assert_eq!(look.action, None);
}

fn questions_of(bench: &mut Bench) -> Vec<&'static str> {
    questions(&bench.look())
}

#[test]
fn sec_02_whoever_resumes_asks_again_and_an_answer_from_before_counts_for_nothing() {
    let (bench, question) = asking(ExecutionClass::Ordinary, &declared(), 1);
    let answer = said(&question, &[Clearance::Auto, Clearance::Auto]);
    let mut bench = bench.told_alone(Input::Answered(answer.clone()));
    assert_eq!(questions_of(&mut bench), ["authorizer.authorize"]);
    let mut bench = bench.told_alone(Input::Answered(answer));
    assert_eq!(bench.look(), [], "it was answered once");
    let (_, again) = asking(ExecutionClass::Ordinary, &declared(), 2);
    assert_eq!(again.kind().name(), "authority.clear");
}

/// Calls that were started by a predecessor.
fn started(class: ExecutionClass) -> Story {
    let prepared = ONE.prepared(ONE.start(0, 0, 1), "pay");
    let story = declared().tell([prepared]);
    if class == ExecutionClass::Durable {
        story.tell([ONE.step(ONE.call(0, 0), 0, "reserve")])
    } else {
        story
    }
}

#[test]
fn dur_009_a_call_that_may_have_happened_is_not_said_to_have_been_turned_down() {
    for class in [ExecutionClass::Idempotent, ExecutionClass::Durable] {
        let (bench, question) = asking(class, &started(class), 2);
        let each = [Clearance::Refused(NOT_GRANTED), Clearance::Auto];
        let mut bench = bench.told_alone(Input::Answered(said(&question, &each)));
        let refused = ToolOutcome::Rejected(RejectionReason::BatchRefused);
        let ends = [ONE.tool_settled(ONE.call(0, 1), refused), ONE.unknown(ONE.start(0, 0, 1))];
        assert_eq!(committed(&bench.look()), ends, "{class:?}");
        assert_eq!(bench.state.liveness(), Liveness::Resting, "people say what became of it");

        // Once they have, it may be turned down.
        let resolved = ONE.resolved(ONE.start(0, 0, 1), Resolution::SafeToRepeat);
        let story = started(class).tell([ONE.unknown(ONE.start(0, 0, 1))]).tell([resolved]);
        let (bench, question) = asking(class, &story, 3);
        let effects = bench.told_alone(Input::Answered(said(&question, &each))).look();
        assert!(matches!(committed(&effects)[0], Record::ToolSettled(_)), "{class:?}");
        assert_eq!(failure(&effects).tag(), "PolicyDenied");
    }
}

#[test]
fn dur_009_a_denial_of_the_host_or_of_people_is_no_different() {
    let (bench, question) =
        asking(ExecutionClass::Idempotent, &started(ExecutionClass::Idempotent), 2);
    let both = [Clearance::Auto, Clearance::Auto];
    let bench = bench.told_alone(Input::Answered(said(&question, &both)));
    let mut bench = bench.answered(authorizer(0, Authorization::Denied));
    let committed = committed(&bench.look());
    assert!(committed.contains(&ONE.unknown(ONE.start(0, 0, 1))), "{committed:?}");
}

#[test]
fn auth_15_a_start_that_is_refused_at_the_door_has_not_happened_and_an_earlier_one_may_have() {
    let refused =
        |start| Answer::Tool { start, outcome: Arc::new(ToolOutcome::Rejected(NOT_GRANTED)) };
    let through = |class, story: &Story, epoch| {
        let (bench, question) = asking(class, story, epoch);
        let both = [Clearance::Auto, Clearance::Auto];
        let bench = bench.told_alone(Input::Answered(said(&question, &both))).authorized(0);
        bench.returns(ONE.start(0, 1, epoch))
    };
    // Nothing was started before.
    let mut bench = through(ExecutionClass::Idempotent, &declared(), 1);
    bench.look();
    let effects = bench.answered(refused(ONE.start(0, 0, 1))).look();
    let outcome = ToolOutcome::Rejected(NOT_GRANTED);
    assert_eq!(committed(&effects), [ONE.tool_settled(ONE.call(0, 0), outcome)]);
    assert_eq!(failure(&effects).tag(), "PolicyDenied");
    // A predecessor may have done it.
    let mut bench = through(ExecutionClass::Idempotent, &started(ExecutionClass::Idempotent), 2);
    bench.look();
    let mut bench = bench.answered(refused(ONE.start(0, 0, 2)));
    assert_eq!(committed(&bench.look()), []);
    assert_eq!(bench.state.liveness(), Liveness::Resting, "the classifier judges the start");
    let call = &bench.state.run().unwrap().turns[0].calls[0];
    assert_eq!(call.starts.last().map(|it| &it.state), Some(&StartState::Open));
}

#[test]
fn auth_06_a_tool_that_denies_its_calls_is_never_made_whatever_the_agent_says() {
    let tool = ToolDefinition {
        approval: Judgement::Deny,
        ..ToolDefinition::new(ToolName::new("pay").unwrap(), ExecutionClass::Ordinary)
    };
    let mut lenient = policy();
    lenient.approval.entries.default = Some(Judgement::Auto);
    let mut bench = Bench::of(bound(alloc::vec![tool], lenient)).responds(0, &["pay"]);
    let effects = bench.look();
    assert_eq!(failure(&effects).message(), "the tool itself denies calls of `pay`");
}

#[test]
fn dur_009_an_ordinary_call_that_was_let_be_repeated_may_have_happened_too() {
    let safe = ONE.resolved(ONE.start(0, 0, 1), Resolution::SafeToRepeat);
    let unknown = ONE.unknown(ONE.start(0, 0, 1));
    let story = started(ExecutionClass::Ordinary).tell([unknown]).tell([safe]);
    let (bench, question) = asking(ExecutionClass::Ordinary, &story, 2);
    let both = [Clearance::Auto, Clearance::Auto];
    let bench = bench.told_alone(Input::Answered(said(&question, &both))).authorized(0);
    let mut bench = bench.returns(ONE.start(0, 1, 2));
    bench.look();
    let refused = Arc::new(ToolOutcome::Rejected(NOT_GRANTED));
    let mut bench = bench.answered(Answer::Tool { start: ONE.start(0, 0, 2), outcome: refused });
    assert_eq!(committed(&bench.look()), [], "it is not said to have been turned down");
    assert_eq!(bench.state.liveness(), Liveness::Resting);
}

#[test]
fn auth_13_a_policy_that_becomes_what_it_was_asks_nothing_twice() {
    let story = declared().tell([ONE.asked(ONE.call(0, 0), "pay")]);
    let request = ONE.request(ONE.call(0, 0), "pay");
    let story = story.tell([ONE.decision(request.request, crate::agent::Verdict::Approved)]);
    let (bench, question) = asking(ExecutionClass::Ordinary, &story, 2);
    let External::Clear { run, turn, calls, .. } = &question else { panic!("{question:?}") };
    let prompt = |policy| {
        let rule =
            approval::Rule { layer: approval::Layer::Global, entry: approval::Entry::Default };
        let clearance = Clearance::Prompt { risk: crate::agent::Risk::High, rule };
        let calls = alloc::vec![(calls[0].call, clearance), (calls[1].call, Clearance::Auto)];
        Answer::Cleared { run: *run, turn: *turn, said: Clearances { policy, calls } }
    };
    // Another policy asks anew, and is answered.
    let newer = crate::digest::Digest([9; 32]);
    let mut other = bench.clone().told_alone(Input::Answered(prompt(newer)));
    let effects = other.look();
    let [External::Approve { questions, .. }] = &asked(&effects)[..] else { panic!("{effects:?}") };
    let answers = alloc::vec![questions[0].at_once(crate::agent::Verdict::Approved)];
    let answer = Answer::Approver { run: *run, turn: *turn, questions: questions.clone(), answers };
    let mut other = other.told_alone(Input::Answered(answer));
    assert_eq!(questions_of(&mut other), ["authorizer.authorize"]);
    // And back under the first one nothing is put that was.
    let mut again = other.told_alone(RESUMED);
    assert_eq!(questions_of(&mut again), ["authority.clear"]);
    let mut again = again.told_alone(Input::Answered(prompt(request.policy)));
    assert_eq!(questions_of(&mut again), ["authorizer.authorize"]);
}

#[test]
fn dur_009_that_a_second_start_never_happened_says_nothing_of_the_first() {
    for class in [ExecutionClass::Idempotent, ExecutionClass::Durable] {
        let second = ONE.start(0, 0, 2);
        let never = ONE.resolved(second, Resolution::NeverStarted);
        let story = started(class).at(2).tell([ONE.prepared(second, "pay")]);
        let story = story.tell([ONE.unknown(second)]).tell([never]);
        let (bench, question) = asking(class, &story, 3);
        let each = [Clearance::Refused(NOT_GRANTED), Clearance::Auto];
        let mut bench = bench.told_alone(Input::Answered(said(&question, &each)));
        let committed = committed(&bench.look());
        assert!(committed.contains(&ONE.unknown(ONE.start(0, 0, 1))), "{class:?}: {committed:?}");
    }
}
