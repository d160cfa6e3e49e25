//! Texts that stand where a tool's definition takes something out (SEC-04).
//!
//! Whatever the scenario puts into such a place of a result is a canary: nobody may ever keep it or
//! be shown it. What it puts into such a place of parameters is one for approvers; a model has made
//! it up itself. Short values say nothing when they turn up elsewhere, so only longer ones count.

use everstep_machine::agent::{Pointer, ToolOutcome};
use everstep_machine::json::CanonicalJson;

use crate::scenario::Scenario;

/// Bytes of a value that does not turn up by chance.
const CANARY_BYTES: usize = 8;

/// The canaries of a scenario.
#[derive(Clone, Debug, Default)]
pub(crate) struct Canaries {
    results: Vec<String>,
    parameters: Vec<String>,
}

impl Canaries {
    pub(super) fn of(scenario: &Scenario) -> Self {
        let mut canaries = Self::default();
        for tool in &scenario.tools {
            if let ToolOutcome::Success(result) = &tool.outcome {
                canaries.results.extend(found(result, &tool.definition.redact));
            }
        }
        let turns = scenario.submissions.iter().flat_map(|submission| &submission.turns);
        let again = scenario.retries.iter().flat_map(|retry| &retry.turns);
        for call in turns.chain(again).flat_map(|turn| turn.calls()) {
            let places = scenario.tool(&call.tool).map(|tool| &*tool.definition.redact);
            canaries.parameters.extend(found(&call.parameters, places.unwrap_or_default()));
        }
        canaries
    }

    /// Whether there is none to look for in what is kept.
    pub(crate) const fn are_none(&self) -> bool {
        self.results.is_empty()
    }

    /// The canary that stands somewhere in these bytes, if there is one.
    pub(crate) fn in_bytes(&self, bytes: &[u8]) -> Option<&str> {
        let is_there = |canary: &&String| {
            let canary = canary.as_bytes();
            bytes.windows(canary.len()).any(|window| window == canary)
        };
        self.results.iter().find(is_there).map(String::as_str)
    }

    /// The canary that stands somewhere in a text, if there is one to look for.
    pub(crate) fn in_text(&self, text: impl FnOnce() -> String) -> Option<&str> {
        if self.are_none() {
            return None;
        }
        let text = text();
        self.results.iter().find(|canary| text.contains(canary.as_str())).map(String::as_str)
    }

    /// The canary that stands somewhere in what an approver is shown.
    pub(crate) fn in_preview(&self, text: &str) -> Option<&str> {
        let mut all = self.results.iter().chain(&self.parameters);
        all.find(|canary| text.contains(canary.as_str())).map(String::as_str)
    }
}

/// What stands at these places, without its quotes.
fn found(value: &CanonicalJson, places: &[Pointer]) -> Vec<String> {
    let found = places.iter().filter_map(|place| value.at(place));
    let texts = found.map(|value| value.as_str().trim_matches('"').to_owned());
    texts.filter(|text| text.len() >= CANARY_BYTES).collect()
}
