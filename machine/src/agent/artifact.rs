//! Summaries that a host brings along: bound by a digest to exactly what they stand for.
//!
//! Such a summary comes from outside, so nothing of it is believed. It names an inclusive range of
//! sequences and the digest of what stands there; a range that moved, a message that changed and a
//! summary of another conversation are all refused. Applying one changes what a model is shown and
//! nothing else: no record is written, and the messages outside the range stay as they are
//! (CAP-007).

use alloc::string::String;
use alloc::sync::Arc;
use alloc::vec::Vec;

use serde::{Deserialize, Serialize};

use super::messages::Messages;
use super::model::{FinishReason, ModelResponse, ResponsePart};
use super::request::Message;
use crate::digest::{Digest, Hasher};
use crate::identity::{CompactorVersion, Sequence};
use crate::json::CanonicalJson;
use crate::limits::SUMMARY_BYTES;

/// Who seems to say a summary. A tool cannot: its result would need a call that nobody made.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub enum SummaryRole {
    /// Nobody: it is shown as a summary.
    System,
    /// The user.
    User,
    /// The assistant.
    Assistant,
}

/// What is shown instead of the covered messages.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct SummaryMessage {
    /// Who seems to say it.
    pub role: SummaryRole,
    /// The words.
    pub text: Arc<str>,
}

/// A summary that a host has made of a part of a conversation.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct CompactionArtifact {
    /// Where the first covered turn begins.
    pub covers_from: Sequence,
    /// Where the last covered turn begins. A turn is an input, or a response with all its results.
    pub covers_through: Sequence,
    /// What is shown instead.
    pub summary: SummaryMessage,
    /// Facts that are kept word for word, shown behind the summary, each on its own line.
    pub retained_facts: Vec<Arc<str>>,
    /// How many tokens the host takes the summary to be. Information only: requests are estimated
    /// in one way, whoever made the summary (CO-07).
    pub token_estimate: u64,
    /// [`source_digest`] of the covered range, as the compactor saw it.
    pub source_digest: Digest,
    /// What made it.
    pub compactor_version: CompactorVersion,
}

/// Why a host's summary is not shown.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum ArtifactError {
    /// The range ends before it begins.
    #[error("the summary covers nothing: its range ends before it begins")]
    Empty,
    /// The range begins before the first message or ends after the last one.
    #[error("the summary covers messages that are not there")]
    OutOfRange,
    /// An end of the range is within a turn: a call and its result would part.
    #[error("the summary covers a part of a turn; a turn is covered whole or not at all")]
    SplitsTurn,
    /// The range takes in the newest turn, and nothing would be left to answer.
    #[error("the summary covers the newest turn, which the model has to answer")]
    Newest,
    /// What the summary was made of is not what stands in the range.
    #[error("the summary was made of other messages than those it covers")]
    Source,
    /// There are no words.
    #[error("the summary is empty")]
    NoWords,
    /// Words and facts together are over [`SUMMARY_BYTES`].
    #[error("a summary with its facts has at most {SUMMARY_BYTES} bytes")]
    TooLong,
}

/// What identifies the messages of an inclusive range of sequences.
///
/// A SHA-256 over the range's two ends and then, for each message in order, its sequence, its kind
/// and its content: the canonical JSON of an input, the words of a summary, the stored bytes of a
/// response, and of a result the call's id, its label and the stored bytes of the outcome. It is
/// the same wherever it is computed, and differs as soon as anything in the range does.
#[must_use]
pub fn source_digest(messages: &Messages, from: Sequence, through: Sequence) -> Digest {
    let range = from..=through;
    let covered = messages.entries().filter(|(at, _)| range.contains(at));
    let hasher = Hasher::new("everstep/artifact-source").number(from.0).number(through.0);
    let all = covered.fold(hasher, |hasher, (at, message)| {
        let hasher = hasher.number(at.0);
        match message {
            Message::User(input) => hasher.number(0).bytes(input.as_str().as_bytes()),
            Message::Summary(text) => hasher.number(1).bytes(text.as_bytes()),
            Message::Assistant(response) => hasher.number(2).bytes(&stored(&**response)),
            Message::ToolResult { call, label, outcome } => {
                hasher.number(3).bytes(&call.0).bytes(label.as_bytes()).bytes(&stored(&**outcome))
            }
        }
    });
    all.digest()
}

fn stored(value: &impl Serialize) -> Vec<u8> {
    postcard::to_allocvec(value).expect("ID-03: plain data of known length is encoded in memory")
}

/// The messages with a host's summary in place of those that it covers.
///
/// # Errors
/// Everything that [`ArtifactError`] lists. The messages are then shown as they are, or the run
/// fails: that is for the host to say.
pub fn apply_artifact(
    messages: &Messages,
    artifact: &CompactionArtifact,
) -> Result<Messages, ArtifactError> {
    let shown = artifact.message()?;
    artifact.check_range(messages)?;
    let (from, through) = (artifact.covers_from, artifact.covers_through);
    if source_digest(messages, from, through) != artifact.source_digest {
        return Err(ArtifactError::Source);
    }
    let (mut rest, mut summary) = (Messages::default(), Some(shown));
    for (at, message) in messages.entries() {
        if !(from..=through).contains(at) {
            rest.push(*at, message.clone());
        } else if let Some(summary) = summary.take() {
            rest.push(through, summary);
        }
    }
    Ok(rest)
}

impl CompactionArtifact {
    /// Whether the range is one of whole turns, with something left to answer.
    fn check_range(&self, messages: &Messages) -> Result<(), ArtifactError> {
        let (from, through) = (self.covers_from, self.covers_through);
        if from > through {
            return Err(ArtifactError::Empty);
        }
        let first = messages.entries().map(|(at, _)| *at).min();
        let last = messages.entries().map(|(at, _)| *at).max();
        if first.is_none_or(|first| from < first) || last.is_none_or(|last| through > last) {
            return Err(ArtifactError::OutOfRange);
        }
        let begins = |wanted: Sequence| messages.entries().any(|(at, _)| *at == wanted);
        if !begins(from) || !begins(through) {
            return Err(ArtifactError::SplitsTurn);
        }
        let newest = messages.backwards().next().map(|(at, _)| *at);
        if newest.is_some_and(|newest| (from..=through).contains(&newest)) {
            return Err(ArtifactError::Newest);
        }
        Ok(())
    }

    fn message(&self) -> Result<Message, ArtifactError> {
        if self.summary.text.trim().is_empty() {
            return Err(ArtifactError::NoWords);
        }
        let mut text = String::from(&*self.summary.text);
        for fact in &self.retained_facts {
            text.push_str("\n- ");
            text.push_str(fact);
            if text.len() > SUMMARY_BYTES {
                break;
            }
        }
        if text.len() > SUMMARY_BYTES {
            return Err(ArtifactError::TooLong);
        }
        Ok(match self.summary.role {
            SummaryRole::System => Message::Summary(text.into()),
            SummaryRole::User => {
                let text = CanonicalJson::string(&text).map_err(|_| ArtifactError::TooLong)?;
                Message::User(text)
            }
            SummaryRole::Assistant => Message::Assistant(Arc::new(ModelResponse {
                parts: alloc::vec![ResponsePart::Text(text.into())],
                finish: FinishReason::Stop,
                usage: None,
            })),
        })
    }
}

#[cfg(test)]
mod tests;
