//! What becomes part of a run that another submission began (DUR-016, RUN-012, RUN-013).

use std::sync::Arc;

use everstep_machine::agent::{ModelRequest, Purpose};
use everstep_machine::effect::External;
use everstep_machine::identity::SubmissionId;
use everstep_machine::ledger::{Phase, Row};
use everstep_machine::record::{InputKind, InputRecorded, Settlement, SubmissionSettled};
use everstep_machine::store::Target;

use super::memory::Joined;
use super::{Judge, Permits, Property, Sometimes};
use crate::cast::Cast;

impl Judge {
    /// An input comes into a run: the one that goes on, once, and nobody is overtaken by what
    /// was not said to that run.
    pub(super) fn check_joining(
        &mut self,
        cast: &Cast,
        lane: usize,
        host: SubmissionId,
        it: &InputRecorded,
    ) {
        let follows = matches!(it.kind, InputKind::FollowUp { .. });
        let seen = &self.memory.lanes[lane];
        let row = seen.rows.iter().find(|row| row.submission == it.submission);
        let runs = seen.rows.iter().any(|row| {
            row.submission == host && row.began && row.joined.is_none() && row.settlements == 0
        });
        let steers = cast.clients.iter().find(|client| client.submission == it.submission);
        let steers = steers.and_then(|client| client.steers).map(|(host, _)| host);
        let overtaken = row.and_then(|this| {
            let waits = |row: &&super::memory::RowMemory| {
                row.sequence < this.sequence && !row.began && row.settlements == 0 && !row.aborted
            };
            seen.rows.iter().filter(|_| follows).find(waits)
        });
        let overtaken = overtaken.map(|row| row.submission);
        let fits = row.is_some_and(|row| !row.began && row.settlements == 0)
            && runs
            && (follows || steers == Some(host));
        if !fits {
            self.broken(Property::Joining, || {
                format!(
                    "{} comes into the run of {}",
                    cast.name_of(it.submission),
                    cast.name_of(host)
                )
            });
        }
        if let Some(other) = overtaken {
            self.broken(Property::AdmissionOrder, || {
                format!("{} joins before {}", cast.name_of(it.submission), cast.name_of(other))
            });
        }
        self.note(if follows { Sometimes::Followed } else { Sometimes::Steered });
        if let Some(row) = self.memory_mut().lanes[lane].row(it.submission) {
            row.began = true;
            row.joined = Some(Joined { host, follows, ended: None });
        }
    }

    /// A run ends, for everything that has joined it.
    pub(super) fn check_together(&mut self, cast: &Cast, lane: usize, it: &SubmissionSettled) {
        let rows = &mut self.memory_mut().lanes[lane].rows;
        for joined in rows.iter_mut().filter_map(|row| row.joined.as_mut()) {
            if joined.host == it.submission {
                joined.ended = Some(it.settlement.clone());
            }
        }
        let row = rows.iter().find(|row| row.submission == it.submission);
        let Some(Joined { host, ended, .. }) = row.and_then(|row| row.joined.clone()) else {
            return;
        };
        let shares = match (&ended, &it.settlement) {
            (Some(Settlement::Completed { .. }), Settlement::Joined { host: named }) => {
                *named == host
            }
            (Some(Settlement::Failed { .. } | Settlement::Aborted), own) => {
                ended.as_ref() == Some(own)
            }
            _ => false,
        };
        if !shares {
            self.broken(Property::Joining, || {
                format!(
                    "{} ends with {:?}, its host with {ended:?}",
                    cast.name_of(it.submission),
                    it.settlement
                )
            });
        }
    }

    /// After a batch: whatever has joined a run that has ended, has ended.
    pub(super) fn check_left_behind(&mut self, cast: &Cast, lane: usize) {
        let mut rows = self.memory.lanes[lane].rows.iter();
        let left = rows.find(|row| {
            row.settlements == 0 && row.joined.as_ref().is_some_and(|it| it.ended.is_some())
        });
        if let Some(left) = left.map(|row| row.submission) {
            self.broken(Property::Joining, || {
                format!("{} has joined a run that ends without it", cast.name_of(left))
            });
        }
    }

    /// A run asks its model: it has looked what was said to it since it asked the last time, and
    /// what it found is canonical (RUN-012, ST-01).
    pub(super) fn check_heard(
        &mut self,
        cast: &Cast,
        lane: usize,
        request: &ModelRequest,
        permits: &Permits,
    ) {
        if request.purpose != Purpose::Respond {
            return;
        }
        let seen = &self.memory.lanes[lane];
        let unheard = permits.heard.as_ref().map(|heard| {
            let waits = |it: &&SubmissionId| {
                let row = seen.rows.iter().find(|row| row.submission == **it);
                row.is_some_and(|row| !row.began && !row.aborted && row.settlements == 0)
            };
            heard.iter().find(waits).copied()
        });
        match unheard {
            Some(None) => {}
            Some(Some(unheard)) => self.broken(Property::Heard, || {
                let turn = request.turn;
                format!("turn {turn} is asked for without what {} says", cast.name_of(unheard))
            }),
            None => self.broken(Property::Heard, || {
                format!("turn {} is asked for and nobody has listened", request.turn)
            }),
        }
    }
}

impl Permits {
    /// Somebody looks what a run may take in: whoever speaks to it and is ready is heard.
    pub(crate) fn listen(&mut self, target: Target, rows: &[Arc<Row>]) {
        let Target::Run(host) = target else { return };
        let speaks = |row: &&Arc<Row>| {
            row.admission.steers == Some(host) && row.phase == Phase::Ready && row.abort.is_none()
        };
        let heard = rows.iter().filter(speaks).map(|row| row.admission.submission);
        self.heard = Some(heard.collect());
    }

    /// A request has left: the next one needs another look.
    pub(crate) fn asked(&mut self, external: &External) {
        if let External::CallModel(request) = external
            && request.purpose == Purpose::Respond
        {
            self.heard = None;
        }
    }
}
