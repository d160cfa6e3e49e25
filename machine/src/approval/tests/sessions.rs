use super::*;
use crate::limits::{OPEN_QUESTIONS, OPEN_SESSIONS, QUESTION_WAITERS, SESSION_ALLOWS};

#[test]
fn auth_06_what_a_policy_decides_never_reaches_a_person() {
    let mut state = open();
    let ruled = |number, judgement| Ask { ruling: ruled(judgement, Risk::Low), ..ask(number) };
    let rule = Rule { layer: Layer::Core, entry: Entry::Tool };
    let auto = tell(&mut state, asked(0, ruled(1, Judgement::Auto)));
    assert_eq!(auto, [allowed(1, Grounds::Policy(rule.clone()))]);
    let deny = tell(&mut state, asked(0, ruled(2, Judgement::Deny)));
    assert_eq!(deny, [denied(2, Refusal::Policy(rule))]);
    assert_eq!(state.questions(), 0);
}

#[test]
fn auth_10_an_allow_for_the_session_names_the_request_that_was_decided() {
    let mut state = allowing(5);
    let again = tell(&mut state, asked(6, ask(2)));
    assert_eq!(again, [allowed(2, Grounds::Session { original: request(1) })]);
}

#[test]
fn auth_10_an_allow_lives_for_less_than_eight_hours() {
    let state = allowing(5);
    assert!(is_remembered(&state, 5 + SESSION_ALLOW_MS - 1, ask(2)));
    assert!(!is_remembered(&state, 5 + SESSION_ALLOW_MS, ask(2)));
    let mut state = state;
    assert_eq!(tell(&mut state, asked(5 + SESSION_ALLOW_MS - 1, ask(2))).len(), 1);
    assert!(!is_remembered(&state, 5 + SESSION_ALLOW_MS, ask(3)), "a use prolongs nothing");
}

#[test]
fn auth_10_a_clock_that_goes_back_lengthens_nothing() {
    let mut state = allowing(5_000);
    assert_eq!(tell(&mut state, asked(4_999, ask(2))), shown(1, 2));
    assert_eq!(state.allows(), 0);
    assert!(!is_remembered(&state, 5_001, ask(3)), "it does not come back with the clock");
}

#[test]
fn auth_10_an_allow_dies_with_its_session_its_host_its_principal_and_its_definition() {
    let opened = |name: &str| Input::Opened { session: session(name), principal: principal("ada") };
    let replaced = Input::Replaced { session: session("one"), by: session("two") };
    for ends in [replaced, Input::Closed, Input::Revoked(principal("ada"))] {
        let mut state = allowing(5);
        tell(&mut state, ends.clone());
        assert_eq!(state.allows(), 0, "{ends:?}");
        // Not even under the same name.
        tell(&mut state, opened("one"));
        assert!(!is_remembered(&state, 6, ask(2)), "{ends:?}");
    }
    let mut state = allowing(5);
    tell(&mut state, Input::Promoted(agent("another")));
    assert!(is_remembered(&state, 6, ask(2)));
    tell(&mut state, Input::Promoted(agent("writer")));
    assert!(!is_remembered(&state, 6, ask(2)));
    for other in [
        Input::Revoked(principal("bob")),
        Input::Replaced { session: session("x"), by: session("y") },
    ] {
        let mut state = allowing(5);
        tell(&mut state, other);
        assert!(is_remembered(&state, 6, ask(2)));
    }
}

#[test]
fn auth_11_equal_calls_at_the_same_time_wait_for_one_question() {
    let mut state = open();
    assert_eq!(tell(&mut state, asked(0, ask(1))), shown(0, 1));
    let share = |number| [Effect::Share { question: QuestionId(0), request: request(number) }];
    assert_eq!(tell(&mut state, asked(1, ask(2))), share(2));
    assert_eq!(tell(&mut state, asked(1, ask(3))), share(3));
    assert!(tell(&mut state, asked(1, ask(3))).is_empty(), "asked for twice is asked for once");
    assert!(tell(&mut state, Input::Withdrawn(request(2))).is_empty());
    let by = Grounds::Person(QuestionId(0));
    let all = tell(&mut state, decided(2, 0, Answer::Once));
    assert_eq!(all, [allowed(1, by.clone()), allowed(3, by)]);
    assert_eq!(tell(&mut state, asked(3, ask(4))), shown(1, 4), "once is for those who waited");
    assert_eq!(
        tell(&mut state, decided(4, 1, Answer::Deny)),
        [denied(4, Refusal::Person(QuestionId(1)))]
    );
}

#[test]
fn auth_11_a_question_that_nobody_waits_for_is_taken_back_and_not_answered() {
    let mut state = open();
    tell(&mut state, asked(0, ask(1)));
    let back = [Effect::TakeBack(QuestionId(0))];
    assert_eq!(tell(&mut state, Input::Withdrawn(request(1))), back);
    assert!(tell(&mut state, Input::Withdrawn(request(1))).is_empty());
    let late = [Effect::NotOpen(QuestionId(0))];
    assert_eq!(tell(&mut state, decided(1, 0, Answer::ForSession)), late);
    assert_eq!(state.allows(), 0);
}

#[test]
fn auth_12_an_allow_crosses_no_principal_session_revision_snapshot_or_rule() {
    let mut state = allowing(5);
    for (name, whose) in [("two", "ada"), ("three", "bob")] {
        tell(&mut state, Input::Opened { session: session(name), principal: principal(whose) });
    }
    let other = Digest::of("test", b"other");
    let rule = Rule { layer: Layer::Guard, entry: Entry::Tool };
    let others = [
        Ask { session: session("two"), ..ask(2) },
        Ask { session: session("three"), principal: principal("bob"), ..ask(2) },
        Ask { principal: principal("bob"), ..ask(2) },
        Ask { deed: Deed { revision: other, ..deed() }, ..ask(2) },
        Ask { deed: Deed { snapshot: other, ..deed() }, ..ask(2) },
        Ask { deed: Deed { policy: other, ..deed() }, ..ask(2) },
        Ask { ruling: Ruling { rule, ..ask(2).ruling }, ..ask(2) },
        Ask { ruling: ruled(Judgement::Prompt, Risk::Medium), ..ask(2) },
        Ask { is_resolved: false, ..ask(2) },
    ];
    for ask in others {
        assert!(!is_remembered(&state, 6, ask.clone()), "{ask:?}");
    }
    assert!(is_remembered(&state, 6, ask(2)));
}

#[test]
fn case_gr_03_an_approval_of_one_command_is_of_no_variant() {
    let state = allowing(5);
    let variants = [
        "grep a.*b f",
        "grep \\\"a.*b\\\"  f",
        "grep \\\"a.*b\\\" f ",
        "grep \\\"a.*b\\\" g",
        "grep -r \\\"a.*b\\\" f",
        "grep \\\"A.*b\\\" f",
        "grep 'a.*b' f",
        "grep \\\"a.*b\\\" f; ls",
    ];
    for variant in variants {
        let json = alloc::format!("{{\"command\":\"{variant}\"}}");
        let action = CanonicalJson::parse(json.as_bytes()).unwrap();
        let ask = Ask { deed: Deed { action, ..deed() }, ..ask(2) };
        assert!(!is_remembered(&state, 6, ask), "{variant}");
    }
}

#[test]
fn case_gr_05_what_makes_another_program_run_is_approved_once() {
    for text in ["python x.py", "env ls", "sh -c ls", "xargs rm", "sudo ls"] {
        let mut state = open();
        let judged = guard::judge(text, guard::Environment::Inherited);
        let ask = |number| Ask { is_resolved: judged.is_resolved, ..ask(number) };
        assert_eq!(tell(&mut state, asked(0, ask(1))), shown(0, 1));
        tell(&mut state, decided(0, 0, Answer::ForSession));
        assert_eq!(state.allows(), 0, "{text}");
        assert_eq!(tell(&mut state, asked(1, ask(2))), shown(1, 2), "{text}");
    }
}

#[test]
fn auth_04_secrets_and_what_is_critical_are_neither_remembered_nor_shared() {
    let secret = Deed { capability: Some(key("secret.bind:API_KEY")), ..deed() };
    let asks: [&dyn Fn(u8) -> Ask; 3] = [
        &|number| Ask { deed: secret.clone(), ..ask(number) },
        &|number| Ask { ruling: ruled(Judgement::Prompt, Risk::Critical), ..ask(number) },
        &|number| Ask { is_resolved: false, ..ask(number) },
    ];
    for ask in asks {
        let mut state = open();
        assert_eq!(tell(&mut state, asked(0, ask(1))), shown(0, 1));
        assert_eq!(tell(&mut state, asked(0, ask(2))), shown(1, 2));
        let one = tell(&mut state, decided(0, 0, Answer::ForSession));
        assert_eq!(one, [allowed(1, Grounds::Person(QuestionId(0)))]);
        assert_eq!(state.allows(), 0);
        assert_eq!(tell(&mut state, asked(1, ask(3))), shown(2, 3));
    }
}

#[test]
fn case_ap_23_a_question_of_a_session_that_is_over_is_denied_and_taken_back() {
    let table = [
        (Input::Replaced { session: session("one"), by: session("two") }, Refusal::SessionReplaced),
        (Input::Revoked(principal("ada")), Refusal::Revoked),
        (Input::Closed, Refusal::HostClosed),
    ];
    for (ends, refusal) in table {
        let mut state = open();
        tell(&mut state, asked(0, ask(1)));
        tell(&mut state, asked(0, ask(2)));
        let over =
            [denied(1, refusal.clone()), denied(2, refusal), Effect::TakeBack(QuestionId(0))];
        assert_eq!(tell(&mut state, ends), over);
        let stale = [Effect::NotOpen(QuestionId(0))];
        assert_eq!(tell(&mut state, decided(1, 0, Answer::ForSession)), stale);
        assert_eq!(state.allows(), 0);
        assert_eq!(tell(&mut state, asked(2, ask(3))), [denied(3, Refusal::NoSession)]);
    }
}

#[test]
fn auth_10_what_is_asked_about_an_old_definition_is_answered_once() {
    let mut state = open();
    tell(&mut state, asked(0, ask(1)));
    assert!(tell(&mut state, Input::Promoted(agent("writer"))).is_empty());
    assert_eq!(tell(&mut state, asked(0, ask(2))), shown(1, 2), "nobody joins it any more");
    let one = tell(&mut state, decided(1, 0, Answer::ForSession));
    assert_eq!(one, [allowed(1, Grounds::Person(QuestionId(0)))]);
    assert_eq!(state.allows(), 0);
}

#[test]
fn sec_02_only_who_has_a_session_is_heard() {
    let mut nobody = State::default();
    assert_eq!(tell(&mut nobody, asked(0, ask(1))), [denied(1, Refusal::NoSession)]);
    let mut state = open();
    let taken = Input::Opened { session: session("one"), principal: principal("bob") };
    assert_eq!(tell(&mut state, taken), [Effect::TurnAway(session("one"))]);
    let bob = Ask { principal: principal("bob"), ..ask(1) };
    assert_eq!(tell(&mut state, asked(0, bob)), [denied(1, Refusal::NoSession)]);
    let unknown = Input::Replaced { session: session("x"), by: session("y") };
    assert_eq!(tell(&mut state, unknown), [Effect::TurnAway(session("y"))]);
}

fn numbered(number: usize) -> Ask {
    let mut id = [0; 16];
    id[..8].copy_from_slice(&(number as u64).to_be_bytes());
    let action = CanonicalJson::parse(alloc::format!("{number}").as_bytes()).unwrap();
    Ask { request: ApprovalId(id), deed: Deed { action, ..deed() }, ..ask(0) }
}

/// As [`tell`], without a look at everything each time.
fn told(state: &mut State, input: Input) -> Vec<Effect> {
    let step = Approval::step(core::mem::take(state), input);
    *state = step.state;
    step.effects
}

#[test]
fn arc_05_questions_waiters_sessions_and_allows_are_bounded() {
    let too_many =
        |effects: &[Effect]| matches!(effects, [Effect::Deny { refusal: Refusal::TooMany, .. }]);
    let mut state = open();
    for number in 0..OPEN_QUESTIONS {
        assert!(matches!(told(&mut state, asked(0, numbered(number)))[..], [Effect::Ask { .. }]));
    }
    assert!(too_many(&told(&mut state, asked(0, numbered(OPEN_QUESTIONS)))));

    let mut state = open();
    for number in 0..QUESTION_WAITERS {
        let same = Ask { deed: deed(), ..numbered(number) };
        assert_eq!(told(&mut state, asked(0, same)).len(), 1);
    }
    let same = Ask { deed: deed(), ..numbered(QUESTION_WAITERS) };
    assert!(too_many(&told(&mut state, asked(0, same))));

    for number in 1..OPEN_SESSIONS {
        let name = alloc::format!("s{number}");
        let input = Input::Opened { session: session(&name), principal: principal("ada") };
        assert!(told(&mut state, input).is_empty());
    }
    let more = Input::Opened { session: session("more"), principal: principal("ada") };
    assert_eq!(told(&mut state, more), [Effect::TurnAway(session("more"))]);

    let mut state = open();
    for number in 0..=SESSION_ALLOWS {
        told(&mut state, asked(number as u64, numbered(number)));
        told(&mut state, decided(number as u64, number as u64, Answer::ForSession));
    }
    assert_eq!((state.allows(), state.check()), (SESSION_ALLOWS, Ok(())));
    let now = SESSION_ALLOWS as u64;
    let oldest = told(&mut state, asked(now, numbered(0)));
    assert!(matches!(oldest[..], [Effect::Ask { .. }]), "the oldest is forgotten");
    let newest = told(&mut state, asked(now, numbered(SESSION_ALLOWS)));
    assert!(matches!(newest[..], [Effect::Allow { .. }]));
}
