//! What a host does with a request before its model sees it, as a host with a compactor does.

use std::borrow::Cow;
use std::sync::Arc;

use everstep_machine::agent::{
    ArtifactError, CompactionArtifact, Diagnostic, Messages, ModelFault, ModelRequest, Purpose,
    SummaryMessage, SummaryRole, apply_artifact, source_digest,
};
use everstep_machine::identity::{CompactorVersion, Sequence};

use crate::scenario::CompactorScript;

/// The request as the model is shown it. What is summarized for the record is what is there.
pub(super) fn prepared<'a>(
    compactor: Option<&CompactorScript>,
    request: &'a ModelRequest,
) -> Result<Cow<'a, ModelRequest>, ModelFault> {
    let compactor = compactor.filter(|_| request.purpose == Purpose::Respond);
    let artifact = compactor.and_then(|it| artifact(it, &request.messages));
    let Some(artifact) = artifact else { return Ok(Cow::Borrowed(request)) };
    let refused = |why: ArtifactError| {
        ModelFault::Refused(Diagnostic::cut("CompactionInvalid", &why.to_string()))
    };
    let messages = apply_artifact(&request.messages, &artifact).map_err(refused)?;
    Ok(Cow::Owned(ModelRequest { messages, ..request.clone() }))
}

/// Whether a summary stands for some of the request.
pub(super) fn covers(compactor: Option<&CompactorScript>, request: &ModelRequest) -> bool {
    let compactor = compactor.filter(|_| request.purpose == Purpose::Respond);
    compactor.is_some_and(|it| artifact(it, &request.messages).is_some())
}

/// A summary of everything but the newest turns; none where there is nothing else.
fn artifact(script: &CompactorScript, messages: &Messages) -> Option<CompactionArtifact> {
    let mut turns: Vec<Sequence> = messages.entries().map(|(at, _)| *at).collect();
    turns.dedup();
    let covered = turns.len().checked_sub(script.keep).filter(|covered| *covered > 0)?;
    let (covers_from, covers_through) = (turns[0], turns[covered - 1]);
    let text = Arc::from(script.summary.as_str());
    Some(CompactionArtifact {
        covers_from,
        covers_through,
        summary: SummaryMessage { role: SummaryRole::System, text },
        retained_facts: Vec::new(),
        token_estimate: 0,
        source_digest: source_digest(messages, covers_from, covers_through),
        compactor_version: CompactorVersion::new("sim/1")
            .expect("CAP-007: a version is short and plain"),
    })
}
