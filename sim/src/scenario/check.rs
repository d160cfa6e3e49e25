//! From parts to a checked scenario: names are identifiers, references resolve, bounds hold.
//!
//! Everything is checked here, whichever way the parts came in; what a file says has been held
//! against the grammar before, for the sake of better words.

use std::collections::BTreeSet;

use everstep_machine::agent::{Diagnostic, ModelFault, Resolution, ToolDefinition, ToolOutcome};
use everstep_machine::effect::Failpoint;
use everstep_machine::identity::{DurationMs, IdempotencyKey, NameError, ToolName};
use everstep_machine::json::CanonicalJson;
use everstep_machine::limits::{RESPONSE_CALLS, RUN_TURNS, TEXT_BYTES};
use everstep_machine::record::Outcome;

use super::bounds::{ABORTS, LATENCY_MS, SUBMISSIONS, TOOLS, WORKERS};
use super::draft::{
    Abort, Answer, Call, Checked, Failure, Json, Located, ModelFailure, Reaction, Reply, Said,
    ScenarioBuilder, Site, Submission, Tool, Turn,
};
use super::fault::{Fault, Noun};
use super::words::{EVERY_MOMENT, FaultKind, nearest};
use super::{
    AbortMoment, AbortScript, AgentScript, CallScript, ResolutionScript, Scenario,
    SubmissionScript, ToolScript, TurnScript,
};

/// Checks the parts of a scenario against each other.
pub(super) fn scenario(draft: ScenarioBuilder) -> Checked<Scenario> {
    let about = text("about", &draft.about)?;
    let agent = agent(&draft.agent, &draft.instructions, &draft.max_turns)?;
    let workers = within("workers", &draft.workers, 1, WORKERS as u64)? as usize;
    let tools = Tools::check(&draft.tools)?;
    let denied = tools.denied(&draft.denied)?;
    let turns = tools.turns(&draft.turns)?;
    let submissions = submissions(&tools, &turns, &draft)?;
    let aborts = aborts(&submissions, &draft.aborts)?;
    let resolutions = tools.resolutions(&draft.answers)?;
    let Tools(tools) = tools;
    let name = draft.name;
    Ok(Scenario { name, about, agent, tools, denied, submissions, aborts, resolutions, workers })
}

/// Checks an agent.
pub(super) fn agent(
    id: &Said,
    instructions: &Said,
    max_turns: &Located<u64>,
) -> Checked<AgentScript> {
    Ok(AgentScript {
        id: name("id", id, everstep_machine::identity::AgentId::new)?,
        instructions: text("instructions", instructions)?,
        max_turns: within("max_turns", max_turns, 1, u64::from(RUN_TURNS))? as u32,
    })
}

pub(super) fn name<T>(
    key: &'static str,
    said: &Said,
    new: impl FnOnce(&str) -> Result<T, NameError>,
) -> Checked<T> {
    new(&said.value).map_err(|reason| said.site.fault(Fault::BadName { key, reason }))
}

pub(super) fn text(key: &'static str, said: &Said) -> Checked<String> {
    if said.value.len() > TEXT_BYTES {
        return Err(said.site.fault(Fault::TextTooLong { key }));
    }
    Ok(said.value.clone())
}

pub(super) fn within(
    key: &'static str,
    said: &Located<u64>,
    least: u64,
    most: u64,
) -> Checked<u64> {
    if (least..=most).contains(&said.value) {
        return Ok(said.value);
    }
    let found = said.value.to_string();
    Err(said.site.fault(Fault::OutOfRange { key, found, least, most }))
}

fn json(said: &Json) -> Checked<CanonicalJson> {
    CanonicalJson::parse(said.value.as_bytes())
        .map_err(|reason| said.site.fault(Fault::BadJson(reason)))
}

fn diagnostic(failure: &Failure) -> Checked<Diagnostic> {
    let Failure { tag, message } = failure;
    Diagnostic::new(&tag.value, &message.value)
        .map_err(|reason| tag.site.fault(Fault::BadDiagnostic(reason)))
}

/// Refuses the first part over the bound.
fn at_most<T>(
    key: &'static str,
    parts: &[T],
    most: usize,
    site: impl Fn(&T) -> &Site,
) -> Checked<()> {
    parts.get(most).map_or(Ok(()), |part| Err(site(part).fault(Fault::TooMany { key, most })))
}

/// Refuses the first part that is there again.
fn distinct<'a>(noun: Noun, said: impl IntoIterator<Item = &'a Said>) -> Checked<()> {
    let mut seen = BTreeSet::new();
    let again = said.into_iter().find(|said| !seen.insert(said.value.as_str()));
    again.map_or(Ok(()), |said| {
        Err(said.site.fault(Fault::Duplicate { noun, name: said.value.clone() }))
    })
}

/// The tools that have passed.
pub(super) struct Tools(pub(super) Vec<ToolScript>);

impl Tools {
    pub(super) fn check(parts: &[Tool]) -> Checked<Self> {
        at_most("tools", parts, TOOLS, |tool| &tool.name.site)?;
        let tools = parts.iter().map(tool).collect::<Checked<_>>()?;
        distinct(Noun::Tool, parts.iter().map(|tool| &tool.name))?;
        Ok(Self(tools))
    }

    fn find(&self, name: &str) -> Option<&ToolScript> {
        self.0.iter().find(|tool| tool.definition.name.as_str() == name)
    }

    fn nearest(&self, word: &str) -> Option<String> {
        let names = self.0.iter().map(|tool| tool.definition.name.as_str());
        nearest(word, names).map(str::to_owned)
    }

    /// The tool of that name, which must exist.
    fn get(&self, said: &Said) -> Checked<&ToolScript> {
        self.find(&said.value).ok_or_else(|| {
            let nearest = self.nearest(&said.value);
            said.site.fault(Fault::Unknown { noun: Noun::Tool, name: said.value.clone(), nearest })
        })
    }

    pub(super) fn denied(&self, parts: &[Said]) -> Checked<Vec<ToolName>> {
        let names = parts.iter().map(|said| Ok(self.get(said)?.definition.name.clone()));
        let names = names.collect::<Checked<_>>()?;
        distinct(Noun::Denial, parts)?;
        Ok(names)
    }

    pub(super) fn turns(&self, parts: &[Turn]) -> Checked<Vec<TurnScript>> {
        at_most("turns", parts, RUN_TURNS as usize, |turn| &turn.site)?;
        parts.iter().map(|part| self.turn(part)).collect()
    }

    fn turn(&self, part: &Turn) -> Checked<TurnScript> {
        let Some(fault) = &part.fault else {
            at_most("calls", &part.calls, RESPONSE_CALLS, |call| &call.tool.site)?;
            let text = part.text.as_ref().map(|said| text("text", said)).transpose()?;
            let calls = part.calls.iter().map(|call| self.call(call)).collect::<Checked<_>>()?;
            return Ok(TurnScript::Answer { text, calls });
        };
        if !part.calls.is_empty() {
            return Err(part.site.fault(Fault::Excluded { key: "fault", other: "calls" }));
        }
        let ModelFailure { kind, failure } = fault;
        let diagnostic = diagnostic(failure)?;
        Ok(TurnScript::Fault(match kind {
            FaultKind::Unavailable => ModelFault::Unavailable(diagnostic),
            FaultKind::Protocol => ModelFault::Protocol(diagnostic),
        }))
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

    fn resolutions(&self, parts: &[Answer]) -> Checked<Vec<ResolutionScript>> {
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
    let definition = ToolDefinition {
        reconciles: part.reconciles,
        ..ToolDefinition::new(name("name", &part.name, ToolName::new)?, part.class)
    };
    let latency = DurationMs(within("latency_ms", &part.latency_ms, 0, LATENCY_MS)?);
    let outcome = match &part.reaction {
        Reaction::Result(result) => ToolOutcome::Success(json(result)?),
        Reaction::Failure(failure) => ToolOutcome::Failure(diagnostic(failure)?),
    };
    Ok(ToolScript { definition, latency, outcome })
}

fn submissions(
    tools: &Tools,
    shared: &[TurnScript],
    draft: &ScenarioBuilder,
) -> Checked<Vec<SubmissionScript>> {
    let parts = &draft.submissions;
    at_most("submissions", parts, SUBMISSIONS, |part| &part.name.site)?;
    if parts.is_empty() {
        return Err(draft.about.site.fault(Fault::EmptyList { key: "submissions" }));
    }
    let scripts =
        parts.iter().map(|part| submission(tools, shared, part)).collect::<Checked<_>>()?;
    distinct(Noun::Submission, parts.iter().map(|part| &part.name))?;
    Ok(scripts)
}

fn submission(
    tools: &Tools,
    shared: &[TurnScript],
    part: &Submission,
) -> Checked<SubmissionScript> {
    use everstep_machine::identity::{ConversationId, PrincipalId, TenantId};

    name("name", &part.name, IdempotencyKey::new)?;
    let own = tools.turns(&part.turns)?;
    let turns = if own.is_empty() { shared.to_vec() } else { own };
    if turns.is_empty() {
        let submission = part.name.value.clone();
        return Err(part.name.site.fault(Fault::NoTurns { submission }));
    }
    Ok(SubmissionScript {
        name: part.name.value.clone(),
        conversation: name("conversation", &part.conversation, ConversationId::new)?,
        principal: name("principal", &part.principal, PrincipalId::new)?,
        tenant: name("tenant", &part.tenant, TenantId::new)?,
        key: name("key", &part.key, IdempotencyKey::new)?,
        input: json(&part.input)?,
        turns,
        expect: expectations(&part.expect)?,
    })
}

fn expectations(parts: &[Located<Outcome>]) -> Checked<Vec<Outcome>> {
    let mut outcomes = Vec::new();
    for part in parts {
        if outcomes.contains(&part.value) {
            let name = super::words::word(&super::words::OUTCOMES, part.value).to_owned();
            return Err(part.site.fault(Fault::Duplicate { noun: Noun::Expectation, name }));
        }
        outcomes.push(part.value);
    }
    Ok(outcomes)
}

fn aborts(submissions: &[SubmissionScript], parts: &[Abort]) -> Checked<Vec<AbortScript>> {
    at_most("aborts", parts, ABORTS, |part| &part.submission.site)?;
    parts.iter().map(|part| abort(submissions, part)).collect()
}

fn abort(submissions: &[SubmissionScript], part: &Abort) -> Checked<AbortScript> {
    let said = &part.submission;
    let names = || submissions.iter().map(|submission| submission.name.as_str());
    let Some(submission) = names().position(|name| name == said.value) else {
        let nearest = nearest(&said.value, names()).map(str::to_owned);
        let (noun, name) = (Noun::Submission, said.value.clone());
        return Err(said.site.fault(Fault::Unknown { noun, name, nearest }));
    };
    Ok(AbortScript {
        submission,
        moment: moment(&part.at)?,
        principal: name(
            "principal",
            &part.principal,
            everstep_machine::identity::PrincipalId::new,
        )?,
        reason: text("reason", &part.reason)?,
    })
}

/// Reads `every-moment`, `name/phase` or `name/phase@n`.
fn moment(said: &Said) -> Checked<AbortMoment> {
    if said.value == EVERY_MOMENT {
        return Ok(AbortMoment::Every);
    }
    let (point, occurrence) = match said.value.split_once('@') {
        None => (said.value.as_str(), 1),
        Some((point, count)) => {
            let digits = count.bytes().all(|byte| byte.is_ascii_digit());
            let occurrence =
                count.parse().ok().filter(|n| digits && *n > 0).ok_or_else(|| {
                    said.site.fault(Fault::BadOccurrence { text: count.to_owned() })
                })?;
            (point, occurrence)
        }
    };
    point.parse().map(|failpoint| AbortMoment::At(failpoint, occurrence)).map_err(|reason| {
        let all = Failpoint::all().map(|failpoint| failpoint.to_string()).collect::<Vec<_>>();
        let words = all.iter().map(String::as_str).chain([EVERY_MOMENT]);
        let nearest = nearest(point, words).map(str::to_owned);
        said.site.fault(Fault::UnknownFailpoint { text: point.to_owned(), reason, nearest })
    })
}
