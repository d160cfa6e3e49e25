//! Tools that want to be asked about: nothing of a batch starts before, and an answer counts for
//! exactly what was asked.

use super::*;
use crate::agent::{
    AgentPolicy, ExecutionClass, Judgement, OnDenial, Pointer, RejectionReason, Risk,
    ToolDefinition, Verdict,
};
use crate::digest::Digest;
use crate::effect::{ApprovalAnswer, ApprovalQuestion};
use crate::identity::ToolName;
use crate::record::Resolver;
use crate::testkit::{bound, policy, text};

fn asking(on_denial: OnDenial) -> Bench {
    let tool = |name, approval| ToolDefinition {
        approval,
        risk: Risk::High,
        redact: alloc::vec![Pointer::new("").unwrap()],
        ..ToolDefinition::new(ToolName::new(name).unwrap(), ExecutionClass::Ordinary)
    };
    let tools = alloc::vec![tool("pay", Judgement::Prompt), tool("look", Judgement::Auto)];
    Bench::of(bound(tools, AgentPolicy { on_denial, ..policy() }))
}

fn questioned(effects: &[Effect]) -> Arc<[ApprovalQuestion]> {
    match asked(effects).pop() {
        Some(External::Approve { questions, .. }) => questions,
        other => panic!("{other:?} asks no approver"),
    }
}

fn says(bench: Bench, answers: Vec<ApprovalAnswer>) -> Bench {
    let asked = bench.state.flights().approver.clone();
    let questions = asked.map(|(_, questions)| questions).unwrap_or_default();
    bench.answered(Answer::Approver { run: ONE.run(), turn: Turn(0), questions, answers })
}

fn about(question: &ApprovalQuestion, approved: bool) -> ApprovalAnswer {
    let verdict = if approved { Verdict::Approved } else { Verdict::Denied };
    question.at_once(verdict)
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
        alloc::vec![yes(0), ApprovalAnswer { verdict: Verdict::Denied, ..yes(1) }],
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
        assert_eq!(committed(&effects)[2..], expected, "after the request and its decision");
        match on_denial {
            OnDenial::FailRun => {
                assert_eq!(failure(&effects).tag(), "ApprovalDenied");
                let Record::ApprovalRequested(it) = &committed(&effects)[0] else { panic!() };
                let named =
                    alloc::format!("a call of `pay` was not approved: request {}", it.request);
                assert_eq!(failure(&effects).message(), named);
            }
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

/// The same run, one that can wait for people.
fn suspending(on_denial: OnDenial, calls: &[&str]) -> Bench {
    let mut bench = asking(on_denial);
    bench.state = bench.state.suspending();
    bench.responds(0, calls)
}

#[test]
fn case_ap_09_every_request_is_canonical_before_the_run_rests_and_what_is_decided_stays_so() {
    let mut bench = suspending(OnDenial::FailRun, &["pay", "look", "pay"]);
    let asked_about = questioned(&bench.look());
    let mut bench = says(bench, alloc::vec![about(&asked_about[0], true)]);
    let effects = bench.look();
    assert_eq!(questions(&effects), [""; 0], "nobody starts anything");
    let [Effect::Commit(batch)] = &effects[..] else { panic!("one batch: {effects:?}") };
    let kinds = batch.records().iter().map(|it| match it {
        Record::ApprovalRequested(it) => ("asked", it.call),
        Record::ApprovalDecided(it) => {
            assert_eq!(it.resolver, Resolver::Policy);
            ("decided", ONE.call(0, 0))
        }
        other => panic!("{other:?}"),
    });
    let kinds: Vec<_> = kinds.collect();
    let [first, third] = [0, 2].map(|index| ONE.call(0, index));
    assert_eq!(kinds, [("asked", first), ("asked", third), ("decided", first)]);
    assert_eq!(bench.state.liveness(), Liveness::Resting);
    let view = bench.state.view().unwrap();
    let open: Vec<_> = view.open_approvals().map(|it| it.call).collect();
    assert_eq!(open, [third]);
}

#[test]
fn case_ap_01_a_decision_counts_when_the_batch_is_resumed_and_the_model_is_not_asked() {
    for (verdict, on_denial) in [
        (Verdict::Approved, OnDenial::FailRun),
        (Verdict::Denied, OnDenial::FailRun),
        (Verdict::Denied, OnDenial::ReturnToModel),
    ] {
        let mut bench = suspending(on_denial, &["look", "pay"]);
        let question = questioned(&bench.look())[0].clone();
        let mut bench = says(bench, Vec::new());
        bench.look();
        let decided = ONE.decision(question.request, verdict);
        assert!(bench.state.fold(alloc::vec![decided]).is_some());
        let mut bench = bench.told(RESUMED);
        let effects = bench.look();
        match (verdict, on_denial) {
            (Verdict::Approved, _) => assert_eq!(questions(&effects), ["authorizer.authorize"]),
            (Verdict::Denied, OnDenial::FailRun) => {
                assert_eq!(failure(&effects).tag(), "ApprovalDenied");
            }
            (Verdict::Denied, OnDenial::ReturnToModel) => {
                assert_eq!(questions(&effects), ["model.call"]);
            }
        }
    }
}

#[test]
fn auth_13_case_ap_03_an_approval_under_another_policy_is_void_and_a_denial_stands() {
    let call = ONE.call(0, 0);
    let story = Story::new().tell([ONE.input()]).tell([ONE.responded(0, &["pay"])]);
    let story = story.tell([ONE.asked(call, "pay")]);
    let old = ONE.request(call, "pay").request;
    let binding = asking(OnDenial::FailRun).state.binding;
    let approved = story.clone().tell([ONE.decision(old, Verdict::Approved)]);
    let mut bench = Bench::resting_with(binding.clone(), &approved, 2).told(RESUMED);
    let question = questioned(&bench.look())[0].clone();
    assert_ne!(question.request, old, "the old approval is void");
    // Whatever the policy is by now.
    let denied = story.tell([ONE.decision(old, Verdict::Denied)]);
    let mut bench = Bench::resting_with(binding, &denied, 2).told(RESUMED);
    assert_eq!(failure(&bench.look()).tag(), "ApprovalDenied");
}

#[test]
fn cap_006_a_preview_is_redacted_and_cut_between_two_characters() {
    let mut bench = suspending(OnDenial::FailRun, &["pay"]);
    bench.look();
    let mut bench = says(bench, Vec::new());
    let records = committed(&bench.look());
    let [Record::ApprovalRequested(it)] = &records[..] else { panic!("{records:?}") };
    assert_eq!(&*it.preview, "\"[redacted]\"");
    assert_eq!(it.terms, AgentPolicy::default().approval.terms);
}
