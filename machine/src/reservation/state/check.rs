//! What holds in every state: the three equations, and that nothing is charged twice (SUB-010).

use super::super::{Amounts, Dimension, Owner};
use super::{Account, Phase, Reservation, State};

impl State {
    /// What holds in every state. The first that does not, in words.
    ///
    /// # Errors
    /// An invariant is broken: a bug of this machine.
    pub fn check(&self) -> Result<(), &'static str> {
        self.owner(Owner::Root, &self.root)?;
        for (id, it) in &self.reservations {
            self.owner(Owner::Child(*id), &it.account)?;
            it.check()?;
            let parent = match it.parent {
                Owner::Root => Some(0),
                Owner::Child(id) => self.reservations.get(&id).map(|it| it.depth),
            };
            let is_below = parent.is_some_and(|parent| it.depth == parent + 1);
            holds(is_below && it.depth <= self.limits.depth, "a child is below its parent")?;
        }
        Ok(())
    }

    fn owner(&self, owner: Owner, account: &Account) -> Result<(), &'static str> {
        let open = self.children(owner).filter(|(_, it)| it.phase == Phase::Reserved).count();
        holds(open <= self.limits.at_once, "no more children at once than may be")?;
        for dimension in Dimension::ALL {
            let sum = |of: &dyn Fn(&Reservation) -> u64| {
                self.children(owner).map(|(_, it)| of(it)).sum::<u64>()
            };
            let at = |amounts: &Amounts| amounts[dimension];
            let held = |it: &Reservation| match it.phase {
                Phase::Reserved | Phase::ReleasePending => at(&it.account.cap) - at(&it.covered),
                Phase::Released => 0,
            };
            let below = sum(&|it| at(&it.account.observed));
            let there = at(&account.cap) + at(&account.overruns);
            let found = at(&account.available) + at(&account.open) + at(&account.observed);
            holds(there == found, "cap + overruns = available + open + observed")?;
            holds(at(&account.open) == sum(&held), "what is open is what children hold")?;
            holds(
                at(&account.observed) == at(&account.own) + below,
                "what is observed is one's own and that of each child, once",
            )?;
        }
        Ok(())
    }
}

impl Reservation {
    fn check(&self) -> Result<(), &'static str> {
        for dimension in Dimension::ALL {
            let at = |amounts: &Amounts| amounts[dimension];
            let (allocated, covered) = (at(&self.account.cap), at(&self.covered));
            let released = at(&self.released);
            match self.phase {
                Phase::Reserved => {
                    holds(covered <= allocated && released == 0, "what is open is not released")?;
                }
                Phase::ReleasePending | Phase::Released => {
                    holds(allocated == covered + released, "allocated = covered + released")?;
                }
            }
            let observed = at(&self.account.observed);
            holds(observed == covered + at(&self.overrun), "observed = covered + overrun")?;
        }
        Ok(())
    }
}

fn holds(is_so: bool, what: &'static str) -> Result<(), &'static str> {
    if is_so { Ok(()) } else { Err(what) }
}
