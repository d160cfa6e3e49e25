//! How a call ends: as its script says, or as the function says that handles it.

use std::sync::Arc;

use everstep_machine::agent::{Resolution, ToolOutcome};
use everstep_machine::effect::Invocation;
use everstep_machine::identity::ToolCallId;

use super::{Outside, fitting_end};
use crate::cast::{Cast, Tool};
use crate::scenario::{Called, fallback};

/// A handler said two things of one call.
pub(super) struct Impure;

impl Outside {
    /// How this call ends. What its handler says is held against what its tool declares, as a host
    /// does (CAP-004), and is remembered for whoever looks.
    pub(super) fn ends(
        &mut self,
        cast: &Cast,
        script: &Tool,
        it: &Invocation,
    ) -> Result<Arc<ToolOutcome>, Impure> {
        let Some(function) = &script.function else { return Ok(Arc::clone(&script.outcome)) };
        let called = Called { tool: &it.tool, call: it.call, parameters: &it.parameters };
        let (first, again) = (function.ends(&called), function.ends(&called));
        let outcome = fitting_end(cast, &it.tool, first.clone());
        let before = self.said(it.call);
        if first != again || before.is_some_and(|before| **before != outcome) {
            return Err(Impure);
        }
        let outcome = Arc::new(outcome);
        self.remember_end(it.call, &outcome);
        Ok(outcome)
    }

    /// How a durable call ends whose handler goes on.
    pub(super) fn ends_at_last(&self, script: &Tool, call: ToolCallId) -> Arc<ToolOutcome> {
        self.said(call).unwrap_or(&script.outcome).clone()
    }

    /// What who looks says of a start that ran.
    pub(super) fn honest(&self, script: &Tool, call: ToolCallId) -> Resolution {
        self.said(call).map_or_else(|| script.honest.clone(), |said| fallback(said))
    }
}
