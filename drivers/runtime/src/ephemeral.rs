//! A run without a store: the same interpreter, with every commit answered at once (RUN-001).
//!
//! Nothing of it survives its process. Interrupting it, or dropping it, calls off everything that
//! it has in flight, and it has ended only after all of that has (RUN-008, ARC-07).

use std::sync::Arc;

use everstep_machine::admission::Call;
use everstep_machine::contract::Machine;
use everstep_machine::event::{EventSequence, Interruption, RunEvent, Source};
use everstep_machine::identity::{PrincipalId, RunId, SubmissionId, Timestamp, Token};
use everstep_machine::json::CanonicalJson;
use everstep_machine::permits::Limits;
use everstep_machine::projection::SubmissionView;
use everstep_machine::record::{Batch, BatchError, Doubt, Settlement};
use everstep_machine::run::{Effect, Input, Liveness, Run, State, Steered, Wanted};
use tokio::sync::watch;
use tokio::task::JoinHandle;
use tokio::time::Instant;

use crate::event::{Event, Events};
use crate::failpoint::Failpoints;
use crate::in_flight::{Arrival, InFlight};
use crate::outside::Outside;
use crate::permits::Gate;
use crate::ports::Ports;
use crate::run_stream::RunStream;
use crate::saying::{self, Ear, Mouth, NotSaid};
use crate::streams::Streams;
use crate::tool::ToolkitError;

/// A run that is going on.
#[derive(Debug)]
pub struct Ephemeral {
    mouth: Mouth,
    interrupt: watch::Sender<bool>,
    task: JoinHandle<End>,
    run: RunId,
    streams: Streams,
}

/// How a run ended, and everything that it recorded on the way.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct End {
    /// How.
    pub how: How,
    /// Its history, from the creation of the conversation on.
    pub history: Vec<Arc<Batch>>,
}

/// How a run ended.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum How {
    /// By itself.
    Settled(Settlement),
    /// It was called off.
    Interrupted,
    /// Of these starts nobody knows whether they happened, and no log is kept for somebody to say
    /// so later: the run does not go on (DUR-017).
    Unknown(Vec<Doubt>),
}

/// Why a run did not begin.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum EphemeralError {
    /// Handlers or reconciler do not serve the agent (CAP-001, CAP-002).
    #[error(transparent)]
    NotServed(#[from] ToolkitError),
    /// The input is over the bounds of a record.
    #[error("the input is over its bounds: {0}")]
    Input(BatchError),
    /// The operating system gives no entropy.
    #[error("the operating system gives no entropy")]
    NoEntropy,
}

impl Ephemeral {
    /// Begins a run inside an async runtime, with permits of its own. `watcher` is called with
    /// every live event.
    ///
    /// # Errors
    /// A tool of the agent has no handler, the input is over its bounds, or there is no entropy.
    pub fn start(
        call: &Call,
        ports: Ports,
        limits: Limits,
        watcher: impl Fn(Event) + Send + 'static,
    ) -> Result<Self, EphemeralError> {
        let events = Events::new();
        crate::event::pass_on(&events, watcher);
        Self::begin(call, ports, limits, events, Streams::begin).map(|(run, ())| run)
    }

    /// The same for one consumer, who reads the run's live events and is waited for: when `queue`
    /// of them wait to be read, the run goes on once there is room again. A consumer who wants no
    /// more drops the stream, and the run goes on without.
    ///
    /// # Errors
    /// A tool of the agent has no handler, the input is over its bounds, or there is no entropy.
    pub fn start_for_one(
        call: &Call,
        ports: Ports,
        limits: Limits,
        queue: usize,
    ) -> Result<(Self, RunStream), EphemeralError> {
        Self::begin(call, ports, limits, Events::new(), |streams, source| {
            streams.begin_for_one(source, queue)
        })
    }

    fn begin<T>(
        call: &Call,
        ports: Ports,
        limits: Limits,
        events: Events,
        trace: impl FnOnce(&Streams, Source) -> T,
    ) -> Result<(Self, T), EphemeralError> {
        ports.serve(&call.binding.definition)?;
        let mut entropy = [0; 16];
        getrandom::fill(&mut entropy).map_err(|_| EphemeralError::NoEntropy)?;
        let (state, beginning) =
            State::ephemeral(call, Timestamp(0), Token(entropy)).map_err(EphemeralError::Input)?;
        let (mouth, ear) = saying::channel();
        let (interrupt, interrupted) = watch::channel(false);
        let failpoints = Failpoints::disarmed();
        let submission = call.submission();
        let source = Source {
            run: RunId::derive(submission),
            conversation: call.conversation.clone(),
            agent: call.binding.definition.id().clone(),
        };
        let (run, streams) = (source.run, Streams::default());
        let told = trace(&streams, source);
        let gate = Gate::new(limits);
        let outside =
            Outside { ports, failpoints, events, gate, streams: streams.clone(), state: None };
        let drive = Drive {
            in_flight: InFlight::new(outside),
            began: Instant::now(),
            ear,
            interrupted,
            history: beginning.to_vec(),
            run,
            submission,
            streams: streams.clone(),
        };
        let task = tokio::spawn(drive.run(state.watched(true).sharing()));
        Ok((Self { mouth, interrupt, task, run, streams }, told))
    }

    /// The run's live events from an offset on (RUN-032); none if they are for one consumer.
    #[must_use]
    pub fn watch(&self, from: EventSequence) -> Option<RunStream> {
        self.streams.stream(self.run, from)
    }

    /// Says something to the run.
    ///
    /// # Errors
    /// The run has ended, or so much waits to come into it that nothing more is taken.
    pub fn say(
        &self,
        submission: SubmissionId,
        principal: PrincipalId,
        input: CanonicalJson,
        wanted: Wanted,
    ) -> Result<(), NotSaid> {
        self.mouth.say(Steered { submission, principal, input, wanted })
    }

    /// Calls the run off. It ends after everything that it has in flight.
    pub fn interrupt(&self) {
        self.interrupt.send_replace(true);
    }

    /// Waits for the end.
    ///
    /// # Panics
    /// The run panicked, which is a bug in this crate: handlers that panic do not get here.
    pub async fn ended(self) -> End {
        self.task.await.expect("ARC-06: the driver of a run does not panic")
    }
}

/// Drives the machine.
struct Drive {
    in_flight: InFlight,
    began: Instant,
    ear: Ear,
    interrupted: watch::Receiver<bool>,
    history: Vec<Arc<Batch>>,
    run: RunId,
    submission: SubmissionId,
    streams: Streams,
}

impl Drive {
    async fn run(mut self, state: State) -> End {
        if !self.tell(RunEvent::RunStarted { submission: self.submission }).await {
            return self.ended(How::Interrupted).await;
        }
        let mut step = Run::step(state, Input::Resumed { now: self.now() });
        loop {
            for effect in step.effects {
                match effect {
                    Effect::Commit(batch) => {
                        self.ear.recorded(&batch);
                        self.history.push(batch);
                    }
                    // A run without a lane has nothing to listen for.
                    Effect::Listen => {}
                    Effect::External(external) => self.in_flight.ask(external),
                    Effect::Schedule { timer, after } => self.in_flight.remind(timer, after),
                    Effect::Tell(event) => {
                        if !self.tell(event).await {
                            return self.ended(How::Interrupted).await;
                        }
                    }
                    Effect::Settle(settlement) => {
                        return self.ended(How::Settled(settlement)).await;
                    }
                }
            }
            if step.state.liveness() == Liveness::Resting {
                if step.state.again() {
                    step = Run::step(step.state, Input::Resumed { now: self.now() });
                    continue;
                }
                let view = step.state.view();
                let open = view.into_iter().flat_map(SubmissionView::open_starts);
                let open = open.map(|(start, _)| start).collect();
                return self.ended(How::Unknown(open)).await;
            }
            let Some(input) = self.next().await else {
                return self.ended(How::Interrupted).await;
            };
            let clock = Input::Clock { now: self.now() };
            let state = Run::step(step.state, clock).state;
            step = Run::step(state, input);
        }
    }

    /// Tells whoever watches, once the one consumer has room for it. False if the run is called
    /// off before that.
    async fn tell(&mut self, event: RunEvent) -> bool {
        tokio::select! {
            biased;
            () = self.streams.tell_in_turn(self.run, event) => true,
            _ = self.interrupted.wait_for(|interrupted| *interrupted) => false,
        }
    }

    /// Time since the run began; no other clock has anything to say here.
    fn now(&self) -> Timestamp {
        Timestamp(u64::try_from(self.began.elapsed().as_millis()).unwrap_or(u64::MAX))
    }

    /// Parks until the machine is to be told something; none if the run is called off.
    async fn next(&mut self) -> Option<Input> {
        tokio::select! {
            biased;
            _ = self.interrupted.wait_for(|interrupted| *interrupted) => None,
            Some(said) = self.ear.hear() => Some(Input::Steered(said)),
            arrival = self.in_flight.next() => Some(match arrival {
                Arrival::Answer(answer) => Input::Answered(answer),
                Arrival::Due(timer) => Input::Due(timer),
            }),
        }
    }

    async fn ended(mut self, how: How) -> End {
        self.in_flight.shut_down().await;
        let last = match &how {
            How::Settled(settlement) => RunEvent::run_ended(settlement),
            How::Interrupted => interrupted(Interruption::Aborted),
            How::Unknown(_) => interrupted(Interruption::OwnershipLost),
        };
        self.streams.tell_in_turn(self.run, last).await;
        End { how, history: self.history }
    }
}

const fn interrupted(why: Interruption) -> RunEvent {
    RunEvent::RunInterrupted { why, dropped: 0 }
}
