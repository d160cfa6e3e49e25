//! Attempts whose effects are performed one by one, in whatever order and with whatever fate a
//! test chooses. After every acknowledged pipeline the prediction is compared with the store.

use alloc::collections::VecDeque;
use alloc::sync::Arc;
use alloc::vec::Vec;

use super::history;
use crate::admission::Call;
use crate::agent::{Joins, Resolution};
use crate::attempt::{Attempt, Effect, End, Input, State};
use crate::contract::Machine;
use crate::effect::External;
use crate::identity::Timestamp;
use crate::ledger::{
    Agreement, ApprovalMark, ApprovalState, Command, Mark, MarkState, Phase, Row, agreement,
};
use crate::projection::{Projection, Reader};
use crate::run::Timer;
use crate::store::{Pipeline, Refusal, Replies, Store, StoreCommand, StoreFault};
use crate::testkit::story::{abort, intent};
use crate::testkit::{Host, LOST, call, submission};

/// What becomes of a pipeline.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Fate {
    /// It is executed and answered.
    Done,
    /// This many of its commands are executed, and the answer is lost.
    Lost(usize),
    /// This many of its commands are executed, and the next one is refused.
    Refused(usize, Refusal),
}

/// Everything is executed, and the answer is lost.
pub(super) const ACK_LOST: Fate = Fate::Lost(usize::MAX);

/// An attempt in some process.
pub(super) struct Actor {
    pub(super) state: State,
    /// Effects that have not left, oldest first.
    pub(super) waiting: VecDeque<Effect>,
    /// Questions that are out.
    pub(super) out: Vec<External>,
    /// How often it asked to be told to renew.
    pub(super) timers: usize,
    /// Whether it waits for calls that are to end by themselves.
    pub(super) calls_off: bool,
    pub(super) end: Option<End>,
}

impl Actor {
    pub(super) fn told(&mut self, input: Input) {
        let step = Attempt::step(self.state.clone(), input);
        self.state = step.state;
        self.waiting.extend(step.effects);
    }

    /// The pipeline that leaves next.
    pub(super) fn pipeline(&self) -> Option<&Pipeline> {
        match self.waiting.front() {
            Some(Effect::Store(pipeline)) => Some(pipeline),
            _ => None,
        }
    }

    /// The names of the commands of the pipeline that leaves next.
    pub(super) fn commands(&self) -> Vec<&'static str> {
        let commands = self.pipeline().into_iter().flat_map(|pipeline| &pipeline.commands);
        commands.map(|command| command.kind().name()).collect()
    }

    pub(super) fn is_done(&self) -> bool {
        self.end.is_some() || (self.waiting.is_empty() && self.out.is_empty() && !self.calls_off)
    }
}

/// A lane, the outside and the attempts at the lane.
pub(super) struct Stage {
    pub(super) host: Host,
    pub(super) actors: Vec<Actor>,
    /// Every question that ever left, whatever became of whoever asked.
    pub(super) left: Vec<External>,
    /// What attempts that have ended have folded, oldest first.
    pub(super) folds: Vec<Reader>,
}

impl Stage {
    pub(super) fn of(host: Host) -> Self {
        Self { host, actors: Vec::new(), left: Vec::new(), folds: Vec::new() }
    }

    /// One admitted submission under key 1, and a first attempt that is about to read.
    pub(super) fn new(turns: &[&[&'static str]]) -> Self {
        Self::admitted(Host::new(turns))
    }

    /// The same of an agent that has a durable tool as well.
    /// The same of an agent that answers together what this says.
    pub(super) fn joining(turns: &[&[&'static str]], joins: Joins) -> Self {
        Self::admitted(Host::joining(turns, joins))
    }

    pub(super) fn booking(turns: &[&[&'static str]]) -> Self {
        Self::admitted(Host::booking(turns))
    }

    fn admitted(host: Host) -> Self {
        let mut stage = Self::of(host);
        stage.host.admit(call("1", "hello"));
        stage.enter();
        stage
    }

    pub(super) fn admit(&mut self, call: Call) {
        self.host.admit(call);
    }

    /// Another attempt begins.
    pub(super) fn enter(&mut self) -> usize {
        self.enter_with(None)
    }

    /// The same in a process that remembers this.
    pub(super) fn enter_with(&mut self, fold: Option<Reader>) -> usize {
        let (state, effects) = self.host.attempt_with(fold);
        let (waiting, out) = (VecDeque::from(effects), Vec::new());
        self.actors.push(Actor { state, waiting, out, timers: 0, calls_off: false, end: None });
        self.actors.len() - 1
    }

    /// Performs the next effect of an attempt; a pipeline meets its fate. False if there is none.
    pub(super) fn perform(&mut self, at: usize, fate: Fate) -> bool {
        let Some(effect) = self.actors[at].waiting.pop_front() else { return false };
        match effect {
            Effect::Store(pipeline) => {
                let answer = self.execute(&pipeline, fate);
                self.stored(at, &pipeline, answer);
            }
            Effect::External(external) => {
                self.left.push(external.clone());
                self.actors[at].out.push(external);
            }
            Effect::Tell { event, .. } => self.host.told.push(event),
            Effect::Schedule { timer: Timer::CallOff, .. } => self.actors[at].calls_off = true,
            Effect::CallOff | Effect::CancelExternals | Effect::Schedule { .. } => {}
            Effect::ScheduleRenewal { .. } => self.actors[at].timers += 1,
            Effect::End(end) => {
                let (rows, log) = (&self.host.store.rows, history(&self.host));
                assert_ne!(
                    end,
                    End::Defect,
                    "too many laps, or refused prediction: {rows:?} {log:?}"
                );
                assert!(self.actors[at].waiting.is_empty(), "nothing follows the end");
                self.actors[at].end = Some(end);
                self.folds.extend(self.actors[at].state.clone().into_fold());
            }
        }
        true
    }

    /// Performs a pipeline as a weak store does: after some of its commands the next effect of
    /// another attempt is performed.
    pub(super) fn perform_torn(&mut self, at: usize, part: usize, other: usize) {
        let Some(pipeline) = self.actors[at].pipeline().cloned() else { return };
        self.actors[at].waiting.pop_front();
        let (first, rest) = pipeline.commands.split_at(part.min(pipeline.commands.len()));
        let half = |commands: &[StoreCommand]| {
            let commands = commands.to_vec();
            Pipeline { commands, ..pipeline.clone() }
        };
        let answer = self.host.store.execute(&half(first)).and_then(|mut replies| {
            if other != at {
                self.perform(other, Fate::Done);
            }
            replies.extend(self.host.store.execute(&half(rest))?);
            Ok(replies)
        });
        self.stored(at, &pipeline, answer);
    }

    fn stored(&mut self, at: usize, pipeline: &Pipeline, answer: Result<Replies, StoreFault>) {
        self.never_ahead();
        if answer.is_ok() {
            self.compare(at, pipeline);
        } else {
            // What follows a pipeline leaves only with its acknowledgement.
            self.actors[at].waiting.clear();
        }
        self.actors[at].told(Input::Stored(answer));
    }

    /// How often the invocation of a tool left a process.
    pub(super) fn invoked(&self) -> usize {
        self.left.iter().filter(|it| matches!(it, External::InvokeTool(_))).count()
    }

    fn execute(&mut self, pipeline: &Pipeline, fate: Fate) -> Result<Replies, StoreFault> {
        let (count, why) = match fate {
            Fate::Done => return self.host.store.execute(pipeline),
            Fate::Lost(count) => (count, None),
            Fate::Refused(count, why) => (count, Some(why)),
        };
        let commands = pipeline.commands.iter().take(count).cloned().collect();
        let prefix = Pipeline { commands, ..pipeline.clone() };
        let answer = self.host.store.execute(&prefix);
        match (answer, why) {
            (Err(fault), Some(_)) => Err(fault),
            (Ok(_), Some(why)) => Err(StoreFault::Refused { at: count, why }),
            (_, None) => Err(LOST),
        }
    }

    /// The outside answers one of the questions of an attempt.
    pub(super) fn answer(&mut self, at: usize, question: usize) {
        let external = self.actors[at].out.remove(question);
        let answer = self.host.outside.answer(external);
        self.actors[at].told(Input::Answered(answer));
    }

    /// One thing that an attempt can do next, with nothing in its way. False if there is none.
    pub(super) fn go_on(&mut self, at: usize) -> bool {
        if self.actors[at].end.is_some() {
            false
        } else if self.perform(at, Fate::Done) {
            true
        } else if !self.actors[at].out.is_empty() {
            self.answer(at, 0);
            true
        } else if core::mem::take(&mut self.actors[at].calls_off) {
            self.actors[at].told(Input::Due(Timer::CallOff));
            true
        } else {
            false
        }
    }

    /// Lets an attempt do what it can.
    pub(super) fn finish(&mut self, at: usize) -> Option<End> {
        for _ in 0..1_000 {
            if !self.go_on(at) {
                return self.actors[at].end;
            }
        }
        panic!("ARC-14: the attempt does not come to rest: {:?}", self.actors[at].state)
    }

    /// Goes on until the pipeline that leaves next holds a command of this name.
    pub(super) fn until(&mut self, at: usize, command: &str) {
        while !self.actors[at].commands().contains(&command) {
            assert!(self.go_on(at), "nothing leads to {command}");
        }
    }

    /// Goes on until an attempt has a question of this name out, and nothing else to do.
    pub(super) fn until_out(&mut self, at: usize, question: &str) {
        let is_out =
            |stage: &Self| stage.actors[at].out.iter().any(|it| it.kind().name() == question);
        while !is_out(self) {
            assert!(self.go_on(at), "nothing leads to {question}");
        }
        while self.perform(at, Fate::Done) {}
    }

    pub(super) fn abort(&mut self) {
        let command = Command::Abort { submission: submission("1"), intent: abort() };
        // A refusal says that it came too late.
        let _ = self.host.store.ledger(command);
    }

    /// An operator closes every open doubt of every row; how many there were.
    pub(super) fn resolve(&mut self, resolution: &Resolution) -> usize {
        let rows = self.host.store.rows.iter().flat_map(|row| {
            let open = row.marks.iter().filter(|mark| mark.state == MarkState::Open);
            open.map(|mark| (row.admission.submission, mark.doubt))
        });
        let open: Vec<_> = rows.collect();
        for (submission, doubt) in &open {
            let intent = intent(resolution.clone());
            let (submission, doubt) = (*submission, *doubt);
            let command = Command::Resolve { submission, doubt, intent };
            self.host.store.ledger(command).expect("an open doubt can be resolved");
        }
        open.len()
    }

    /// Lets every attempt end, and new ones work the lane, with an operator who always answers
    /// the same, until there is nothing left to do. How many doubts were resolved.
    pub(super) fn settle(&mut self, resolution: &Resolution) -> usize {
        for at in 0..self.actors.len() {
            self.finish(at);
        }
        let mut resolved = 0;
        for _ in 0..64 {
            self.host.wait_for_lease();
            let at = self.enter();
            let end = self.finish(at).expect("an attempt that nothing disturbs ends");
            let now = self.resolve(resolution);
            resolved += now;
            if end == End::Idle && now == 0 {
                self.check();
                return resolved;
            }
        }
        panic!("ARC-14: the lane does not come to rest: {:?}", self.host.store.rows)
    }

    /// How many inputs came into the run of another submission.
    pub(super) fn joined(&self) -> usize {
        let log = Projection::of(self.host.store.log.iter().map(Arc::as_ref)).unwrap();
        log.submissions().filter(|(_, view)| view.joined.is_some()).count()
    }

    /// A crash between two commands leaves a row behind the log, never before it.
    fn never_ahead(&self) {
        let log = Projection::of(self.host.store.log.iter().map(Arc::as_ref)).unwrap();
        for row in &self.host.store.rows {
            assert_ne!(agreement(row, &log), Agreement::Ahead, "DUR-015: {row:?}");
        }
    }

    /// Everything is settled once, and the ledger says what the log says.
    fn check(&self) {
        let log = Projection::of(self.host.store.log.iter().map(Arc::as_ref)).unwrap();
        for row in &self.host.store.rows {
            assert!(matches!(row.phase, Phase::Settled(_)), "ARC-14: {row:?}");
            assert_eq!(agreement(row, &log), Agreement::Current, "DUR-015: {row:?}");
        }
        let settled = history(&self.host).iter().filter(|it| **it == "settled").count();
        assert_eq!(settled, self.host.store.rows.len(), "DUR-002");
    }

    /// What an attempt predicted of row, tail and fold is what the store holds now.
    fn compare(&self, at: usize, pipeline: &Pipeline) {
        let state = &self.actors[at].state;
        let reads = |it: &StoreCommand| {
            matches!(it, StoreCommand::ReadLane(_) | StoreCommand::ReadLog { .. })
        };
        let Some(row) = state.predicted_row() else { return };
        if pipeline.commands.iter().all(reads) {
            return;
        }
        assert!(state.awaits_store());
        let stored = self.host.store.row(row.admission.submission).expect("a predicted row");
        // An append alone says nothing of the lane: somebody may have claimed it meanwhile.
        if row.claims == stored.claims {
            assert_eq!(timeless(row), timeless(stored), "the predicted row");
        } else {
            assert!(row.claims < stored.claims, "a claim that the store does not know");
        }
        // Behind its last append somebody may have fenced the log before the answer came.
        let epochs = [state.predicted_tail(), self.host.store.tail].map(|it| it.map(|it| it.epoch));
        if epochs[0] < epochs[1] {
            return;
        }
        let [predicted, stored] = [state.predicted_tail(), self.host.store.tail]
            .map(|tail| tail.map(|tail| (tail.epoch, tail.reference())));
        assert_eq!(predicted, stored, "the predicted tail");
        let log = Projection::of(self.host.store.log.iter().map(Arc::as_ref)).unwrap();
        assert_eq!(state.projection(), Some(&log), "DUR-015: the live fold");
    }
}

/// A row without what an attempt does not predict: times, and what other people want.
fn timeless(row: &Row) -> Row {
    let mut row = row.clone();
    row.abort = None;
    if let Phase::Settled(settled) = &mut row.phase {
        settled.at = Timestamp(0);
    }
    for ApprovalMark { since, expires_at, state, .. } in &mut row.approvals {
        (*since, *expires_at) = (Timestamp(0), None);
        if let ApprovalState::Intended(_) = state {
            *state = ApprovalState::Open;
        }
    }
    for Mark { since, state, .. } in &mut row.marks {
        *since = Timestamp(0);
        if let MarkState::Intended(_) = state {
            *state = MarkState::Open;
        }
    }
    row
}
