//! Tools, what refers to them, and what operators say of them.

use everstep_machine::agent::{
    ExecutionClass, NamedStep, Resolution, StepOutput, ToolDefinition, ToolOutcome,
};
use everstep_machine::identity::{DurationMs, GroupName, StepName, ToolName};
use everstep_machine::json::CanonicalJson;
use everstep_machine::limits::{CALL_STEPS, STEP_OUTPUT_BYTES, TOOL_RESULT_BYTES};

use super::{at_most, diagnostic, distinct, json, name, pointer, schema, text, within};
use crate::scenario::bounds::{LATENCY_MS, SILENT_STARTS, TOOLS};
use crate::scenario::draft::{Answer, Checked, Reaction, Reply, Said, StepPart, Tool, Traits};
use crate::scenario::fault::Fault;
use crate::scenario::noun::Noun;
use crate::scenario::words::nearest;
use crate::scenario::{ResolutionScript, ToolScript};

/// The tools that have passed.
pub(in crate::scenario) struct Tools(pub(in crate::scenario) Vec<ToolScript>);

impl Tools {
    pub(in crate::scenario) fn check(parts: &[Tool]) -> Checked<Self> {
        at_most("tools", parts, TOOLS, |tool| &tool.name.site)?;
        let tools = parts.iter().map(tool).collect::<Checked<_>>()?;
        distinct(Noun::Tool, parts.iter().map(|tool| &tool.name))?;
        Ok(Self(tools))
    }

    pub(super) fn find(&self, name: &str) -> Option<&ToolScript> {
        self.0.iter().find(|tool| tool.definition.name.as_str() == name)
    }

    pub(super) fn nearest(&self, word: &str) -> Option<String> {
        let names = self.0.iter().map(|tool| tool.definition.name.as_str());
        nearest(word, names).map(str::to_owned)
    }

    /// The tool of that name, which must exist.
    pub(super) fn get(&self, said: &Said) -> Checked<&ToolScript> {
        self.find(&said.value).ok_or_else(|| {
            let nearest = self.nearest(&said.value);
            said.site.fault(Fault::Unknown { noun: Noun::Tool, name: said.value.clone(), nearest })
        })
    }

    /// The name of a tool, which must exist.
    pub(in crate::scenario) fn named(&self, said: &Said) -> Checked<ToolName> {
        Ok(self.get(said)?.definition.name.clone())
    }

    pub(in crate::scenario) fn denied(&self, parts: &[Said]) -> Checked<Vec<ToolName>> {
        let names = parts.iter().map(|said| Ok(self.get(said)?.definition.name.clone()));
        let names = names.collect::<Checked<_>>()?;
        distinct(Noun::Denial, parts)?;
        Ok(names)
    }

    /// Only tools that ask can be turned down by who is asked. Where there are other layers of the
    /// policy, they may be the ones that ask.
    pub(in crate::scenario) fn disapproved(
        &self,
        parts: &[Said],
        is_layered: bool,
    ) -> Checked<Vec<ToolName>> {
        use everstep_machine::agent::Judgement::Auto;

        let names = self.denied(parts)?;
        for said in parts {
            if !is_layered && self.get(said)?.definition.approval == Auto {
                let tool = said.value.clone();
                return Err(said.site.fault(Fault::NeverAsked { tool }));
            }
        }
        Ok(names)
    }

    pub(super) fn resolutions(&self, parts: &[Answer]) -> Checked<Vec<ResolutionScript>> {
        let scripts = parts.iter().map(|part| self.resolution(part)).collect::<Checked<_>>()?;
        distinct(Noun::Resolution, parts.iter().map(|part| &part.tool))?;
        Ok(scripts)
    }

    fn resolution(&self, part: &Answer) -> Checked<ResolutionScript> {
        let tool = self.get(&part.tool)?;
        if !tool.definition.class.is_prepared() {
            let tool = part.tool.value.clone();
            return Err(part.tool.site.fault(Fault::NeverUnknown { tool }));
        }
        let missing = |key| part.tool.site.fault(Fault::MissingKey { key, table: RESOLUTIONS });
        let resolution = match (&part.reply, &tool.outcome) {
            (Reply::Completed(Some(result)), _) => Resolution::Completed(json(result)?),
            (Reply::Completed(None), ToolOutcome::Success(own)) => {
                Resolution::Completed(own.clone())
            }
            (Reply::Completed(None), _) => return Err(missing("result")),
            (Reply::Failed(Some(failure)), _) => Resolution::Failed(diagnostic(failure)?),
            (Reply::Failed(None), ToolOutcome::Failure(own)) => Resolution::Failed(own.clone()),
            (Reply::Failed(None), _) => return Err(missing("failure")),
            (Reply::NeverStarted, _) => Resolution::NeverStarted,
            (Reply::SafeToRepeat, _) => Resolution::SafeToRepeat,
        };
        Ok(ResolutionScript { tool: tool.definition.name.clone(), resolution })
    }
}

const RESOLUTIONS: &str = "[[resolutions]]";

fn tool(part: &Tool) -> Checked<ToolScript> {
    let mut definition = ToolDefinition::new(name("name", &part.name, ToolName::new)?, part.class);
    definition.reconciles = part.reconciles;
    declare(&mut definition, &part.traits)?;
    let latency = DurationMs(within("latency_ms", &part.latency_ms, 0, LATENCY_MS)?);
    let outcome = match &part.reaction {
        Reaction::Result(result) => ToolOutcome::Success(json(result)?),
        Reaction::Failure(failure) => ToolOutcome::Failure(diagnostic(failure)?),
        Reaction::Function(_) => ToolOutcome::Success(CanonicalJson::null()),
    };
    let function = match &part.reaction {
        Reaction::Function(function) => Some(function.clone()),
        Reaction::Result(_) | Reaction::Failure(_) => None,
    };
    let most = u64::from(SILENT_STARTS);
    let silent_starts = within("silent_starts", &part.silent_starts, 0, most)? as u32;
    let deadly_starts = within("deadly_starts", &part.deadly_starts, 0, most)? as u32;
    let passing_failures = within("passing_failures", &part.passing_failures, 0, most)? as u32;
    let silence = part.silence;
    let steps = steps(part)?;
    let later_steps = named_steps("later_steps", &part.later_steps)?;
    let later_steps = Some(later_steps).filter(|later| !later.is_empty());
    Ok(ToolScript {
        definition,
        latency,
        silent_starts,
        silence,
        deadly_starts,
        passing_failures,
        steps,
        later_steps,
        outcome,
        function,
    })
}

/// The steps of a tool: some if it is durable, and otherwise none.
fn steps(part: &Tool) -> Checked<Vec<StepOutput>> {
    let is_durable = part.class == ExecutionClass::Durable;
    match part.steps.first() {
        None if is_durable => {
            return Err(part.name.site.fault(Fault::EmptyList { key: "steps" }));
        }
        Some(step) if !is_durable => {
            let (key, other, word) = ("steps", "class", "durable");
            return Err(step.name.site.fault(Fault::OnlyWith { key, other, word }));
        }
        Some(_) | None => {}
    }
    named_steps("steps", &part.steps)
}

fn named_steps(key: &'static str, parts: &[StepPart]) -> Checked<Vec<StepOutput>> {
    at_most(key, parts, CALL_STEPS, |step| &step.name.site)?;
    distinct(Noun::Step, parts.iter().map(|step| &step.name))?;
    parts.iter().map(step).collect()
}

fn step(part: &StepPart) -> Checked<StepOutput> {
    let version = within("version", &part.version, 0, u32::MAX.into())? as u32;
    let step = NamedStep { name: name("name", &part.name, StepName::new)?, version };
    let output = json(&part.result)?;
    if output.as_str().len() > STEP_OUTPUT_BYTES {
        return Err(part.result.site.fault(Fault::StepTooLarge));
    }
    Ok(StepOutput { step, output })
}

/// Puts what a tool declares into its definition.
fn declare(definition: &mut ToolDefinition, traits: &Traits) -> Checked<()> {
    if let Some(said) = &traits.description {
        definition.description = text("description", said)?.into();
    }
    if let Some(said) = &traits.parameters {
        definition.parameters = schema("parameters", said)?;
    }
    if let Some(said) = &traits.success {
        definition.success = schema("success", said)?;
    }
    if let Some(said) = &traits.fails_with {
        definition.fails_with = schema("fails_with", said)?;
    }
    if let Some(said) = &traits.resource {
        definition.resource = Some(pointer("resource", said)?);
    }
    if let Some(said) = &traits.group {
        definition.group = Some(name("group", said, GroupName::new)?);
    }
    if let Some(said) = &traits.timeout_ms {
        definition.timeout = DurationMs(within("timeout_ms", said, 1, LATENCY_MS)?);
    }
    if let Some(said) = &traits.result_bytes {
        definition.result_bytes = within("result_bytes", said, 0, TOOL_RESULT_BYTES.into())? as u32;
    }
    let places = traits.redact.iter().map(|said| pointer("redact", said));
    definition.redact = places.collect::<Checked<_>>()?;
    definition.risk = traits.risk.unwrap_or(definition.risk);
    definition.retry = traits.retry.unwrap_or(definition.retry);
    definition.failure = traits.failure.unwrap_or(definition.failure);
    definition.approval = traits.approval.unwrap_or(definition.approval);
    Ok(())
}
