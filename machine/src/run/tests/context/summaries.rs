//! What a summarizer is shown, and what of its answer counts.

use alloc::string::String;

use super::*;
use crate::agent::{
    ExecutionClass, FinishReason, Pointer, ResponsePart, Schema, ToolDefinition, Usage,
    UsageReporting,
};
use crate::identity::ToolName;
use crate::json::CanonicalJson;
use crate::limits::{SUMMARIZER_CHARS, SUMMARY_BYTES};
use crate::testkit::bound;

/// A limit that stands in nobody's way: only what is old counts.
const WIDE: ContextPolicy = ContextPolicy { limit_tokens: 50_000, keep_tokens: 10 };

/// The words of the question to a summarizer.
fn question(request: &ModelRequest) -> String {
    match &request.messages.iter().collect::<Vec<_>>()[..] {
        [Message::User(words)] => words.as_text().expect("a text"),
        other => panic!("{other:?}"),
    }
}

/// A run that asks for a summary of four long questions.
fn asking() -> (Bench, Vec<Effect>) {
    let mut bench = after(desk(LIMIT), &[(1_500, 0); 4]);
    let effects = bench.look();
    (bench, effects)
}

#[test]
fn run_023_a_summarizer_is_offered_no_tool_and_no_contract() {
    let output = Some(Schema::parse(br#"{"type":"object"}"#).unwrap());
    let binding = under(AgentPolicy { context: Some(LIMIT), output, ..policy() });
    let mut bench = after(binding, &[(1_500, 0); 4]);
    let effects = bench.look();
    let asked = request(&effects);
    assert_eq!((asked.tools, asked.agent.tools().len()), (ToolChoice::Forbidden, 0));
    assert_eq!((&asked.output, &asked.status[..]), (&None, &[][..]));
    assert_eq!((asked.run, asked.turn), (ONE.run(), Turn(0)));
    assert_eq!(asked.agent.instructions(), "You refund.");
    let effects = bench.answered(summary(&effects, Ok(said("Four questions.")))).look();
    let asked = request(&effects);
    assert_eq!((asked.tools, asked.agent.tools().len()), (ToolChoice::Allowed, 4));
    assert!(asked.output.is_some(), "RUN-025: shown again, behind context");
}

#[test]
fn run_023_the_question_tells_what_was_said_in_order() {
    let tale = tale(100);
    let parts = alloc::vec![
        ResponsePart::Reasoning(crate::agent::Reasoning {
            text: "secret thoughts".into(),
            signature: None,
            redacted: false,
        }),
        ResponsePart::Text("I will look.".into()),
        response(&["look"]).parts.remove(0),
        response(&["pay"]).parts.remove(0),
    ];
    let response = Arc::new(ModelResponse { parts, ..response(&["look"]) });
    let (submission, turn) = (tale.submission(), Turn(0));
    let responded = Record::ModelResponded(ModelResponded { submission, turn, response });
    let story = Story::new().tell([input(tale, "Where is \"7\"?")]).tell([responded]);
    let no = ToolOutcome::Failure(Diagnostic::cut("Bank", "closed"));
    let story = story.tell([tale.tool_settled(tale.call(0, 1), no)]);
    let story = story.tell([tale.tool_settled(tale.call(0, 0), success("on its way"))]);
    let story = story.tell([tale.responded(1, &[])]);
    let story = story.tell([tale.settled(crate::testkit::story::completed())]);
    let story = story.tell([input(ONE, &"w".repeat(400))]);
    let tight = ContextPolicy { limit_tokens: 100, keep_tokens: 0 };
    let effects = Bench::resting_with(desk(tight), &story, 1).told(RESUMED).look();
    let asked = question(&request(&effects));
    let expected = "\
        User: Where is \"7\"?\n\
        Assistant: I will look.\n\
        Assistant calls look with \"look\"\n\
        Assistant calls pay with \"pay\"\n\
        Result: on its way\n\
        The call failed: Bank, closed\n\
        Assistant: done\n";
    assert!(asked.contains(expected), "{asked}");
    assert!(!asked.contains("secret thoughts"), "what led to the words was not said");
}

#[test]
fn run_023_the_question_is_bounded_and_keeps_the_newest() {
    let story = earlier(&[(100_000, 0), (70_000, 0), (70_000, 0), (500, 0)]);
    let old = Compaction::Summarized("In the beginning there was an order.".into());
    let story = story.tell([tale(104).input()]).tell([tale(104).compacted(0, 1, old)]);
    let story = story.tell([tale(104).responded(0, &[])]);
    let story = story.tell([tale(104).settled(crate::testkit::story::completed())]);
    let story = story.tell([ONE.input()]);
    let narrow = ContextPolicy { limit_tokens: 22_000, keep_tokens: 10 };
    let effects = Bench::resting_with(desk(narrow), &story, 1).told(RESUMED).look();
    let asked = question(&request(&effects));
    assert_eq!(asked.chars().count(), SUMMARIZER_CHARS, "all of it is used");
    assert!(asked.contains("In the beginning there was an order."), "an earlier summary stays");
    assert!(asked.contains(&alloc::format!("User: {}\n", "w".repeat(500))), "so does the newest");
    assert_eq!(asked.matches("[…] w").count(), 1, "what is left out is marked");
}

#[test]
fn run_023_the_question_is_not_longer_than_the_limit_itself() {
    let effects = after(desk(LIMIT), &[(9_000, 0); 3]).look();
    let asked = question(&request(&effects));
    let (_, from) = asked.split_once("begins ===\n").unwrap();
    let (told, _) = from.split_once("\n=== the").unwrap();
    let most = LIMIT.limit_tokens * crate::limits::BYTES_A_TOKEN;
    assert_eq!(told.chars().count() as u64, most, "all of it is used");
    assert!(asked.len() - told.len() < 1_200, "and a few words are added");
}

#[test]
fn run_023_a_question_full_of_escapes_is_still_a_value() {
    let story = Story::new().tell([input(tale(100), &"\u{1}😀".repeat(60_000))]);
    let story = story.tell([tale(100).responded(0, &[])]);
    let story = story.tell([tale(100).settled(crate::testkit::story::completed())]);
    let story = story.tell([ONE.input()]);
    let effects = Bench::resting_with(desk(WIDE), &story, 1).told(RESUMED).look();
    let asked = question(&request(&effects));
    assert_eq!(asked.chars().count(), SUMMARIZER_CHARS);
}

#[test]
fn case_co_11_a_summarizer_sees_nothing_that_nobody_is_to_see() {
    let name = ToolName::new("look").unwrap();
    let tool = ToolDefinition {
        redact: alloc::vec![Pointer::new("/secret").unwrap()],
        ..ToolDefinition::new(name.clone(), ExecutionClass::Readonly)
    };
    let binding = bound(alloc::vec![tool], AgentPolicy { context: Some(LIMIT), ..policy() });
    let secret = CanonicalJson::parse(br#"{"card":"visa","secret":"4111-1111"}"#).unwrap();
    let calls = |request: &ModelRequest| {
        let call = crate::agent::ToolCall {
            label: "1".into(),
            tool: name.clone(),
            parameters: CanonicalJson::parse(br#"{"order":7,"secret":"hunter2"}"#).unwrap(),
        };
        match (request.purpose, request.turn) {
            (Purpose::Respond, Turn(0)) => {
                let mut response = response(&["look"]);
                response.parts[0] = ResponsePart::Call(call);
                Ok(response)
            }
            (Purpose::Respond | Purpose::Summarize { .. }, _) => Ok(said("It is on its way.")),
        }
    };
    let world = World { binding, model: &calls, result: ToolOutcome::Success(secret) };
    let mut talk = Talk::new();
    let mut summaries = 0;
    for number in 0..30 {
        for it in talk.run(&world, tale(number), &"w".repeat(600)) {
            let Happened::Asked(External::CallModel(request)) = it else { continue };
            let Purpose::Summarize { .. } = request.purpose else { continue };
            let asked = question(&request);
            assert!(asked.contains(r#""card":"visa""#) || asked.contains("no longer shown"));
            assert!(asked.contains(r#""order":7"#));
            assert!(!asked.contains("4111") && !asked.contains("hunter2"), "{asked}");
            summaries += 1;
        }
    }
    assert!(summaries > 2, "{summaries}");
}

/// Answers of a summarizer that are of no use.
fn useless() -> Vec<(&'static str, Result<ModelResponse, ModelFault>)> {
    let finished = |finish| ModelResponse { finish, ..said("Words.") };
    let used = |usage| ModelResponse { usage, ..said("Words.") };
    let impossible = Usage { cache_read_tokens: 1, ..Usage::default() };
    let ResponsePart::Call(call) = response(&["look"]).parts.remove(0) else { panic!() };
    let by_provider = ModelResponse {
        parts: alloc::vec![ResponsePart::ProviderCall(call), ResponsePart::Text("Words.".into())],
        ..said("")
    };
    let why = || Diagnostic::cut("Test", "why");
    alloc::vec![
        ("calls", Ok(response(&["look"]))),
        (
            "calls under another finish",
            Ok(ModelResponse { finish: FinishReason::Stop, ..response(&["look"]) })
        ),
        ("a call of the provider's", Ok(by_provider)),
        ("no words", Ok(ModelResponse { parts: alloc::vec![], ..said("") })),
        ("only spaces", Ok(said(" \n\t "))),
        ("too many words", Ok(said(&"x".repeat(SUMMARY_BYTES + 1)))),
        ("not shorter", Ok(said(&"x".repeat(6_100)))),
        ("cut off", Ok(finished(FinishReason::Length))),
        ("withheld", Ok(finished(FinishReason::Withheld))),
        ("waiting for calls", Ok(finished(FinishReason::ToolCalls))),
        ("no usage", Ok(used(None))),
        ("impossible usage", Ok(used(Some(impossible)))),
        ("away", Err(ModelFault::Unavailable(why()))),
        ("not a response", Err(ModelFault::Protocol(why()))),
        ("busy", Err(ModelFault::RateLimited { diagnostic: why(), retry_after: None })),
        ("too long itself", Err(too_long())),
        ("refused", Err(ModelFault::Refused(why()))),
    ]
}

#[test]
fn run_023_a_useless_summary_changes_nothing_and_the_turn_is_asked_all_the_same() {
    for (name, answer) in useless() {
        let (bench, effects) = asking();
        let before = bench.fold().clone();
        let mut bench = bench.answered(summary(&effects, answer));
        let effects = bench.look();
        let records = committed(&effects);
        let paid = records.iter().all(|it| matches!(it, Record::ModelInterrupted(_)));
        assert!(paid && records.len() <= 1, "{name}: {records:?}");
        assert_eq!(requests(&effects).len(), 1, "{name}: no second try");
        let request = request(&effects);
        assert_eq!(request.purpose, Purpose::Respond, "{name}");
        assert_eq!(request.messages, before.messages(ONE.submission()), "{name}");
        assert_eq!(bench.fold().transcript(), before.transcript(), "{name}");
        let effects = bench.responds(0, &[]).look();
        assert!(matches!(settlement(&effects), Settlement::Completed { .. }), "{name}");
    }
}

#[test]
fn run_023_a_summary_that_failed_is_asked_for_again_on_the_next_turn() {
    let (bench, effects) = asking();
    let bench = bench.answered(summary(&effects, Ok(said(""))));
    let mut bench = bench.responds(0, &["look"]).authorized(0);
    bench.look();
    let effects = bench.returns(ONE.start(0, 0, 1)).look();
    assert!(matches!(request(&effects).purpose, Purpose::Summarize { .. }));
}

#[test]
fn run_023_a_summary_as_long_as_it_may_be_is_kept_without_the_spaces_around_it() {
    let mut bench = after(desk(LIMIT), &[(9_000, 0); 3]);
    let effects = bench.look();
    let words = "x".repeat(SUMMARY_BYTES);
    let answer = said(&alloc::format!("\n {words} \n"));
    let effects = bench.answered(summary(&effects, Ok(answer))).look();
    let [compaction] = &compactions(&committed(&effects))[..] else { panic!("{effects:?}") };
    assert_eq!(compaction.compaction, Compaction::Summarized(words.into()));
}

#[test]
fn case_bu_09_a_summary_of_a_provider_that_reports_nothing_uses_its_reservation() {
    let usage = UsageReporting::Unreported { tokens: 300 };
    let binding = under(AgentPolicy { context: Some(LIMIT), usage, ..policy() });
    let mut bench = after(binding, &[(1_500, 0); 4]);
    let effects = bench.look();
    let answer = ModelResponse { usage: None, ..said("Four long questions.") };
    let bench = bench.answered(summary(&effects, Ok(answer)));
    assert_eq!(bench.state.run().map(|run| run.overhead.tokens), Some(300));
}

#[test]
fn run_023_a_summary_counts_against_the_budget() {
    let allowance = crate::agent::Allowance { tokens: Some(500), ..policy().allowance };
    let binding = under(AgentPolicy { context: Some(LIMIT), allowance, ..policy() });
    let mut bench = after(binding, &[(1_500, 0); 4]);
    let effects = bench.look();
    let usage = Some(Usage { input_tokens: 480, output_tokens: 21, ..Usage::default() });
    let answer = ModelResponse { usage, ..said("Four long questions.") };
    let effects = bench.answered(summary(&effects, Ok(answer))).look();
    let Settlement::Failed { limit, .. } = settlement(&effects) else { panic!("{effects:?}") };
    assert_eq!(*limit, Some(PolicyLimit::Budget(Dimension::Tokens)));
    assert_eq!(compactions(&committed(&effects)).len(), 1, "what was paid for is kept");
}

/// What of each useless summary is charged: what it says, or what is reserved for its question.
#[test]
fn bu_07_a_useless_summary_is_paid_for_like_any_other_question() {
    for (name, answer) in useless() {
        let (bench, effects) = asking();
        let turned_away = matches!(
            answer,
            Err(ModelFault::RateLimited { .. }
                | ModelFault::ContextLength(_)
                | ModelFault::Refused(_))
        );
        let said = answer.as_ref().ok().and_then(|it| it.usage).filter(Usage::is_possible);
        let bench = bench.answered(summary(&effects, answer));
        let overhead = bench.state.run().map(|run| run.overhead).unwrap();
        match said {
            _ if turned_away => assert_eq!((overhead.lost, overhead.tokens), (0, 0), "{name}"),
            Some(said) => {
                assert_eq!((overhead.lost, overhead.tokens), (1, said.tokens()), "{name}")
            }
            None => assert!(overhead.lost == 1 && overhead.tokens > 1_000, "{name}: {overhead:?}"),
        }
    }
}
