//! How large the next request is, and which part of it is old.
//!
//! There is one estimate, and whoever asks how large a request is asks here (CO-07): what the
//! provider counted at the last response, and four bytes a token for what was said since. Where
//! nobody has counted, everything is taken by its bytes.

use crate::agent::{AgentDefinition, Message, Messages};
use crate::identity::Sequence;
use crate::limits::BYTES_A_TOKEN;

/// Estimated tokens of a request that shows these messages.
pub(super) fn estimate(agent: &AgentDefinition, messages: &Messages) -> u64 {
    match messages.counted() {
        Some(counted) => counted.tokens.saturating_add(tokens(counted.bytes_since)),
        None => tokens(advertised(agent).saturating_add(messages.bytes())),
    }
}

pub(super) const fn tokens(bytes: u64) -> u64 {
    bytes.div_ceil(BYTES_A_TOKEN)
}

/// Bytes of what every request of an agent says: instructions, tools and the output contract.
fn advertised(agent: &AgentDefinition) -> u64 {
    let tools = agent.tools().iter().map(|tool| {
        tool.name.as_str().len() + tool.description.len() + tool.parameters.json().as_str().len()
    });
    let output = agent.policy().output.as_ref().map_or(0, |it| it.json().as_str().len());
    (agent.instructions().len() + output + tools.sum::<usize>()) as u64
}

/// The part of the earlier runs that is older than the newest `keep` tokens.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Old {
    /// Its last turn. A turn has one sequence, so nothing is ever cut off within one, be it the
    /// turn of a user or of the assistant (CO-01, CO-03).
    pub(super) through: Sequence,
    /// Bytes that go if its results are cleared.
    pub(super) clearable: u64,
    /// Bytes that go if it is summarized; zero if it is a summary already.
    pub(super) covered: u64,
}

impl Old {
    /// What is old, if anything is. The run's own turns begin at `own`: they count among the
    /// newest, and are never old.
    pub(super) fn of(messages: &Messages, own: Sequence, keep: u64) -> Option<Self> {
        let through = through(messages, own, keep)?;
        let (mut clearable, mut covered, mut is_new) = (0, 0, false);
        for (_, message) in messages.entries().filter(|(at, _)| *at <= through) {
            clearable += message.clearable_bytes() as u64;
            covered += message.bytes() as u64;
            is_new |= !matches!(message, Message::Summary(_));
        }
        Some(Self { through, clearable, covered: if is_new { covered } else { 0 } })
    }
}

fn through(messages: &Messages, own: Sequence, keep: u64) -> Option<Sequence> {
    let mut room = Some(keep.saturating_mul(BYTES_A_TOKEN));
    for (at, message) in messages.backwards() {
        room = room.and_then(|room| room.checked_sub(message.bytes() as u64));
        if room.is_none() && *at < own {
            return Some(*at);
        }
    }
    None
}
