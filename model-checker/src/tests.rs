use core::fmt;

use crate::{Defeat, Limits, Model, Move, Report, check};

/// Two counters that are raised in any order, up to a top. A fault sets one of them back.
#[derive(Clone, Debug)]
struct Counters {
    values: [u8; 2],
    top: u8,
    /// A pair of values that is not allowed.
    bad: Option<[u8; 2]>,
    /// Reaching the top of the first one alone makes it forget, again and again.
    forgetful: bool,
    concluded: bool,
    /// Both at the top is no good end.
    unhappy: bool,
    /// Raising the second one to this is a bug.
    fragile: Option<u8>,
}

impl Counters {
    fn new(top: u8) -> Self {
        Self {
            values: [0; 2],
            top,
            bad: None,
            forgetful: false,
            concluded: false,
            unhappy: false,
            fragile: None,
        }
    }
}

#[derive(Clone, Debug, PartialEq, Eq)]
enum Action {
    Raise(usize),
    Reset(usize),
    Forget,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Broken {
    Bad,
    Unhappy,
}

impl fmt::Display for Broken {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{self:?}")
    }
}

impl Model for Counters {
    type Action = Action;
    type Property = Broken;

    fn moves(&self) -> Vec<Move<Action>> {
        let mut moves = Vec::new();
        if self.forgetful && self.values[0] == self.top {
            return vec![Move { action: Action::Forget, faults: 0 }];
        }
        for at in 0..2 {
            if self.values[at] < self.top {
                moves.push(Move { action: Action::Raise(at), faults: 0 });
            }
            if self.values[at] > 0 {
                moves.push(Move { action: Action::Reset(at), faults: 1 });
            }
        }
        moves
    }

    fn apply(&mut self, action: &Action) {
        match action {
            Action::Raise(at) => self.values[*at] += 1,
            Action::Reset(at) => self.values[*at] = 0,
            Action::Forget => self.values[0] -= 1,
        }
        assert_ne!(self.fragile, Some(self.values[1]), "COUNT-01: it never gets there");
    }

    fn describe(&self, action: &Action) -> String {
        format!("{action:?} at {:?}", self.values)
    }

    fn violation(&self) -> Option<(Broken, String)> {
        if self.bad == Some(self.values) {
            return Some((Broken::Bad, format!("{:?}", self.values)));
        }
        (self.unhappy && self.concluded).then(|| (Broken::Unhappy, String::new()))
    }

    fn conclude(&mut self) {
        self.concluded = true;
    }

    fn fingerprint(&self) -> u128 {
        u128::from(self.values[0]) << 8 | u128::from(self.values[1])
    }
}

fn run(model: &Counters, faults: u8, states: u64) -> Report<Action, Broken> {
    check(model, Limits { faults, states }, |_| {})
}

#[test]
fn every_state_is_met_once() {
    let report = run(&Counters::new(9), 0, 1_000);
    assert_eq!((report.states, report.ends, report.depth), (100, 1, 18));
    assert_eq!(report.moves, 2 * 9 * 10, "every edge of the grid, once");
    assert!(report.is_complete());
}

#[test]
fn faults_left_are_part_of_a_state() {
    // The grid, once with a fault left and once without: a reset leads to an edge of the grid,
    // and from there everything can be reached.
    let report = run(&Counters::new(9), 1, 1_000);
    assert_eq!((report.states, report.ends), (200, 2));
}

#[test]
fn a_counterexample_is_a_shortest_one() {
    let model = Counters { bad: Some([2, 1]), ..Counters::new(9) };
    let found = run(&model, 2, 1_000).counterexample.expect("it can be reached");
    assert_eq!(found.actions.len(), 3);
    assert_eq!(found.told[0], "Raise(0) at [0, 0]");
    let Defeat::Broken { property, detail } = found.defeat else { panic!("{:?}", found.defeat) };
    assert_eq!((property, detail.as_str()), (Broken::Bad, "[2, 1]"));
    let mut replayed = model;
    found.actions.iter().for_each(|action| replayed.apply(action));
    assert_eq!(replayed.values, [2, 1]);
}

#[test]
fn what_only_a_fault_reaches_is_found_with_a_fault() {
    // Resetting the first counter is the only way to have the second one ahead of it.
    let model = Counters { bad: Some([0, 3]), ..Counters::new(3) };
    assert!(run(&model, 0, 1_000).counterexample.is_some(), "raising only one does it as well");
    let forgetful = Counters { forgetful: true, ..Counters::new(1) };
    assert!(run(&forgetful, 0, 1_000).counterexample.is_some());
}

#[test]
fn an_end_is_judged() {
    let model = Counters { unhappy: true, ..Counters::new(2) };
    let found = run(&model, 0, 1_000).counterexample.expect("the end is bad");
    assert!(matches!(found.defeat, Defeat::Broken { property: Broken::Unhappy, .. }));
    assert_eq!(found.actions.len(), 4);
}

#[test]
fn going_round_for_ever_is_found() {
    let model = Counters { forgetful: true, ..Counters::new(3) };
    let report = run(&model, 0, 1_000);
    let found = report.counterexample.expect("both at the top is never an end");
    assert_eq!(found.defeat, Defeat::Stuck);
    assert_eq!(found.actions, [], "no end can be reached even from the start");
}

#[test]
fn the_bound_on_states_ends_a_check() {
    let report = run(&Counters::new(9), 0, 50);
    assert!(!report.is_complete());
    assert!(report.frontier > 0 && report.counterexample.is_none());
    assert!((50..60).contains(&report.states), "{}", report.states);
    // Within eight moves there are 45 states, within nine 55.
    assert_eq!((report.covered, report.depth), (8, 9));
}

#[test]
fn a_move_that_panics_is_the_last_of_a_counterexample() {
    let model = Counters { fragile: Some(2), ..Counters::new(3) };
    let found = run(&model, 0, 1_000).counterexample.expect("it panics");
    assert_eq!(found.actions, [Action::Raise(1), Action::Raise(1)]);
    let Defeat::Panicked { message } = found.defeat else { panic!("{:?}", found.defeat) };
    assert!(message.contains("COUNT-01"), "{message}");
}
