//! Whose budget has how much left.

mod check;

use alloc::collections::BTreeMap;

use super::{Amounts, Dimension, Owner};
use crate::identity::ReservationId;
use crate::limits::{RESERVATIONS, RESERVED_AMOUNT};

/// What a run and its children may use up.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Limits {
    /// Of each dimension, all of them together: at most [`RESERVATIONS`] children, and
    /// [`RESERVED_AMOUNT`] of anything else.
    pub cap: Amounts,
    /// Children of one parent at once.
    pub at_once: usize,
    /// How deep children may be; a child of the root is 1 deep.
    pub depth: u32,
}

/// One budget: `cap + overruns = available + open + observed`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub struct Account {
    /// What there is.
    pub cap: Amounts,
    /// What can be used up or reserved.
    pub available: Amounts,
    /// What children have that they have not used.
    pub open: Amounts,
    /// What its owner has used up by itself.
    pub own: Amounts,
    /// What its owner and all of its descendants have used up.
    pub observed: Amounts,
    /// What was used beyond the budget, or beyond what a child had.
    pub overruns: Amounts,
}

impl Account {
    pub(super) const fn of(cap: Amounts) -> Self {
        let none = Amounts::all(0);
        Self { cap, available: cap, open: none, own: none, observed: none, overruns: none }
    }
}

/// How far a reservation is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Phase {
    /// The child may use it up.
    Reserved,
    /// The child has ended; nothing has gone back yet.
    ReleasePending,
    /// What was left has gone back.
    Released,
}

/// What a child has from its parent. `account.cap` is what is allocated.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Reservation {
    /// Whose child it is.
    pub parent: Owner,
    /// How deep.
    pub depth: u32,
    /// How far it is.
    pub phase: Phase,
    /// What was used up of it.
    pub covered: Amounts,
    /// What was used up beyond it.
    pub overrun: Amounts,
    /// What goes back, or has gone back.
    pub released: Amounts,
    /// The child's own budget.
    pub account: Account,
    /// Dimensions that something was reported of.
    pub(super) reported: [bool; Dimension::ALL.len()],
    /// Dimensions of which nobody has said what was used, so that all of it counts as used.
    pub(super) assumed: [bool; Dimension::ALL.len()],
}

/// The budget of one run and all that work for it.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct State {
    pub(super) limits: Limits,
    pub(super) root: Account,
    pub(super) reservations: BTreeMap<ReservationId, Reservation>,
}

impl State {
    /// A budget that nobody has used.
    #[must_use]
    pub fn new(limits: Limits) -> Self {
        let children = limits.cap[Dimension::Children].min(RESERVATIONS);
        let cap = limits.cap.at_most(RESERVED_AMOUNT).with(Dimension::Children, children);
        Self { limits, root: Account::of(cap), reservations: BTreeMap::new() }
    }

    /// Somebody's budget.
    #[must_use]
    pub fn account(&self, owner: Owner) -> Option<&Account> {
        match owner {
            Owner::Root => Some(&self.root),
            Owner::Child(id) => self.reservations.get(&id).map(|it| &it.account),
        }
    }

    /// A reservation.
    #[must_use]
    pub fn reservation(&self, id: ReservationId) -> Option<&Reservation> {
        self.reservations.get(&id)
    }

    /// Whether what is observed of somebody is all there is, and nothing of it assumed (BU-01, BU-09).
    #[must_use]
    pub fn is_complete(&self, owner: Owner) -> bool {
        let assumed = match owner {
            Owner::Root => false,
            Owner::Child(id) => self.reservations.get(&id).is_none_or(Reservation::is_assumed),
        };
        let mut children = self.children(owner);
        !assumed && children.all(|(id, it)| it.has_ended() && self.is_complete(Owner::Child(*id)))
    }

    pub(super) fn account_mut(&mut self, owner: Owner) -> Option<&mut Account> {
        match owner {
            Owner::Root => Some(&mut self.root),
            Owner::Child(id) => self.reservations.get_mut(&id).map(|it| &mut it.account),
        }
    }

    /// The children of somebody, but not theirs.
    pub(super) fn children(
        &self,
        owner: Owner,
    ) -> impl Iterator<Item = (&ReservationId, &Reservation)> {
        self.reservations.iter().filter(move |(_, it)| it.parent == owner)
    }
}

impl Reservation {
    fn is_assumed(&self) -> bool {
        self.assumed.contains(&true)
    }

    fn has_ended(&self) -> bool {
        self.phase > Phase::Reserved
    }
}
