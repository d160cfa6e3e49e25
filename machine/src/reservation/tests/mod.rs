mod sequences;
mod table;

use alloc::vec::Vec;

use super::*;
use crate::contract::Machine as _;
use crate::identity::{ReservationId, RunId, ToolCallId};

/// A reservation by its number.
fn id(number: u8) -> ReservationId {
    ReservationId([number; 16])
}

fn child(number: u8) -> Owner {
    Owner::Child(id(number))
}

/// A budget of so much of everything, four children at once, three deep.
fn budget(cap: u64) -> State {
    State::new(Limits { cap: Amounts::all(cap), at_once: 4, depth: 3 })
}

fn reserve(number: u8, parent: Owner, amount: u64) -> Input {
    let allocation = Amounts::all(amount).with(Dimension::Children, 0);
    Input::Reserve { reservation: id(number), parent, allocation }
}

fn report(owner: Owner, tokens: u64) -> Input {
    Input::Report { owner, used: Used::default().with(Dimension::InputTokens, tokens) }
}

fn settle(number: u8, tokens: u64) -> Input {
    let used = Used::of(Amounts::all(0)).with(Dimension::InputTokens, tokens);
    Input::Settle { reservation: id(number), used }
}

#[track_caller]
fn tell(state: &mut State, input: Input) -> Vec<Effect> {
    let step = Reservations::step(state.clone(), input);
    *state = step.state;
    assert_eq!(state.check(), Ok(()));
    step.effects
}

#[track_caller]
fn refused(state: &mut State, input: Input) -> Refusal {
    let before = state.clone();
    let effects = tell(state, input);
    assert_eq!(*state, before, "a refusal changes nothing");
    let [Effect::Refuse(refusal)] = *effects else { panic!("{effects:?}") };
    refusal
}

/// Tokens of somebody: what is available, open, observed and beyond the budget.
fn tokens(state: &State, owner: Owner) -> [u64; 4] {
    let it = state.account(owner).unwrap();
    [it.available, it.open, it.observed, it.overruns].map(|amounts| amounts[Dimension::InputTokens])
}
