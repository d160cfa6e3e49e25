//! Tools that want to be asked about: nothing of a batch starts before, and an answer counts for
//! exactly what was asked.

use super::*;
use crate::agent::{
    AgentPolicy, ApprovalRule, ExecutionClass, OnDenial, Pointer, RejectionReason, Risk,
    ToolDefinition,
};
use crate::digest::Digest;
use crate::effect::{ApprovalAnswer, ApprovalQuestion};
use crate::identity::ToolName;
use crate::testkit::{bound, policy, text};

fn asking(on_denial: OnDenial) -> Bench {
    let tool = |name, approval| ToolDefinition {
        approval,
        risk: Risk::High,
        redact: alloc::vec![Pointer::new("").unwrap()],
        ..ToolDefinition::new(ToolName::new(name).unwrap(), ExecutionClass::Ordinary)
    };
    let tools = alloc::vec![tool("pay", ApprovalRule::Ask), tool("look", ApprovalRule::Auto)];
    Bench::of(bound(tools, AgentPolicy { on_denial, ..policy() }))
}

fn questioned(effects: &[Effect]) -> Vec<ApprovalQuestion> {
    match asked(effects).pop() {
        Some(External::Approve { questions, .. }) => questions,
        other => panic!("{other:?} asks no approver"),
    }
}

fn says(bench: Bench, answers: Vec<ApprovalAnswer>) -> Bench {
    bench.answered(Answer::Approver { run: ONE.run(), turn: Turn(0), answers })
}

fn about(question: &ApprovalQuestion, approved: bool) -> ApprovalAnswer {
    ApprovalAnswer { call: question.call, digest: question.digest, approved }
}

#[test]
fn cap_006_only_tools_that_want_it_are_asked_about_and_before_the_host_is() {
    let mut bench = asking(OnDenial::FailRun).responds(0, &["look", "pay"]);
    let questions_asked = questioned(&bench.look());
    let [question] = &questions_asked[..] else { panic!("{questions_asked:?}") };
    assert_eq!((question.call, question.risk), (ONE.call(0, 1), Risk::High));
    assert_eq!(question.digest, text("pay").digest());
    assert_eq!(question.preview, text("[redacted]"), "SEC-04: the preview shows no secret");
    let mut bench = says(bench, alloc::vec![about(question, true)]);
    assert_eq!(questions(&bench.look()), ["authorizer.authorize"]);
    let effects = bench.authorized(0).look();
    assert_eq!(questions(&effects), ["tool.invoke", "tool.invoke"]);
}

#[test]
fn run_028_a_batch_that_nobody_is_asked_about_goes_to_the_host_at_once() {
    let mut bench = asking(OnDenial::FailRun).responds(0, &["look"]);
    assert_eq!(questions(&bench.look()), ["authorizer.authorize"]);
}

#[test]
fn cap_006_an_answer_about_other_parameters_or_another_call_is_none() {
    let mut bench = asking(OnDenial::FailRun).responds(0, &["pay", "pay"]);
    let asked = questioned(&bench.look());
    let yes = |at: usize| about(&asked[at], true);
    let wrong = [
        alloc::vec![],
        alloc::vec![yes(0)],
        alloc::vec![yes(0), ApprovalAnswer { digest: Digest::ZERO, ..yes(1) }],
        alloc::vec![yes(0), ApprovalAnswer { call: ONE.call(7, 0), ..yes(1) }],
        alloc::vec![yes(0), ApprovalAnswer { approved: false, ..yes(1) }],
    ];
    for answers in wrong {
        let effects = says(bench.clone(), answers).look();
        assert_eq!(questions(&effects), [""; 0], "nothing starts");
        assert_eq!(failure(&effects).tag(), "ApprovalDenied");
    }
    let effects = says(bench, alloc::vec![yes(1), yes(0)]).look();
    assert_eq!(questions(&effects), ["authorizer.authorize"]);
}

#[test]
fn case_pr_03_a_denied_call_and_its_batch_settle_in_declaration_order() {
    for on_denial in [OnDenial::FailRun, OnDenial::ReturnToModel] {
        let mut bench = asking(on_denial).responds(0, &["look", "pay"]);
        let asked_about = questioned(&bench.look());
        let mut bench = says(bench, alloc::vec![about(&asked_about[0], false)]);
        let effects = bench.look();
        let refused = ToolOutcome::Rejected(RejectionReason::BatchRefused);
        let denied = ToolOutcome::Rejected(RejectionReason::NotApproved);
        let expected =
            [ONE.tool_settled(ONE.call(0, 0), refused), ONE.tool_settled(ONE.call(0, 1), denied)];
        assert_eq!(committed(&effects), expected);
        match on_denial {
            OnDenial::FailRun => assert_eq!(failure(&effects).tag(), "ApprovalDenied"),
            OnDenial::ReturnToModel => assert_eq!(questions(&effects), ["model.call"]),
        }
    }
}

#[test]
fn run_028_a_denial_of_the_host_follows_the_same_rule() {
    let mut bench = asking(OnDenial::ReturnToModel).responds(0, &["look"]);
    bench.look();
    let effects = bench.answered(authorizer(0, Authorization::Denied)).look();
    assert_eq!(questions(&effects), ["model.call"]);
}
