//! The rules of reservations.

use alloc::vec;

use super::state::{Account, Phase, Reservation};
use super::{Amounts, Dimension, Effect, Input, Owner, Refusal, State, Used};
use crate::contract::{Machine, Step};
use crate::identity::ReservationId;
use crate::limits::RESERVED_AMOUNT;

/// The machine of one run's budget.
pub struct Reservations;

impl Machine for Reservations {
    type State = State;
    type Input = Input;
    type Effect = Effect;

    fn step(mut state: State, input: Input) -> Step<State, Effect> {
        let done = match input {
            Input::Reserve { reservation, parent, allocation } => {
                state.reserve(reservation, parent, allocation).map(Some)
            }
            Input::Report { owner, used } => state.report(owner, &used).map(|()| None),
            Input::Settle { reservation, used } => state.settle(reservation, &used).map(Some),
            Input::Release(reservation) => state.release(reservation).map(|()| None),
        };
        match done {
            Ok(None) => Step::quiet(state),
            Ok(Some(effect)) => Step::new(state, vec![effect]),
            Err(refusal) => Step::new(state, vec![Effect::Refuse(refusal)]),
        }
    }
}

impl State {
    fn reserve(
        &mut self,
        id: ReservationId,
        parent: Owner,
        allocation: Amounts,
    ) -> Result<Effect, Refusal> {
        if let Some(there) = self.reservations.get(&id) {
            let is_same = there.parent == parent && there.account.cap == allocation;
            return if is_same { Ok(Effect::Admit(id)) } else { Err(Refusal::Another) };
        }
        let above = match parent {
            Owner::Root => 0,
            Owner::Child(above) => {
                let above = self.reservations.get(&above).ok_or(Refusal::Unknown)?;
                if above.phase != Phase::Reserved {
                    return Err(Refusal::Ended);
                }
                above.depth
            }
        };
        let depth = above.saturating_add(1);
        if depth > self.limits.depth {
            return Err(Refusal::TooDeep);
        }
        let open = self.children(parent).filter(|(_, it)| it.phase == Phase::Reserved).count();
        if open >= self.limits.at_once {
            return Err(Refusal::AtOnce);
        }
        self.has_left(parent, &allocation)?;
        // A child counts where it is reserved, and once for each that is above.
        self.charge(parent, Dimension::Children, 1);
        if let Some(account) = self.account_mut(parent) {
            for dimension in Dimension::ALL {
                account.available[dimension] -= allocation[dimension];
                account.open[dimension] += allocation[dimension];
            }
        }
        self.reservations.insert(id, Reservation::new(parent, depth, allocation));
        Ok(Effect::Admit(id))
    }

    /// Whether somebody has so much left, and one child more. Nobody above may have used more than
    /// there is.
    fn has_left(&self, parent: Owner, allocation: &Amounts) -> Result<(), Refusal> {
        let account = self.account(parent).ok_or(Refusal::Unknown)?;
        for dimension in Dimension::ALL {
            let child = u64::from(dimension == Dimension::Children);
            let wanted = allocation[dimension].saturating_add(child);
            if account.available[dimension] < wanted {
                return Err(Refusal::Exhausted(dimension));
            }
        }
        let mut at = Some(parent);
        while let Some(owner) = at {
            let account = self.account(owner).ok_or(Refusal::Unknown)?;
            let over = Dimension::ALL.into_iter().find(|it| account.overruns[*it] > 0);
            if let Some(dimension) = over {
                return Err(Refusal::Exhausted(dimension));
            }
            at = self.above(owner);
        }
        Ok(())
    }

    fn report(&mut self, owner: Owner, used: &Used) -> Result<(), Refusal> {
        let account = *self.account(owner).ok_or(Refusal::Unknown)?;
        sound(used)?;
        for dimension in Dimension::ALL {
            let Some(total) = used.get(dimension) else { continue };
            // Usage is cumulative and never falls: what is known already is not charged again.
            self.charge(owner, dimension, total.saturating_sub(account.own[dimension]));
            if let Owner::Child(id) = owner
                && let Some(it) = self.reservations.get_mut(&id)
            {
                it.reported[dimension as usize] = true;
                // Less than was assumed is no reason to give anything back.
                it.assumed[dimension as usize] &= total < account.own[dimension];
            }
        }
        Ok(())
    }

    fn settle(&mut self, id: ReservationId, used: &Used) -> Result<Effect, Refusal> {
        let there = self.reservations.get(&id).ok_or(Refusal::Unknown)?;
        if there.phase == Phase::Reserved {
            if self.children(Owner::Child(id)).any(|(_, it)| it.phase != Phase::Released) {
                return Err(Refusal::OpenChildren);
            }
            self.report(Owner::Child(id), used)?;
            self.assume(id);
        }
        let it = self.reservations.get_mut(&id).ok_or(Refusal::Unknown)?;
        if it.phase == Phase::Reserved {
            it.phase = Phase::ReleasePending;
            for dimension in Dimension::ALL {
                it.released[dimension] = it.account.cap[dimension] - it.covered[dimension];
            }
        }
        Ok(Effect::Release { reservation: id, released: it.released })
    }

    /// What nobody has reported counts as used up whole.
    fn assume(&mut self, id: ReservationId) {
        for dimension in Dimension::ALL {
            let Some(it) = self.reservations.get_mut(&id) else { return };
            if !it.reported[dimension as usize] {
                let left = it.account.cap[dimension].saturating_sub(it.account.observed[dimension]);
                it.assumed[dimension as usize] = true;
                self.charge(Owner::Child(id), dimension, left);
            }
        }
    }

    fn release(&mut self, id: ReservationId) -> Result<(), Refusal> {
        let it = self.reservations.get_mut(&id).ok_or(Refusal::Unknown)?;
        match it.phase {
            Phase::Reserved => return Err(Refusal::NotSettled),
            // It has gone back already, once.
            Phase::Released => return Ok(()),
            Phase::ReleasePending => it.phase = Phase::Released,
        }
        let (parent, released) = (it.parent, it.released);
        if let Some(account) = self.account_mut(parent) {
            for dimension in Dimension::ALL {
                account.open[dimension] -= released[dimension];
                account.available[dimension] += released[dimension];
            }
        }
        Ok(())
    }

    /// Somebody has used up so much more by itself: once in its own account, and once in that of each
    /// above.
    fn charge(&mut self, owner: Owner, dimension: Dimension, more: u64) {
        let Some(account) = self.account_mut(owner) else { return };
        let paid = more.min(account.available[dimension]);
        account.available[dimension] -= paid;
        account.own[dimension] += more;
        account.spend(dimension, more, more - paid);
        let mut at = owner;
        while let Owner::Child(id) = at
            && let Some(parent) = self.above(at)
            && let Some(left) = self.account(parent).map(|it| it.available[dimension])
            && let Some(it) = self.reservations.get_mut(&id)
        {
            let room = it.account.cap[dimension] - it.covered[dimension];
            // What has gone back is taken again as far as it is still there.
            let room = if it.phase == Phase::Released { room.min(left) } else { room };
            let covered = more.min(room);
            it.covered[dimension] += covered;
            it.overrun[dimension] += more - covered;
            if it.phase != Phase::Reserved {
                it.released[dimension] -= covered;
            }
            let has_gone_back = it.phase == Phase::Released;
            if let Some(account) = self.account_mut(parent) {
                let from = if has_gone_back { &mut account.available } else { &mut account.open };
                from[dimension] -= covered;
                account.spend(dimension, more, more - covered);
            }
            at = parent;
        }
    }

    fn above(&self, owner: Owner) -> Option<Owner> {
        match owner {
            Owner::Root => None,
            Owner::Child(id) => self.reservations.get(&id).map(|it| it.parent),
        }
    }
}

impl Account {
    fn spend(&mut self, dimension: Dimension, observed: u64, beyond: u64) {
        self.observed[dimension] += observed;
        self.overruns[dimension] += beyond;
    }
}

impl Reservation {
    fn new(parent: Owner, depth: u32, allocation: Amounts) -> Self {
        let none = Amounts::all(0);
        let mut reported = [false; Dimension::ALL.len()];
        reported[Dimension::Children as usize] = true;
        Self {
            parent,
            depth,
            phase: Phase::Reserved,
            covered: none,
            overrun: none,
            released: none,
            account: Account::of(allocation),
            reported,
            assumed: [false; Dimension::ALL.len()],
        }
    }
}

/// Numbers that no sum of a run comes to the end of.
fn sound(used: &Used) -> Result<(), Refusal> {
    if used.get(Dimension::Children).is_some() {
        return Err(Refusal::Counted);
    }
    let is_large = |it: &Dimension| used.get(*it).is_some_and(|amount| amount > RESERVED_AMOUNT);
    if Dimension::ALL.iter().any(is_large) { Err(Refusal::TooLarge) } else { Ok(()) }
}
