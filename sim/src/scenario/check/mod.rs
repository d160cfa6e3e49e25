//! From parts to a checked scenario: names are identifiers, references resolve, bounds hold.
//!
//! Everything is checked here, whichever way the parts came in; what a file says has been held
//! against the grammar before, for the sake of better words.

mod aborts;
mod host;
mod occasion;
mod retries;
mod submissions;
mod tools;
mod turns;

use std::collections::BTreeSet;

use everstep_machine::agent::{AgentPolicy, Diagnostic, Pointer, Schema};
use everstep_machine::identity::NameError;
use everstep_machine::json::CanonicalJson;
use everstep_machine::limits::{RUN_TURNS, TEXT_BYTES};
use everstep_schema::Checker;

use super::bounds::{AMOUNT, LATENCY_MS, WORKERS};
use super::draft::{Checked, Failure, Json, Located, Revision, Said, ScenarioBuilder, Site};
use super::fault::Fault;
use super::noun::Noun;
use super::{AgentScript, AuthorityFile, ModelScript, RevisionScript, Scenario};

pub(super) use tools::Tools;

/// Checks the parts of a scenario against each other.
pub(super) fn scenario(draft: ScenarioBuilder) -> Checked<Scenario> {
    let about = text("about", &draft.about)?;
    let agent = agent(&draft.agent, &draft.instructions, &draft.max_turns, &draft.policy)?;
    let revision = draft.revision.as_ref().map(revision).transpose()?;
    let workers = within("workers", &draft.workers, 1, WORKERS as u64)? as usize;
    let tools = Tools::check(&draft.tools)?;
    let denied = tools.denied(&draft.denied)?;
    let disapproved = tools.disapproved(&draft.disapproved, draft.is_layered)?;
    let people = tools.disapproved(&draft.people, draft.is_layered)?;
    let turns = tools.turns(&draft.turns)?;
    let model = match &draft.rules {
        None => ModelScript::Scripted,
        Some(rules) => ModelScript::Live(tools.rules(rules, &draft)?),
    };
    let compactor = draft.compactor.as_ref().map(host::compactor).transpose()?;
    let groups = host::groups(&tools, &draft.groups)?;
    let submissions = submissions::submissions(&tools, &turns, &draft)?;
    let aborts = aborts::aborts(&submissions, &draft.aborts)?;
    let retries = retries::retries(&tools, &submissions, &draft.retries)?;
    let resolutions = tools.resolutions(&draft.answers)?;
    let Tools(tools) = tools;
    Ok(Scenario {
        name: draft.name,
        about,
        agent,
        revision,
        tools,
        denied,
        disapproved,
        people,
        allows_for_session: false,
        authority: AuthorityFile::default(),
        revocation: None,
        model,
        compactor,
        groups,
        submissions,
        aborts,
        retries,
        resolutions,
        workers,
        checkpoints: draft.checkpoints,
    })
}

/// Checks an agent.
pub(super) fn agent(
    id: &Said,
    instructions: &Said,
    max_turns: &Located<u64>,
    policy: &Located<AgentPolicy>,
) -> Checked<AgentScript> {
    let id = name("id", id, everstep_machine::identity::AgentId::new)?;
    let instructions = text("instructions", instructions)?;
    let turns = within("max_turns", max_turns, 1, u64::from(RUN_TURNS))? as u32;
    let Located { value: policy, site } = policy;
    let number = |value: u64| Located::new(value, site.clone());
    within("parallel_calls", &number(policy.parallel_calls.into()), 1, u64::from(u32::MAX))?;
    within("model_timeout_ms", &number(policy.model_timeout.0), 1, LATENCY_MS)?;
    if let Some(context) = policy.context {
        let limit = context.limit_tokens;
        within("limit_tokens", &number(limit), 1, AMOUNT)?;
        let keep = context.keep_tokens;
        if keep >= limit {
            return Err(site.fault(Fault::KeepsTooMuch { keep, limit }));
        }
    }
    if policy.disposition.as_ref().is_some_and(|it| it.allowed.is_empty()) {
        return Err(site.fault(Fault::NoDisposition));
    }
    let mut policy = policy.clone();
    policy.allowance.turns = Some(turns);
    Ok(AgentScript { id, instructions, policy })
}

fn revision(draft: &Revision) -> Checked<RevisionScript> {
    let instructions = text("instructions", &draft.instructions)?;
    let Revision { rebinds, outlasts_pauses, .. } = *draft;
    Ok(RevisionScript { instructions, rebinds, outlasts_pauses })
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

/// A sound JSON Schema: an object, or the ones that everything and nothing fits.
pub(super) fn schema(key: &'static str, said: &Json) -> Checked<Schema> {
    let json = json(said)?;
    let text = json.as_str();
    if text.starts_with('{') || matches!(text, "true" | "false") {
        let schema = Schema::from(json);
        let unsound = |why| said.site.fault(Fault::Unsound { key, why });
        return Checker::new().compile(&schema).map_err(unsound).map(|()| schema);
    }
    Err(said.site.fault(Fault::NotASchema { key }))
}

/// A JSON pointer.
pub(super) fn pointer(key: &'static str, said: &Said) -> Checked<Pointer> {
    Pointer::new(&said.value).map_err(|reason| said.site.fault(Fault::BadPointer { key, reason }))
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
