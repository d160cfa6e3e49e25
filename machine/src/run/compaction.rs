//! Making context smaller, before a turn and after a refusal (RUN-023, RUN-024).

use alloc::sync::Arc;

use super::State;
use super::step::Effects;
use crate::agent::{ModelFault, ModelResponse};
use crate::identity::Turn;

impl State {
    /// Makes context smaller after a refusal for its length, once a turn. Whether it will.
    pub(super) fn shorten(&mut self, _: Turn, _: &ModelFault, _: &mut Effects) -> bool {
        false
    }

    /// A summary has come, or has not.
    pub(super) fn summarized(
        &mut self,
        _: Result<Arc<ModelResponse>, ModelFault>,
        effects: &mut Effects,
    ) {
        self.go_on(effects);
    }
}
