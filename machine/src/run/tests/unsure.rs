//! A start that will have no answer: nothing new begins, its siblings come back, and then the
//! classifier judges it.

use super::*;

fn unsure(start: Doubt) -> Answer {
    Answer::Unsure { start }
}

/// A run with three calls out, with room for two of them.
fn crowded() -> Bench {
    let policy = crate::agent::AgentPolicy { parallel_calls: 2, ..crate::testkit::policy() };
    let bench = Bench::of(crate::testkit::under(policy)).responds(0, &["pay", "look", "pay"]);
    let mut bench = bench.authorized(0);
    assert_eq!(questions(&bench.look()).iter().filter(|it| **it == "tool.invoke").count(), 2);
    bench
}

#[test]
fn dur_017_a_start_without_an_answer_is_no_outcome_and_the_run_rests_when_it_is_alone() {
    let mut bench = crowded().answered(unsure(ONE.start(0, 0, 1)));
    assert_eq!(bench.look(), [], "nothing new begins");
    assert_eq!(bench.state.liveness(), Liveness::Live, "a sibling is still out");
    let mut bench = bench.returns(ONE.start(0, 1, 1));
    let effects = bench.look();
    let settled = [ONE.tool_settled(ONE.call(0, 1), success("result"))];
    assert_eq!((committed(&effects), effects.len()), (settled.to_vec(), 1));
    assert_eq!(bench.state.liveness(), Liveness::Resting);
    let open: Vec<Doubt> = bench.state.view().unwrap().open_starts().map(|it| it.0).collect();
    assert_eq!(open, [ONE.start(0, 0, 1)], "for the classifier to judge");
}

#[test]
fn dur_017_only_a_start_that_is_out_can_be_unsure_and_only_once() {
    let mut bench = crowded().answered(unsure(ONE.start(0, 2, 1)));
    assert_eq!((bench.look(), bench.state.liveness()), (alloc::vec![], Liveness::Live));
    let bench = bench.answered(unsure(ONE.start(0, 0, 1))).answered(unsure(ONE.start(0, 0, 1)));
    assert_eq!(bench.state.flights().tools.len(), 1);
}

#[test]
fn run_014_a_late_answer_to_an_unsure_start_is_not_believed() {
    let mut bench = crowded().answered(unsure(ONE.start(0, 0, 1)));
    bench.look();
    assert_eq!(bench.returns(ONE.start(0, 0, 1)).look(), []);
}
