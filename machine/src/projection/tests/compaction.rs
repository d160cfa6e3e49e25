//! Making context smaller changes what is shown, and nothing that was recorded.

use alloc::sync::Arc;
use alloc::vec::Vec;

use proptest::prelude::*;

use super::transcript::in_order;
use super::*;
use crate::agent::{Diagnostic, Messages, ModelResponse, ToolOutcome, Usage};
use crate::record::{Compaction, CompactionCreated, ModelResponded};
use crate::testkit::prompt::{check, kinds};
use crate::testkit::story::response;
use crate::testkit::walk::{Say, TALES, says};

fn summarized() -> Compaction {
    Compaction::Summarized("They want a refund.".into())
}

fn outcomes(messages: &Messages) -> Vec<ToolOutcome> {
    let outcome = |message: &Message| match message {
        Message::ToolResult { outcome, .. } => Some(ToolOutcome::clone(outcome)),
        Message::User(_) | Message::Summary(_) | Message::Assistant(_) => None,
    };
    messages.iter().filter_map(outcome).collect()
}

/// A run of two turns that is settled, and another one that has its input. The records are: 1
/// input, 2 response, 3 and 4 results, 5 response, 6 settlement, 7 input.
fn two_runs() -> Story {
    let story = declared(&["look", "look"]).tell([result(0)]);
    let failure = ToolOutcome::Failure(Diagnostic::cut("Shop", "closed"));
    let story = story.tell([ONE.tool_settled(ONE.call(0, 1), failure)]);
    story.tell([ONE.responded(1, &[])]).tell([ONE.settled(completed())]).tell([TWO.input()])
}

fn shown(story: &Story) -> Messages {
    story.fold.messages(TWO.submission())
}

#[test]
fn run_023_a_summary_is_shown_instead_of_what_it_covers() {
    let before = ["user", "assistant", "result", "result", "assistant", "user"];
    assert_eq!(kinds(&shown(&two_runs())), before);
    let after: [(u64, &[&str]); 6] = [
        (0, &["summary", "user", "assistant", "result", "result", "assistant", "user"]),
        (1, &["summary", "assistant", "result", "result", "assistant", "user"]),
        (2, &["summary", "assistant", "user"]),
        (3, &["summary", "assistant", "user"]),
        (4, &["summary", "assistant", "user"]),
        (5, &["summary", "user"]),
    ];
    for (through, expected) in after {
        let story = two_runs().tell([TWO.compacted(0, through, summarized())]);
        assert_eq!(kinds(&shown(&story)), expected, "through {through}");
        check(&shown(&story));
    }
}

#[test]
fn run_023_a_later_summary_stands_for_the_earlier_one_too() {
    let story = two_runs().tell([TWO.compacted(0, 2, summarized())]);
    let again = Compaction::Summarized("They got it.".into());
    let story = story.tell([TWO.compacted(0, 5, again)]);
    let words: Vec<_> = shown(&story).iter().cloned().collect();
    assert_eq!(words, [Message::Summary("They got it.".into()), Message::User(text("2"))]);
}

#[test]
fn run_023_case_oh_05_a_cleared_result_still_says_how_its_call_ended() {
    let story = two_runs().tell([TWO.compacted(0, 2, Compaction::ResultsCleared)]);
    assert_eq!(kinds(&shown(&story)), kinds(&shown(&two_runs())));
    let (empty, bytes) = (Arc::<str>::from(""), r#""result""#.len() as u64);
    let cleared = crate::agent::Truncated { head: empty.clone(), tail: empty, bytes };
    let failure = ToolOutcome::Failure(Diagnostic::cut("Shop", "closed"));
    assert_eq!(outcomes(&shown(&story)), [ToolOutcome::Truncated(cleared), failure]);
    let again = story.clone().tell([TWO.compacted(0, 5, Compaction::ResultsCleared)]);
    assert_eq!(shown(&again), shown(&story), "what is cleared stays as it is");
    let clearable: usize = shown(&two_runs()).iter().map(Message::clearable_bytes).sum();
    let saved = shown(&two_runs()).bytes() - shown(&story).bytes();
    assert_eq!(clearable as u64, saved);
    assert_eq!(shown(&story).iter().map(Message::clearable_bytes).sum::<usize>(), 0);
}

#[test]
fn run_023_only_earlier_runs_are_covered_and_only_between_turns() {
    let mut story = two_runs();
    let mut refused = |record: Record| {
        assert!(story.try_tell(alloc::vec![record.clone()]).is_err(), "{record:?}");
    };
    refused(TWO.compacted(0, 7, summarized()));
    refused(TWO.compacted(0, 8, Compaction::ResultsCleared));
    refused(TWO.compacted(1, 2, summarized()));
    refused(ONE.compacted(2, 0, summarized()));
    refused(Tale("3").compacted(0, 2, summarized()));
    let mut story = two_runs().tell([TWO.responded(0, &["look"])]);
    let early = TWO.compacted(1, 2, summarized());
    assert!(story.try_tell(alloc::vec![early.clone()]).is_err(), "a call has no result");
    story.tell([TWO.tool_settled(TWO.call(0, 0), success("result"))]).tell([early]);
}

#[test]
fn cap_007_what_is_covered_stays_in_the_log() {
    let before = two_runs();
    let after = before.clone().tell([TWO.compacted(0, 5, summarized())]);
    let (old, new) = after.batches.split_at(before.batches.len());
    assert_eq!((old, new.len()), (&before.batches[..], 1));
    let rebuilt = Projection::of(old).unwrap();
    assert_eq!(rebuilt.messages(TWO.submission()), shown(&before));
    assert_eq!(after.view(ONE), before.view(ONE), "nor does the run that it covers change");
}

#[test]
fn case_co_13_a_compaction_is_folded_exactly_once_whoever_reads_it() {
    let story = two_runs().tell([TWO.compacted(0, 2, Compaction::ResultsCleared)]);
    let story = story.tell([TWO.compacted(0, 5, summarized())]).tell([TWO.responded(0, &[])]);
    assert_eq!(Projection::of(&story.batches), Ok(story.fold.clone()));
    let run = story.run(TWO);
    assert_eq!((run.compacted, run.summarized), (Some(Turn(0)), Some(Turn(0))));
    let summaries = kinds(&shown(&story)).into_iter().filter(|kind| *kind == "summary");
    assert_eq!(summaries.count(), 1);
    // One that contradicts changes nothing, not even what is shown.
    let mut refused = story.clone();
    assert!(refused.try_tell(alloc::vec![TWO.compacted(0, 5, summarized())]).is_err());
    assert_eq!(refused.fold, story.fold);
}

#[test]
fn run_023_a_summary_is_charged_to_the_turn_that_it_leads_to() {
    let usage = Usage { input_tokens: 70, output_tokens: 7, cost_micros: 5, ..Usage::default() };
    let metered = |through| match TWO.compacted(0, through, summarized()) {
        Record::CompactionCreated(it) => {
            Record::CompactionCreated(CompactionCreated { usage: Some(usage), ..it })
        }
        other => panic!("{other:?}"),
    };
    let story = two_runs().tell([metered(2)]).tell([metered(5)]);
    let overhead = Overhead { lost: 0, tokens: 154, cost_micros: 10 };
    assert_eq!(story.run(TWO).overhead, overhead);
    let story = story.tell([TWO.responded(0, &[])]);
    assert_eq!(story.run(TWO).overhead, Overhead::default());
    assert_eq!(story.run(TWO).turns[0].overhead, overhead);
}

/// A response in words that used so many tokens.
fn counted(tale: Tale, turn: u32, input_tokens: u64, output_tokens: u64) -> Record {
    let usage = Usage { input_tokens, output_tokens, ..Usage::default() };
    let response = Arc::new(ModelResponse { usage: Some(usage), ..response(&[]) });
    let (submission, turn) = (tale.submission(), Turn(turn));
    Record::ModelResponded(ModelResponded { submission, turn, response })
}

#[test]
fn cap_017_what_a_provider_counted_holds_until_context_is_made_smaller() {
    let seen = |story: &Story, tale: Tale| {
        let messages = story.fold.messages(tale.submission());
        messages.counted().map(|it| (it.tokens, it.bytes_since))
    };
    let story = Story::new().tell([ONE.input()]);
    assert_eq!(seen(&story, ONE), None, "nobody has counted");
    let story = story.tell([ONE.responded(0, &[])]);
    assert_eq!(seen(&story, ONE), None, "a provider that reports no request has counted none");
    let story = story.tell([counted(ONE, 1, 500, 20)]);
    assert_eq!(seen(&story, ONE), Some((520, 0)));
    let story = story.tell([ONE.settled(completed())]).tell([TWO.input()]);
    assert_eq!(seen(&story, TWO), Some((520, 3)), "the next run goes on from there");
    let story = story.tell([TWO.responded(0, &["look"])]);
    let story = story.tell([TWO.tool_settled(TWO.call(0, 0), success("result"))]);
    let since = shown(&story).bytes() - story.fold.transcript().bytes();
    assert_eq!(seen(&story, TWO), Some((520, since)), "as long as nobody else reports");
    let story = story.tell([TWO.compacted(1, 1, Compaction::ResultsCleared)]);
    assert_eq!(seen(&story, TWO), None, "what was counted is not shown any more");
    let story = story.tell([counted(TWO, 1, 90, 9)]);
    assert_eq!(seen(&story, TWO), Some((99, 0)));
    let story = story.tell([TWO.settled(completed())]);
    assert_eq!(seen(&story, Tale("3")), Some((99, 0)));
}

#[test]
fn cap_017_a_run_that_ended_before_it_was_counted_again_hands_on_no_count() {
    let story = Story::new().tell([ONE.input()]).tell([counted(ONE, 0, 500, 20)]);
    let story = story.tell([ONE.settled(completed())]).tell([TWO.input()]);
    let story = story.tell([counted(TWO, 0, 600, 20)]);
    let story = story.tell([TWO.compacted(1, 2, summarized())]);
    let story = story.tell([TWO.responded(1, &["pay"])]).tell([TWO.settled(failed("Test"))]);
    assert_eq!(story.fold.transcript().counted(), None);
}

#[test]
fn cap_017_totals_tell_caches_apart_and_name_the_most_recent_response() {
    let used = |input_tokens, cache_read_tokens, cache_write_tokens| Usage {
        input_tokens,
        cache_read_tokens,
        cache_write_tokens,
        output_tokens: 10,
        cost_micros: 3,
    };
    let responded = |turn, usage| {
        let response = Arc::new(ModelResponse { usage, ..response(&[]) });
        let (submission, turn) = (ONE.submission(), Turn(turn));
        Record::ModelResponded(ModelResponded { submission, turn, response })
    };
    let story = Story::new().tell([ONE.input()]);
    assert_eq!(story.run(ONE).usage(), UsageTotals::default());
    let story = story.tell([responded(0, Some(used(100, 0, 80)))]);
    let story = story.tell([responded(1, Some(used(150, 80, 40)))]).tell([responded(2, None)]);
    let all = Usage { output_tokens: 20, cost_micros: 6, ..used(250, 80, 120) };
    let last = Some(used(150, 80, 40));
    assert_eq!(story.run(ONE).usage(), UsageTotals { all, last });
    assert_eq!((all.uncached_tokens(), last.map(|it| it.tokens())), (50, Some(160)));
}

/// One thing that makes context smaller, after so many other things were said.
#[derive(Clone, Debug)]
struct Smaller {
    after: usize,
    tale: Tale,
    through: u64,
    compaction: Compaction,
}

fn smaller() -> impl Strategy<Value = Vec<Smaller>> {
    let tale = prop::sample::select(TALES.to_vec());
    let one = (0..48_usize, tale, 0..40_u64, any::<bool>());
    let one = one.prop_map(|(after, tale, through, clears)| {
        let compaction = if clears { Compaction::ResultsCleared } else { summarized() };
        Smaller { after, tale, through, compaction }
    });
    prop::collection::vec(one, 1..24)
}

/// A random history with compactions in between; those that contradict it are left out.
fn told(says: &[Say], smaller: &[Smaller]) -> Story {
    let mut story = Story::new();
    for (at, say) in says.iter().enumerate() {
        story.say(*say);
        for it in smaller.iter().filter(|it| it.after == at) {
            let view = story.fold.submission(it.tale.submission());
            let Some(run) = view.and_then(|view| view.run.as_ref()) else { continue };
            let (turn, through) = (run.next_turn().0, it.through % run.input_at.0);
            let record = it.tale.compacted(turn, through, it.compaction.clone());
            let _ = story.try_tell(alloc::vec![record]);
        }
    }
    story
}

proptest! {
    #![proptest_config(ProptestConfig {
        cases: 192, failure_persistence: None, ..ProptestConfig::default()
    })]

    #[test]
    fn case_co_01_no_cut_anywhere_parts_a_call_from_its_result(
        says in says(3), smaller in smaller(),
    ) {
        let story = told(&says, &smaller);
        let mut fold = Projection::default();
        for stored in &story.batches {
            fold.apply(stored.envelope().epoch, stored.batch()).unwrap();
            check(fold.transcript());
            for tale in TALES {
                let messages = fold.messages(tale.submission());
                check(&messages);
                in_order(tale, &messages);
            }
        }
        prop_assert_eq!(fold, story.fold);
    }
}

#[test]
fn case_co_01_random_histories_do_make_context_smaller() {
    use proptest::strategy::ValueTree;
    use proptest::test_runner::TestRunner;

    let mut runner = TestRunner::deterministic();
    let strategy = (says(3), smaller());
    let mut seen = [0; 2];
    for _ in 0..400 {
        let (says, smaller) = strategy.new_tree(&mut runner).unwrap().current();
        for stored in &told(&says, &smaller).batches {
            if let Record::CompactionCreated(it) = &stored.batch().records()[0] {
                seen[usize::from(it.compaction == summarized())] += 1;
            }
        }
    }
    assert!(seen.iter().all(|times| *times > 40), "{seen:?}");
}
