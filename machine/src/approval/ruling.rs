//! Layers of policy, and which entry of which layer decides.

use core::fmt;

use serde::{Deserialize, Serialize};

use super::Metadata;
use crate::agent::{Entries, Judgement, Risk};
use crate::authority::{CapabilityKey, Pattern};
use crate::guard::{Judged, Reason};
use crate::identity::ToolName;

/// Everything that has a say about a call.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Layers {
    /// Of the agent's core.
    pub core: Entries,
    /// Of the host.
    pub global: Entries,
    /// Of the component whose call it is.
    pub component: Entries,
    /// What the registry says of the tool.
    pub metadata: Metadata,
    /// What the guard says of the command, if the call runs one.
    pub guard: Option<Judged>,
}

/// Which layer decided. Of equally strict ones the first.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub enum Layer {
    /// The agent's core.
    Core,
    /// The host.
    Global,
    /// The component.
    Component,
    /// The registry.
    Metadata,
    /// The command guard.
    Guard,
}

impl fmt::Display for Layer {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Core => "the agent's policy",
            Self::Global => "the host's policy",
            Self::Component => "the component's policy",
            Self::Metadata => "the tool itself",
            Self::Guard => "the command guard",
        })
    }
}

/// Which entry of it. Of equally strict ones the first.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub enum Entry {
    /// For the tool.
    Tool,
    /// For a capability.
    Capability(Pattern),
    /// For the risk.
    Risk(Risk),
    /// The default of the layer.
    Default,
    /// What the registry declares.
    Declared,
    /// What the guard found in the command.
    Command(Reason),
}

/// Layer and entry: what `doctor` names, and what an allow for a session is bound to.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub struct Rule {
    /// The layer.
    pub layer: Layer,
    /// The entry.
    pub entry: Entry,
}

/// What all layers together say about a call.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Ruling {
    /// Whether it goes ahead, is asked about, or does not happen.
    pub judgement: Judgement,
    /// How much harm it can do: what the registry says, or the guard if it says more.
    pub risk: Risk,
    /// What decided.
    pub rule: Rule,
}

impl Ruling {
    /// What the layers say about a call of a tool: the strictest word of any (AUTH-06). A layer that
    /// says `auto` takes nothing back that another one says.
    #[must_use]
    pub fn of(layers: &Layers, tool: &ToolName) -> Self {
        let metadata = &layers.metadata;
        let risk = layers.guard.map_or(metadata.risk, |judged| metadata.risk.max(judged.risk()));
        let configured = [
            (Layer::Core, &layers.core),
            (Layer::Global, &layers.global),
            (Layer::Component, &layers.component),
        ];
        let said = configured.into_iter().filter_map(|(layer, entries)| {
            let (judgement, entry) = entries.say(tool, metadata.capability.as_ref(), risk)?;
            Some((judgement, Rule { layer, entry }))
        });
        let guard = layers.guard.map(|judged| {
            let rule = Rule { layer: Layer::Guard, entry: Entry::Command(judged.reason) };
            (judged.verdict.into(), rule)
        });
        let declared = Rule { layer: Layer::Metadata, entry: Entry::Declared };
        let registry = (metadata.judgement, declared.clone());
        let all = said.chain([registry]).chain(guard);
        let (judgement, rule) = strictest(all).unwrap_or((metadata.judgement, declared));
        Self { judgement, risk, rule }
    }
}

impl Entries {
    /// What the layer says: the strictest entry that matches, or its default if none does.
    fn say(
        &self,
        tool: &ToolName,
        capability: Option<&CapabilityKey>,
        risk: Risk,
    ) -> Option<(Judgement, Entry)> {
        let by_tool = self.tools.get(tool).map(|it| (*it, Entry::Tool));
        let matching = self
            .capabilities
            .iter()
            .filter(|(pattern, _)| capability.is_some_and(|it| pattern.matches(it)));
        let by_capability = matching.map(|(it, said)| (*said, Entry::Capability(it.clone())));
        let by_risk = self.risks.get(&risk).map(|it| (*it, Entry::Risk(risk)));
        strictest(by_tool.into_iter().chain(by_capability).chain(by_risk))
            .or_else(|| self.default.map(|it| (it, Entry::Default)))
    }
}

/// The strictest, and the first of equally strict ones.
fn strictest<T>(said: impl Iterator<Item = (Judgement, T)>) -> Option<(Judgement, T)> {
    said.reduce(|best, next| if next.0 > best.0 { next } else { best })
}
