//! A script on a store with everything that it keeps, beside the machines.

use std::collections::BTreeSet;

use everstep_machine::agent::{Kept, ToolOutcome};
use everstep_machine::agent_state::{self, Address, Command, Scope, WriteClass};
use everstep_machine::conversation;
use everstep_machine::identity::Timestamp;
use everstep_machine::record::Record;
use everstep_machine::session::{self, Session};
use everstep_machine::store::{Pipeline, Replies, StoreCommand, StoreFault};

use super::acts::{Actor, lane, owner, session};
use super::coverage::Coverage;
use super::script::{Act, Line};
use super::{Beside, Check, Difference, Everything, Subject};
use crate::conformance::Point;
use crate::conformance::acts::Handle;
use crate::conformance::look::{look, shown};

/// When every script begins, in milliseconds since 1970.
const START: Timestamp = Timestamp(1_000_000_000);

/// Something that a store is asked.
#[derive(Clone, Debug)]
pub(super) enum Asked {
    Pipeline(Pipeline),
    State(agent_state::Command),
    Session(session::Command),
}

/// What it answers.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Answer {
    Pipeline(Result<Replies, StoreFault>),
    State(Result<Result<agent_state::Reply, agent_state::Refusal>, StoreFault>),
    Session(Result<Result<Session, session::Refusal>, StoreFault>),
}

impl Asked {
    /// Whether a record of it brings an artifact along.
    pub(super) fn keeps(&self) -> bool {
        let Self::Pipeline(pipeline) = self else { return false };
        pipeline.commands.iter().any(|command| match command {
            StoreCommand::Conversation(conversation::Command::Append { batch, .. }) => {
                batch.records().iter().any(|record| match record {
                    Record::ToolSettled(settled) => {
                        matches!(&*settled.outcome, ToolOutcome::Kept(Kept { .. }))
                    }
                    _ => false,
                })
            }
            _ => false,
        })
    }

    pub(super) fn put_to(&self, store: &mut impl Beside) -> Answer {
        match self {
            Self::Pipeline(pipeline) => Answer::Pipeline(store.execute(pipeline)),
            Self::State(command) => Answer::State(store.ask_state(command)),
            Self::Session(command) => Answer::Session(store.ask_session(command)),
        }
    }

    /// Where it may write.
    fn address(&self) -> Option<Address> {
        let (scope, key) = match self {
            Self::State(Command::Put { caller, put }) => match put.class {
                WriteClass::RunLocal => (Scope::Run(caller.run), &put.key),
                WriteClass::Canonical | WriteClass::Compensatable | WriteClass::Uncertain => {
                    (Scope::Agent(owner()), &put.key)
                }
            },
            Self::State(Command::Set { owner, put }) => (Scope::Agent(owner.clone()), &put.key),
            Self::State(Command::Get { .. }) | Self::Pipeline(_) | Self::Session(_) => return None,
        };
        Some(Address { scope, key: key.clone() })
    }
}

/// A store with two handles, and what it has to be equal to.
pub(super) struct Trial<'a, S: Subject> {
    subject: &'a mut S,
    handles: [Option<S::Store>; 2],
    pub(super) memory: Everything,
    actor: Actor,
    last: Option<Asked>,
    addresses: BTreeSet<Address>,
    pub(super) coverage: Coverage,
    pub(super) refusals: usize,
    pub(super) crashes: usize,
}

impl<'a, S> Trial<'a, S>
where
    S: Subject,
    S::Store: Beside,
{
    pub(super) fn new(subject: &'a mut S, coverage: Coverage) -> Self {
        subject.set_clock(START);
        let handles = [Some(subject.fresh()), Some(subject.reopen())];
        Self {
            subject,
            handles,
            memory: Everything::at(START),
            actor: Actor::default(),
            last: None,
            addresses: BTreeSet::new(),
            coverage,
            refusals: 0,
            crashes: 0,
        }
    }

    pub(super) fn run(&mut self, script: &[Line]) -> Result<(), Difference> {
        script.iter().try_for_each(|line| self.play(line))?;
        self.play(&Line::Restart)
    }

    pub(super) fn play(&mut self, line: &Line) -> Result<(), Difference> {
        match line {
            Line::Do(by, act) => match self.asked(*act) {
                Some(asked) => self.put(Check::Answers, *by, asked),
                None => Ok(()),
            },
            Line::Again(by) => match self.last.clone() {
                Some(asked) => self.put(Check::Repeats, *by, asked),
                None => Ok(()),
            },
            Line::Crash(by, act, at) => match self.asked(*act) {
                Some(Asked::Pipeline(pipeline)) => self.crash(*by, &pipeline, *at),
                Some(asked) => self.put(Check::Answers, *by, asked),
                None => Ok(()),
            },
            Line::Clock(by) => {
                let now = Timestamp(self.memory.lanes().now().0.saturating_add_signed(*by));
                self.subject.set_clock(now);
                self.memory.set_clock(now);
                Ok(())
            }
            Line::Restart => {
                self.handles = [None, None];
                self.handles = [Some(self.subject.reopen()), Some(self.subject.reopen())];
                (0..2).try_for_each(|by| self.look_at(Check::Reopening, by))
            }
        }
    }

    pub(super) fn asked(&mut self, act: Act) -> Option<Asked> {
        let asked = self.actor.ask(act, &self.memory)?;
        self.addresses.extend(asked.address());
        Some(asked)
    }

    fn put(&mut self, check: Check, by: Handle, asked: Asked) -> Result<(), Difference> {
        let expected = asked.put_to(&mut self.memory);
        let Some(store) = &mut self.handles[by] else { return Ok(()) };
        let found = asked.put_to(store);
        self.coverage.note(&asked, &expected);
        self.refusals += usize::from(is_refusal(&expected));
        self.last = Some(asked);
        same(check, &expected, &found)?;
        self.look_at(Check::Handles, 1 - by)
    }

    /// The process dies at the failpoint with this number, or is not reached by it.
    fn crash(&mut self, by: Handle, pipeline: &Pipeline, at: usize) -> Result<(), Difference> {
        let mut memory = self.memory.clone();
        let accepted = |it: &&_| memory.one(&pipeline.lane, it).is_ok();
        let accepted = pipeline.commands.iter().take_while(accepted).count();
        let points = 2 * accepted + usize::from(accepted < pipeline.commands.len());
        let Some(store) = self.handles[by].take_if(|_| at < points) else {
            return self.put(Check::Answers, by, Asked::Pipeline(pipeline.clone()));
        };
        let point = Point { command: at / 2, done: at % 2 == 1 };
        let left = self.subject.crash(store, pipeline, point);
        self.crashes += 1;
        self.handles[by] = Some(self.subject.reopen());
        let before = self.memory.clone();
        let mut last = None;
        for done in left.filter(|done| *done <= accepted) {
            self.memory = before.clone();
            for command in &pipeline.commands[..done] {
                let _accepted = self.memory.one(&pipeline.lane, command);
            }
            match (0..2).try_for_each(|by| self.look_at(Check::Crashes, by)) {
                Ok(()) => return Ok(()),
                Err(difference) => last = Some(difference),
            }
        }
        Err(last.unwrap_or_else(|| Difference {
            check: Check::Crashes,
            expected: format!("a beginning of {}", shown(pipeline)),
            found: "something else".into(),
        }))
    }

    /// Whether a handle shows everything as it is.
    fn look_at(&mut self, check: Check, by: Handle) -> Result<(), Difference> {
        let Some(store) = &mut self.handles[by] else { return Ok(()) };
        let mut lanes = self.memory.lanes().clone();
        look(check, store, &mut lanes, &[lane()])?;
        for address in &self.addresses {
            same(check, &self.memory.slot(address), &store.slot(address))?;
        }
        for id in [session(0), session(1)] {
            same(check, &self.memory.session(&id), &store.session(&id))?;
        }
        let all: Vec<_> = self.memory.artifacts().cloned().collect();
        for (conversation, digest) in all {
            let expected = self.memory.artifact(&conversation, digest);
            same(check, &expected, &store.artifact(&conversation, digest))?;
        }
        Ok(())
    }

    /// Both handles, for a race.
    pub(super) fn take(&mut self) -> Option<[S::Store; 2]> {
        let [first, second] = &mut self.handles;
        Some([first.take()?, second.take()?])
    }

    /// What the race has left has to be this.
    pub(super) fn is_equal_to(
        &mut self,
        handles: [S::Store; 2],
        memory: Everything,
    ) -> ([S::Store; 2], Result<(), Difference>) {
        (self.handles, self.memory) = (handles.map(Some), memory);
        let found = (0..2).try_for_each(|by| self.look_at(Check::Races, by));
        let handles = self.take().expect("CAP-012: both were put back");
        (handles, found)
    }
}

const fn is_refusal(answer: &Answer) -> bool {
    matches!(
        answer,
        Answer::Pipeline(Err(_)) | Answer::State(Ok(Err(_))) | Answer::Session(Ok(Err(_)))
    )
}

fn same<T: PartialEq + std::fmt::Debug>(
    check: Check,
    expected: &T,
    found: &T,
) -> Result<(), Difference> {
    if expected == found {
        return Ok(());
    }
    Err(Difference { check, expected: shown(expected), found: shown(found) })
}
