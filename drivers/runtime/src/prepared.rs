//! Context preparation: a host's own say in what a model is shown (CAP-007).
//!
//! A [`Compactor`] stands between a run and its model. It sees what a request would show and may
//! bring a summary along for an older part of it, bound by a digest to exactly what it stands for.
//! What it says changes one request. The run's records, its count of what is used up and its next
//! request are made of the messages as they are, so nothing that is canonical can be touched; and
//! the output contract and the status note are the run's, put there after it (RUN-025).
//!
//! A summary that does not hold what it promises fails the run by name, and the model is not asked:
//! to show the messages as they are could be more than the host wants to be shown.

use std::fmt;
use std::sync::Arc;

use everstep_machine::agent::{
    CompactionArtifact, Diagnostic, Messages, ModelFault, ModelRequest, Purpose, apply_artifact,
};
use everstep_machine::identity::{RunId, Turn};

use crate::ports::{BoxFuture, Model};
use crate::stream::Parts;

/// What a request would show. A copy is cheap, and nothing that is done to it reaches the run.
#[derive(Clone, Debug)]
pub struct ContextSnapshot {
    /// Whose request.
    pub run: RunId,
    /// For which turn.
    pub turn: Turn,
    /// The messages, each with the place of its record.
    pub messages: Messages,
}

/// Makes what a model is shown smaller, in the host's own way.
pub trait Compactor: Send + Sync {
    /// A summary in place of a part of the messages; none if they are to be shown as they are.
    /// [`everstep_machine::agent::source_digest`] binds it to that part.
    ///
    /// # Errors
    /// Why there is none although there had to be one: the run fails with that.
    fn compact(
        &self,
        snapshot: ContextSnapshot,
    ) -> BoxFuture<Result<Option<CompactionArtifact>, Diagnostic>>;
}

/// A model whose requests are prepared first.
#[derive(Clone)]
pub struct Prepared {
    model: Arc<dyn Model>,
    compactor: Arc<dyn Compactor>,
}

impl Prepared {
    /// A model behind a compactor.
    #[must_use]
    pub fn new(model: Arc<dyn Model>, compactor: Arc<dyn Compactor>) -> Self {
        Self { model, compactor }
    }
}

impl fmt::Debug for Prepared {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Prepared").finish_non_exhaustive()
    }
}

impl Model for Prepared {
    fn respond(
        &self,
        request: Arc<ModelRequest>,
        parts: Parts,
    ) -> BoxFuture<Result<(), ModelFault>> {
        let Self { model, compactor } = self.clone();
        Box::pin(async move {
            let request = match request.purpose {
                Purpose::Respond => prepare(&*compactor, request).await?,
                // What is summarized for the record is what is there.
                Purpose::Summarize { .. } => request,
            };
            model.respond(request, parts).await
        })
    }
}

async fn prepare(
    compactor: &dyn Compactor,
    request: Arc<ModelRequest>,
) -> Result<Arc<ModelRequest>, ModelFault> {
    let (run, turn, messages) = (request.run, request.turn, request.messages.clone());
    let snapshot = ContextSnapshot { run, turn, messages };
    let Some(artifact) = compactor.compact(snapshot).await.map_err(ModelFault::Refused)? else {
        return Ok(request);
    };
    let refused = |why: everstep_machine::agent::ArtifactError| {
        ModelFault::Refused(Diagnostic::cut("CompactionInvalid", &why.to_string()))
    };
    let messages = apply_artifact(&request.messages, &artifact).map_err(refused)?;
    Ok(Arc::new(ModelRequest { messages, ..ModelRequest::clone(&request) }))
}
