//! Whatever is wrong decides nothing, and is told (SEC-02).

use std::io;
use std::net::TcpListener;
use std::time::{Duration, Instant};

use everstep_http::{ANSWER_BYTES, Trouble, Wrong};
use everstep_machine::agent::{ApprovalTerms, Risk};
use everstep_machine::authority::CapabilityKey;
use everstep_machine::effect::{ApprovalQuestion, Subject};
use everstep_machine::identity::{NameError, PrincipalId};
use everstep_machine::limits::TEXT_BYTES;

use super::service::{Service, answer};
use super::{OK, asks, at, decision, list, question};

/// The trouble of an answer to one question.
#[track_caller]
fn trouble(said: Vec<u8>) -> Trouble {
    let service = Service::with(said);
    let (decided, told) = asks(at(&service.url), &[question(1)]);
    assert!(decided.is_empty(), "{decided:?}");
    let [told] = &*told else { panic!("it is told once: {told:?}") };
    service.asked();
    assert!(!service.asked_more(), "nothing is asked again");
    told.clone()
}

fn body(said: &str) -> Vec<u8> {
    answer(OK, "", said)
}

#[test]
fn sec_02_a_status_other_than_200_decides_nothing_whatever_stands_behind_it() {
    let yes = list(&[decision(question(1).request, "once", "")]);
    for (status, number) in [
        ("500 Internal Server Error", 500),
        ("503 Service Unavailable", 503),
        ("401 Unauthorized", 401),
        ("404 Not Found", 404),
        ("201 Created", 201),
    ] {
        assert_eq!(trouble(answer(status, "", &yes)), Trouble::Status(number));
    }
}

#[test]
fn sec_04_a_redirect_is_not_followed() {
    let yes = list(&[decision(question(1).request, "once", "")]);
    let other = Service::with(body(&yes));
    for status in ["302 Found", "307 Temporary Redirect", "308 Permanent Redirect"] {
        let moved = answer(status, &format!("location: {}\r\n", other.url), &yes);
        assert!(matches!(trouble(moved), Trouble::Status(302 | 307 | 308)));
    }
    assert!(!other.asked_more(), "whoever is named there is not asked");
}

#[test]
fn sec_02_garbage_decides_nothing() {
    let request = question(1).request;
    let yes = list(&[decision(request, "once", "")]);
    for said in [
        String::new(),
        "yes".into(),
        "[]".into(),
        "{}".into(),
        r#"{"decisions":null}"#.into(),
        yes[..yes.len() - 1].to_owned(),
        format!("{yes}{yes}"),
        yes.replace("once", "always"),
        yes.replace("\"once\"", "true"),
        yes.replace("\"by\":\"bob\"", "\"by\":null"),
        yes.replace(",\"by\":\"bob\"", ""),
        yes.replace("\"by\"", "\"until\":\"noon\",\"by\""),
        yes.replace("\"decisions\"", "\"schema\":2,\"decisions\""),
        yes.replace("\"by\":\"bob\"", "\"by\":\"bob\",\"by\":\"eve\""),
        "[".repeat(100_000),
    ] {
        let told = trouble(body(&said));
        assert!(matches!(told, Trouble::NotDecisions { .. }), "{told:?}: {said:.80}");
    }
    let mut bytes = body(&yes);
    let at = bytes.iter().rposition(|byte| *byte == b'b').expect("bob");
    bytes[at] = 0xff;
    assert!(matches!(trouble(bytes), Trouble::NotDecisions { .. }), "not UTF-8");
}

#[test]
fn auth_13_a_decision_about_anything_else_spoils_the_whole_answer() {
    let (first, other) = (question(1).request, question(2).request);
    let yes = decision(first, "once", "");
    let wrong = |at, why| Trouble::Wrong { at, why };
    let said = list(&[yes.clone(), decision(other, "once", "")]);
    assert_eq!(trouble(body(&said)), wrong(2, Wrong::NotAsked));
    let upper = list(&[yes.replace(&first.to_string(), "ALL")]);
    assert_eq!(trouble(body(&upper)), wrong(1, Wrong::NotAsked));
    let twice = list(&[yes.clone(), decision(first, "deny", "")]);
    assert_eq!(trouble(body(&twice)), wrong(2, Wrong::Second));
    let nobody = list(&[yes.replace("bob", "")]);
    assert_eq!(trouble(body(&nobody)), wrong(1, Wrong::By(NameError::Empty)));
    let control = list(&[yes.replace("bob", r"b\u001bob")]);
    assert_eq!(trouble(body(&control)), wrong(1, Wrong::By(NameError::Control)));
    let long =
        list(&[decision(first, "deny", &format!(r#","reason":"{}""#, "x".repeat(TEXT_BYTES + 1)))]);
    assert_eq!(trouble(body(&long)), wrong(1, Wrong::LongReason));
}

#[test]
fn auth_14_who_may_not_decide_decides_nothing() {
    let terms =
        ApprovalTerms { approver: Some(PrincipalId::new("carol").unwrap()), ..Default::default() };
    let asked = [ApprovalQuestion { terms, ..question(1) }];
    let yes = list(&[decision(asked[0].request, "once", "")]);
    let service = Service::with(body(&yes));
    let (decided, told) = asks(at(&service.url), &asked);
    assert!(decided.is_empty(), "{decided:?}");
    assert_eq!(told, [Trouble::Wrong { at: 1, why: Wrong::NotTheirs }]);
    let service = Service::with(body(&yes.replace("bob", "carol")));
    assert_eq!(asks(at(&service.url), &asked).0.len(), 1);
}

#[test]
fn auth_10_what_may_not_be_remembered_is_not_allowed_for_a_session() {
    let secret = Some(CapabilityKey::new("secret.bind:KEY").unwrap());
    for asked in [
        ApprovalQuestion { risk: Risk::Critical, ..question(1) },
        ApprovalQuestion { target: Subject::Unresolved, ..question(1) },
        ApprovalQuestion { capability: secret, ..question(1) },
    ] {
        let service = Service::with(body(&list(&[decision(asked.request, "session", "")])));
        let (decided, told) = asks(at(&service.url), &[asked]);
        assert!(decided.is_empty(), "{decided:?}");
        assert_eq!(told, [Trouble::Wrong { at: 1, why: Wrong::NotForSession }]);
        let answers = &service.asked().body["questions"][0]["answers"];
        assert_eq!(*answers, serde_json::json!(["once", "deny"]));
    }
}

#[test]
fn sec_06_an_answer_is_bounded_however_long_it_says_it_is() {
    let yes = list(&[decision(question(1).request, "once", "")]);
    let most = usize::try_from(ANSWER_BYTES).unwrap();
    let full = format!("{yes}{}", " ".repeat(most - yes.len()));
    let service = Service::with(body(&full));
    assert_eq!(asks(at(&service.url), &[question(1)]).0.len(), 1, "it just fits");
    assert_eq!(trouble(body(&format!("{full} "))), Trouble::TooLarge);
    // One that says nothing of its length, and goes on.
    let mut endless = b"HTTP/1.1 200 OK\r\n\r\n".to_vec();
    endless.resize(endless.len() + 4 * most, b' ');
    assert_eq!(trouble(endless), Trouble::TooLarge);
}

#[test]
fn sec_02_an_answer_that_breaks_off_or_is_no_http_decides_nothing() {
    let yes = list(&[decision(question(1).request, "once", "")]);
    let mut broken = body(&format!("{yes}   "));
    broken.truncate(broken.len() - 2);
    assert!(matches!(trouble(broken), Trouble::Unreachable(_) | Trouble::Protocol));
    let told = trouble(format!("{yes}\r\n\r\n").into_bytes());
    assert_eq!(told, Trouble::Protocol);
    let closed = {
        let listener = TcpListener::bind("127.0.0.1:0").expect("a port");
        format!("http://{}/", listener.local_addr().expect("it has one"))
    };
    let (decided, told) = asks(at(&closed), &[question(1)]);
    assert!(decided.is_empty(), "{decided:?}");
    assert_eq!(told, [Trouble::Unreachable(io::ErrorKind::ConnectionRefused)]);
}

#[test]
fn sec_02_a_service_that_is_slow_decides_nothing() {
    let service = Service::with(Vec::new());
    let began = Instant::now();
    let approver = at(&service.url).timeout(Duration::from_millis(100));
    let (decided, told) = asks(approver, &[question(1)]);
    assert_eq!((decided, told), (vec![], vec![Trouble::TooSlow(100)]));
    assert!(began.elapsed() < Duration::from_secs(30), "{:?}", began.elapsed());
}
