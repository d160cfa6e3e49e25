//! A model's stream: its driver sends parts, and one answer comes of them.

use std::future::Future;
use std::sync::Arc;
use std::time::Duration;

use everstep_machine::agent::{Diagnostic, LostResponse, ModelFault, ModelRequest, ModelResponse};
use everstep_machine::contract::Machine;
use everstep_machine::identity::DurationMs;
use everstep_machine::response::{Delta, Effect, Input, Reduction, State, StreamPart, parts_of};
use tokio::sync::mpsc;
use tokio::time::{Instant, sleep_until};

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

type Answer = Result<Arc<ModelResponse>, LostResponse>;

/// Who is shown what a model says before it has said all of it.
pub(crate) trait Audience: Send {
    /// Shows one more piece, once there is room for it.
    fn show(&mut self, delta: Delta) -> impl Future<Output = ()> + Send;
}

/// Asks a model, shows what it says on the way, and returns its answer. A stream that breaks a
/// rule is dropped at once. One that takes longer than its agent's policy says is left, as if the
/// model could not have been asked; what its audience takes is not counted.
pub(crate) async fn answer(
    model: &dyn Model,
    request: Arc<ModelRequest>,
    audience: impl Audience,
) -> Answer {
    let time = request.agent.policy().model_timeout;
    let (parts, mut stream) = mpsc::channel(AHEAD);
    let mut speaking = model.respond(request, Parts(parts));
    let mut listener = Listener { state: State::new(), audience };
    let mut deadline = Instant::now() + Duration::from_millis(time.0).min(EVER);
    let end = loop {
        tokio::select! {
            biased;
            Some(part) = stream.recv() => {
                let heard = Instant::now();
                if let Some(answer) = listener.hear(Input::Received(part)).await {
                    return answer;
                }
                deadline += heard.elapsed();
            }
            end = &mut speaking => break end,
            () = sleep_until(deadline) => {
                let used = listener.state.used();
                return Err(LostResponse { fault: silent(time), used });
            }
        }
    };
    // What was sent before the end is part of the stream.
    stream.close();
    while let Some(part) = stream.recv().await {
        if let Some(answer) = listener.hear(Input::Received(part)).await {
            return answer;
        }
    }
    let end = end.map_or_else(Input::Failed, |()| Input::Ended);
    let answer = listener.hear(end).await;
    answer.expect("RUN-004: the end of a stream is answered if nothing before it was")
}

fn silent(time: DurationMs) -> ModelFault {
    let words = format!("no answer within {} milliseconds", time.0);
    ModelFault::Unavailable(Diagnostic::cut("Timeout", &words))
}

/// A reduction, and who watches it.
struct Listener<A> {
    state: State,
    audience: A,
}

impl<A: Audience> Listener<A> {
    /// Tells the reduction; the answer, if it gives one.
    async fn hear(&mut self, input: Input) -> Option<Answer> {
        let step = Reduction::step(std::mem::take(&mut self.state), input);
        self.state = step.state;
        let mut answer = None;
        for effect in step.effects {
            match effect {
                Effect::Show(delta) => self.audience.show(delta).await,
                Effect::Done(done) => answer = Some(done),
            }
        }
        answer
    }
}

#[cfg(test)]
mod tests;
