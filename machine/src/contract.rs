//! The one contract that every machine keeps.
//!
//! A machine is a total, pure function. It reads no clock, draws no randomness and performs no
//! IO (ARC-15): time, entropy and every answer of the world arrive inside inputs, and what the
//! world is asked to do leaves as effects.

use alloc::vec::Vec;

/// A pure state machine.
///
/// Any input may be sent in any state: what is late, doubled, stale or absurd is answered or
/// ignored by rule, and never panics or loses the state.
pub trait Machine {
    /// Everything the machine knows.
    type State;
    /// What happened: named in the past tense, or a command of a store-side machine.
    type Input;
    /// What the world is asked to do: named in the imperative.
    type Effect;

    /// Consumes the state and returns the next one, with what the world is asked to do.
    fn step(state: Self::State, input: Self::Input) -> Step<Self::State, Self::Effect>;
}

/// What one step of a machine yields.
///
/// Effects are ordered: an external effect leaves only after every durable effect before it in
/// the same step is acknowledged, and a refusal discards what follows it.
#[derive(Clone, Debug, PartialEq, Eq)]
#[must_use]
pub struct Step<S, E> {
    /// The next state.
    pub state: S,
    /// What the world is asked to do, in this order.
    pub effects: Vec<E>,
}

impl<S, E> Step<S, E> {
    /// A step that asks nothing of the world.
    pub const fn quiet(state: S) -> Self {
        Self { state, effects: Vec::new() }
    }

    /// A step with effects.
    pub const fn new(state: S, effects: Vec<E>) -> Self {
        Self { state, effects }
    }
}
