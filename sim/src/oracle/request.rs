//! What a model is shown (RUN-005, RUN-006).

use everstep_machine::agent::{
    Message, Messages, ModelRequest, ModelResponse, Purpose, ToolChoice,
};
use everstep_machine::identity::ToolCallId;

use super::{Judge, Property, Sometimes};
use crate::cast::Cast;

impl Judge {
    /// A model is asked.
    pub(super) fn check_request(&mut self, cast: &Cast, request: &ModelRequest) {
        let turn = (request.run, request.turn, request.purpose);
        if self.memory.asked.contains(&turn) {
            self.note(Sometimes::AskedAgain);
        } else {
            self.memory_mut().asked.push(turn);
        }
        if request.tools == ToolChoice::Forbidden && request.purpose == Purpose::Respond {
            self.note(Sometimes::FinalAnswer);
        }
        if let Err(why) = check(cast, &request.messages) {
            self.broken(Property::Requests, || {
                format!("turn {} of run {:?}: {why}", request.turn, request.run)
            });
        }
    }
}

/// Whole batches, each call with its own result, in declaration order, and nothing else; and
/// the model has something to answer.
pub(super) fn check(cast: &Cast, messages: &Messages) -> Result<(), &'static str> {
    let mut rest = messages.iter();
    let mut answered = true;
    while let Some(message) = rest.next() {
        answered = false;
        match message {
            Message::User(_) | Message::Summary(_) => {}
            Message::ToolResult { .. } => return Err("a result without its call"),
            Message::Assistant(response) => {
                answered = response.calls().next().is_none();
                check_results(cast, response, &mut rest)?;
            }
        }
    }
    if answered { Err("there is nothing to answer") } else { Ok(()) }
}

fn check_results<'a>(
    cast: &Cast,
    response: &ModelResponse,
    rest: &mut impl Iterator<Item = &'a Message>,
) -> Result<(), &'static str> {
    let mut batch = None;
    for (index, declared) in response.calls().enumerate() {
        let Some(Message::ToolResult { call, label, outcome: _ }) = rest.next() else {
            return Err("a call without its result");
        };
        let known = cast.declared(*call).ok_or("a result of a call that nobody declared")?;
        let place = (known.run, known.turn);
        let other = known.tool.as_ref().is_some_and(|tool| *tool != declared.tool);
        if *label != declared.label || other {
            return Err("results are not in declaration order");
        }
        if *batch.get_or_insert(place) != place
            || *call != ToolCallId::derive(known.run, known.turn, index)
        {
            return Err("a result of another batch");
        }
    }
    Ok(())
}
