//! What the model does: turns of its script, or rules over what it is shown.

use everstep_machine::agent::ModelFault;
use everstep_machine::identity::{DurationMs, ToolName};
use everstep_machine::limits::{RESPONSE_CALLS, RUN_TURNS};

use super::{Tools, at_most, diagnostic, json, name, text};
use crate::scenario::bounds::{RULES, TURN_FAULTS};
use crate::scenario::draft::{
    Call, Checked, Located, ModelFailure, ProviderCall, Rule, Said, ScenarioBuilder, Site, Turn,
};
use crate::scenario::fault::Fault;
use crate::scenario::words::FaultKind;
use crate::scenario::{
    AnswerScript, CallScript, FaultScript, ProviderCallScript, RuleScript, Says, ThenScript,
    TurnScript, WhenScript,
};

impl Tools {
    pub(in crate::scenario) fn turns(&self, parts: &[Turn]) -> Checked<Vec<TurnScript>> {
        at_most("turns", parts, RUN_TURNS as usize, |turn| &turn.site)?;
        parts.iter().map(|part| self.turn(part)).collect()
    }

    fn turn(&self, part: &Turn) -> Checked<TurnScript> {
        at_most("faults", &part.faults, TURN_FAULTS, |fault| &fault.failure.tag.site)?;
        let faults = part.faults.iter().map(model_fault).collect::<Checked<_>>()?;
        let says = match &part.fault {
            None => Says::Answer(self.answer(part)?),
            Some(_) if !part.calls.is_empty() => {
                return Err(part.site.fault(Fault::Excluded { key: "fault", other: "calls" }));
            }
            Some(fault) => Says::Fault(model_fault(fault)?),
        };
        Ok(TurnScript { faults, says })
    }

    fn answer(&self, part: &Turn) -> Checked<AnswerScript> {
        at_most("calls", &part.calls, RESPONSE_CALLS, |call| &call.tool.site)?;
        Ok(AnswerScript {
            reasoning: optional("reasoning", part.reasoning.as_ref())?,
            text: optional("text", part.text.as_ref())?,
            provider_calls: provider_calls(&part.provider_calls)?,
            calls: part.calls.iter().map(|call| self.call(call)).collect::<Checked<_>>()?,
            usage: part.usage,
        })
    }

    fn call(&self, part: &Call) -> Checked<CallScript> {
        let Call { tool: said, parameters, undeclared } = part;
        let tool = name("tool", said, ToolName::new)?;
        match (self.find(&said.value), undeclared) {
            (Some(_), false) | (None, true) => {
                Ok(CallScript { tool, parameters: json(parameters)? })
            }
            (None, false) => {
                let nearest = self.nearest(&said.value);
                let tool = said.value.clone();
                Err(said.site.fault(Fault::Undeclared { tool, nearest }))
            }
            (Some(_), true) => Err(said.site.fault(Fault::Declared { tool: said.value.clone() })),
        }
    }

    /// The rules of a live model, which has no script besides.
    pub(super) fn rules(
        &self,
        rules: &Located<Vec<Rule>>,
        draft: &ScenarioBuilder,
    ) -> Checked<Vec<RuleScript>> {
        let Located { value: rules, site } = rules;
        let own = draft.submissions.iter().flat_map(|submission| &submission.turns);
        if let Some(turn) = draft.turns.iter().chain(own).next() {
            return Err(turn.site.fault(Fault::Excluded { key: "turns", other: "rules" }));
        }
        if rules.is_empty() {
            return Err(site.fault(Fault::EmptyList { key: "rules" }));
        }
        let place = |rule: &Rule| rule.site.clone().unwrap_or_else(|| site.clone());
        if let Some(rule) = rules.get(RULES) {
            return Err(place(rule).fault(Fault::TooMany { key: "rules", most: RULES }));
        }
        rules.iter().map(|rule| self.rule(rule, &place(rule))).collect()
    }

    fn rule(&self, rule: &Rule, site: &Site) -> Checked<RuleScript> {
        if rule.text.is_none() && rule.calls.is_empty() {
            let keys = &["text", "calls"];
            return Err(site.fault(Fault::OneOf { table: "`then`", keys }));
        }
        at_most("calls", &rule.calls, RESPONSE_CALLS, |call| &call.site)?;
        let tool = |said: &Said| Ok(self.get(said)?.definition.name.clone());
        let when = WhenScript {
            instructions_contain: optional(
                "instructions_contain",
                rule.instructions_contain.as_ref(),
            )?,
            shows: optional("shows", rule.shows.as_ref())?,
            last_user_contains: optional("last_user_contains", rule.last_user_contains.as_ref())?,
            tool_result_of: rule.tool_result_of.as_ref().map(tool).transpose()?,
            result_contains: optional("result_contains", rule.result_contains.as_ref())?,
            tools_forbidden: rule.tools_forbidden,
            output_wanted: rule.output_wanted,
            status_shows: rule.status_shows,
        };
        let then = ThenScript {
            text: optional("text", rule.text.as_ref())?,
            calls: rule.calls.iter().map(tool).collect::<Checked<_>>()?,
        };
        Ok(RuleScript { when, then })
    }
}

/// A provider's tools are no tools of the agent: any name is one.
fn provider_calls(parts: &[ProviderCall]) -> Checked<Vec<ProviderCallScript>> {
    at_most("provider_calls", parts, RESPONSE_CALLS, |call| &call.tool.site)?;
    let call = |part: &ProviderCall| {
        Ok(ProviderCallScript {
            tool: name("tool", &part.tool, ToolName::new)?,
            parameters: json(&part.parameters)?,
            result: json(&part.result)?,
            failed: part.failed,
        })
    };
    parts.iter().map(call).collect()
}

fn optional(key: &'static str, said: Option<&Said>) -> Checked<Option<String>> {
    said.map(|said| text(key, said)).transpose()
}

fn model_fault(part: &ModelFailure) -> Checked<FaultScript> {
    let ModelFailure { kind, failure, retry_after_ms, used } = part;
    let diagnostic = diagnostic(failure)?;
    let fault = match kind {
        FaultKind::Unavailable | FaultKind::Silent => ModelFault::Unavailable(diagnostic),
        FaultKind::Protocol => ModelFault::Protocol(diagnostic),
        FaultKind::RateLimited => {
            let retry_after = retry_after_ms.as_ref().map(|it| DurationMs(it.value));
            ModelFault::RateLimited { diagnostic, retry_after }
        }
        FaultKind::ContextLength => ModelFault::ContextLength(diagnostic),
        FaultKind::Refused => ModelFault::Refused(diagnostic),
    };
    Ok(FaultScript { fault, is_silent: matches!(kind, FaultKind::Silent), used: *used })
}
