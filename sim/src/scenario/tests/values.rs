//! What an accepted file means.

use everstep_machine::agent::{Diagnostic, ExecutionClass, ModelFault, Resolution, ToolOutcome};
use everstep_machine::effect::{CrashPhase, EffectKind, ExternalKind, Failpoint};
use everstep_machine::identity::{ConversationId, DurationMs, IdempotencyKey, ToolName};
use everstep_machine::json::CanonicalJson;
use everstep_machine::record::Outcome;

use super::super::{AnswerScript, FaultScript, Occasion, Says, TurnScript, USUAL_USAGE};
use super::{accepted, small_and, small_with};

fn json(text: &str) -> CanonicalJson {
    CanonicalJson::parse(text.as_bytes()).expect("test data is JSON")
}

fn says(text: &str) -> TurnScript {
    let answer = AnswerScript {
        provider_calls: Vec::new(),
        reasoning: None,
        text: Some(text.to_owned()),
        calls: Vec::new(),
        usage: Some(USUAL_USAGE),
    };
    TurnScript { faults: Vec::new(), says: Says::Answer(answer) }
}

fn fails(fault: ModelFault) -> TurnScript {
    let fault = FaultScript { fault, is_silent: false, used: None };
    TurnScript { faults: Vec::new(), says: Says::Fault(fault) }
}

#[test]
fn scenario_defaults_are_those_the_schema_names() {
    let people = "[[aborts]]\nsubmission = \"first\"\n[[retries]]\nsubmission = \"first\"\n";
    let scenario = accepted(&small_and(people));
    assert_eq!((scenario.name.as_str(), scenario.about.as_str()), ("small", "small"));
    assert_eq!((scenario.workers, scenario.agent.max_turns()), (2, 16));
    assert!(scenario.denied.is_empty() && scenario.resolutions.is_empty());
    let tool = &scenario.tools[0];
    assert_eq!(tool.definition.class, ExecutionClass::Ordinary);
    assert!(!tool.definition.reconciles);
    assert_eq!(tool.latency, DurationMs(0));
    assert_eq!(tool.outcome, ToolOutcome::Success(json("null")));
    let submission = &scenario.submissions[0];
    assert_eq!(submission.conversation, ConversationId::new("main").expect("a name"));
    assert_eq!(submission.principal.as_str(), "client");
    assert_eq!(submission.tenant.as_str(), "default");
    assert_eq!(submission.key, IdempotencyKey::new("first").expect("a name"));
    assert!(submission.expect.is_empty());
    assert_eq!(submission.turns[0].calls()[0].parameters, json("{}"));
    let abort = &scenario.aborts[0];
    assert_eq!((abort.submission, abort.moment), (0, Occasion::Every));
    assert_eq!((abort.principal.as_str(), abort.reason.as_str()), ("client", "no longer wanted"));
    let retry = &scenario.retries[0];
    assert_eq!((retry.submission, retry.people, retry.expect.len()), (0, 1, 0));
    assert_eq!((retry.principal.as_str(), &*retry.reason), ("operator", "the cause is gone"));
    assert_eq!(retry.turns, scenario.submissions[0].turns);
}

#[test]
fn scenario_everything_that_can_be_said_is_kept() {
    let scenario = accepted(
        r#"
schema = 1
about = "everything"
workers = 8
agent = { id = "a", instructions = "i", max_turns = 64 }
authorizer.denies = ["two"]
tools = [
  { name = "one", class = "idempotent", latency_ms = 86400000, result = [1] },
  { name = "two", reconciler = "truthful", failure = { tag = "T", message = "m" } },
  { name = "three" },
]

[[submissions]]
name = "s"
conversation = "c"
principal = "p"
tenant = "t"
key = "k"
input = "in"
expect = ["aborted", "completed"]
turns = [{ fault = { kind = "protocol", tag = "F", message = "f" } }]

[[submissions]]
name = "u"
input = true
[[submissions.turns]]
text = ""
[[submissions.turns]]
fault = { kind = "unavailable", tag = "F", message = "f" }

[[aborts]]
submission = "u"
at = "tool.invoke/during@3"
principal = "q"
reason = "r"

[[resolutions]]
tool = "one"
answer = "completed"
result = { b = 1, a = 2 }
[[resolutions]]
tool = "two"
answer = "failed"
[[resolutions]]
tool = "three"
answer = "safe-to-repeat"
"#,
    );
    assert_eq!((scenario.workers, scenario.agent.max_turns()), (8, 64));
    assert_eq!(scenario.agent.id.as_str(), "a");
    let two = ToolName::new("two").expect("a name");
    assert_eq!(scenario.denied, std::slice::from_ref(&two));
    let failed = Diagnostic::cut("T", "m");
    let tool = scenario.tool(&two).expect("it is declared");
    assert!(tool.definition.reconciles);
    assert_eq!(tool.outcome, ToolOutcome::Failure(failed.clone()));
    assert_eq!(scenario.resolution(&two), Some(&Resolution::Failed(failed)));
    assert_eq!(
        scenario.resolutions[0].resolution,
        Resolution::Completed(json("{\"a\":2,\"b\":1}"))
    );
    assert_eq!(scenario.resolutions[2].resolution, Resolution::SafeToRepeat);
    let [s, u] = &scenario.submissions[..] else { panic!("two submissions") };
    assert_eq!(s.expect, [Outcome::Aborted, Outcome::Completed]);
    assert_eq!((s.principal.as_str(), s.tenant.as_str(), s.key.as_str()), ("p", "t", "k"));
    let fault = Diagnostic::cut("F", "f");
    assert_eq!(s.turns, [fails(ModelFault::Protocol(fault.clone()))]);
    assert_eq!(u.turns, [says(""), fails(ModelFault::Unavailable(fault))]);
    let invoked =
        Failpoint::new(EffectKind::External(ExternalKind::InvokeTool), CrashPhase::During);
    assert_eq!(scenario.aborts[0].moment, Occasion::At(invoked, 3));
    assert_eq!(scenario.aborts[0].submission, 1);
}

#[test]
fn scenario_every_failpoint_can_be_named() {
    for failpoint in Failpoint::all() {
        let text =
            small_and(&format!("[[aborts]]\nsubmission = \"first\"\nat = \"{failpoint}\"\n"));
        assert_eq!(accepted(&text).aborts[0].moment, Occasion::At(failpoint, 1));
    }
}

#[test]
fn scenario_values_become_canonical_json_without_rounding() {
    for (toml, expected) in [
        ("18446744073709551615", "18446744073709551615"),
        ("-9_223_372_036_854_775_808", "-9223372036854775808"),
        ("0xFF", "255"),
        ("0o17", "15"),
        ("0b101", "5"),
        ("+7", "7"),
        ("-0", "0"),
        ("1.0", "1"),
        ("+1.50", "1.5"),
        ("1_000.5", "1000.5"),
        ("6.02e18", "6020000000000000000"),
        ("0.1", "0.1"),
        ("-0.0", "0"),
        ("1979-05-27T07:32:00Z", "\"1979-05-27T07:32:00Z\""),
        ("1979-05-27", "\"1979-05-27\""),
        ("07:32:00", "\"07:32:00\""),
        ("[1, \"a\", [true], {}]", "[1,\"a\",[true],{}]"),
        ("{ z = 1, \"\" = 2, a.b = 3 }", "{\"\":2,\"a\":{\"b\":3},\"z\":1}"),
        ("\"\\u0001\\\"\\\\\"", "\"\\u0001\\\"\\\\\""),
        ("'''\n'quoted'\ntext'''", "\"'quoted'\\ntext\""),
    ] {
        let scenario = accepted(&small_with("input = 1", &format!("input = {toml}")));
        assert_eq!(scenario.submissions[0].input.as_str(), expected, "{toml}");
    }
}

#[test]
fn scenario_own_turns_replace_the_files_turns() {
    let own = "input = 1\nturns = [{ text = \"Mine.\" }]\n[[submissions]]\nname = \"b\"\ninput = 2";
    let scenario = accepted(&small_with("input = 1", own));
    assert_eq!(scenario.submissions[0].turns, [says("Mine.")]);
    assert_eq!(scenario.submissions[1].turns.len(), 2);
}

#[test]
fn scenario_line_ends_and_byte_order_mark_change_nothing() {
    let plain = accepted(super::SMALL);
    assert_eq!(accepted(&super::SMALL.replace('\n', "\r\n")), plain);
    assert_eq!(accepted(&format!("\u{feff}{}", super::SMALL)), plain);
}
