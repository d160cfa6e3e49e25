//! A model that knows nothing but what it is shown.

use std::sync::Arc;

use everstep_machine::agent::{
    Diagnostic, Dimension, Gauge, LostResponse, Message, ModelFault, ModelRequest, Purpose,
    RejectionReason, Schema, ToolChoice, ToolOutcome,
};
use everstep_machine::effect::{Answer, Authorization, External};
use everstep_machine::identity::{Sequence, ToolCallId, Turn};

use super::json;
use crate::cast::{Cast, ModelAnswer};
use crate::defect::Defect;
use crate::outside::Outside;
use crate::profile::Profile;
use crate::scenario::{Rule, Scenario, Submission, Tool};

fn tools() -> [Tool; 2] {
    let schema = r#"{ "type": "object", "required": ["town"], "properties": { "town": { "const": "Cork" } } }"#;
    [Tool::readonly("look").takes(schema), Tool::idempotent("file")]
}

fn cast(rules: Vec<Rule>, defect: Option<Defect>) -> Cast {
    let [look, file] = tools();
    let scenario = Scenario::builder("live")
        .agent("clerk", "Look, then file.")
        .tool(look)
        .tool(file)
        .submission(Submission::new("a"));
    let scenario = rules.into_iter().fold(scenario, crate::scenario::ScenarioBuilder::rule);
    Cast::new(Arc::new(scenario.build().unwrap()), Profile::Weak, defect)
}

fn request(cast: &Cast, messages: Vec<Message>) -> ModelRequest {
    ModelRequest {
        agent: cast.binding.definition.clone(),
        run: cast.clients[0].run,
        turn: Turn(0),
        purpose: Purpose::Respond,
        messages: messages.into_iter().map(|message| (Sequence(0), message)).collect(),
        tools: ToolChoice::Allowed,
        output: None,
        status: Vec::new(),
    }
}

fn ask(cast: &Cast, outside: &mut Outside, request: ModelRequest) -> ModelAnswer {
    match outside.perform(cast, &External::CallModel(Arc::new(request))).answer {
        Answer::Model { response, .. } => response,
        other => panic!("a model answers, not {other:?}"),
    }
}

/// What it says and calls, or why it does not answer.
fn told(answer: ModelAnswer) -> String {
    match answer {
        Ok(response) => {
            let calls = response.calls().map(|it| format!("{}{}", it.tool, it.parameters.as_str()));
            response.texts().map(str::to_owned).chain(calls).collect::<Vec<_>>().join(" ")
        }
        Err(LostResponse { fault: ModelFault::Protocol(why), .. }) => why.tag().to_owned(),
        Err(other) => panic!("{other:?}"),
    }
}

fn says(rules: Vec<Rule>, change: impl FnOnce(&mut ModelRequest)) -> String {
    let cast = cast(rules, None);
    let mut request = request(&cast, vec![user("\"hello\"")]);
    change(&mut request);
    told(ask(&cast, &mut Outside::default(), request))
}

fn user(text: &str) -> Message {
    Message::User(json(text))
}

/// A response that calls both tools, and how the calls ended.
fn batch(cast: &Cast, outcomes: [ToolOutcome; 2]) -> Vec<Message> {
    let asked = request(cast, vec![user("\"both\"")]);
    let response = ask(cast, &mut Outside::default(), asked).unwrap();
    assert_eq!(response.calls().count(), 2);
    let result = |(at, outcome)| Message::ToolResult {
        call: ToolCallId([at as u8; 16]),
        label: Arc::from("same"),
        outcome: Arc::new(outcome),
    };
    let results = outcomes.into_iter().enumerate().map(result);
    std::iter::once(Message::Assistant(response)).chain(results).collect()
}

#[test]
fn the_first_rule_that_fits_decides_and_none_is_no_response() {
    let rules = || vec![Rule::says("one").if_asked("hello"), Rule::says("two")];
    assert_eq!(says(rules(), |_| {}), "one");
    assert_eq!(says(rules()[..1].to_vec(), |it| it.messages = Default::default()), "NothingFits");
    assert_eq!(says(rules(), |it| it.messages = Default::default()), "two");
}

#[test]
fn a_tool_is_called_only_if_it_is_shown_and_as_its_schema_says() {
    let rules = || vec![Rule::calls("look").and_calls("file")];
    assert_eq!(says(rules(), |_| {}), "look{\"town\":\"Cork\"} file{}");
    assert_eq!(says(rules(), |it| it.tools = ToolChoice::Forbidden), "ToolNotShown");
    let hidden = cast(rules(), Some(Defect::ToolsHidden));
    let request = request(&hidden, vec![user("1")]);
    assert_eq!(told(ask(&hidden, &mut Outside::default(), request)), "ToolNotShown");
}

#[test]
fn each_condition_looks_at_its_part_of_the_request() {
    let when = |rule: Rule| vec![rule, Rule::says("no")];
    let yes = || Rule::says("yes");
    let wanted = || Some(Schema::anything());
    let gauge = || vec![Gauge { dimension: Dimension::Tokens, used: 1, limit: 2 }];
    type Change = Box<dyn FnOnce(&mut ModelRequest)>;
    let nothing = || -> Change { Box::new(|_| {}) };
    let table: [(Rule, Change, &str); 12] = [
        (yes().if_instructed("then file"), nothing(), "yes"),
        (yes().if_instructed("then lose"), nothing(), "no"),
        (yes().if_shown("hello"), nothing(), "yes"),
        (yes().if_shown("goodbye"), nothing(), "no"),
        (yes().if_tools_forbidden(true), nothing(), "no"),
        (yes().if_tools_forbidden(true), Box::new(|it| it.tools = ToolChoice::Forbidden), "yes"),
        (yes().if_output_wanted(true), nothing(), "no"),
        (yes().if_output_wanted(true), Box::new(move |it| it.output = wanted()), "yes"),
        (yes().if_output_wanted(false), nothing(), "yes"),
        (yes().if_status_shows(Dimension::Tokens), nothing(), "no"),
        (yes().if_status_shows(Dimension::Tokens), Box::new(move |it| it.status = gauge()), "yes"),
        (yes().if_status_shows(Dimension::Cost), Box::new(move |it| it.status = gauge()), "no"),
    ];
    for (rule, change, expected) in table {
        let shown = format!("{rule:?}");
        assert_eq!(says(when(rule), change), expected, "{shown}");
    }
}

#[test]
fn results_count_for_their_own_tool_until_somebody_says_something() {
    let rules = vec![
        Rule::says("found").after_result_of("file").if_result_shows("K-17"),
        Rule::says("refused").after_result_of("file").if_result_shows("not approved"),
        Rule::says("failed").if_result_shows("Locked"),
        Rule::says("looked").after_result_of("look"),
        Rule::says("later").if_asked("later").if_shown("K-17"),
        Rule::calls("look").and_calls("file"),
    ];
    let cast = cast(rules, None);
    let good = |text: &str| ToolOutcome::Success(json(text));
    let first = |outcomes, more: Vec<Message>| {
        let messages = [vec![user("1")], batch(&cast, outcomes), more].concat();
        told(ask(&cast, &mut Outside::default(), request(&cast, messages)))
    };
    assert_eq!(first([good("1"), good("\"K-17\"")], Vec::new()), "found");
    // The text is there, but of the other tool.
    assert_eq!(first([good("\"K-17\""), good("1")], Vec::new()), "found");
    let denied = ToolOutcome::Rejected(RejectionReason::NotApproved);
    assert_eq!(first([good("1"), denied], Vec::new()), "refused");
    let failed = ToolOutcome::Failure(Diagnostic::cut("Locked", "no"));
    assert_eq!(first([failed, good("1")], Vec::new()), "failed");
    assert_eq!(first([good("1"), good("2")], Vec::new()), "looked");
    let later = vec![user("\"later\"")];
    assert_eq!(first([good("1"), good("\"K-17\"")], later), "later");
}

#[test]
fn hidden_messages_and_contracts_are_not_seen() {
    let rules = || {
        vec![
            Rule::says("contract").if_output_wanted(true),
            Rule::says("old").if_shown("first"),
            Rule::says("new").if_asked("second"),
        ]
    };
    let shown = |defect, output: bool| {
        let cast = cast(rules(), defect);
        let mut request = request(&cast, vec![user("\"first\""), user("\"second\"")]);
        request.output = output.then(Schema::anything);
        told(ask(&cast, &mut Outside::default(), request))
    };
    assert_eq!(shown(None, false), "old");
    assert_eq!(shown(Some(Defect::MessagesHidden), false), "new");
    assert_eq!(shown(None, true), "contract");
    assert_eq!(shown(Some(Defect::ContractHidden), true), "old");
}

#[test]
fn run_028_the_host_is_asked_about_what_a_live_model_has_called() {
    let cast = cast(vec![Rule::calls("file")], None);
    let (run, turn) = (cast.clients[0].run, Turn(0));
    let call = ToolCallId::derive(run, turn, 0);
    let mut outside = Outside::default();
    let authorize = |outside: &mut Outside| {
        let asked = External::Authorize { run, turn, calls: vec![call] };
        match outside.perform(&cast, &asked).answer {
            Answer::Authorizer { authorization, .. } => authorization,
            other => panic!("an authorizer answers, not {other:?}"),
        }
    };
    assert_eq!(authorize(&mut outside), Authorization::Denied, "nobody has called anything");
    let response = ask(&cast, &mut outside, request(&cast, vec![user("1")]));
    assert_eq!(told(response), "file{}");
    assert_eq!(authorize(&mut outside), Authorization::Allowed);
    let tool = outside.tool_of(&cast, call).unwrap();
    assert_eq!(tool.as_str(), "file");
}
