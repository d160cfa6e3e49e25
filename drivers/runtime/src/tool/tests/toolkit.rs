//! What is found when a runtime is built, and not later.

use std::time::Duration;

use everstep_machine::agent::{AgentDefinition, AgentPolicy, ExecutionClass, Risk, Schema};
use everstep_machine::effect::{Doubted, Reconciliation};
use everstep_machine::identity::AgentId;
use everstep_machine::record::Doubt;

use super::*;
use crate::ports::Handlers as _;
use crate::ports::Reconciler as _;

fn tool(name: &str) -> Tool {
    Tool::new(name, |(): (), _| async { Ok::<_, NoFailure>(1) })
}

fn named(name: &str) -> ToolName {
    ToolName::new(name).unwrap()
}

fn agent(tools: Vec<ToolDefinition>) -> AgentDefinition {
    AgentDefinition::new(AgentId::new("clerk").unwrap(), "", tools, 3).unwrap()
}

fn refused(tools: impl IntoIterator<Item = Tool>) -> ToolkitError {
    Toolkit::new(tools).unwrap_err()
}

#[test]
fn cap_002_everything_that_is_wrong_with_tools_is_named_at_once() {
    let mut crooked = ToolDefinition::new(named("crooked"), ExecutionClass::Readonly);
    crooked.parameters = Schema::parse(br#"{"type":"strin"}"#).unwrap();
    crooked.success = Schema::parse(br#"{"$ref":"https://example.org/a"}"#).unwrap();
    let dynamic = |definition| Tool::dynamic(definition, |it, _| async move { Ok(it) });
    let silent = ToolDefinition::new(named("silent"), ExecutionClass::Ordinary).reconciling();
    let error = refused([
        tool(""),
        tool("a").resource("order"),
        tool("b").group("\n"),
        tool("c").timeout(Duration::from_micros(999)),
        tool("d").result_bytes(60_000).risk(Risk::Low),
        dynamic(crooked),
        dynamic(silent),
        tool("twice"),
        tool("twice"),
    ]);
    let said: Vec<_> = error.faults().iter().map(ToString::to_string).collect();
    let begins = [
        "the tool \"\": its name is none",
        "the tool \"a\": `order` is no place",
        "the tool \"b\": `\n` is no name of a group",
        "the tool \"c\": it has no time",
        "the tool \"d\": it wants 60000 bytes",
        "the parameters of the tool crooked: it is no JSON Schema at `/type`",
        "the result of the tool crooked: `/$ref` refers to https://example.org/a",
        "the tool silent reconciles, but has no reconciler",
        "two tools are named twice",
    ];
    assert_eq!(said.len(), begins.len(), "{said:#?}");
    for (said, begin) in said.iter().zip(begins) {
        assert!(said.starts_with(begin), "{said}");
    }
    assert_eq!(error.to_string(), said.join("; "));
}

#[test]
fn cap_002_only_the_first_fault_of_a_tool_counts() {
    let error = refused([tool("a").redact("x").result_bytes(60_000).description("later")]);
    let [ToolkitFault::Tool { tool, fault }] = error.faults() else { panic!("{error}") };
    assert_eq!(tool, "a");
    assert!(matches!(fault, ToolFault::Place { text, .. } if text == "x"), "{fault}");
}

#[test]
fn cap_001_cap_002_sec_03_an_agent_gets_exactly_the_tools_that_it_declares() {
    let toolkit = Toolkit::new([tool("pay").risk(Risk::High), tool("look")]).unwrap();
    let definitions = toolkit.definitions();
    let names: Vec<_> = definitions.iter().map(|it| it.name.as_str()).collect();
    assert_eq!(names, ["pay", "look"], "in the order they were given in");
    assert_eq!(toolkit.check([&agent(definitions.clone())]), Ok(()));

    let mut lowered = definitions[0].clone();
    lowered.risk = Risk::Low;
    let other = ToolDefinition::new(named("fly"), ExecutionClass::Readonly);
    let error = toolkit.check([&agent(vec![lowered, other])]).unwrap_err();
    let clerk = || AgentId::new("clerk").unwrap();
    let expected = [
        ToolkitFault::Differs { agent: clerk(), tool: named("pay") },
        ToolkitFault::NoHandler { agent: clerk(), tool: named("fly") },
        ToolkitFault::NoDeclaration(named("look")),
    ];
    assert_eq!(error.faults(), expected);
    // Several agents may share the tools.
    let halves = definitions.into_iter().map(|it| agent(vec![it])).collect::<Vec<_>>();
    assert_eq!(toolkit.check(&halves), Ok(()));
}

#[test]
fn cap_002_run_025_an_output_that_cannot_be_checked_is_found() {
    let output = Schema::parse(br#"{"minLength":"x"}"#).unwrap();
    let policy = AgentPolicy { output: Some(output), ..AgentPolicy::default() };
    let id = AgentId::new("clerk").unwrap();
    let agent = AgentDefinition::with_policy(id, "", Vec::new(), policy).unwrap();
    let error = Toolkit::default().check([&agent]).unwrap_err();
    assert!(matches!(error.faults(), [ToolkitFault::UnsoundOutput { .. }]), "{error}");
}

#[test]
fn cap_001_a_call_of_a_tool_that_is_not_there_is_a_defect_of_the_call() {
    let definition = ToolDefinition::new(named("fly"), ExecutionClass::Readonly);
    let canceller = Canceller::new();
    let live = Live::new(canceller.cancellation());
    let ended = run(Toolkit::default().invoke(invocation(&definition, "null"), live));
    let Ended::Outcome(ToolOutcome::Defect(why)) = ended else { panic!("{ended:?}") };
    assert_eq!((why.tag(), why.message()), ("NoHandler", "the host has no tool fly"));
}

#[test]
fn dur_009_a_reconciler_is_asked_by_the_name_of_its_tool() {
    let proven = || Reconciliation::Proven(everstep_machine::agent::Resolution::NeverStarted);
    let toolkit = Toolkit::new([
        tool("pay").reconciler(move |doubted| async move {
            if doubted.asking == Epoch(5) { proven() } else { Reconciliation::Unprovable }
        }),
        tool("look"),
    ])
    .unwrap();
    let doubted = |name| Doubted {
        doubt: Doubt { call: ToolCallId([7; 16]), start: Epoch(3) },
        tool: named(name),
        asking: Epoch(5),
    };
    assert_eq!(run(toolkit.reconcile(doubted("pay"))), proven());
    assert_eq!(run(toolkit.reconcile(doubted("look"))), Reconciliation::Unprovable);
}

#[test]
fn cap_004_what_a_reconciler_found_out_is_held_against_what_its_tool_declares() {
    let found = |text: &'static str| {
        let toolkit = Toolkit::new([tool("pay").reconciler(move |_| async move {
            let found = everstep_machine::agent::Resolution::Completed(json(text));
            Reconciliation::Proven(found)
        })]);
        let doubt = Doubt { call: ToolCallId([7; 16]), start: Epoch(3) };
        let doubted = Doubted { doubt, tool: named("pay"), asking: Epoch(5) };
        match run(toolkit.unwrap().reconcile(doubted)) {
            Reconciliation::Proven(everstep_machine::agent::Resolution::Failed(why)) => {
                why.tag().to_owned()
            }
            Reconciliation::Proven(_) => "proven".to_owned(),
            Reconciliation::Unprovable => "unprovable".to_owned(),
        }
    };
    assert_eq!((found("7").as_str(), found("\"7\"").as_str()), ("proven", "OutputInvalid"));
}
