//! Context that grows: it is made smaller before a turn, as much as it needs and no more.

mod interruptions;
mod play;
mod properties;
mod refusals;
mod summaries;
mod telling;

use alloc::string::ToString;

use self::play::{Happened, Talk, World, input, said, tale};
use super::*;
use crate::agent::{AgentPolicy, Binding, ContextPolicy, Message, ModelRequest, ToolChoice};
use crate::identity::Sequence;
use crate::record::{Compaction, CompactionCreated, ModelResponded};
use crate::run::context::estimate;
use crate::testkit::prompt::{check, kinds};
use crate::testkit::{policy, text, under};

/// A thousand tokens are the limit, and a quarter of that is kept.
const LIMIT: ContextPolicy = ContextPolicy { limit_tokens: 1_000, keep_tokens: 250 };

fn desk(context: ContextPolicy) -> Arc<Binding> {
    under(AgentPolicy { context: Some(context), ..policy() })
}

/// Earlier runs, each with an input of `words` characters and one call that returned `results`.
fn earlier(runs: &[(usize, usize)]) -> Story {
    let mut story = Story::new();
    for (number, (words, results)) in runs.iter().enumerate() {
        let tale = tale(100 + number);
        story = story.tell([input(tale, &"w".repeat(*words))]);
        if *results > 0 {
            let result = success(&"r".repeat(*results));
            story = story.tell([tale.responded(0, &["look"])]);
            story = story.tell([tale.tool_settled(tale.call(0, 0), result)]);
            story = story.tell([tale.responded(1, &[])]);
        } else {
            story = story.tell([tale.responded(0, &[])]);
        }
        story = story.tell([tale.settled(crate::testkit::story::completed())]);
    }
    story
}

/// A run after those earlier ones, that has just begun to go on.
fn after(binding: Arc<Binding>, runs: &[(usize, usize)]) -> Bench {
    let story = earlier(runs).tell([ONE.input()]);
    Bench::resting_with(binding, &story, 1).told(RESUMED)
}

/// What the model is asked among effects, in order.
fn requests(effects: &[Effect]) -> Vec<Arc<ModelRequest>> {
    let requests = asked(effects).into_iter().filter_map(|external| match external {
        External::CallModel(request) => Some(request),
        External::Check { .. }
        | External::Clear { .. }
        | External::Approve { .. }
        | External::Authorize { .. }
        | External::Permits { .. }
        | External::InvokeTool(_)
        | External::NextStep(_)
        | External::Reconcile(_) => None,
    });
    requests.collect()
}

/// The one request that effects end with.
fn request(effects: &[Effect]) -> Arc<ModelRequest> {
    requests(effects).pop().expect("the model is asked")
}

/// The compactions among records, in order.
fn compactions(records: &[Record]) -> Vec<CompactionCreated> {
    let compactions = records.iter().filter_map(|record| match record {
        Record::CompactionCreated(it) => Some(it.clone()),
        _ => None,
    });
    compactions.collect()
}

/// The summarizer answers what it is asked by effects.
fn summary(effects: &[Effect], response: Result<ModelResponse, ModelFault>) -> Answer {
    let request = request(effects);
    assert!(matches!(request.purpose, Purpose::Summarize { .. }), "{request:?}");
    let (turn, purpose) = (request.turn, request.purpose);
    Answer::Model {
        run: ONE.run(),
        turn,
        purpose,
        response: response.map(Arc::new).map_err(Into::into),
    }
}

/// The first call of the run returns so many characters.
fn found(characters: usize) -> Answer {
    let outcome = Arc::new(success(&"r".repeat(characters)));
    Answer::Tool { start: ONE.start(0, 0, 1), outcome }
}

fn too_long() -> ModelFault {
    ModelFault::ContextLength(Diagnostic::cut("prompt_too_long", "200 001 tokens"))
}

#[test]
fn run_023_context_under_the_limit_is_left_alone() {
    let runs = [(100, 1_000), (100, 1_000)];
    let effects = after(desk(LIMIT), &runs).look();
    assert_eq!(committed(&effects), []);
    assert_eq!(request(&effects).purpose, Purpose::Respond);
    // The same without a policy, whatever the size.
    let effects = after(under(policy()), &[(9_000, 9_000); 9]).look();
    assert_eq!((committed(&effects).len(), request(&effects).messages.len()), (0, 37));
}

#[test]
fn case_co_05_a_context_of_tool_output_has_old_results_cleared_and_nothing_else() {
    let effects = after(desk(LIMIT), &[(50, 2_000); 4]).look();
    let [compaction] = &compactions(&committed(&effects))[..] else { panic!("{effects:?}") };
    assert_eq!((&compaction.compaction, compaction.usage), (&Compaction::ResultsCleared, None));
    let request = request(&effects);
    assert_eq!((request.purpose, requests(&effects).len()), (Purpose::Respond, 1));
    let mut expected = ["user", "assistant", "result", "assistant"].repeat(4);
    expected.push("user");
    assert_eq!(kinds(&request.messages), expected, "the calls are shown as before");
    assert!(estimate(&request.agent, &request.messages) <= LIMIT.limit_tokens);
    assert!(matches!(effects[0], Effect::Commit(_)), "canonical before it is shown");
}

#[test]
fn run_023_recent_results_stay_as_they_are() {
    let mut runs = [(50, 2_000); 4];
    runs[3] = (50, 900);
    let effects = after(desk(LIMIT), &runs).look();
    let sizes = request(&effects).messages.iter().map(Message::clearable_bytes).collect::<Vec<_>>();
    let results: Vec<_> = sizes.into_iter().filter(|bytes| *bytes > 0).collect();
    assert_eq!(results, [902], "about as much as is kept");
}

#[test]
fn run_023_what_clearing_cannot_help_is_summarized() {
    let mut bench = after(desk(LIMIT), &[(1_500, 0); 4]);
    let effects = bench.look();
    assert_eq!(committed(&effects), [], "there is nothing to clear");
    let Purpose::Summarize { through } = request(&effects).purpose else { panic!("{effects:?}") };
    let mut bench = bench.answered(summary(&effects, Ok(said("  Four long questions. \n"))));
    let effects = bench.look();
    let [compaction] = &compactions(&committed(&effects))[..] else { panic!("{effects:?}") };
    let words = Compaction::Summarized("Four long questions.".into());
    assert_eq!((&compaction.compaction, compaction.through), (&words, through));
    assert_eq!((compaction.turn, compaction.usage), (Turn(0), Some(Default::default())));
    let request = request(&effects);
    assert_eq!(kinds(&request.messages), ["summary", "assistant", "user"]);
    assert_eq!((request.purpose, request.tools), (Purpose::Respond, ToolChoice::Allowed));
}

#[test]
fn run_023_old_results_are_cleared_first_and_the_rest_is_summarized() {
    let mut bench = after(desk(LIMIT), &[(1_500, 1_500); 4]);
    let effects = bench.look();
    let [cleared] = &compactions(&committed(&effects))[..] else { panic!("{effects:?}") };
    assert_eq!(cleared.compaction, Compaction::ResultsCleared);
    let asked = request(&effects);
    assert!(matches!(asked.purpose, Purpose::Summarize { .. }));
    let Some(Message::User(question)) = asked.messages.iter().next() else { panic!() };
    assert!(question.as_str().contains("Result: 1502 bytes, no longer shown"));
    let effects = bench.answered(summary(&effects, Ok(said("Much.")))).look();
    let [summarized] = &compactions(&committed(&effects))[..] else { panic!("{effects:?}") };
    assert!(matches!(summarized.compaction, Compaction::Summarized(_)));
    assert_eq!(kinds(&request(&effects).messages)[..2], ["summary", "assistant"]);
}

#[test]
fn case_co_03_without_a_turn_of_the_user_the_cut_comes_before_a_response() {
    // One earlier run: an input, and then 20 responses with a result each.
    let tale = tale(100);
    let mut story = Story::new().tell([tale.input()]);
    for turn in 0..20 {
        let parts = said(&"x".repeat(200)).parts;
        let mut response = response(&["look"]);
        response.parts.extend(parts);
        let (submission, response) = (tale.submission(), Arc::new(response));
        let responded = ModelResponded { submission, turn: Turn(turn), response };
        story = story.tell([Record::ModelResponded(responded)]);
        story = story.tell([tale.tool_settled(tale.call(turn, 0), success("found"))]);
    }
    let story = story.tell([tale.settled(crate::testkit::story::completed())]).tell([ONE.input()]);
    let mut bench = Bench::resting_with(desk(LIMIT), &story, 1).told(RESUMED);
    let effects = bench.look();
    let effects = bench.answered(summary(&effects, Ok(said("They looked.")))).look();
    let shown = request(&effects).messages.clone();
    check(&shown);
    let kinds = kinds(&shown);
    assert_eq!(kinds[..3], ["summary", "assistant", "result"], "the cut is before a response");
    assert!((5..12).contains(&kinds.len()), "about as much as is kept: {kinds:?}");
}

#[test]
fn run_023_the_run_itself_is_never_made_smaller() {
    let binding = desk(ContextPolicy { limit_tokens: 200, keep_tokens: 10 });
    let mut bench = after(binding, &[(4, 0)]);
    bench.look();
    let bench = bench.responds(0, &["look"]).authorized(0).answered(found(4_000));
    let effects = bench.clone().look();
    assert_eq!(compactions(&committed(&effects)), []);
    let request = request(&effects);
    assert_eq!((request.purpose, request.turn), (Purpose::Respond, Turn(1)));
    assert!(estimate(&request.agent, &request.messages) > 200, "nothing else can be done");
}

#[test]
fn run_023_one_compaction_a_turn_and_again_on_the_next() {
    let retry = crate::agent::ModelRetry { retries: 2, ..policy().retry };
    let keeps_much = ContextPolicy { limit_tokens: 400, keep_tokens: 390 };
    let binding = under(AgentPolicy { context: Some(keeps_much), retry, ..policy() });
    let mut bench = after(binding, &[(800, 0); 4]);
    let effects = bench.look();
    let long = "s".repeat(1_000);
    let mut bench = bench.answered(summary(&effects, Ok(said(&long))));
    let shown = request(&bench.look());
    assert!(estimate(&shown.agent, &shown.messages) > 400, "still over, and asked all the same");
    let fault = ModelFault::Unavailable(Diagnostic::cut("Down", "for a while"));
    let bench = bench.answered(answered_with(0, Err(fault)));
    let mut bench = bench.told(Input::Due(Timer::Retry(Turn(0))));
    let effects = bench.look();
    assert_eq!((compactions(&committed(&effects)), request(&effects)), (alloc::vec![], shown));
    let mut bench = bench.responds(0, &["look"]).authorized(0).answered(found(900));
    let effects = bench.look();
    assert!(matches!(request(&effects).purpose, Purpose::Summarize { .. }), "turn 1 may");
}

#[test]
fn cap_017_the_last_report_of_the_provider_counts_for_more_than_bytes() {
    let counted = |input_tokens| {
        let usage = crate::agent::Usage { input_tokens, ..Default::default() };
        ModelResponse { usage: Some(usage), ..response(&["look"]) }
    };
    for (tokens, is_over) in [(900, false), (1_100, true)] {
        let mut bench = after(desk(LIMIT), &[(400, 0); 4]);
        assert_eq!(request(&bench.look()).purpose, Purpose::Respond, "by its bytes it is small");
        let bench = bench.answered(model(0, counted(tokens))).authorized(0);
        let effects = bench.returns(ONE.start(0, 0, 1)).look();
        let summarizes = matches!(request(&effects).purpose, Purpose::Summarize { .. });
        assert_eq!(summarizes, is_over, "{tokens} tokens");
    }
}

#[test]
fn cap_017_what_came_after_the_last_report_is_taken_by_its_bytes() {
    let usage = crate::agent::Usage { input_tokens: 900, ..Default::default() };
    for (result, is_over) in [(396, false), (404, true)] {
        let mut bench = after(desk(LIMIT), &[(400, 0); 4]);
        bench.look();
        let counted = ModelResponse { usage: Some(usage), ..response(&["look"]) };
        let bench = bench.answered(model(0, counted)).authorized(0);
        // The label of the call has four bytes, and the result two quotes.
        let effects = bench.answered(found(result - 6)).look();
        let summarizes = matches!(request(&effects).purpose, Purpose::Summarize { .. });
        assert_eq!(summarizes, is_over, "{result} bytes");
    }
}

#[test]
fn run_023_what_is_a_summary_already_is_not_summarized_again() {
    let mut bench = after(desk(LIMIT), &[(1_500, 0); 4]);
    let effects = bench.look();
    let answer = summary(&effects, Ok(said(&"s".repeat(800))));
    let bench = bench.answered(answer).responds(0, &["look"]).authorized(0);
    let mut bench = bench.answered(found(4_000));
    let effects = bench.look();
    let answer = summary(&effects, Ok(said(&"s".repeat(700))));
    let bench = bench.answered(answer).responds(1, &["look"]).authorized(1);
    let mut bench = bench.returns(ONE.start(1, 0, 1));
    let effects = bench.look();
    let last = request(&effects);
    assert!(estimate(&last.agent, &last.messages) > LIMIT.limit_tokens);
    assert_eq!((last.purpose, last.turn), (Purpose::Respond, Turn(2)));
    assert_eq!(kinds(&last.messages)[..2], ["summary", "user"], "nothing else is old");
}

#[test]
fn run_021_the_status_ends_a_request_and_is_in_no_record_and_in_no_summary() {
    let binding = under(AgentPolicy { context: Some(LIMIT), status_note: true, ..policy() });
    let mut bench = after(binding, &[(1_500, 0); 4]);
    let effects = bench.look();
    assert_eq!(request(&effects).status, []);
    let mut bench = bench.answered(summary(&effects, Ok(said("Four long questions."))));
    let effects = bench.look();
    let first = request(&effects);
    assert_eq!(first.status.len(), 1, "turns are what is limited");
    let mut bench = bench.responds(0, &["look"]).authorized(0).returns(ONE.start(0, 0, 1));
    let second = request(&bench.look());
    assert_eq!((first.status[0].used, second.status[0].used), (0, 1));
    let grown = second.messages.entries().take(first.messages.len());
    assert!(grown.eq(first.messages.entries()), "the history is the same with and without it");
}
