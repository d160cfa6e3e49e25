//! The rules of a stream.

use alloc::sync::Arc;

use super::draft::Draft;
use super::{Delta, Effect, Input, ProtocolError, State, StreamPart};
use crate::agent::{LostResponse, ModelFault, ModelResponse, Usage};
use crate::contract::{Machine, Step};

/// The machine of one response.
pub struct Reduction;

impl Machine for Reduction {
    type State = State;
    type Input = Input;
    type Effect = Effect;

    fn step(state: State, input: Input) -> Step<State, Effect> {
        let used = state.used();
        let broken = |why: ProtocolError| lost(why.into(), used);
        match (state, input) {
            // Late or doubled: the answer was given.
            (State::Done, Input::Received(_) | Input::Ended | Input::Failed(_)) => {
                Step::quiet(State::Done)
            }
            (State::Waiting, Input::Received(StreamPart::Start)) => {
                Step::quiet(State::Receiving(Draft::default()))
            }
            (State::Waiting, Input::Received(_)) => broken(ProtocolError::NotStarted),
            (State::Receiving(draft), Input::Received(part)) => match received(draft, part) {
                Ok((state, shown)) => {
                    Step::new(state, shown.into_iter().map(Effect::Show).collect())
                }
                Err(why) => broken(why),
            },
            (State::Finished(_), Input::Received(_)) => broken(ProtocolError::AfterFinish),
            (State::Waiting | State::Receiving(_), Input::Ended) => broken(ProtocolError::Cut),
            (State::Finished(response), Input::Ended) => done(Ok(response)),
            // Even behind a finish: the end did not come, so nobody knows what else would have.
            (State::Waiting | State::Receiving(_) | State::Finished(_), Input::Failed(fault)) => {
                lost(fault, used)
            }
        }
    }
}

fn done(answer: Result<Arc<ModelResponse>, LostResponse>) -> Step<State, Effect> {
    Step::new(State::Done, alloc::vec![Effect::Done(answer)])
}

/// No response: what the stream had said to be used by then is paid for (BU-07).
fn lost(fault: ModelFault, used: Option<Usage>) -> Step<State, Effect> {
    done(Err(LostResponse { fault, used }))
}

/// One more part, and what of it is shown.
fn received(mut draft: Draft, part: StreamPart) -> Result<(State, Option<Delta>), ProtocolError> {
    let shown = match part {
        StreamPart::Start => return Err(ProtocolError::StartedTwice),
        StreamPart::Finish(reason) => {
            return draft.finish(reason).map(|it| (State::Finished(Arc::new(it)), None));
        }
        StreamPart::TextStart { label } => draft.text_starts(label)?,
        StreamPart::TextDelta { label, text } => draft.text_goes_on(&label, text)?,
        StreamPart::TextEnd { label } => draft.text_ends(&label)?,
        StreamPart::ReasoningStart { label } => draft.reasoning_starts(label)?,
        StreamPart::ReasoningDelta { label, text } => draft.reasoning_goes_on(&label, text)?,
        StreamPart::ReasoningEnd { label, signature, redacted } => {
            draft.reasoning_ends(&label, signature, redacted)?
        }
        StreamPart::CallStart { label, tool } => draft.call_starts(label, &tool)?,
        StreamPart::CallDelta { label, json } => draft.call_goes_on(&label, &json)?,
        StreamPart::CallEnd { label } => draft.call_ends(label)?,
        StreamPart::Call(call) => draft.call(call)?,
        StreamPart::ProviderCall(call) => draft.provider_call(call)?,
        StreamPart::ProviderResult { label, json, failed } => {
            draft.provider_result(label, &json, failed)?
        }
        StreamPart::Usage(usage) => draft.used(usage)?,
    };
    Ok((State::Receiving(draft), shown))
}
