//! An agent whose approver is a service, on the built binary (AUTH-13, AUTH-14, SEC-02, SEC-04).

use std::io::{BufRead as _, BufReader, Read as _, Write as _};
use std::net::{TcpListener, TcpStream};
use std::path::Path;
use std::sync::mpsc::{Receiver, channel};
use std::time::Duration;

use super::approvals::{asking, shown};
use super::{charges, command, complains, desk_with, everstep, line, says};
use crate::common::{Ran, ended};

/// A service that answers each request of an approver so, in these words of HTTP; a `ID` in them is the
/// request that it was asked about first.
fn service(status: &'static str, said: &'static str) -> (String, Receiver<String>) {
    let listener = TcpListener::bind("127.0.0.1:0").expect("a port");
    let url = format!("http://{}/decide", listener.local_addr().expect("it has one"));
    let (say, asked) = channel();
    std::thread::spawn(move || {
        for stream in listener.incoming() {
            let mut stream = stream.expect("somebody asks");
            let (head, body) = request(&stream);
            let id = body["questions"][0]["request"].as_str().expect("an id");
            let said = said.replace("ID", id);
            let length = said.len();
            let answer = format!("HTTP/1.1 {status}\r\ncontent-length: {length}\r\n\r\n{said}");
            stream.write_all(answer.as_bytes()).expect("it listens");
            if say.send(format!("{head}{body}")).is_err() {
                break;
            }
        }
    });
    (url, asked)
}

fn request(stream: &TcpStream) -> (String, serde_json::Value) {
    let mut reader = BufReader::new(stream);
    let (mut head, mut length) = (String::new(), 0);
    loop {
        let mut line = String::new();
        reader.read_line(&mut line).expect("a line");
        if line.trim_end().is_empty() {
            break;
        }
        if let Some(said) = line.to_lowercase().strip_prefix("content-length:") {
            length = said.trim().parse().expect("a number");
        }
        head.push_str(&line);
    }
    let mut body = vec![0; length];
    reader.read_exact(&mut body).expect("all of it");
    (head, serde_json::from_slice(&body).expect("JSON"))
}

fn desk(url: &str, more: &str) -> tempfile::TempDir {
    desk_with(&format!("{}\n[approver]\nurl = \"{url}\"\n{more}", asking()))
}

fn asked(asked: &Receiver<String>) -> String {
    asked.recv_timeout(Duration::from_secs(60)).expect("it was asked")
}

const ONCE: &str =
    r#"{"decisions":[{"request":"ID","answer":"once","by":"bob","reason":"small"}]}"#;
const DENY: &str = r#"{"decisions":[{"request":"ID","answer":"deny","by":"bob","reason":"big"}]}"#;

#[test]
fn auth_14_a_service_lets_a_call_start_or_not_and_the_log_says_who() {
    let (url, told) = service("200 OK", ONCE);
    let home = desk(&url, "");
    let at = home.path();
    says(&everstep(at, &["doctor", "charge.toml"]), &["the approver's service is asked"]);
    says(&line(at, &[]), &["The charge went through."]);
    assert_eq!(charges(at), 1);
    assert!(asked(&told).contains(r#""parameters":{"cents":4200}"#));
    says(&everstep(at, &["log", "show", "run-"]), &["approved by bob: small"]);
    says(&line(at, &[]), &["The charge went through."]);
    assert!(told.try_recv().is_err(), "what is settled is not asked about");

    let (url, _told) = service("200 OK", DENY);
    let home = desk(&url, "");
    let ran = line(home.path(), &[]);
    assert_eq!((ran.code, charges(home.path())), (1, 0), "{}{}", ran.out, ran.err);
    assert!(ran.out.contains("ApprovalDenied"), "{}", ran.out);
    says(&everstep(home.path(), &["log", "show", "run-"]), &["denied by bob: big"]);
}

#[test]
fn sec_02_whatever_is_wrong_with_a_service_leaves_the_call_to_people() {
    let closed = {
        let listener = TcpListener::bind("127.0.0.1:0").expect("a port");
        format!("http://{}/", listener.local_addr().expect("it has one"))
    };
    let (broken, _broken) = service("500 Internal Server Error", ONCE);
    let (other, _other) =
        service("200 OK", r#"{"decisions":[{"request":"all","answer":"once","by":"bob"}]}"#);
    for (url, why) in [
        (closed, "it cannot be reached: connection refused"),
        (broken, "it has answered with status 500"),
        (other, "its request is not one of those that it was asked about"),
    ] {
        let home = desk(&url, "");
        let at = home.path();
        let ran = line(at, &[]);
        assert_eq!((ran.code, charges(at)), (4, 0), "{}{}", ran.out, ran.err);
        assert!(ran.out.contains("submissions approve"), "{}", ran.out);
        assert!(ran.err.contains(why) && ran.err.contains("decides nothing"), "{}", ran.err);
        let (id, _) = shown(at);
        says(&everstep(at, &["submissions", "approve", &id]), &["approved"]);
        says(&line(at, &[]), &["The charge went through."]);
        assert_eq!(charges(at), 1);
    }
}

const SECRET: &str = "s3cr3t-of-the-service";

fn with_token(at: &Path, token: &str) -> Ran {
    let ran = command(at, &[]).env("EVERSTEP_TEST_TOKEN", token).output();
    ended(ran.expect("the binary can be run"))
}

#[test]
fn sec_04_a_token_is_sent_to_the_service_and_is_nowhere_else() {
    let token = "token_env = \"EVERSTEP_TEST_TOKEN\"\n";
    let (url, told) = service("403 Forbidden", SECRET);
    let home = desk(&url, token);
    let at = home.path();
    complains(&line(at, &[]), 3, &["EVERSTEP_TEST_TOKEN holds no token: it is not set"]);
    let wrong = with_token(at, "two words s3cr3t");
    complains(&wrong, 3, &["printable ASCII"]);
    assert!(!wrong.err.contains("s3cr3t"), "{}", wrong.err);
    assert!(!at.join("everstep.db").exists(), "nothing is made without it");

    let ran = with_token(at, SECRET);
    assert_eq!((ran.code, charges(at)), (4, 0), "{}{}", ran.out, ran.err);
    assert!(asked(&told).contains(&format!("Bearer {SECRET}")));
    assert!(ran.err.contains("status 403"), "{}", ran.err);
    assert!(!format!("{}{}", ran.out, ran.err).contains(SECRET), "{}{}", ran.out, ran.err);
    for file in std::fs::read_dir(at).expect("a folder") {
        let bytes = std::fs::read(file.expect("a file").path()).expect("it is read");
        let found = bytes.windows(SECRET.len()).any(|window| window == SECRET.as_bytes());
        assert!(!found, "it is in a file");
    }
}

#[test]
fn sec_04_a_service_that_wants_tls_is_refused_by_line() {
    let home = desk("https://example.org/decide", "");
    let ran = line(home.path(), &[]);
    complains(&ran, 2, &["charge.toml:", "`url` is an http:// URL", "proxy before it"]);
    assert!(!home.path().join("everstep.db").exists());
}
