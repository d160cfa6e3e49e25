//! Every oracle fires on a world that is broken by hand, and is silent just before.

mod approvals;
mod bindings;
mod budgets;
mod end;
mod fencing;
mod history;
mod outside;
mod owner;
mod patience;
mod permits;
mod property;
mod request;
mod retries;
mod secrets;
mod steps;

use std::sync::Arc;

use everstep_machine::admission::{AdmissionMachine, Effect, Input, State};
use everstep_machine::agent::ToolOutcome;
use everstep_machine::contract::Machine;
use everstep_machine::conversation::{Command as LogCommand, TailRef};
use everstep_machine::identity::{
    DurationMs, Epoch, ProducerId, SubmissionId, Timestamp, Token, ToolCallId, ToolName, Turn,
};
use everstep_machine::ledger::{Claim, Command, Ownership};
use everstep_machine::record::{
    Batch, InputKind, InputRecorded, ModelResponded, Record, Settlement, SubmissionSettled,
    ToolPrepared, ToolSettled,
};
use everstep_machine::store::{Pipeline, StoreCommand};

use super::{Judge, Permits, Property};
use crate::cast::Cast;
use crate::defect::Defect;
use crate::profile::Profile;
use crate::scenario::{Scenario, Submission, Tool, Turn as Says};
use crate::store::{Executed, Shelf};

const LEASE: DurationMs = DurationMs(1_000);

/// Two submissions of one lane, each of which calls an ordinary and an idempotent tool.
pub(super) fn scenario() -> Arc<Scenario> {
    let says = || Says::calls("ship", "{}").and_calls("mail", "{}");
    let submission =
        |name| Submission::new(name).conversation("desk").turn(says()).turn(Says::says("done"));
    let scenario = Scenario::builder("judged")
        .about("Something to judge.")
        .agent("clerk", "Do it.")
        .tool(Tool::ordinary("ship").returns("1"))
        .tool(Tool::idempotent("mail").returns("2"))
        .submission(submission("a"))
        .submission(submission("b"));
    Arc::new(scenario.build().unwrap())
}

/// A shelf with somebody who judges what happens to it.
pub(super) struct Bench {
    pub(super) cast: Cast,
    pub(super) shelf: Arc<Shelf>,
    pub(super) judge: Judge,
    defect: Option<Defect>,
}

impl Bench {
    pub(super) fn new(defect: Option<Defect>) -> Self {
        Self::of(scenario(), defect)
    }

    pub(super) fn of(scenario: Arc<Scenario>, defect: Option<Defect>) -> Self {
        let cast = Cast::new(scenario, Profile::Weak, defect);
        let shelf = Arc::new(Shelf::new(cast.lanes[0].clone()));
        Self { cast, shelf, judge: Judge::new(1), defect }
    }

    /// With both submissions admitted, in order.
    pub(super) fn admitted(defect: Option<Defect>) -> Self {
        let mut bench = Self::new(defect);
        for client in 0..2 {
            for command in bench.admission(client).commands {
                bench.does(&command);
            }
        }
        assert_eq!(bench.broken(), None);
        bench
    }

    /// With the first submission claimed under epoch 1 and the log fenced.
    pub(super) fn claimed(defect: Option<Defect>) -> Self {
        Self::admitted(defect).claim_and_fence()
    }

    /// With the only submission of a scenario admitted, claimed, and its input recorded.
    pub(super) fn begun(scenario: Scenario) -> Self {
        let mut bench = Self::of(Arc::new(scenario), None);
        for command in bench.admission(0).commands {
            bench.does(&command);
        }
        let mut bench = bench.claim_and_fence();
        bench.records(vec![bench.input(0)]);
        bench
    }

    fn claim_and_fence(self) -> Self {
        let mut bench = self;
        bench.does(&bench.claim(0));
        bench.does(&bench.fence(1));
        assert_eq!(bench.broken(), None);
        bench
    }

    pub(super) fn broken(&self) -> Option<Property> {
        self.judge.violation().map(|violation| violation.property)
    }

    pub(super) fn submission(&self, client: usize) -> SubmissionId {
        self.cast.clients[client].submission
    }

    pub(super) fn call(&self, client: usize, index: usize) -> ToolCallId {
        ToolCallId::derive(self.cast.clients[client].run, Turn(0), index)
    }

    pub(super) fn admission(&self, client: usize) -> Pipeline {
        let call = self.cast.clients[client].call.clone();
        let step = AdmissionMachine::step(State::new(call), Input::Started);
        match step.effects.into_iter().next() {
            Some(Effect::Store(pipeline)) => pipeline,
            other => panic!("an admission begins with its pipeline, not with {other:?}"),
        }
    }

    pub(super) fn tail(&self) -> TailRef {
        self.shelf.log().tail().unwrap().reference()
    }

    pub(super) fn claim(&self, expected: u64) -> StoreCommand {
        StoreCommand::Ledger(Command::Claim(Claim {
            submission: self.submission(0),
            expected: Epoch(expected),
            token: token(expected + 1),
            producer: producer(),
            lease: LEASE,
            productive: None,
        }))
    }

    /// The owner of an epoch.
    pub(super) fn owner(&self, epoch: u64) -> Ownership {
        let (submission, token) = (self.submission(0), token(epoch));
        Ownership { submission, token, epoch: Epoch(epoch) }
    }

    pub(super) fn fence(&self, epoch: u64) -> StoreCommand {
        let expected = self.tail();
        StoreCommand::Conversation(LogCommand::Fence { epoch: Epoch(epoch), expected })
    }

    pub(super) fn append(&self, epoch: u64, records: Vec<Record>) -> StoreCommand {
        StoreCommand::Conversation(LogCommand::Append {
            epoch: Epoch(epoch),
            producer: producer(),
            expected: self.tail(),
            batch: Arc::new(Batch::new(&self.cast.lanes[0], records).unwrap()),
        })
    }

    pub(super) fn input(&self, client: usize) -> Record {
        let client = &self.cast.clients[client];
        Record::InputRecorded(InputRecorded {
            submission: client.submission,
            principal: client.call.principal.clone(),
            run: client.run,
            input: client.call.input.clone(),
            kind: InputKind::First { bound: self.cast.bound },
            at: Timestamp(1_000),
            allowance: client.call.allowance,
        })
    }

    pub(super) fn response(&self, client: usize) -> Record {
        self.response_to(client, 0)
    }

    /// What the script says to a turn.
    pub(super) fn response_to(&self, client: usize, turn: u32) -> Record {
        let (client, turn) = (&self.cast.clients[client], Turn(turn));
        let response = self.cast.answer(client.run, turn).unwrap();
        Record::ModelResponded(ModelResponded { submission: client.submission, turn, response })
    }

    /// How the call of a turn at `index` ended.
    pub(super) fn result(&self, turn: u32, index: usize, outcome: ToolOutcome) -> Record {
        let call = ToolCallId::derive(self.cast.clients[0].run, Turn(turn), index);
        let (submission, outcome) = (self.submission(0), Arc::new(outcome));
        Record::ToolSettled(ToolSettled { submission, call, outcome })
    }

    /// How the first submission ended.
    pub(super) fn settled(&self, settlement: Settlement) -> Record {
        let (submission, run) = (self.submission(0), Some(self.cast.clients[0].run));
        Record::SubmissionSettled(SubmissionSettled { submission, run, settlement })
    }

    /// Appends records under epoch 1.
    pub(super) fn records(&mut self, records: Vec<Record>) {
        let command = self.append(1, records);
        assert!(self.does(&command).answer.is_ok());
    }

    /// The tool of a call.
    pub(super) fn tool(&self, call: ToolCallId) -> ToolName {
        self.cast.declared(call).unwrap().tool.clone().unwrap()
    }

    /// The permission of the host to start the first submission's calls.
    pub(super) fn given(&self, epoch: u64) -> Permits {
        let mut permits = Permits::default();
        for index in 0..2 {
            permits.authorise(Epoch(epoch), self.call(0, index));
        }
        permits
    }

    /// The preparation of the first submission's call at `index`.
    pub(super) fn prepared(&self, index: usize, epoch: u64) -> Record {
        let call = self.call(0, index);
        Record::ToolPrepared(ToolPrepared {
            submission: self.submission(0),
            call,
            epoch: Epoch(epoch),
            tool: self.tool(call),
            parameters: everstep_machine::json::CanonicalJson::parse(b"{}").unwrap().digest(),
        })
    }

    /// Executes a command, in the judge's sight.
    pub(super) fn does(&mut self, command: &StoreCommand) -> Executed {
        self.does_with(command, &Permits::default())
    }

    pub(super) fn does_with(&mut self, command: &StoreCommand, permits: &Permits) -> Executed {
        self.does_at(0, command, permits)
    }

    pub(super) fn does_at(
        &mut self,
        clock: u64,
        command: &StoreCommand,
        permits: &Permits,
    ) -> Executed {
        let shelf = &mut self.shelf;
        let executed = Shelf::execute(shelf, command, Timestamp(clock), self.defect);
        self.judge.command(&self.cast, 0, command, &executed, permits);
        executed
    }

    /// Epoch 2 takes over after the lease of epoch 1.
    pub(super) fn taken_over(&mut self) {
        let commands = [self.claim(1), self.fence(2)];
        for command in commands {
            assert!(self.does_at(LEASE.0, &command, &Permits::default()).answer.is_ok());
        }
        assert_eq!(self.broken(), None);
    }
}

fn token(epoch: u64) -> Token {
    Token([u8::try_from(epoch).unwrap(); 16])
}

pub(super) fn producer() -> ProducerId {
    ProducerId::new("worker").unwrap()
}
