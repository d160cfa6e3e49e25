//! What a service is asked, and what becomes of whatever it says.

mod service;
mod wrong;

use std::sync::{Arc, Mutex};
use std::time::Duration;

use everstep_http::{HttpApprover, Token, TokenError, Trouble, Url, UrlError};
use everstep_machine::agent::{ApprovalTerms, Risk};
use everstep_machine::approval::{Answer, Entry, Layer, Rule};
use everstep_machine::authority::CapabilityKey;
use everstep_machine::digest::Digest;
use everstep_machine::effect::{ApprovalQuestion, Subject};
use everstep_machine::identity::{
    ApprovalId, DurationMs, PrincipalId, RunId, ToolCallId, ToolName, Turn,
};
use everstep_machine::json::CanonicalJson;
use everstep_machine::record::Resolver;
use everstep_runtime::{Approver, Decision, block_on, pause};
use service::{Service, answer};

const OK: &str = "200 OK";

fn question(number: u8) -> ApprovalQuestion {
    let preview = CanonicalJson::parse(br#"{"cents":4200,"card":"[redacted]"}"#).unwrap();
    let (call, digest, policy) =
        (ToolCallId([number; 16]), Digest::plain(b"parameters"), Digest::plain(b"policy"));
    ApprovalQuestion {
        request: ApprovalId::derive(call, digest, policy),
        call,
        tool: ToolName::new("charge").unwrap(),
        capability: Some(CapabilityKey::new("money.send").unwrap()),
        risk: Risk::High,
        rule: Rule { layer: Layer::Core, entry: Entry::Risk(Risk::High) },
        policy,
        digest,
        target: Subject::Unsaid,
        preview,
        stands_for: 1,
        terms: ApprovalTerms::default(),
    }
}

/// What was decided, and what its host was told.
fn asks(approver: HttpApprover, questions: &[ApprovalQuestion]) -> (Vec<Decision>, Vec<Trouble>) {
    let told = Arc::new(Mutex::new(Vec::new()));
    let tells = Arc::clone(&told);
    let approver = approver.on_trouble(move |why| tells.lock().unwrap().push(why.clone()));
    let decided = approver.approve(RunId([7; 16]), Turn(3), questions.to_vec());
    let decided = block_on(decided).expect("a runtime");
    let told = told.lock().unwrap().clone();
    (decided, told)
}

fn at(url: &str) -> HttpApprover {
    HttpApprover::new(Url::new(url).unwrap())
}

fn decision(request: ApprovalId, answer: &str, more: &str) -> String {
    format!(r#"{{"request":"{request}","answer":"{answer}","by":"bob"{more}}}"#)
}

fn list(decisions: &[String]) -> String {
    format!(r#"{{"decisions":[{}]}}"#, decisions.join(","))
}

#[test]
fn auth_13_a_service_is_told_what_would_be_done_and_under_which_policy() {
    let asked = ApprovalQuestion {
        stands_for: 1,
        terms: ApprovalTerms {
            expiry: Some(DurationMs(60_000)),
            approver: Some(PrincipalId::new("carol").unwrap()),
            ..ApprovalTerms::default()
        },
        ..question(1)
    };
    let service = Service::with(answer(OK, "", &list(&[])));
    assert_eq!(asks(at(&service.url), std::slice::from_ref(&asked)), (vec![], vec![]));
    let told = service.asked();
    assert!(told.head.starts_with("POST /decide HTTP/1.1\r\n"), "{}", told.head);
    assert!(!told.head.to_lowercase().contains("authorization"), "{}", told.head);
    let expected = serde_json::json!({
        "schema": 1,
        "run": RunId([7; 16]).to_string(),
        "turn": 3,
        "questions": [{
            "request": asked.request.to_string(),
            "call": asked.call.to_string(),
            "tool": "charge",
            "capability": "money.send",
            "risk": "high",
            "layer": "the agent's policy",
            "entry": "risk",
            "policy": asked.policy.to_string(),
            "parameters": { "cents": 4200, "card": "[redacted]" },
            "parameters_digest": asked.digest.to_string(),
            "target": null,
            "target_is": "unsaid",
            "expires_after_ms": 60_000,
            "on_expiry": "deny",
            "approver": "carol",
            "answers": ["once", "session", "deny"],
        }],
    });
    assert_eq!(told.body, expected);
}

#[test]
fn auth_14_a_service_decides_each_call_by_itself_and_says_who_and_why() {
    let questions = [1, 2, 3, 4].map(question);
    let said = list(&[
        decision(questions[0].request, "once", r#","reason":"small""#),
        decision(questions[2].request, "session", ""),
        decision(questions[1].request, "deny", r#","reason":"no \u0001""#),
    ]);
    let service = Service::with(answer(OK, "", &said));
    let (decided, told) = asks(at(&service.url), &questions);
    assert_eq!(told, []);
    let said = decided.iter().map(|it| (it.request, it.said.answer, &*it.said.reason));
    let expected = [
        (questions[0].request, Answer::Once, "small"),
        (questions[2].request, Answer::ForSession, ""),
        (questions[1].request, Answer::Deny, "no \u{1}"),
    ];
    assert_eq!(said.collect::<Vec<_>>(), expected, "the fourth is left to people");
    let bob = Resolver::Person(PrincipalId::new("bob").unwrap());
    assert!(decided.iter().all(|it| it.said.by == bob));
}

#[test]
fn auth_13_a_decision_that_names_the_parameters_has_to_name_the_right_ones() {
    let asked = question(1);
    let naming = |digest: Digest| {
        let more = format!(r#","parameters_digest":"{digest}""#);
        answer(OK, "", &list(&[decision(asked.request, "once", &more)]))
    };
    let service = Service::with(naming(asked.digest));
    assert_eq!(asks(at(&service.url), std::slice::from_ref(&asked)).0.len(), 1);
    let service = Service::with(naming(Digest::ZERO));
    let (decided, told) = asks(at(&service.url), std::slice::from_ref(&asked));
    assert!(decided.is_empty(), "{decided:?}");
    assert_eq!(told[0].to_string(), "its decision 1 is wrong: it is about other parameters");
}

#[test]
fn sec_04_the_token_is_sent_to_the_service_and_told_to_nobody() {
    const SECRET: &str = "s3cr3t-of-the-service";
    let service = Service::with(answer("401 Unauthorized", "", SECRET));
    let approver = at(&service.url).token(Token::new(SECRET).unwrap());
    let shown = format!("{approver:?}{:?}", Token::new(SECRET));
    let (decided, told) = asks(approver, &[question(1)]);
    assert!(service.asked().head.contains(&format!("Bearer {SECRET}\r\n")));
    assert_eq!((decided, told.clone()), (vec![], vec![Trouble::Status(401)]));
    for words in [shown, format!("{told:?}"), told[0].to_string()] {
        assert!(!words.contains(SECRET), "{words}");
    }
    let long = "x".repeat(8 * 1024 + 1);
    for (text, why) in [
        ("", TokenError::Length),
        (&*long, TokenError::Length),
        ("a\r\nx-admin: yes", TokenError::Letters),
        ("zwei Worte", TokenError::Letters),
        ("schlüssel", TokenError::Letters),
    ] {
        assert_eq!(Token::new(text).err(), Some(why));
    }
}

#[test]
fn sec_04_a_url_has_no_credentials_in_it_and_shows_its_host_alone() {
    for (text, why) in [
        ("https://example.org/x", UrlError::Scheme),
        ("file:///etc/passwd", UrlError::NotOne),
        ("ftp://example.org/", UrlError::Scheme),
        ("http://bob:pass@example.org/", UrlError::Credentials),
        ("http:///x", UrlError::NotOne),
        ("example.org", UrlError::Scheme),
        ("/decide", UrlError::NotOne),
        ("http://a b/", UrlError::NotOne),
        ("http://a/\r\nx: y", UrlError::NotOne),
        ("", UrlError::NotOne),
    ] {
        assert_eq!(Url::new(text), Err(why), "{text}");
    }
    let long = format!("http://a/{}", "x".repeat(2_048));
    assert_eq!(Url::new(&long), Err(UrlError::NotOne));
    let url = Url::new("http://127.0.0.1:8080/decide?key=hidden").unwrap();
    assert!(!format!("{url:?}{:?}", HttpApprover::new(url.clone())).contains("hidden"));
}

#[test]
fn auth_14_who_drops_the_question_gives_the_request_up() {
    let service = Service::with(Vec::new());
    let approver = at(&service.url).timeout(Duration::from_secs(600));
    block_on(async {
        let mut asking = approver.approve(RunId([7; 16]), Turn(3), vec![question(1)]);
        let begun = std::future::poll_fn(|cx| {
            std::task::Poll::Ready(asking.as_mut().poll(cx).is_pending())
        });
        assert!(begun.await, "it waits");
        service.asked();
        drop(asking);
        pause(Duration::from_millis(1)).await;
        assert!(service.is_left(), "the service sees that nobody waits");
    })
    .expect("a runtime");
}
