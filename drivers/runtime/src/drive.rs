//! One attempt, driven to its end, or to the next boundary when the host stops.
//!
//! A host that stops asks nothing new of the outside, and no call starts that waited for a place or
//! a permit. What is out already comes back and is recorded, and when nothing is out any more the
//! lane is given back: from there anybody may go on, since all that the attempt knew is in the log.
//! An authorization or a permit that comes meanwhile is not told to the machine. It would only
//! prepare calls that nobody makes any more, and whoever comes next asks for it again.

use std::future::pending;
use std::sync::Arc;
use std::time::Duration;

use everstep_machine::attempt::{Attempt, Effect, End, Input, Setup, State};
use everstep_machine::contract::Machine;
use everstep_machine::effect::{Answer, External};
use everstep_machine::event::{Interruption, RunEvent, Source};
use everstep_machine::identity::{ConversationId, RunId, SubmissionId, Token};
use everstep_machine::ledger::{Command, Ownership};
use everstep_machine::projection::Reader;
use everstep_machine::store::{Pipeline, StoreCommand, StoreFault};
use tokio::sync::{Notify, watch};
use tokio::time::{Instant, sleep, sleep_until};

use crate::event::Event;
use crate::in_flight::{Arrival, InFlight};
use crate::outside::Outside;
use crate::store::StoreHandle;

/// The first wait after a store that did not say how far it got; each further one is twice as
/// long, up to [`LONGEST_WAIT`].
const FIRST_WAIT: Duration = Duration::from_millis(20);
const LONGEST_WAIT: Duration = Duration::from_secs(2);

/// An attempt and everything it has in flight. Dropping it calls all of that off.
pub(crate) struct Drive {
    store: StoreHandle,
    wakes: Arc<Notify>,
    /// Whether the host stops.
    stop: watch::Receiver<bool>,
    /// Whether this attempt has heard of it. It hears of it only while it is parked, so that calls
    /// that a pipeline has prepared are never held back once the pipeline is sent.
    stopping: bool,
    in_flight: InFlight,
    setup: Setup,
    /// Whether a claim was sent and nobody knows what became of it.
    claims: bool,
    /// The run that has begun to tell and has not ended.
    telling: Option<RunId>,
    renewal: Option<Instant>,
    wait: Duration,
}

/// What a step's effects have led to.
enum Performed {
    /// The machine is to be told this now.
    Told(Input),
    /// Nothing: somebody has to say something.
    Parked,
    /// The attempt is over.
    Over(End),
}

impl Drive {
    pub(crate) fn new(
        store: StoreHandle,
        outside: Outside,
        wakes: Arc<Notify>,
        stop: watch::Receiver<bool>,
        setup: Setup,
    ) -> Self {
        let state = Some((store.clone(), setup.lane.clone()));
        let in_flight = InFlight::new(Outside { state, ..outside });
        let (stopping, renewal, wait) = (false, None, FIRST_WAIT);
        let (claims, telling) = (false, None);
        Self { store, wakes, stop, stopping, in_flight, setup, claims, telling, renewal, wait }
    }

    /// Drives the attempt to its end, or to where it can be left. A store that is gone ends it as
    /// a crash would: nothing is told to anybody.
    ///
    /// It goes on from what was folded before, and gives back what is folded now, for the next
    /// attempt at this lane.
    pub(crate) async fn run(mut self, token: Token, fold: Option<Reader>) -> (End, Option<Reader>) {
        let ended = self.drive(token, fold).await;
        self.fall_silent();
        ended
    }

    async fn drive(&mut self, token: Token, fold: Option<Reader>) -> (End, Option<Reader>) {
        let (lane, setup) = (self.setup.lane.clone(), self.setup.clone());
        let state = match fold {
            Some(fold) => State::remembering(setup, fold),
            None => State::new(setup),
        };
        let mut step = Attempt::step(state, Input::Started { token });
        loop {
            let input = match self.perform(step.effects).await {
                Performed::Told(input) => input,
                Performed::Parked => match self.next().await {
                    Some(input) => input,
                    None => return (self.leave(lane, step.state.ownership()).await, None),
                },
                Performed::Over(end) => return (end, step.state.into_fold()),
            };
            step = Attempt::step(step.state, input);
        }
    }

    /// Gives the lane back at a boundary.
    async fn leave(&self, lane: ConversationId, owner: Option<Ownership>) -> End {
        if let Some(owner) = owner {
            let commands = vec![StoreCommand::Ledger(Command::Release { owner })];
            // A lane that is not given back is free once its lease has run out.
            let _ = self.store.execute(Pipeline { lane, commands }).await;
        }
        End::Idle
    }

    /// Performs the effects of one step in their order. Behind a pipeline they leave only once it
    /// is acknowledged; any fault of it discards them, and the machine emits them again itself.
    async fn perform(&mut self, effects: Vec<Effect>) -> Performed {
        let mut told = None;
        for effect in effects {
            match effect {
                // Nothing is claimed to be given back at once. A claim that may be in the store
                // already is sent again all the same: only its owner can give it back.
                Effect::Store(pipeline) if claims(&pipeline) && !self.claims && self.stops() => {
                    return Performed::Over(End::Idle);
                }
                Effect::Store(pipeline) => {
                    let is_claim = claims(&pipeline);
                    let lane = pipeline.lane.clone();
                    let Ok(answer) = self.store.execute(pipeline).await else {
                        return Performed::Over(End::Defect);
                    };
                    self.claims = is_claim && answer == Err(StoreFault::Indeterminate);
                    match answer {
                        Ok(_) => self.wait = FIRST_WAIT,
                        Err(StoreFault::Indeterminate) => {
                            self.in_flight.outside().events.tell(Event::StoreUnsure { lane });
                            sleep(self.wait).await;
                            self.wait = (self.wait * 2).min(LONGEST_WAIT);
                            return Performed::Told(Input::Stored(answer));
                        }
                        Err(StoreFault::Refused { .. } | StoreFault::Corrupt(_)) => {
                            return Performed::Told(Input::Stored(answer));
                        }
                    }
                    told = Some(Input::Stored(answer));
                }
                Effect::External(external) if asks(&external) && self.stops() => {}
                Effect::External(external) => self.in_flight.ask(external),
                Effect::CallOff => self.in_flight.call_off(),
                Effect::CancelExternals => self.in_flight.cancel().await,
                Effect::Schedule { timer, after } => self.in_flight.remind(timer, after),
                Effect::Tell { submission, event } => self.tell(submission, event),
                Effect::ScheduleRenewal { after } => {
                    self.renewal = Some(Instant::now() + Duration::from_millis(after.0));
                }
                Effect::End(end) => return Performed::Over(end),
            }
        }
        told.map_or(Performed::Parked, Performed::Told)
    }

    /// Whether the host stops, heard or not.
    fn stops(&self) -> bool {
        self.stopping || *self.stop.borrow()
    }

    /// Tells whoever watches the run. A run that begins, or is taken over, begins a trace.
    fn tell(&mut self, submission: SubmissionId, event: RunEvent) {
        let (run, streams) = (RunId::derive(submission), &self.in_flight.outside().streams);
        if matches!(event, RunEvent::RunStarted { .. }) {
            let Setup { lane: conversation, binding, .. } = self.setup.clone();
            let agent = binding.definition.id().clone();
            streams.begin(Source { run, conversation, agent });
        }
        let is_over = event.is_terminal();
        streams.tell(run, event);
        self.telling = (!is_over).then_some(run);
    }

    /// The run does not go on here: a trace that has begun has an end (RUN-002).
    fn fall_silent(&self) {
        if let Some(run) = self.telling {
            let why = Interruption::OwnershipLost;
            let streams = &self.in_flight.outside().streams;
            streams.tell(run, RunEvent::RunInterrupted { why, dropped: 0 });
        }
    }

    /// Parks until something happens that the machine is to be told; none if the host stops and
    /// nothing is out that could still come back.
    async fn next(&mut self) -> Option<Input> {
        loop {
            if self.stopping && self.in_flight.is_idle() {
                return None;
            }
            let renewal = self.renewal;
            let due = async {
                match renewal {
                    Some(due) => sleep_until(due).await,
                    None => pending().await,
                }
            };
            tokio::select! {
                biased;
                () = told(&mut self.stop), if !self.stopping => {
                    self.stopping = true;
                    self.in_flight.wait_for_no_permits();
                    return Some(Input::Draining);
                }
                arrival = self.in_flight.next() => match arrival {
                    Arrival::Due(timer) => return Some(Input::Due(timer)),
                    Arrival::Answer(Answer::Authorizer { .. } | Answer::Permitted { .. })
                        if self.stopping => {}
                    Arrival::Answer(answer) => return Some(Input::Answered(answer)),
                },
                // Several hints say no more than one.
                () = self.wakes.notified() => return Some(Input::Woken),
                () = due => {
                    self.renewal = None;
                    return Some(Input::RenewalDue);
                }
            }
        }
    }
}

/// Whether it would make the lane this attempt's.
fn claims(pipeline: &Pipeline) -> bool {
    pipeline
        .commands
        .iter()
        .any(|command| matches!(command, StoreCommand::Ledger(Command::Claim(_))))
}

/// Whether it begins something. A call that comes while the host stops was prepared before, so its
/// start is in the log: not to make it would leave a doubt.
const fn asks(external: &External) -> bool {
    match external {
        External::CallModel(_)
        | External::Clear { .. }
        | External::Approve { .. }
        | External::Authorize { .. }
        | External::Permits { .. }
        // A handler that rests is in nobody's way, and its next owner enters it again.
        | External::NextStep(_)
        | External::Reconcile(_) => true,
        External::Check { .. } | External::InvokeTool(_) => false,
    }
}

/// Returns when the host stops. One that is gone without a word has stopped as well.
pub(crate) async fn told(stop: &mut watch::Receiver<bool>) {
    let _ = stop.wait_for(|stop| *stop).await;
}
