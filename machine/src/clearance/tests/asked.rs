//! Questions: shared, remembered for a session, left to people, and forgotten with what they hang on.

use super::*;
use crate::agent::{ApprovalTerms, Verdict};
use crate::digest::Digest;

/// What is asked about a call of `pay`, with these parameters.
fn question(number: u8, parameters: &str) -> ApprovalQuestion {
    let (call, digest) = (call(number), text(parameters).digest());
    let Clearance::Prompt { risk, rule } =
        say(&host(&["ada"], &["money.send"]), &asker("ada"), "pay")
    else {
        panic!("somebody is asked about it")
    };
    let policy = agent().definition.approval_digest();
    ApprovalQuestion {
        request: ApprovalId::derive(call, digest, policy),
        call,
        tool: name("pay"),
        capability: Some(key("money.send")),
        risk,
        rule,
        policy,
        digest,
        target: Subject::Unsaid,
        preview: text(parameters),
        stands_for: 1,
        terms: ApprovalTerms::default(),
    }
}

fn ask(state: &mut State, asker: Asker, questions: &[ApprovalQuestion]) -> Vec<Effect> {
    let (now, asker) = (Timestamp(2_000), Box::new(asker));
    tell(state, Input::Asked { now, asker, questions: questions.into() })
}

fn decide(state: &mut State, question: u64, answer: Answer) -> Vec<Effect> {
    let by = Resolver::Person(principal("bob"));
    let said = Said { answer, by, reason: "looks right".into() };
    tell(state, Input::Decided { now: Timestamp(2_000), question: QuestionId(question), said })
}

fn answers(effects: Vec<Effect>) -> Vec<Option<ApprovalAnswer>> {
    let answer = |effect| match effect {
        Effect::Answer { answer, .. } => Some(answer),
        Effect::Ask { .. } | Effect::TakeBack(_) => None,
    };
    effects.into_iter().filter_map(answer).collect()
}

fn is_put(effects: &[Effect]) -> bool {
    matches!(effects, [Effect::Ask { .. }])
}

/// A host in which Bob has allowed Ada's call for the session, and the request that he decided.
fn allowing() -> (State, ApprovalId) {
    let mut state = host(&["ada", "eve"], &["money.send"]);
    let first = question(1, "12");
    assert!(is_put(&ask(&mut state, asker("ada"), core::slice::from_ref(&first))));
    let [Some(answer)] = &answers(decide(&mut state, 0, Answer::ForSession))[..] else {
        panic!("an answer")
    };
    assert_eq!((answer.call, answer.verdict), (call(1), Verdict::Approved));
    assert_eq!(answer.by, Resolver::Person(principal("bob")));
    assert_eq!(&*answer.reason, "looks right");
    (state, first.request)
}

#[test]
fn auth_10_what_is_allowed_for_the_session_is_answered_with_the_request_that_was_decided() {
    let (mut state, original) = allowing();
    let [Some(answer)] = &answers(ask(&mut state, asker("ada"), &[question(2, "12")]))[..] else {
        panic!("nobody is asked again")
    };
    assert_eq!((answer.call, answer.verdict), (call(2), Verdict::Approved));
    assert_eq!(answer.by, Resolver::Session { original });
    assert!(
        is_put(&ask(&mut state, asker("ada"), &[question(3, "13")])),
        "AUTH-13: other parameters"
    );
}

#[test]
fn auth_14_whoever_asks_again_for_what_was_decided_is_told_who_decided_it() {
    let (mut state, _) = allowing();
    let [Some(answer)] = &answers(ask(&mut state, asker("ada"), &[question(1, "12")]))[..] else {
        panic!("nobody is asked again")
    };
    assert_eq!(
        answer.by,
        Resolver::Person(principal("bob")),
        "and not by what it has itself led to"
    );
    assert_eq!(&*answer.reason, "looks right");
}

#[test]
fn auth_12_an_allow_is_nobody_elses_and_ends_with_what_it_hangs_on() {
    let elsewhere = ConversationId::new("other").unwrap();
    let others: [(&str, Asker); 2] = [
        ("principal", asker("eve")),
        ("conversation", Asker { conversation: elsewhere, ..asker("ada") }),
    ];
    for (what, other) in others {
        let (mut state, _) = allowing();
        assert!(is_put(&ask(&mut state, other, &[question(2, "12")])), "another {what}");
    }
    let conversation = ConversationId::new("main").unwrap();
    let grant = |grant| authority::Input::PolicyLaidDown {
        tenant: tenant(),
        policy: Policy { defaults: granted(grant), ..Policy::default() },
    };
    let ends = [
        (
            "session",
            Input::SessionReplaced { tenant: tenant(), principal: principal("ada"), conversation },
        ),
        ("definition", Input::Promoted(agent().definition.id().clone())),
        ("host", Input::Closed),
        ("grants", Input::Authority(grant(&["money.send", "fs.read"]))),
    ];
    for (what, input) in ends {
        let (mut state, _) = allowing();
        tell(&mut state, input);
        assert!(is_put(&ask(&mut state, asker("ada"), &[question(2, "12")])), "another {what}");
    }
    let (mut state, _) = allowing();
    let revoked = authority::Input::Revoked { tenant: tenant(), principal: principal("ada") };
    tell(&mut state, Input::Authority(revoked));
    let joined = authority::Input::Joined { tenant: tenant(), principal: principal("ada") };
    tell(&mut state, Input::Authority(joined));
    assert!(is_put(&ask(&mut state, asker("ada"), &[question(2, "12")])), "revoked in between");
}

#[test]
fn auth_10_what_nobody_has_seen_yet_is_allowed_once() {
    let mut state = host(&["ada"], &["money.send"]);
    let unseen =
        |number| ApprovalQuestion { target: Subject::Unresolved, ..question(number, "12") };
    assert!(is_put(&ask(&mut state, asker("ada"), &[unseen(1)])));
    decide(&mut state, 0, Answer::ForSession);
    assert!(is_put(&ask(&mut state, asker("ada"), &[unseen(2)])));
}

#[test]
fn auth_11_equal_calls_at_the_same_time_share_one_question() {
    let mut state = host(&["ada"], &["money.send"]);
    assert!(is_put(&ask(&mut state, asker("ada"), &[question(1, "12")])));
    assert_eq!(ask(&mut state, asker("ada"), &[question(2, "12")]), []);
    assert_eq!(state.questions(), 1);
    let answered = answers(decide(&mut state, 0, Answer::Once));
    let calls: Vec<_> = answered.iter().flatten().map(|it| it.call).collect();
    assert_eq!(calls, [call(1), call(2)]);
    assert!(is_put(&ask(&mut state, asker("ada"), &[question(3, "12")])), "it was allowed once");
}

#[test]
fn cap_006_what_nobody_decides_at_once_is_left_to_people_together_with_who_shares_it() {
    let mut state = host(&["ada"], &["money.send"]);
    ask(&mut state, asker("ada"), &[question(1, "12")]);
    ask(&mut state, asker("ada"), &[question(2, "12")]);
    let left = answers(tell(&mut state, Input::Undecided(QuestionId(0))));
    assert_eq!(left, [None, None]);
    assert_eq!((state.questions(), state.open.len()), (0, 0));
    assert_eq!(answers(decide(&mut state, 0, Answer::ForSession)), [], "too late");
    assert!(is_put(&ask(&mut state, asker("ada"), &[question(3, "12")])));
}

#[test]
fn case_ap_23_a_question_ends_denied_with_its_session_and_its_principal() {
    let conversation = ConversationId::new("main").unwrap();
    let replaced =
        Input::SessionReplaced { tenant: tenant(), principal: principal("ada"), conversation };
    let revoked = authority::Input::Revoked { tenant: tenant(), principal: principal("ada") };
    for (input, why) in [
        (replaced, "its session was replaced meanwhile"),
        (Input::Authority(revoked), "its principal's authority was revoked meanwhile"),
    ] {
        let mut state = host(&["ada"], &["money.send"]);
        ask(&mut state, asker("ada"), &[question(1, "12")]);
        let [Some(answer)] = &answers(tell(&mut state, input))[..] else { panic!("an answer") };
        assert_eq!((answer.verdict, &answer.by), (Verdict::Denied, &Resolver::Policy));
        assert_eq!(&*answer.reason, why);
        assert_eq!(answers(decide(&mut state, 0, Answer::ForSession)), [], "the click comes late");
    }
    let mut state = host(&["ada"], &["money.send"]);
    ask(&mut state, asker("ada"), &[question(1, "12")]);
    assert_eq!(answers(tell(&mut state, Input::Closed)), [None], "its request outlives the host");
}

#[test]
fn arc_05_sessions_in_which_nothing_is_allowed_or_asked_are_forgotten() {
    let mut state = host(&["ada"], &["money.send"]);
    for number in 0..100_u8 {
        let conversation = ConversationId::new(&alloc::format!("{number}")).unwrap();
        let asker = Asker { conversation, ..asker("ada") };
        ask(&mut state, asker, &[question(number, "12")]);
        decide(&mut state, u64::from(number), Answer::Once);
    }
    assert_eq!(state, host_with(&state), "nothing of them is left");
}

/// The host, with nothing asked in it.
fn host_with(state: &State) -> State {
    let fresh = host(&["ada"], &["money.send"]);
    assert_eq!(state.approval.idle_sessions(), Vec::<crate::identity::SessionId>::new());
    State { approval: state.approval.clone(), ..fresh }
}

#[test]
fn auth_13_another_version_of_the_policy_is_another_fingerprint() {
    let (mut state, _) = allowing();
    let newer = ApprovalQuestion { policy: Digest::ZERO, ..question(2, "12") };
    assert!(is_put(&ask(&mut state, asker("ada"), &[newer])));
}

#[test]
fn auth_14_what_one_person_alone_may_decide_nobody_else_does() {
    let only = |name| ApprovalTerms { approver: Some(principal(name)), ..ApprovalTerms::default() };
    let asked = |name| ApprovalQuestion { terms: only(name), ..question(1, "12") };
    let mut state = host(&["ada"], &["money.send"]);
    ask(&mut state, asker("ada"), &[asked("carol")]);
    assert_eq!(
        answers(decide(&mut state, 0, Answer::ForSession)),
        [None],
        "it was Bob who said so"
    );
    assert!(is_put(&ask(&mut state, asker("ada"), &[asked("bob")])), "and nothing was remembered");
    assert!(matches!(&answers(decide(&mut state, 1, Answer::Once))[..], [Some(_)]));
}

#[test]
fn auth_12_whoever_has_the_same_name_in_another_tenant_is_somebody_else() {
    let (mut state, _) = allowing();
    let bank = TenantId::new("bank").unwrap();
    let other = Asker { tenant: bank.clone(), ..asker("ada") };
    assert!(is_put(&ask(&mut state, other, &[question(2, "12")])));
    let revoked = authority::Input::Revoked { tenant: bank, principal: principal("ada") };
    let ended = answers(tell(&mut state, Input::Authority(revoked)));
    assert!(matches!(&ended[..], [Some(_)]), "that question is over: {ended:?}");
    let again = ask(&mut state, asker("ada"), &[question(3, "12")]);
    assert!(!is_put(&again), "what was allowed in the first tenant is still");
}

#[test]
fn auth_14_whoever_asks_again_is_shown_the_question_that_an_earlier_attempt_has_left() {
    let mut state = host(&["ada"], &["money.send"]);
    let both = [question(1, "12"), question(2, "12")];
    ask(&mut state, asker("ada"), &both);
    let again = ask(&mut state, asker("ada"), &both);
    let put = again.iter().filter(|it| matches!(it, Effect::Ask { .. })).count();
    assert_eq!((put, state.questions()), (1, 1));
    // The earlier attempt goes away, and says so of its own question.
    assert_eq!(answers(tell(&mut state, Input::Undecided(QuestionId(0)))), []);
    assert_eq!(answers(decide(&mut state, 1, Answer::Once)).len(), 2);
}

#[test]
fn auth_14_who_calls_itself_a_session_or_an_expiry_has_decided_nothing() {
    for by in
        [Resolver::Expiry, Resolver::Abort, Resolver::Session { original: question(1, "").request }]
    {
        let mut state = host(&["ada"], &["money.send"]);
        ask(&mut state, asker("ada"), &[question(1, "12")]);
        let said = Said { answer: Answer::ForSession, by, reason: "yes".into() };
        let (now, question) = (Timestamp(2_000), QuestionId(0));
        assert_eq!(answers(tell(&mut state, Input::Decided { now, question, said })), [None]);
    }
}
