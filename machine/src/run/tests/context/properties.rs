//! Any history, any limit, any model: what holds of every request.

use proptest::prelude::*;

use super::play::Answered;
use super::*;
use crate::limits::{SUMMARY_BYTES, WORTHWHILE_SHARE};
use crate::projection::Projection;
use crate::run::context::Old;

/// How a model behaves.
#[derive(Clone, Copy, Debug)]
struct Mind {
    /// Refuses requests that are longer, by the one estimate there is.
    window: u64,
    /// Characters of a summary.
    summary: usize,
    /// Counts so many tokens for a hundred bytes; none if zero.
    density: u64,
}

/// One submission of a conversation.
#[derive(Clone, Copy, Debug)]
struct Visit {
    words: usize,
    /// Turns with two calls each.
    calls: u32,
}

impl Mind {
    fn answer(&self, request: &ModelRequest, visit: Visit) -> Answered {
        let bytes = request.messages.bytes();
        let input_tokens = bytes * self.density / 100;
        let usage = Some(crate::agent::Usage { input_tokens, ..Default::default() });
        match request.purpose {
            Purpose::Summarize { .. } => {
                Ok(ModelResponse { usage, ..said(&"s".repeat(self.summary)) })
            }
            Purpose::Respond if estimate(&request.agent, &request.messages) > self.window => {
                Err(too_long())
            }
            Purpose::Respond if request.turn.0 < visit.calls => {
                Ok(ModelResponse { usage, ..response(&["look", "look"]) })
            }
            Purpose::Respond => Ok(ModelResponse { usage, ..said("done") }),
        }
    }
}

fn visits() -> impl Strategy<Value = Vec<Visit>> {
    let words = prop_oneof![0..40_usize, 200..2_000_usize];
    let visit = (words, 0..3_u32).prop_map(|(words, calls)| Visit { words, calls });
    prop::collection::vec(visit, 1..10)
}

fn limits() -> impl Strategy<Value = ContextPolicy> {
    (1..2_000_u64, 0..100_u64).prop_map(|(limit_tokens, share)| {
        let keep_tokens = limit_tokens * share / 100;
        ContextPolicy { limit_tokens, keep_tokens: keep_tokens.min(limit_tokens - 1) }
    })
}

fn minds(wide: bool) -> impl Strategy<Value = Mind> {
    let window = if wide { 100_000..100_001_u64 } else { 1..4_000_u64 };
    let summary = prop_oneof![2 => 1..60_usize, 1 => Just(0_usize), 1 => 500..2_000_usize];
    let density = prop_oneof![Just(0_u64), 10..60_u64];
    (window, summary, density).prop_map(|(window, summary, density)| Mind {
        window,
        summary,
        density,
    })
}

/// Everything that happened in a conversation, with the fold before each run and its visit.
type History = Vec<(Projection, Tale, Visit, Vec<Happened>)>;

fn history(context: ContextPolicy, mind: Mind, visits: &[Visit], results: usize) -> History {
    let (binding, result) = (desk(context), success(&"r".repeat(results)));
    let mut talk = Talk::new();
    let runs = visits.iter().enumerate().map(|(number, visit)| {
        let model = |request: &ModelRequest| mind.answer(request, *visit);
        let (binding, result) = (binding.clone(), result.clone());
        let world = World { binding, model: &model, result };
        let mut before = Talk { fold: talk.fold.clone(), records: Vec::new() };
        before.tell(input(tale(number), &"w".repeat(visit.words)));
        let happened = talk.run(&world, tale(number), &"w".repeat(visit.words));
        (before.fold, tale(number), *visit, happened)
    });
    let history = runs.collect();
    assert_eq!(Projection::of_records(&talk.records), talk.fold, "DUR-015");
    history
}

impl Projection {
    fn of_records(records: &[Record]) -> Self {
        let mut talk = Talk::new();
        records.iter().for_each(|record| talk.tell(record.clone()));
        talk.fold
    }
}

fn asked_of(happened: &[Happened]) -> Vec<Arc<ModelRequest>> {
    let requests = happened.iter().filter_map(|it| match it {
        Happened::Asked(External::CallModel(request)) => Some(request.clone()),
        Happened::Asked(_) | Happened::Committed(_) | Happened::Settled(_) => None,
    });
    requests.collect()
}

/// A request that is over the limit has nothing left that is worth making smaller, or the one
/// try of its turn is behind it.
fn is_as_small_as_can_be(fold: &Projection, tale: Tale, request: &ModelRequest, tried: bool) {
    let context = request.agent.policy().context.expect("the agent has a limit");
    let size = estimate(&request.agent, &request.messages);
    if size <= context.limit_tokens {
        return;
    }
    let run = fold.submission(tale.submission()).and_then(|view| view.run.as_ref());
    let run = run.expect("it asks");
    let old = Old::of(&request.messages, run.input_at, context.keep_tokens);
    let least = size / WORTHWHILE_SHARE;
    let worth = |bytes: u64| bytes > 0 && bytes.div_ceil(4) >= least;
    let turn = Some(request.turn);
    assert!(
        tried || run.summarized == turn || old.is_none_or(|old| !worth(old.covered)),
        "CO-07: {size} tokens are over {}, and {old:?} could go",
        context.limit_tokens
    );
    assert!(run.compacted == turn || old.is_none_or(|old| !worth(old.clearable)));
}

proptest! {
    #![proptest_config(ProptestConfig {
        cases: 96, failure_persistence: None, ..ProptestConfig::default()
    })]

    #[test]
    fn case_co_01_every_request_of_any_conversation_is_whole_and_every_run_ends(
        visits in visits(), context in limits(), mind in minds(false), results in 0..1_500_usize,
    ) {
        for (_, tale, _, happened) in history(context, mind, &visits, results) {
            for request in asked_of(&happened) {
                check(&request.messages);
                prop_assert_eq!(request.run, tale.run());
            }
            let ended = matches!(happened.last(), Some(Happened::Settled(_)));
            prop_assert!(ended, "{:?}", happened.last());
        }
    }

    #[test]
    fn case_co_07_whatever_a_provider_would_refuse_is_made_smaller_before(
        visits in visits(), context in limits(), mind in minds(false), results in 0..1_500_usize,
        margin in 0..500_u64,
    ) {
        // The limit lies below what the provider refuses, as it has to.
        let mind = Mind { window: context.limit_tokens + margin, ..mind };
        for (mut fold, tale, visit, happened) in history(context, mind, &visits, results) {
            let mut tried = None;
            let mut refusals = [0_u32; 8];
            for it in &happened {
                match it {
                    Happened::Committed(batch) => fold.apply(Epoch(1), batch).unwrap(),
                    Happened::Asked(External::CallModel(request)) => match request.purpose {
                        Purpose::Summarize { .. } => tried = Some(request.turn),
                        Purpose::Respond => {
                            let has_tried = tried == Some(request.turn);
                            is_as_small_as_can_be(&fold, tale, request, has_tried);
                            if mind.answer(request, visit).is_err() {
                                refusals[request.turn.0 as usize] += 1;
                            }
                        }
                    },
                    Happened::Asked(_) | Happened::Settled(_) => {}
                }
            }
            prop_assert!(refusals.iter().all(|times| *times <= 2), "RUN-024: {:?}", refusals);
            // A refused request is nowhere in the log: a turn has a response or nothing.
            let view = fold.submission(tale.submission()).unwrap();
            let turns = view.run.as_ref().map_or(0, |run| run.turns.len());
            let too_long = matches!(
                happened.last(),
                Some(Happened::Settled(Settlement::Failed { diagnostic, .. }))
                    if diagnostic.tag() == "ContextLength"
            );
            prop_assert_eq!(too_long, refusals[turns] > 0);
        }
    }

    #[test]
    fn run_023_whoever_resumes_between_any_two_records_goes_on_alike(
        visits in visits(), context in limits(), mind in minds(true), results in 0..1_500_usize,
    ) {
        for (mut fold, tale, visit, happened) in history(context, mind, &visits, results) {
            let model = |request: &ModelRequest| mind.answer(request, visit);
            let result = success(&"r".repeat(results));
            let world = World { binding: desk(context), model: &model, result };
            for (at, it) in happened.iter().enumerate() {
                let Happened::Committed(batch) = it else { continue };
                fold.apply(Epoch(1), batch).unwrap();
                // A summary that was of no use is asked for again by whoever resumes.
                let is_lost = |it: &Record| matches!(it, Record::ModelInterrupted(_));
                if batch.records().iter().any(is_lost) {
                    continue;
                }
                // Between the results of a batch its judges are asked again.
                let next = happened.get(at + 1);
                if !matches!(next, Some(Happened::Asked(External::CallModel(_)))) {
                    continue;
                }
                prop_assert_eq!(&world.play(&fold, tale)[..], &happened[at + 1..]);
            }
        }
    }
}

#[test]
fn run_023_a_hundred_compactions_do_not_grow_a_summary() {
    let context = ContextPolicy { limit_tokens: 6_000, keep_tokens: 500 };
    // The longest summary that can be kept, every time.
    let mind = Mind { window: 100_000, summary: SUMMARY_BYTES, density: 0 };
    let visits = [Visit { words: 4_000, calls: 0 }; 420];
    let history = history(context, mind, &visits, 0);
    let mut sizes = Vec::new();
    for (_, _, _, happened) in &history {
        for it in happened {
            let Happened::Committed(batch) = it else { continue };
            for compaction in compactions(batch.records()) {
                sizes.push(match compaction.compaction {
                    Compaction::Summarized(words) => words.len(),
                    Compaction::ResultsCleared => 0,
                });
            }
        }
    }
    assert!(sizes.len() >= 100, "{}", sizes.len());
    assert!(sizes.iter().all(|size| *size == SUMMARY_BYTES));
    let largest = history.iter().map(|(fold, _, _, _)| fold.transcript().bytes()).max();
    let bound = context.limit_tokens * 4 + 5_000;
    assert!(largest.is_some_and(|largest| largest <= bound), "{largest:?} over {bound}");
}

#[test]
fn case_co_01_random_conversations_reach_everything() {
    use proptest::strategy::ValueTree;
    use proptest::test_runner::TestRunner;

    let mut runner = TestRunner::deterministic();
    let strategy = (visits(), limits(), minds(false), 0..1_500_usize);
    let mut seen = [0; 5];
    for _ in 0..150 {
        let (visits, context, mind, results) = strategy.new_tree(&mut runner).unwrap().current();
        for (_, _, visit, happened) in history(context, mind, &visits, results) {
            for request in asked_of(&happened) {
                let answer = mind.answer(&request, visit);
                let summarizes = matches!(request.purpose, Purpose::Summarize { .. });
                seen[0] += usize::from(summarizes);
                seen[1] += usize::from(answer.is_err());
            }
            for it in &happened {
                let Happened::Committed(batch) = it else { continue };
                for it in compactions(batch.records()) {
                    let clears = it.compaction == Compaction::ResultsCleared;
                    seen[if clears { 2 } else { 3 }] += 1;
                    seen[4] += usize::from(it.turn > Turn(0));
                }
            }
        }
    }
    assert!(
        seen.iter().all(|times| *times > 30),
        "summaries, refusals, cleared, summarized, later turns: {seen:?}"
    );
}
