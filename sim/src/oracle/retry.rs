//! What was given up is tried again at most once, and as it was (DUR-018).
//!
//! The judge keeps its own list of who tries what again: what the rows say about each other plays
//! no part until the end, when both have to tell the same.

use std::sync::Arc;

use everstep_machine::identity::SubmissionId;
use everstep_machine::ledger::{Admission, Phase, Retried, Standing};

use super::{Judge, Property, Sometimes};
use crate::cast::Cast;
use crate::store::Shelf;

impl Judge {
    /// The ledger accepted that a submission is tried again, or said that it is already.
    pub(super) fn check_retry(
        &mut self,
        lane: usize,
        dead: SubmissionId,
        retried: &Retried,
        changed: bool,
    ) {
        let known = self.memory.retries.iter().find(|(it, _)| *it == dead).map(|(_, it)| *it);
        let settled = self.memory.lanes[lane].fold.submission(dead).and_then(|it| it.settled);
        let was_given_up = settled.is_some_and(|settlement| settlement.is_given_up());
        let successor = retried.successor;
        let sound = if changed { known.is_none() } else { known == Some(successor) };
        if !sound || !was_given_up {
            self.broken(Property::Retries, || {
                format!(
                    "{successor:?} tries {dead:?} again; given up by its log: {was_given_up}; tried \
                     again before by: {known:?}"
                )
            });
        }
        if changed {
            self.note(Sometimes::Retried);
            self.memory_mut().retries.push((dead, successor));
            self.memory_mut().lanes[lane].admit(successor, retried.position);
        } else {
            self.note(Sometimes::RetriedAlready);
        }
    }

    /// Rows and judge tell the same of who tries what again, and nobody has been forgotten.
    pub(super) fn check_chains(&mut self, cast: &Cast, lane: usize, shelf: &Shelf) {
        for row in shelf.rows() {
            let id = row.admission.submission;
            let Some(dead) = row.chain.retry_of else { continue };
            let seen = self.memory.retries.contains(&(dead, id));
            let before = shelf.row(dead);
            let named = before.and_then(|row| row.chain.retried.as_ref());
            let names = named.is_some_and(|it| (it.successor, it.position) == (id, row.sequence));
            let same = before.is_some_and(|it| is_same(&it.admission, &row.admission));
            let times = shelf.rows().iter().filter(|it| it.chain.retry_of == Some(dead)).count();
            if !(seen && names && same) || times != 1 {
                self.broken(Property::Retries, || {
                    format!(
                        "{} of lane {lane} tries another again {times} times: known: {seen}, named: \
                         {names}, as it was: {same}",
                        cast.name_of(id)
                    )
                });
            }
        }
    }

    /// What the scenario says of what is tried again.
    pub(super) fn check_retried(&mut self, cast: &Cast, shelves: &[Arc<Shelf>]) {
        for retry in &cast.retries {
            let shelf = &shelves[retry.successor.lane];
            if shelf.row(retry.dead).is_some_and(|row| row.standing() == Standing::GivenUp) {
                self.broken(Property::Liveness, || format!("{} never came", retry.name));
            }
            let Some(row) = shelf.row(retry.successor.submission) else { continue };
            let Phase::Settled(settled) = &row.phase else { continue };
            if !retry.expect.is_empty() && !retry.expect.contains(&settled.outcome) {
                self.broken(Property::Expected, || {
                    format!(
                        "{} ended {:?}, expected is one of {:?}",
                        retry.name, settled.outcome, retry.expect
                    )
                });
            }
        }
    }
}

/// Whether two admissions are the same but for their names.
fn is_same(one: &Admission, other: &Admission) -> bool {
    let Admission {
        submission: _,
        principal,
        tenant,
        key: _,
        agent,
        payload,
        input,
        allowance,
        // It has a run of its own now.
        steers: _,
    } = one;
    (principal, tenant, agent) == (&other.principal, &other.tenant, &other.agent)
        && (payload, input, allowance) == (&other.payload, &other.input, &other.allowance)
}
