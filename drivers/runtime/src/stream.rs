//! A model's stream: its driver sends parts, and one answer comes of them.

use std::sync::Arc;
use std::time::Duration;

use everstep_machine::agent::{Diagnostic, ModelFault, ModelRequest, ModelResponse};
use everstep_machine::contract::Machine;
use everstep_machine::response::{Delta, Effect, Input, Reduction, State, StreamPart, parts_of};
use tokio::sync::mpsc;
use tokio::time::timeout;

use crate::ports::Model;

/// Parts that a driver may be ahead of the reduction. It waits before it sends more.
const AHEAD: usize = 64;
/// Longest time that is waited for anything: thirty years.
const EVER: Duration = Duration::from_secs(86_400 * 365 * 30);

/// Where a model's driver puts the parts of a response, in the order in which they come.
#[derive(Clone, Debug)]
pub struct Parts(mpsc::Sender<StreamPart>);

/// The response is decided, or nobody waits for it: there is no use in sending more.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("no more parts of this response are wanted")]
pub struct NoMoreParts;

impl Parts {
    /// Sends the next part, once there is room for it.
    ///
    /// # Errors
    /// No more parts are wanted. The driver may return whatever it likes.
    pub async fn send(&self, part: StreamPart) -> Result<(), NoMoreParts> {
        self.0.send(part).await.map_err(|_| NoMoreParts)
    }

    /// Sends every part of a response that is there already, for models that are scripted.
    ///
    /// # Errors
    /// No more parts are wanted.
    pub async fn send_whole(&self, response: &ModelResponse) -> Result<(), NoMoreParts> {
        for part in parts_of(response) {
            self.send(part).await?;
        }
        Ok(())
    }
}

type Answer = Result<Arc<ModelResponse>, ModelFault>;

/// Asks a model, shows what it says on the way, and returns its answer. One that takes longer than
/// its agent's policy says is left, as if it could not have been asked.
pub(crate) async fn answer(
    model: &dyn Model,
    request: Arc<ModelRequest>,
    show: impl FnMut(Delta),
) -> Answer {
    let time = request.agent.policy().model_timeout;
    let listening = listen(model, request, show);
    let in_time = timeout(Duration::from_millis(time.0).min(EVER), listening).await;
    in_time.unwrap_or_else(|_| {
        let words = format!("no answer within {} milliseconds", time.0);
        Err(ModelFault::Unavailable(Diagnostic::cut("Timeout", &words)))
    })
}

/// A stream that breaks a rule is dropped at once.
async fn listen(model: &dyn Model, request: Arc<ModelRequest>, show: impl FnMut(Delta)) -> Answer {
    let (parts, mut stream) = mpsc::channel(AHEAD);
    let mut speaking = model.respond(request, Parts(parts));
    let mut listener = Listener { state: State::new(), show };
    let end = loop {
        tokio::select! {
            biased;
            Some(part) = stream.recv() => {
                if let Some(answer) = listener.hear(Input::Received(part)) {
                    return answer;
                }
            }
            end = &mut speaking => break end,
        }
    };
    // What was sent before the end is part of the stream.
    stream.close();
    while let Some(part) = stream.recv().await {
        if let Some(answer) = listener.hear(Input::Received(part)) {
            return answer;
        }
    }
    let end = end.map_or_else(Input::Failed, |()| Input::Ended);
    listener.hear(end).expect("RUN-004: the end of a stream is answered if nothing before it was")
}

/// A reduction, and who watches it.
struct Listener<S> {
    state: State,
    show: S,
}

impl<S: FnMut(Delta)> Listener<S> {
    /// Tells the reduction; the answer, if it gives one.
    fn hear(&mut self, input: Input) -> Option<Answer> {
        let step = Reduction::step(std::mem::take(&mut self.state), input);
        self.state = step.state;
        let mut answer = None;
        for effect in step.effects {
            match effect {
                Effect::Show(delta) => (self.show)(delta),
                Effect::Done(done) => answer = Some(done),
            }
        }
        answer
    }
}

#[cfg(test)]
mod tests;
