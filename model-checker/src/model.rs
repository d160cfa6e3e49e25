//! What can be checked.

use core::fmt;

/// Something that can happen in a state, and what it costs.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Move<A> {
    /// What happens.
    pub action: A,
    /// Faults it takes: 0 for what happens by itself.
    pub faults: u8,
}

/// A state machine whose every behaviour can be explored.
///
/// Everything is deterministic: equal fingerprints mean equal moves, in the same order, to equal
/// states.
pub trait Model: Clone {
    /// What can happen.
    type Action: Clone;
    /// What can be broken.
    type Property: Copy + Eq + fmt::Debug + fmt::Display;

    /// Everything that can happen in this state.
    fn moves(&self) -> Vec<Move<Self::Action>>;
    /// Lets one of them happen.
    fn apply(&mut self, action: &Self::Action);
    /// What happens, in words; asked in the state in which it happens.
    fn describe(&self, action: &Self::Action) -> String;
    /// The first broken property, with what was seen.
    fn violation(&self) -> Option<(Self::Property, String)>;
    /// Judges a state in which nothing can happen without a fault.
    fn conclude(&mut self);
    /// 128 bits over everything that can influence the future and its judgement.
    fn fingerprint(&self) -> u128;
}
