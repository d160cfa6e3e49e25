//! The rules of an attempt: one pipeline at a time, classified and predicted before it is sent.

use alloc::vec::Vec;

use super::Input;
use super::act::Progress;
use super::effect::{Effect, End};
use super::live::working;
use super::predict::{Defect, Draft};
use super::read::{Next, end, end_with};
use super::state::{Kept, Occasion, Reading, Sent, Setup, Stage, State, Working};
use crate::agent::Resolution;
use crate::contract::{Machine, Step};
use crate::effect::{CheckSubject, External, Reconciliation};
use crate::ledger::Command;
use crate::limits::CLASSIFY_LAPS;
use crate::record::Doubt;
use crate::run::Liveness;
use crate::store::{Pipeline, Replies, Reply, StoreCommand, StoreFault, Target};

/// The machine of one attempt.
pub struct Attempt;

impl Machine for Attempt {
    type State = State;
    type Input = Input;
    type Effect = Effect;

    fn step(state: State, input: Input) -> Step<State, Effect> {
        let State { setup, stage } = state;
        let (stage, effects) = match (stage, input) {
            (Stage::Idle(fold), Input::Started { token }) => {
                Reading::begin(&setup, token, Occasion::First, Kept::default(), fold)
            }
            (Stage::Reading(reading), input) => reading_step(*reading, &setup, input),
            (Stage::Working(working), input) => working_step(*working, &setup, input),
            // Late, doubled or absurd.
            (stage @ (Stage::Idle(_) | Stage::Ended(..)), _) => (stage, Vec::new()),
        };
        Step::new(State { setup, stage }, effects)
    }
}

fn reading_step(mut reading: Reading, setup: &Setup, input: Input) -> Next {
    match input {
        Input::Stored(answer) => return reading.stored(setup, answer),
        Input::Answered(answer) => reading.kept.inbox.push_back(answer),
        Input::RenewalDue => reading.kept.renewal_due = true,
        Input::Due(timer) => {
            reading.kept.due.insert(timer);
        }
        // The lane may have been read already, with only its answer still on the way.
        Input::Woken => reading.kept.woken = true,
        Input::Draining => reading.kept.draining = true,
        Input::Started { .. } => {}
    }
    (Stage::Reading(reading.into()), Vec::new())
}

fn working_step(mut it: Working, setup: &Setup, input: Input) -> Next {
    match input {
        Input::Stored(answer) => return it.stored(setup, answer),
        Input::Answered(answer) => it.inbox.push_back(answer),
        Input::RenewalDue => it.renewal_due = true,
        Input::Due(timer) => {
            it.due.insert(timer);
        }
        Input::Woken => it.woken = true,
        Input::Draining => it.run.drain(),
        Input::Started { .. } => {}
    }
    match it.sent {
        Some(_) => (working(it), Vec::new()),
        None if it.calling_off => it.wait_for_calls(setup),
        None => it.proceed(setup),
    }
}

impl Working {
    /// Does everything that can be done before the store or the outside answers.
    pub(super) fn proceed(self, setup: &Setup) -> Next {
        self.go_on(setup, Draft::default())
    }

    /// Like [`Working::proceed`], with a pipeline that is begun already.
    pub(super) fn go_on(mut self, setup: &Setup, mut draft: Draft) -> Next {
        match self.laps(setup, &mut draft).and_then(|()| self.housekeep(setup, &mut draft)) {
            Ok(()) => self.send(setup, draft),
            Err(Defect) => end(End::Defect),
        }
    }

    /// Classifies on predicted slices until a run is live, somebody has to answer, or it is over.
    fn laps(&mut self, setup: &Setup, draft: &mut Draft) -> Result<(), Defect> {
        for _ in 0..CLASSIFY_LAPS {
            self.deliver(setup, draft)?;
            if self.run.liveness() == Liveness::Live {
                return Ok(());
            }
            match self.act(setup, draft)? {
                Progress::Again => {}
                Progress::Wait => return Ok(()),
                Progress::Over(end) => {
                    self.ending = Some(end);
                    return Ok(());
                }
            }
        }
        Err(Defect)
    }

    /// Renews a lease that wants it, and looks at the lane: for a run that listens, or to follow a
    /// hint when there is nothing better to send.
    pub(super) fn housekeep(&mut self, setup: &Setup, draft: &mut Draft) -> Result<(), Defect> {
        if self.ending.is_some() {
            return Ok(());
        }
        let mut looks = self.listens || (self.woken && draft.commands.is_empty());
        if core::mem::take(&mut self.renewal_due)
            && let Some(owner) = self.ownership()
        {
            self.ledger(draft, Command::Renew { owner, lease: setup.lease })?;
            draft.after.push(Effect::ScheduleRenewal { after: setup.renewal });
            // A hint may have been lost: it costs one renewal's time, and no more.
            looks = true;
        }
        if looks {
            self.look(draft);
        }
        Ok(())
    }

    /// Looks at the row behind everything else in the pipeline.
    fn look(&mut self, draft: &mut Draft) {
        self.woken = false;
        let submission = self.submission;
        let target = if self.listens { Target::Run(submission) } else { Target::Owned(submission) };
        draft.commands.push(StoreCommand::ReadLane(target));
    }

    pub(super) fn send(mut self, setup: &Setup, draft: Draft) -> Next {
        let Draft { commands, after, consumed } = draft;
        if commands.is_empty() {
            return match self.ending {
                Some(ending) => end_with(ending, self.into_fold()),
                None => (working(self), after),
            };
        }
        let pipeline = Pipeline { lane: setup.lane.clone(), commands };
        let mut effects = alloc::vec![Effect::Store(pipeline.clone())];
        effects.extend(after.iter().cloned());
        self.sent = Some(Sent { pipeline, after, consumed });
        (working(self), effects)
    }

    fn stored(mut self, setup: &Setup, answer: Result<Replies, StoreFault>) -> Next {
        let Some(sent) = self.sent.take() else { return (working(self), Vec::new()) };
        match answer {
            Ok(replies) => self.acknowledged(setup, replies),
            Err(StoreFault::Indeterminate) => {
                let mut effects = alloc::vec![Effect::Store(sent.pipeline.clone())];
                effects.extend(sent.after.iter().cloned());
                self.sent = Some(sent);
                (working(self), effects)
            }
            Err(StoreFault::Refused { .. }) => self.read_again(setup, sent),
            Err(StoreFault::Corrupt(corruption)) => end(End::Corrupt(corruption)),
        }
    }

    fn acknowledged(mut self, setup: &Setup, mut replies: Replies) -> Next {
        self.confirm(&replies);
        match (self.ending, replies.pop()) {
            (Some(ending), _) => end_with(ending, self.into_fold()),
            (None, Some(Reply::Lane(view))) => self.refresh(setup, view),
            (None, Some(_)) if self.calling_off => self.wait_for_calls(setup),
            (None, Some(_)) => self.proceed(setup),
            (None, None) => end(End::Defect),
        }
    }

    /// The log ends as it was predicted to. Its chain digest could not be: it is known only now.
    fn confirm(&mut self, replies: &Replies) {
        let stored = replies.iter().rev().find_map(|reply| match reply {
            Reply::Conversation(reply) => Some(reply.tail()),
            Reply::Ledger(_) | Reply::Lane(_) | Reply::Log(_) => None,
        });
        if let (Some(stored), Some(tail)) = (stored, &mut self.tail)
            && stored.reference() == tail.reference()
        {
            tail.chain = stored.chain;
        }
    }

    /// A refusal always means: read again and classify. What never left is taken back, and
    /// answers whose consequences were not committed are offered again.
    fn read_again(mut self, setup: &Setup, sent: Sent) -> Next {
        for effect in &sent.after {
            let external = match effect {
                Effect::External(external) => external,
                // Its timer never started: renew at once, and start another.
                Effect::ScheduleRenewal { .. } => {
                    self.renewal_due = true;
                    continue;
                }
                // A run that resumes asks for its timers again.
                Effect::Schedule { timer, .. } => {
                    self.run.forget(*timer);
                    continue;
                }
                Effect::Store(_)
                | Effect::CallOff
                | Effect::CancelExternals
                | Effect::Tell { .. }
                | Effect::End(_) => continue,
            };
            self.run.recall(external);
            match external {
                External::InvokeTool(it) => {
                    let doubt = Doubt { call: it.call, start: it.epoch };
                    let proof = Reconciliation::Proven(Resolution::NeverStarted);
                    self.proofs.insert(doubt, proof);
                }
                External::Reconcile(it) => {
                    self.asked.remove(&it.doubt);
                }
                External::Check { subject: CheckSubject::Resolution(doubt), .. } => {
                    self.fits.remove(doubt);
                }
                // Its handler rests: it is let go on behind a step that is recorded by then.
                External::NextStep(_)
                | External::CallModel(_)
                | External::Check { .. }
                | External::Clear { .. }
                | External::Approve { .. }
                | External::Authorize { .. }
                | External::Permits { .. } => {}
            }
        }
        let submission = self.submission;
        let (token, mut kept) = self.keep();
        for answer in sent.consumed.into_iter().rev() {
            kept.flights.restore(&answer);
            kept.inbox.push_front(answer);
        }
        Reading::begin(setup, token, Occasion::Again(submission), kept, None)
    }
}
