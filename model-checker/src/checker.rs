//! The search: breadth first, every state once.

use std::any::Any;
use std::collections::VecDeque;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::time::Instant;

use foldhash::fast::FixedState;
use hashbrown::HashMap;

use crate::model::Model;
use crate::report::{Counterexample, Defeat, Progress, Report};

/// How far a check may go.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Limits {
    /// Faults on one path.
    pub faults: u8,
    /// Different states; a state takes some 60 bytes, and the size of a world while it waits.
    pub states: u64,
}

/// Explores every state of a model within the limits, until something goes wrong.
///
/// `watch` is told now and then how it stands.
pub fn check<M: Model>(
    start: &M,
    limits: Limits,
    watch: impl FnMut(Progress),
) -> Report<M::Action, M::Property> {
    let began = Instant::now();
    let mut checker = Checker {
        start,
        limits,
        known: HashMap::with_hasher(FixedState::default()),
        nodes: Vec::new(),
        edges: Vec::new(),
        good_ends: Vec::new(),
        waiting: VecDeque::new(),
        at_hand: (0, 0),
        moves: 0,
        ends: 0,
    };
    let explored = catch_unwind(AssertUnwindSafe(|| checker.explore(watch)));
    let mut counterexample =
        explored.unwrap_or_else(|panic| Some(checker.panicked(panic_text(&*panic))));
    if counterexample.is_none() && checker.waiting.is_empty() {
        counterexample = checker.stuck();
    }
    let depth = checker.nodes.iter().map(|node| node.depth).max().unwrap_or(0);
    let next = checker.waiting.front().map(|state| checker.nodes[state.node as usize].depth);
    Report {
        moves: checker.moves,
        states: checker.nodes.len() as u64,
        ends: checker.ends,
        depth,
        covered: next.unwrap_or(depth),
        frontier: checker.waiting.len() as u64,
        counterexample,
        elapsed: began.elapsed(),
    }
}

/// A state that was met.
#[derive(Clone, Copy, Debug)]
struct Node {
    /// The state it was first reached from; itself for the first one.
    parent: u32,
    /// Which of the parent's moves led here.
    by: u32,
    depth: u32,
}

/// A state that waits to be explored.
struct Waiting<M> {
    node: u32,
    left: u8,
    model: M,
}

struct Checker<'a, M> {
    start: &'a M,
    limits: Limits,
    known: HashMap<(u128, u8), u32, FixedState>,
    nodes: Vec<Node>,
    /// Moves without faults between different states.
    edges: Vec<(u32, u32)>,
    good_ends: Vec<u32>,
    waiting: VecDeque<Waiting<M>>,
    /// The state that is being explored, and which of its moves.
    at_hand: (u32, u32),
    moves: u64,
    ends: u64,
}

type Found<M> = Counterexample<<M as Model>::Action, <M as Model>::Property>;

impl<M: Model> Checker<'_, M> {
    fn explore(&mut self, mut watch: impl FnMut(Progress)) -> Option<Found<M>> {
        let root = Node { parent: 0, by: 0, depth: 0 };
        self.meet(self.start.clone(), self.limits.faults, root);
        if let Some((property, detail)) = self.start.violation() {
            return Some(self.way_to(0, Defeat::Broken { property, detail }));
        }
        while (self.nodes.len() as u64) < self.limits.states {
            let Some(next) = self.waiting.pop_front() else { break };
            if next.node.is_multiple_of(1024) {
                watch(Progress {
                    states: self.nodes.len() as u64,
                    frontier: self.waiting.len() as u64,
                    depth: self.nodes[next.node as usize].depth,
                });
            }
            if let Some(found) = self.expand(&next) {
                return Some(found);
            }
        }
        None
    }

    /// Lets everything happen that can happen in a state.
    fn expand(&mut self, state: &Waiting<M>) -> Option<Found<M>> {
        let moves = state.model.moves();
        let depth = self.nodes[state.node as usize].depth + 1;
        for (by, next) in moves.iter().enumerate() {
            let Some(left) = state.left.checked_sub(next.faults) else { continue };
            let by = u32::try_from(by).expect("a state has fewer than 2^32 moves");
            self.at_hand = (state.node, by);
            let mut model = state.model.clone();
            model.apply(&next.action);
            self.moves += 1;
            let broken = model.violation();
            let node = self.meet(model, left, Node { parent: state.node, by, depth });
            if let Some((property, detail)) = broken {
                return Some(self.way_to(node, Defeat::Broken { property, detail }));
            }
            if next.faults == 0 && node != state.node {
                self.edges.push((state.node, node));
            }
        }
        if moves.iter().any(|next| next.faults == 0) {
            return None;
        }
        self.ends += 1;
        let mut end = state.model.clone();
        end.conclude();
        match end.violation() {
            Some((property, detail)) => {
                Some(self.way_to(state.node, Defeat::Broken { property, detail }))
            }
            None => {
                self.good_ends.push(state.node);
                None
            }
        }
    }

    /// The number of a state, which from now on is known.
    fn meet(&mut self, model: M, left: u8, node: Node) -> u32 {
        let new = u32::try_from(self.nodes.len()).expect("a check has fewer than 2^32 states");
        let known = *self.known.entry((model.fingerprint(), left)).or_insert(new);
        if known == new {
            self.nodes.push(node);
            self.waiting.push_back(Waiting { node: new, left, model });
        }
        known
    }

    /// The first state from which no good end can be reached without faults.
    fn stuck(&self) -> Option<Found<M>> {
        let mut backwards: Vec<_> = self.edges.iter().map(|(from, to)| (*to, *from)).collect();
        backwards.sort_unstable();
        let mut ends_well = vec![false; self.nodes.len()];
        let mut open = self.good_ends.clone();
        while let Some(node) = open.pop() {
            if std::mem::replace(&mut ends_well[node as usize], true) {
                continue;
            }
            let first = backwards.partition_point(|(to, _)| *to < node);
            let edges = backwards[first..].iter().take_while(|(to, _)| *to == node);
            open.extend(edges.map(|(_, from)| *from));
        }
        let stuck = ends_well.iter().position(|well| !well)?;
        let stuck = u32::try_from(stuck).expect("a check has fewer than 2^32 states");
        Some(self.way_to(stuck, Defeat::Stuck))
    }

    /// The move at hand panics.
    fn panicked(&self, message: String) -> Found<M> {
        let (node, by) = self.at_hand;
        let (model, mut found) = self.walk_to(node, Defeat::Panicked { message });
        let next = model.moves().swap_remove(by as usize);
        found.told.push(model.describe(&next.action));
        found.actions.push(next.action);
        found
    }

    /// The moves from the start to a state.
    fn way_to(&self, node: u32, defeat: Defeat<M::Property>) -> Found<M> {
        self.walk_to(node, defeat).1
    }

    fn walk_to(&self, node: u32, defeat: Defeat<M::Property>) -> (M, Found<M>) {
        let mut taken = Vec::new();
        let mut at = self.nodes[node as usize];
        while at.depth > 0 {
            taken.push(at.by);
            at = self.nodes[at.parent as usize];
        }
        let mut model = self.start.clone();
        let (mut actions, mut told) = (Vec::new(), Vec::new());
        for by in taken.into_iter().rev() {
            let next = model.moves().swap_remove(by as usize);
            told.push(model.describe(&next.action));
            model.apply(&next.action);
            actions.push(next.action);
        }
        (model, Counterexample { actions, told, defeat })
    }
}

fn panic_text(panic: &(dyn Any + Send)) -> String {
    let text = panic.downcast_ref::<String>().map(String::as_str);
    let text = text.or_else(|| panic.downcast_ref::<&str>().copied());
    text.unwrap_or("it does not say why").to_owned()
}
