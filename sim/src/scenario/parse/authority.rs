//! Grants, the policy of approvals, and what the registry is to say of tools (AUTH-17).

use std::collections::BTreeMap;

use everstep_machine::approval::{Entries, Judgement, Metadata, Origin, Override};
use everstep_machine::authority::{
    CapabilityKey, ComponentPath, Grant, Granted, KeyError, Pattern, Policy, Scope,
};
use everstep_machine::identity::{PrincipalId, ToolName};

use super::{Row, row};
use crate::scenario::agent::AuthorityFile;
use crate::scenario::check::{self, Tools};
use crate::scenario::draft::{Checked, Said};
use crate::scenario::fault::Fault;
use crate::scenario::script::{AgentScript, RevocationScript, ToolScript};
use crate::scenario::tree::Value;
use crate::scenario::words::{JUDGEMENTS, RISKS, SCOPES, meaning};

/// What the file says about authority; the grammar has passed it.
pub(in crate::scenario) fn authority(root: &Row<'_, '_>, tools: &Tools) -> Checked<AuthorityFile> {
    Ok(AuthorityFile {
        grants: root.row("capabilities").map(|row| grants(&row)).transpose()?,
        approval: root
            .row("approval")
            .map_or(Ok(Entries::default()), |row| approval(&row, tools))?,
        metadata: metadata(root, tools)?,
    })
}

/// Whether the file has a policy beside what its tools say of themselves.
pub(in crate::scenario) fn is_layered(root: &Row<'_, '_>) -> bool {
    root.row("approval").is_some() || root.row("tool_metadata").is_some()
}

/// Lets agent and tools be what the file says of them beside their tables. Where the file says what is
/// granted, every tool takes something: `tool.call:<tool>` unless it says what (AUTH-01).
pub(in crate::scenario) fn lay_down(
    root: &Row<'_, '_>,
    said: &AuthorityFile,
    agent: &mut AgentScript,
    tools: &mut [ToolScript],
) -> Checked<()> {
    agent.policy.approval.entries = said.approval.clone();
    for ToolScript { definition: tool, .. } in tools {
        let origin = Origin::Authored;
        let (judgement, risk, capability) = (tool.approval, tool.risk, tool.capability.clone());
        let metadata = Metadata { origin, judgement, risk, capability };
        let by = said.metadata.get(&tool.name).cloned().unwrap_or_default();
        // Only what the host itself brings cannot be loosened (AUTH-07).
        let metadata = metadata.overridden(&by).unwrap_or(metadata);
        (tool.approval, tool.risk) = (metadata.judgement, metadata.risk);
        tool.capability = metadata.capability;
        if said.grants.is_some() && tool.capability.is_none() {
            let name = format!("tool.call:{}", tool.name);
            let site = root.row("capabilities").map_or_else(|| root.site(), |row| row.site());
            let key = CapabilityKey::new(&name).map_err(|reason| {
                site.fault(Fault::BadCapability { key: "capability", reason, nearest: None })
            })?;
            tool.capability = Some(key);
        }
    }
    Ok(())
}

/// What is taken back, if anything is.
pub(in crate::scenario) fn revocation(root: &Row<'_, '_>) -> Checked<Option<RevocationScript>> {
    let Some(row) = root.row("revocation") else { return Ok(None) };
    if let Some(said) = row.text("grant") {
        return capability("grant", &said, Grant::new).map(RevocationScript::Grant).map(Some);
    }
    let principal = row.need("principal", "[revocation]")?;
    check::name("principal", &principal, PrincipalId::new)
        .map(RevocationScript::Principal)
        .map(Some)
}

fn grants(row: &Row<'_, '_>) -> Checked<Policy> {
    let components = row.entries("grants").into_iter().filter_map(|(path, granted)| {
        let table = self::row(granted)?;
        Some(component(&path).and_then(|path| Ok((path, each_grant(table.all())?))))
    });
    let components = components.collect::<Checked<_>>()?;
    Ok(Policy { defaults: each_grant(row.entries("defaults"))?, components })
}

fn component(said: &Said) -> Checked<ComponentPath> {
    ComponentPath::new(&said.value)
        .map_err(|reason| said.site.fault(Fault::BadComponent { key: "grants", reason }))
}

fn each_grant(said: Vec<(Said, &Value<'_>)>) -> Checked<Granted> {
    let grants = said.into_iter().map(|(key, value)| {
        let grant = capability("capabilities", &key, Grant::new)?;
        let scope = row(value).and_then(|row| row.word("scope", &SCOPES));
        Ok((grant, scope.map_or(Scope::Workspace, |scope| scope.value)))
    });
    grants.collect()
}

fn capability<T>(
    key: &'static str,
    said: &Said,
    new: impl Fn(&str) -> Result<T, KeyError>,
) -> Checked<T> {
    new(&said.value).map_err(|reason| {
        let meant = meant(&said.value);
        let nearest = (meant != said.value && new(&meant).is_ok()).then_some(meant);
        said.site.fault(Fault::BadCapability { key, reason, nearest })
    })
}

/// A capability as somebody may have meant it who has doubled a sign, or written large letters.
fn meant(text: &str) -> String {
    let (stem, subject) = text.split_once(':').map_or((text, ""), |(stem, rest)| (stem, rest));
    let stem = stem.trim().to_ascii_lowercase();
    let segments = stem.split('.').filter(|segment| !segment.is_empty());
    let stem = segments.collect::<Vec<_>>().join(".");
    let subject = subject.trim_matches([':', ' ', '\t']);
    if subject.is_empty() { stem } else { format!("{stem}:{subject}") }
}

fn approval(row: &Row<'_, '_>, tools: &Tools) -> Checked<Entries> {
    let by_tool = judgements(row, "tools").into_iter();
    let by_tool = by_tool.map(|(said, judgement)| Ok((tools.named(&said)?, judgement)));
    let by_capability = judgements(row, "capabilities").into_iter();
    let by_capability = by_capability
        .map(|(said, judgement)| Ok((capability("capabilities", &said, Pattern::new)?, judgement)));
    let by_risk = judgements(row, "risks").into_iter();
    let by_risk =
        by_risk.filter_map(|(said, judgement)| Some((meaning(&RISKS, &said.value)?, judgement)));
    Ok(Entries {
        tools: by_tool.collect::<Checked<_>>()?,
        capabilities: by_capability.collect::<Checked<_>>()?,
        risks: by_risk.collect(),
        default: row.word("default", &JUDGEMENTS).map(|word| word.value),
    })
}

fn judgements(row: &Row<'_, '_>, key: &str) -> Vec<(Said, Judgement)> {
    let said = row.entries(key).into_iter();
    said.filter_map(|(key, value)| Some((key, meaning(&JUDGEMENTS, value.as_text()?)?))).collect()
}

fn metadata(root: &Row<'_, '_>, tools: &Tools) -> Checked<BTreeMap<ToolName, Override>> {
    let said = root.entries("tool_metadata").into_iter();
    let said = said.filter_map(|(name, value)| Some((name, row(value)?)));
    let each = said.map(|(name, row)| {
        let takes = row.text("capability");
        let takes = takes.map(|said| capability("capability", &said, CapabilityKey::new));
        let says = Override {
            judgement: row.word("approval_policy", &JUDGEMENTS).map(|word| word.value),
            risk: row.word("risk", &RISKS).map(|word| word.value),
            capability: takes.transpose()?,
        };
        Ok((tools.named(&name)?, says))
    });
    each.collect()
}
