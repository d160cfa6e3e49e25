//! How runs may go, what tools declare, and what is expected of settlements.

use everstep_machine::agent::{
    AgentPolicy, Allowance, ApprovalPolicy, ApprovalTerms, ContextPolicy, Dimension,
    DispositionRule, FailureMode, Joins, Judgement, ModelFault, ModelRetry, OnDenial, OnExhaustion,
    Pointer, RetryClass, Risk, Schema, Usage, UsageReporting, Verdict,
};
use everstep_machine::identity::{DurationMs, GroupName, PrincipalId};
use everstep_machine::json::CanonicalJson;
use everstep_machine::record::{FinishKind, Outcome, PolicyLimit};

use super::super::{Fault, Noun, Says, Silence, USUAL_USAGE};
use super::super::{Rule, Scenario, Submission, Tool, Turn};
use super::{accepted, fault_at, refused, small_and, small_with};

/// The small scenario with a policy.
fn policy(lines: &str) -> String {
    small_with("[[tools]]", &format!("[agent.policy]\n{lines}\n\n[[tools]]"))
}

#[test]
fn scenario_without_a_policy_has_the_usual_one() {
    let usual = AgentPolicy {
        allowance: Allowance { turns: Some(16), ..Allowance::default() },
        ..AgentPolicy::default()
    };
    assert_eq!(accepted(super::SMALL).agent.policy, usual);
    assert_eq!(accepted(&policy("")).agent.policy, usual);
    assert_eq!(accepted(&policy("retry = {}")).agent.policy, usual);
}

#[test]
fn scenario_policy_keeps_everything_that_can_be_said() {
    let scenario = accepted(&policy(
        r#"
tool_calls = 7
tokens = 1000
cost_micros = 20
duration_ms = 60000
on_exhaustion = "fail"
repeated_failures = 0
on_denial = "return-to-model"
parallel_calls = 2
model_timeout_ms = 900
unreported_tokens = 30
output = { type = "object" }
status_note = true
retry = { retries = 4, first_ms = 10, longest_ms = 20 }
context = { limit_tokens = 200, keep_tokens = 100 }
joins = "all"
approval = { expiry_ms = 60000, on_expiry = "approve", approver = "carol" }
disposition = { at = "/verdict", allowed = ["done", "refused"] }
"#,
    ));
    let expected = AgentPolicy {
        allowance: Allowance {
            turns: Some(16),
            tool_calls: Some(7),
            tokens: Some(1_000),
            cost_micros: Some(20),
            duration: Some(DurationMs(60_000)),
        },
        on_exhaustion: OnExhaustion::Fail,
        repeated_failures: 0,
        on_denial: OnDenial::ReturnToModel,
        approval: ApprovalPolicy {
            terms: ApprovalTerms {
                expiry: Some(DurationMs(60_000)),
                on_expiry: Verdict::Approved,
                approver: Some(PrincipalId::new("carol").expect("a name")),
            },
            ..ApprovalPolicy::default()
        },
        parallel_calls: 2,
        retry: ModelRetry { retries: 4, first: DurationMs(10), longest: DurationMs(20) },
        model_timeout: DurationMs(900),
        usage: UsageReporting::Unreported { tokens: 30 },
        context: Some(ContextPolicy { limit_tokens: 200, keep_tokens: 100 }),
        output: Some(Schema::parse(b"{\"type\":\"object\"}").expect("a schema")),
        disposition: Some(DispositionRule {
            at: Pointer::new("/verdict").expect("a pointer"),
            allowed: vec!["done".into(), "refused".into()],
        }),
        status_note: true,
        joins: Joins::All,
    };
    assert_eq!(scenario.agent.policy, expected);
    assert_eq!(scenario.agent.definition(Vec::new()).policy(), &expected);
}

#[test]
fn scenario_policy_that_contradicts_itself_is_refused_where_it_stands() {
    let text = policy("context = { limit_tokens = 200, keep_tokens = 200 }");
    let fault = refused(&text).fault().clone();
    assert_eq!(fault, Fault::KeepsTooMuch { keep: 200, limit: 200 });
    assert_eq!(refused(&text).line_column().map(|(line, _)| line), Some(9));
    // The usual amount that is kept is over a small limit, and nobody has written it.
    let text = policy("context = { limit_tokens = 200 }");
    let why = refused(&text);
    let expected = "`keep_tokens` is 20000, and has to be less than `limit_tokens`, which is 200";
    assert_eq!(why.fault().to_string(), expected);
    assert!(why.fault().help().is_some_and(|help| help.contains("left out, it is 20000")));
    assert_eq!(why.line_column().map(|(line, _)| line), Some(9));
    let text = policy("disposition = { at = \"/verdict\", allowed = [] }");
    assert_eq!(*refused(&text).fault(), Fault::NoDisposition);
    assert_eq!(refused(&text).line_column().map(|(line, _)| line), Some(9));
    assert!(refused(&text).fault().help().is_some());
    let text = policy("disposition = { at = \"verdict\", allowed = [] }");
    assert!(matches!(fault_at(&text, 9, 22, "\"verdict\""), Fault::BadPointer { key: "at", .. }));
    for schema in ["\"object\"", "[1]", "7"] {
        let fault = refused(&policy(&format!("output = {schema}"))).fault().clone();
        assert_eq!(fault, Fault::NotASchema { key: "output" });
    }
    for (line, key) in [
        ("model_timeout_ms = 0", "model_timeout_ms"),
        ("parallel_calls = 0", "parallel_calls"),
        ("tokens = 0", "tokens"),
        ("duration_ms = 86400001", "duration_ms"),
        ("retry = { retries = 17 }", "retries"),
    ] {
        let fault = refused(&policy(line)).fault().clone();
        assert!(matches!(fault, Fault::OutOfRange { key: found, .. } if found == key), "{fault:?}");
    }
    let unknown = refused(&policy("on_exhaustion = \"final_answer\"")).to_string();
    assert!(unknown.ends_with("help: did you mean `final-answer`?"), "{unknown}");
    let unknown = refused(&policy("paralell_calls = 2")).to_string();
    assert!(unknown.ends_with("help: did you mean `parallel_calls`?"), "{unknown}");
}

#[test]
fn sec_03_scenario_tool_keeps_everything_that_it_declares() {
    let tool = "name = \"charge\"
description = \"Charges.\"
parameters = { required = [\"cents\"] }
success = true
risk = \"critical\"
resource = \"/account\"
group = \"money\"
timeout_ms = 1000
retry = \"transient\"
result_bytes = 64
redact = [\"/card\", \"\"]
failure_mode = \"error\"
approval = \"ask\"";
    let scenario = accepted(&small_with("name = \"charge\"", tool));
    let tool = &scenario.tools[0].definition;
    assert_eq!(&*tool.description, "Charges.");
    assert_eq!(tool.parameters.json().as_str(), "{\"required\":[\"cents\"]}");
    assert!(tool.success.is_anything());
    assert_eq!((tool.risk, tool.timeout), (Risk::Critical, DurationMs(1_000)));
    assert_eq!(tool.resource.as_ref().map(Pointer::as_str), Some("/account"));
    assert_eq!(tool.group, Some(GroupName::new("money").expect("a name")));
    assert_eq!((tool.retry, tool.result_bytes), (RetryClass::Transient, 64));
    assert_eq!(tool.redact.iter().map(Pointer::as_str).collect::<Vec<_>>(), ["/card", ""]);
    assert_eq!((tool.failure, tool.approval), (FailureMode::Error, Judgement::Prompt));

    let with = |line: &str| small_with("name = \"charge\"", &format!("name = \"charge\"\n{line}"));
    let fault = fault_at(&with("redact = [\"card\"]"), 10, 11, "\"card\"");
    assert!(matches!(fault, Fault::BadPointer { key: "redact", .. }));
    let fault = refused(&with("parameters = 1")).fault().clone();
    assert_eq!(fault, Fault::NotASchema { key: "parameters" });
    let fault = refused(&with("success = { type = \"strin\" }")).fault().clone();
    assert!(matches!(fault, Fault::Unsound { key: "success", .. }), "CAP-002: {fault:?}");
    let fault = refused(&policy("output = { \"$ref\" = \"https://a.b\" }")).fault().clone();
    assert!(matches!(fault, Fault::Unsound { key: "output", .. }), "CAP-002: {fault:?}");
    let fault = refused(&with("silent_starts = 17")).fault().clone();
    assert!(matches!(fault, Fault::OutOfRange { key: "silent_starts", .. }));
    let fault = refused(&with("group = \"\"")).fault().clone();
    assert!(matches!(fault, Fault::BadName { key: "group", .. }));
}

#[test]
fn scenario_approver_denies_only_tools_that_ask() {
    let text = small_and("[approver]\ndenies = [\"charge\"]\n");
    let tool = "charge".to_owned();
    assert_eq!(fault_at(&text, 21, 11, "\"charge\""), Fault::NeverAsked { tool });
    let asks = text.replacen("name = \"charge\"", "name = \"charge\"\napproval = \"ask\"", 1);
    let scenario = accepted(&asks);
    assert_eq!(scenario.disapproved, [scenario.tools[0].definition.name.clone()]);
    let unknown = refused(&small_and("[approver]\ndenies = [\"chrge\"]\n")).to_string();
    assert!(unknown.contains("did you mean `charge`?"), "{unknown}");
}

#[test]
fn scenario_turn_keeps_faults_thoughts_and_usage() {
    let turn = r#"text = "Done."
reasoning = "Is that all?"
usage = { input_tokens = 100, cache_read_tokens = 40, cost_micros = 3 }
faults = [
  { kind = "rate-limited", tag = "Slow", message = "s", retry_after_ms = 70 },
  { kind = "context-length", tag = "Long", message = "l" },
  { kind = "refused", tag = "No", message = "n" },
]"#;
    let scenario = accepted(&small_with("text = \"Done.\"", turn));
    let turn = &scenario.submissions[0].turns[1];
    let Says::Answer(answer) = &turn.says else { panic!("an answer") };
    assert_eq!(answer.reasoning.as_deref(), Some("Is that all?"));
    let usage = Usage {
        input_tokens: 100,
        cache_read_tokens: 40,
        cache_write_tokens: 0,
        output_tokens: 5,
        cost_micros: 3,
    };
    assert_eq!(answer.usage, Some(usage));
    assert!(matches!(
        &turn.faults.iter().map(|it| (&it.fault, it.is_silent)).collect::<Vec<_>>()[..],
        [
            (ModelFault::RateLimited { retry_after: Some(DurationMs(70)), .. }, false),
            (ModelFault::ContextLength(_), false),
            (ModelFault::Refused(_), false),
        ]
    ));
    let silent = accepted(&small_with("text = \"Done.\"", "text = \"Done.\"\nno_usage = true"));
    let usages = silent.submissions[0].turns.iter().map(|turn| match &turn.says {
        Says::Answer(answer) => answer.usage,
        Says::Fault(_) => None,
    });
    assert_eq!(usages.collect::<Vec<_>>(), [Some(USUAL_USAGE), None]);
}

#[test]
fn scenario_turn_that_contradicts_itself_is_refused() {
    let with = |line: &str| small_with("text = \"Done.\"", &format!("text = \"Done.\"\n{line}"));
    let fault = refused(&with("no_usage = true\nusage = {}")).fault().clone();
    assert_eq!(fault, Fault::Excluded { key: "no_usage", other: "usage" });
    let early = "faults = [{ kind = \"refused\", tag = \"\", message = \"\", retry_after_ms = 1 }]";
    let fault = refused(&with(early)).fault().clone();
    let word = "rate-limited";
    assert_eq!(fault, Fault::OnlyWith { key: "retry_after_ms", other: "kind", word });
    let fault = refused(&with("usage = { input_tokens = -1 }")).fault().clone();
    assert!(matches!(fault, Fault::OutOfRange { key: "input_tokens", .. }));
}

#[test]
fn scenario_submission_keeps_its_allowance_and_expectations() {
    let lines = r#"input = 1
allowance = { turns = 3, tool_calls = 2, tokens = 50, cost_micros = 9, duration_ms = 400 }
expect = ["completed", "failed"]
expect_finish = "budget-exhausted:tool-calls"
expect_output = { done = true }
expect_disposition = "done"
expect_tag = "BudgetExceeded"
expect_limit = "repeated-failures""#;
    let scenario = accepted(&small_with("input = 1", lines));
    let submission = &scenario.submissions[0];
    let allowance = Allowance {
        turns: Some(3),
        tool_calls: Some(2),
        tokens: Some(50),
        cost_micros: Some(9),
        duration: Some(DurationMs(400)),
    };
    assert_eq!(submission.allowance, allowance);
    let exactly = &submission.exactly;
    assert_eq!(exactly.finish, Some(FinishKind::BudgetExhausted(Dimension::ToolCalls)));
    assert_eq!(exactly.output.as_ref().map(CanonicalJson::as_str), Some("{\"done\":true}"));
    assert_eq!(exactly.disposition.as_deref(), Some("done"));
    assert_eq!(exactly.tag.as_deref(), Some("BudgetExceeded"));
    assert_eq!(exactly.limit, Some(PolicyLimit::RepeatedFailures));
}

#[test]
fn scenario_expectation_of_an_outcome_that_is_not_expected_is_refused() {
    for (expect, line, key, word) in [
        ("failed", "expect_finish = \"model-stop\"", "expect_finish", "completed"),
        ("failed", "expect_output = 1", "expect_output", "completed"),
        ("aborted", "expect_disposition = \"x\"", "expect_disposition", "completed"),
        ("completed", "expect_tag = \"x\"", "expect_tag", "failed"),
        ("completed", "expect_limit = \"cost\"", "expect_limit", "failed"),
    ] {
        let lines = format!("input = 1\nexpect = [\"{expect}\"]\n{line}");
        let fault = refused(&small_with("input = 1", &lines)).fault().clone();
        assert_eq!(fault, Fault::Pointless { key, word });
        accepted(&small_with("input = 1", &format!("input = 1\n{line}")));
    }
    let text = small_with("input = 1", "input = 1\nexpect_finish = \"budget-exhausted:cost\"");
    assert!(matches!(refused(&text).fault(), Fault::UnknownWord { key: "expect_finish", .. }));
}

#[test]
fn scenario_builder_and_file_make_the_same_policies() {
    let file = accepted(
        r#"
schema = 1
about = "both ways"
agent = { id = "desk", instructions = "Serve.", policy.parallel_calls = 1 }
approver.denies = ["erase"]
[[tools]]
name = "erase"
description = "Erases."
parameters = { type = "object" }
success = false
approval = "ask"
failure_mode = "error"
result_bytes = 9
redact = ["/a"]
risk = "high"
resource = "/b"
group = "g"
timeout_ms = 8
silent_starts = 2
silence = "undone"
deadly_starts = 3
retry = "transient"
[[turns]]
reasoning = "Hm."
calls = [{ tool = "erase" }]
usage = { output_tokens = 50 }
faults = [
  { kind = "unavailable", tag = "A", message = "a" },
  { kind = "rate-limited", tag = "B", message = "b", retry_after_ms = 5 },
  { kind = "context-length", tag = "C", message = "c" },
  { kind = "silent", tag = "E", message = "e" },
]
[[turns]]
fault = { kind = "refused", tag = "D", message = "d" }
[[submissions]]
name = "a"
input = {}
allowance = { turns = 2 }
expect = ["failed", "completed"]
expect_finish = "model-stop"
expect_output = "x"
expect_disposition = "y"
expect_tag = "D"
expect_limit = "cost"
"#,
    );
    let tool = Tool::ordinary("erase")
        .described("Erases.")
        .takes(r#"{ "type": "object" }"#)
        .gives("false")
        .asks()
        .fails_the_run()
        .result_bytes(9)
        .redacts("/a")
        .risk(Risk::High)
        .acts_on("/b")
        .group("g")
        .timeout_ms(8)
        .silent(2, Silence::Undone)
        .deadly(3)
        .retry(RetryClass::Transient);
    let turn = Turn::calls("erase", "{}")
        .thinking("Hm.")
        .using(Usage { output_tokens: 50, ..USUAL_USAGE })
        .after_unavailable("A", "a")
        .after_rate_limit("B", "b", 5)
        .after_too_long("C", "c")
        .after_silence("E", "e");
    let submission = Submission::new("a")
        .allowance(Allowance { turns: Some(2), ..Allowance::default() })
        .expect(Outcome::Failed)
        .expect(Outcome::Completed)
        .expect_finish(FinishKind::ModelStop)
        .expect_output("\"x\"")
        .expect_disposition("y")
        .expect_tag("D")
        .expect_limit(PolicyLimit::Budget(Dimension::Cost));
    let built = Scenario::builder("small")
        .about("both ways")
        .agent("desk", "Serve.")
        .policy(AgentPolicy { parallel_calls: 1, ..AgentPolicy::default() })
        .tool(tool)
        .disapprove("erase")
        .turn(turn)
        .turn(Turn::refused("D", "d"))
        .submission(submission)
        .build();
    assert_eq!(built, Ok(file));
}

#[test]
fn scenario_builder_policies_are_refused_for_what_a_file_is_refused_for() {
    let start = || Scenario::builder("small").submission(Submission::new("first"));
    let small = || start().tool(Tool::ordinary("charge")).turn(Turn::says("Done."));
    let context = Some(ContextPolicy { limit_tokens: 5, keep_tokens: 5 });
    let none = AgentPolicy { parallel_calls: 0, ..AgentPolicy::default() };
    let tool = |tool: Tool| small().tool(tool);
    for (builder, expected) in [
        (small().policy(none), "`parallel_calls` is between 1 and"),
        (
            small().policy(AgentPolicy { context, ..AgentPolicy::default() }),
            "`keep_tokens` is 5, and has to be less than `limit_tokens`, which is 5",
        ),
        (small().disapprove("charge"), "nobody is asked about calls of the tool `charge`"),
        (tool(Tool::readonly("b").takes("1")), "`parameters` is a JSON Schema"),
        (tool(Tool::readonly("b").redacts("b")), "`redact`: a JSON pointer"),
        (tool(Tool::readonly("b").timeout_ms(0)), "`timeout_ms` is between 1"),
        (small().rule(Rule::says("x")), "`turns` and `rules` exclude each other"),
        (start().rule(Rule::calls("b")), "there is no tool `b`"),
        (start().rule(Rule::says("x").after_result_of("b")), "there is no tool `b`"),
    ] {
        let error = builder.build().expect_err(expected).to_string();
        assert!(error.starts_with(&format!("error: {expected}")), "{error}");
        assert!(error.contains("policies.rs:"), "{error}");
    }
    let fault = refused(&small_and("[approver]\ndenies = [\"no\"]\n")).fault().clone();
    assert!(matches!(fault, Fault::Unknown { noun: Noun::Tool, .. }));
}
