//! For whom a submission waits, and since when (DUR-009, DUR-017).

use clap::ValueEnum;
use everstep_machine::identity::Timestamp;
use everstep_machine::ledger::{Mark, Phase, Row, Standing};
use everstep_sqlite::{Clock as _, WallClock};

use crate::database::phase;

/// Somebody that a submission can wait for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum Party {
    /// A person, who has to say something of it
    People,
    /// A worker, which has it or will take it
    Worker,
}

impl Party {
    pub(super) const fn name(self) -> &'static str {
        match self {
            Self::People => "people",
            Self::Worker => "worker",
        }
    }

    pub(super) const fn in_words(self) -> &'static str {
        match self {
            Self::People => "people",
            Self::Worker => "a worker",
        }
    }
}

/// That a submission waits.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Waits {
    /// For whom.
    pub(super) party: Party,
    /// Since when: for a worker, since it was accepted; for people, since there was something of
    /// which nobody has spoken.
    pub(super) since: Timestamp,
}

/// What time it is.
pub(super) fn now() -> Timestamp {
    WallClock.now()
}

/// For whom it waits; nobody if it has ended and nothing is left to do.
pub(super) fn waits(row: &Row, now: Timestamp) -> Option<Waits> {
    let worker = Waits { party: Party::Worker, since: row.admitted_at };
    let people = |since: Option<Timestamp>| Waits {
        party: Party::People,
        since: since.unwrap_or(row.admitted_at),
    };
    Some(match &row.phase {
        Phase::Settled(settled) => match row.standing() {
            Standing::Resting => return None,
            Standing::Doubtful => people(first_question(row)),
            Standing::GivenUp => people(Some(settled.at)),
            Standing::Queued | Standing::Steering | Standing::Attached | Standing::Errand => worker,
        },
        _ if phase(row) == "incompatible" && !has_word(row) => {
            people(row.compat.incompatible.as_ref().map(|it| it.since))
        }
        Phase::Unknown | Phase::Suspended if row.awaits_people(now) => people(first_question(row)),
        Phase::Admitted
        | Phase::Ready
        | Phase::Running(_)
        | Phase::Joining { .. }
        | Phase::Joined { .. }
        | Phase::Unknown
        | Phase::Suspended
        | Phase::Terminalizing(_) => worker,
    })
}

/// Whether somebody has said what becomes of a run that nobody could go on with.
fn has_word(row: &Row) -> bool {
    let known = row.compat.incompatible.as_ref();
    let rebind = row.compat.rebind.as_ref();
    let is_rebound = known.zip(rebind).is_some_and(|(known, said)| said.allows(&known.mismatch));
    row.abort.is_some() || is_rebound
}

/// Since when there is a doubt or a request of which nobody has spoken.
fn first_question(row: &Row) -> Option<Timestamp> {
    let doubts = row.marks.iter().filter(|it| Mark::is_open(it)).map(|it| it.since);
    let requests = row.approvals.iter().filter(|it| it.is_open()).map(|it| it.since);
    doubts.chain(requests).min()
}
