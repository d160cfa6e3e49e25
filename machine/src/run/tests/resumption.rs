//! A run is its fold: whoever folds the same records goes on the same way (DUR-015, ARC-11).

use proptest::prelude::*;

use super::*;
use crate::projection::Projection;
use crate::record::Batch;
use crate::testkit::text;

/// What happens next in a random run.
#[derive(Clone, Copy, Debug)]
struct Turned {
    calls: usize,
    denied: bool,
    /// In which order tools return.
    order: usize,
}

const CALLS: [&[&str]; 6] =
    [&["look"], &["pay"], &["look", "file"], &["pay", "wire", "look"], &["nothing"], &[]];

fn turns() -> impl Strategy<Value = Vec<Turned>> {
    let turned = (0..CALLS.len(), prop::bool::weighted(0.1), 0..6_usize);
    let turned = turned.prop_map(|(calls, denied, order)| Turned { calls, denied, order });
    prop::collection::vec(turned, 1..5)
}

/// A live run and the log that a store would have of it.
struct Recorded {
    bench: Bench,
    log: Vec<Arc<Batch>>,
    asked: Vec<External>,
}

impl Recorded {
    fn told(&mut self, input: Input) {
        let bench = Bench { effects: Vec::new(), ..self.bench.clone() };
        self.bench = bench.told(input);
        for effect in &self.bench.effects {
            match effect {
                Effect::Commit(batch) => self.log.push(Arc::clone(batch)),
                Effect::External(external) => self.asked.push(external.clone()),
                Effect::Schedule { .. } | Effect::Tell(_) | Effect::Listen | Effect::Settle(_) => {}
            }
        }
        self.check();
    }

    /// The fold of the log is the fold of the run, and whoever rests on it goes on likewise.
    fn check(&self) {
        let live = &self.bench.state;
        let story = Story::new().tell([ONE.input()]);
        let mut replayed = Bench::resting(&story, 1).state;
        for batch in &self.log {
            assert!(replayed.fold_batch(batch));
        }
        assert_eq!(replayed.projection(), live.projection(), "DUR-015");
        let [a, b] = [&replayed, live].map(|it| next(it.run().unwrap(), &it.terms()));
        assert_eq!(a, b, "a live and a resumed run agree");
        assert!(replayed.flights().is_empty(), "ARC-11: folding asks nothing");

        // With what is out already, it waits; with nothing out, it asks what is asked.
        let replayed = Bench { state: replayed, effects: Vec::new() };
        let mut waiting = replayed.clone();
        waiting.state = waiting.state.with_flights(live.flights().clone());
        let waiting = waiting.told(Input::Resumed { now: Timestamp(1_000) });
        match live.liveness() {
            Liveness::Live => assert_eq!(waiting.effects, [], "ARC-11: nothing is asked twice"),
            Liveness::Resting => assert!(matches!(waiting.effects[..], [Effect::Settle(_)])),
        }
        if let Some(settle @ Effect::Settle(_)) = self.bench.effects.last() {
            assert_eq!(&waiting.effects[..], core::slice::from_ref(settle));
        }
        if let Some(question @ (External::CallModel(_) | External::Authorize { .. })) =
            asked(&self.bench.effects).last()
        {
            let again = replayed.told(Input::Resumed { now: Timestamp(1_000) });
            assert_eq!(&asked(&again.effects)[..], core::slice::from_ref(question));
        }
    }
}

fn drive(turns: &[Turned]) -> Recorded {
    let bench = Bench::resting(&Story::new().tell([ONE.input()]), 1);
    let mut run = Recorded { bench, log: Vec::new(), asked: Vec::new() };
    run.told(Input::Resumed { now: Timestamp(1_000) });
    for (turn, turned) in (0..).zip(turns) {
        let calls = CALLS[turned.calls];
        run.told(Input::Answered(model(turn, response(calls))));
        let answer = if turned.denied { Authorization::Denied } else { Authorization::Allowed };
        run.told(Input::Answered(authorizer(turn, answer)));
        for at in 0..calls.len() {
            let index = (at * 2 + turned.order) % calls.len();
            run.told(Input::Answered(tool(ONE.start(turn, index, 1))));
        }
        for index in 0..calls.len() {
            run.told(Input::Answered(tool(ONE.start(turn, index, 1))));
        }
    }
    run
}

proptest! {
    #![proptest_config(ProptestConfig {
        cases: 64, failure_persistence: None, ..ProptestConfig::default()
    })]

    #[test]
    fn arc_11_at_every_boundary_a_resumed_run_does_what_the_live_one_did(turns in turns()) {
        let run = drive(&turns);
        let models = run.asked.iter().filter(|it| matches!(it, External::CallModel(_))).count();
        prop_assert!(models <= turns.len() + 1, "the model is asked once a turn");
        let settled = run.bench.fold().submission(ONE.submission()).is_some();
        prop_assert!(settled);
    }
}

#[test]
fn arc_11_folding_a_whole_run_performs_nothing() {
    let turns = [
        Turned { calls: 3, denied: false, order: 1 },
        Turned { calls: 5, denied: false, order: 0 },
    ];
    let run = drive(&turns);
    assert_eq!(run.bench.state.liveness(), Liveness::Resting);
    let mut fold = Projection::clone(&Story::new().tell([ONE.input()]).fold);
    for batch in &run.log {
        fold.apply(Epoch(1), batch).unwrap();
    }
    assert_eq!(fold, *run.bench.fold());
    assert_eq!(run.asked.len(), 1 + 1 + 3 + 1, "model, authorizer, three tools, model");
}

#[test]
fn dur_007_a_fold_that_contradicts_changes_nothing() {
    let mut state = Bench::fresh().state;
    let before = state.clone();
    assert!(state.fold(alloc::vec![ONE.input()]).is_none(), "a second input");
    assert!(state.fold(Vec::new()).is_none(), "no batch at all");
    let long = ONE.tool_settled(ONE.call(0, 0), ToolOutcome::Success(text("x")));
    assert!(state.fold(alloc::vec![long]).is_none(), "a call that nobody declared");
    assert_eq!(state, before);
}

#[test]
fn arc_11_a_run_that_is_resumed_twice_asks_once() {
    let mut bench = Bench::fresh();
    assert_eq!(questions(&bench.look()), ["model.call"]);
    assert_eq!(bench.told(Input::Resumed { now: Timestamp(1_000) }).look(), []);
}
