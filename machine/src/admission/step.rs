//! The rules of an admission.

use super::{Effect, Input, Receipt, Rejection, State};
use crate::contract::{Machine, Step};
use crate::ledger;
use crate::store::{Pipeline, Replies, Reply, StoreCommand, StoreFault};

/// The machine of one client call.
pub struct AdmissionMachine;

impl Machine for AdmissionMachine {
    type State = State;
    type Input = Input;
    type Effect = Effect;

    fn step(state: State, input: Input) -> Step<State, Effect> {
        match (state, input) {
            (State::Idle(call), Input::Started) => match call.pipeline() {
                Ok(pipeline) => send(pipeline),
                Err(_) => done(Effect::Reject(Rejection::Corrupt)),
            },
            (State::Sent(pipeline), Input::Stored(Ok(replies))) => {
                done(receipt(&pipeline, &replies).map_or_else(Effect::Reject, Effect::Accept))
            }
            (State::Sent(pipeline), Input::Stored(Err(StoreFault::Indeterminate))) => {
                send(pipeline)
            }
            (State::Sent(_), Input::Stored(Err(StoreFault::Refused { why, .. }))) => {
                done(Effect::Reject(Rejection::Refused(why)))
            }
            (State::Sent(_), Input::Stored(Err(StoreFault::Corrupt(_)))) => {
                done(Effect::Reject(Rejection::Corrupt))
            }
            // Late, doubled or absurd: the call is where it is.
            (state @ (State::Sent(_) | State::Done), Input::Started)
            | (state @ (State::Idle(_) | State::Done), Input::Stored(_)) => Step::quiet(state),
        }
    }
}

fn send(pipeline: Pipeline) -> Step<State, Effect> {
    Step::new(State::Sent(pipeline.clone()), alloc::vec![Effect::Store(pipeline)])
}

fn done(effect: Effect) -> Step<State, Effect> {
    Step::new(State::Done, alloc::vec![effect])
}

fn receipt(pipeline: &Pipeline, replies: &Replies) -> Result<Receipt, Rejection> {
    let [StoreCommand::Ledger(ledger::Command::Admit(admission)), ..] = &pipeline.commands[..]
    else {
        return Err(Rejection::Corrupt);
    };
    match &replies[..] {
        [
            Reply::Ledger(ledger::Reply::Admitted(position)),
            Reply::Conversation(_),
            Reply::Ledger(ledger::Reply::Ready),
        ] => Ok(Receipt { submission: admission.submission, position: *position }),
        _ => Err(Rejection::Corrupt),
    }
}
