//! Who may ask: only a start that is still the one of its call (DUR-006, ARC-13).

use super::effect::Refusal;
use super::input::{Caller, Command, Whose};
use super::state::{Address, Owner, Scope, WriteClass};
use crate::identity::{Epoch, RecordId, RunId, SubmissionId};
use crate::ledger::{Admission, Lane};
use crate::record::Record;

/// What is worked on in a lane.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Work {
    /// The submission that was claimed.
    pub submission: SubmissionId,
    /// For whom, by which agent.
    pub owner: Owner,
}

/// What lane and log say of a start, in the transaction that it asks in.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Guard {
    /// The epoch of the lane, or of its log where that is higher.
    pub current: Epoch,
    /// What is worked on; none if the lane is nobody's, or its log is at another epoch.
    pub work: Option<Work>,
    /// Whether the start is canonical.
    pub is_prepared: bool,
    /// Whether the call's end, or its submission's, is.
    pub has_ended: bool,
}

impl Guard {
    /// Asks lane and log. `log` is the epoch of the log, `admission` what was admitted as the row
    /// that the lane's owner has claimed, and `is_used` whether a record is in the log.
    ///
    /// # Errors
    /// What is asked cannot be read.
    pub fn read<E>(
        caller: &Caller,
        lane: &Lane,
        log: Option<Epoch>,
        admission: Option<&Admission>,
        mut is_used: impl FnMut(RecordId) -> Result<bool, E>,
    ) -> Result<Self, E> {
        let current = lane.epoch.max(log.unwrap_or_default());
        let none = Self { current, ..Self::default() };
        let (Some(owner), Some(admission)) = (&lane.owner, admission) else { return Ok(none) };
        if log != Some(lane.epoch) || owner.submission != admission.submission {
            return Ok(none);
        }
        let submission = owner.submission;
        let of = Owner { tenant: admission.tenant.clone(), agent: admission.agent.clone() };
        let has_ended = is_used(Record::end_of_call(submission, caller.call))?
            || is_used(Record::end_of(submission))?;
        Ok(Self {
            current,
            work: Some(Work { submission, owner: of }),
            is_prepared: is_used(Record::start_of(submission, caller.call, caller.start))?,
            has_ended,
        })
    }

    /// What the start is part of.
    fn work_of(&self, caller: &Caller) -> Result<&Work, Refusal> {
        let superseded = Refusal::Superseded { start: caller.start, current: self.current };
        let of_run = |work: &&Work| RunId::derive(work.submission) == caller.run;
        let work = self.work.as_ref().filter(of_run).ok_or(superseded)?;
        if caller.start == self.current { Ok(work) } else { Err(superseded) }
    }

    /// Where a command is about, if whoever asks may.
    ///
    /// # Errors
    /// Who asks is superseded, has ended, or was never started; or asks for what only a call may.
    pub fn address(&self, command: &Command) -> Result<Address, Refusal> {
        match command {
            Command::Get { caller, whose, key } => {
                let work = self.work_of(caller)?;
                let scope = match whose {
                    Whose::Agent => Scope::Agent(work.owner.clone()),
                    Whose::Run => Scope::Run(caller.run),
                };
                Ok(Address { scope, key: key.clone() })
            }
            Command::Put { caller, put } => {
                let work = self.work_of(caller)?;
                if self.has_ended {
                    return Err(Refusal::Ended);
                }
                if !self.is_prepared {
                    return Err(Refusal::NotPrepared);
                }
                let scope = match put.class {
                    WriteClass::RunLocal => Scope::Run(caller.run),
                    WriteClass::Canonical | WriteClass::Compensatable | WriteClass::Uncertain => {
                        Scope::Agent(work.owner.clone())
                    }
                };
                Ok(Address { scope, key: put.key.clone() })
            }
            Command::Set { owner, put } => match put.class {
                WriteClass::Uncertain => Ok(Address::of_agent(owner.clone(), put.key.clone())),
                class @ (WriteClass::RunLocal
                | WriteClass::Canonical
                | WriteClass::Compensatable) => Err(Refusal::NeedsCall { class }),
            },
        }
    }
}
