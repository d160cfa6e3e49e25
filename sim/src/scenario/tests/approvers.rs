//! Agent files that name a service as their approver (AUTH-14).

use everstep_machine::identity::DurationMs;

use super::super::{AgentFile, ApproverFile, Fault, ScenarioError, ServiceFile};

fn with(approver: &str) -> Result<AgentFile, ScenarioError> {
    let text = format!(
        r#"schema = 1
turns = [{{ calls = [{{ tool = "charge" }}] }}, {{ text = "Done." }}]
agent = {{ id = "cashier", instructions = "Charge once." }}
tools = [{{ name = "charge", approval = "ask" }}, {{ name = "look" }}]
{approver}"#
    );
    AgentFile::parse("small.toml", &text)
}

fn service(said: &str) -> ServiceFile {
    match with(&format!("[approver]\n{said}\n")).unwrap().approver {
        ApproverFile::Service(it) => it,
        other => panic!("{other:?}"),
    }
}

#[track_caller]
fn refused(said: &str) -> Fault {
    with(&format!("[approver]\n{said}\n")).unwrap_err().fault().clone()
}

#[test]
fn auth_14_an_agent_file_names_nobody_says_it_itself_or_names_a_service() {
    assert_eq!(with("").unwrap().approver, ApproverFile::Nobody);
    let said = with("approver = { denies = [\"charge\"] }").unwrap().approver;
    assert!(
        matches!(&said, ApproverFile::Said { denied, people } if denied.len() == 1 && people.is_empty())
    );
    let said = with("[approver]").unwrap().approver;
    assert!(
        matches!(&said, ApproverFile::Said { denied, people } if denied.is_empty() && people.is_empty())
    );
    let url = "http://127.0.0.1:8080/decide?team=1";
    let expected = ServiceFile { url: url.into(), token_env: None, timeout: DurationMs(10_000) };
    assert_eq!(service(&format!("url = \"{url}\"")), expected);
    let more = format!("url = \"{url}\"\ntoken_env = \"_Token_1\"\ntimeout_ms = 250");
    let expected =
        ServiceFile { token_env: Some("_Token_1".into()), timeout: DurationMs(250), ..expected };
    assert_eq!(service(&more), expected);
}

#[test]
fn sec_04_a_service_is_named_by_a_plain_url_and_its_token_by_a_variable() {
    for url in [
        "https://example.org/decide",
        "http://",
        "http:///decide",
        "http://bob:pass@example.org/",
        "http://a b/",
        "example.org",
        "",
    ] {
        assert_eq!(refused(&format!("url = \"{url}\"")), Fault::BadUrl, "{url}");
    }
    let long = format!("url = \"http://a/{}\"", "x".repeat(2_048));
    assert_eq!(refused(&long), Fault::BadUrl);
    for variable in ["1TOKEN", "a token", "TOKEN=x", "Schlüssel", "$TOKEN"] {
        let said = format!("url = \"http://a/\"\ntoken_env = \"{variable}\"");
        assert_eq!(refused(&said), Fault::BadVariable, "{variable}");
    }
    let error = with("[approver]\nurl = \"https://a/\"").unwrap_err();
    assert_eq!(error.line_column(), Some((6, 7)));
    assert!(error.to_string().contains("needs a proxy before it"), "{error}");
}

#[test]
fn auth_14_a_service_and_what_the_file_says_itself_exclude_each_other() {
    for other in ["denies = [\"charge\"]", "people = []"] {
        let fault = refused(&format!("url = \"http://a/\"\n{other}"));
        assert!(matches!(fault, Fault::Excluded { .. }), "{fault:?}");
    }
    for alone in ["token_env = \"TOKEN\"", "timeout_ms = 5"] {
        let fault = refused(alone);
        assert!(matches!(fault, Fault::MissingKey { key: "url", .. }), "{fault:?}");
    }
    assert!(matches!(refused("url = \"http://a/\"\ntimeout_ms = 0"), Fault::OutOfRange { .. }));
    let dead = refused("for_session = true");
    assert!(matches!(dead, Fault::UnknownKey { key, .. } if key == "for_session"));
}
