//! A tenant's policy: what is granted, and by which source.

use alloc::collections::{BTreeMap, BTreeSet};
use alloc::format;

use super::{CapabilityKey, ComponentPath, Grant, Right, Rights, Selector};
use crate::digest::{Digest, Hasher};

/// What the host's own guards confine a granted capability to.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Scope {
    /// The workspace.
    Workspace,
    /// The agent and its host.
    Core,
}

/// What a capability is needed for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Need {
    /// A tool of the registry is to be called. What its own component declares does not count
    /// (AUTH-03).
    Registry,
    /// A component that runs asks for it.
    Implementation,
}

/// Who has granted.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Source {
    /// The defaults of the core: for everybody.
    Default,
    /// A grant on the path of one component.
    Component(ComponentPath),
    /// The list that the component itself declares.
    Declared,
}

/// Which source would have had to grant.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Lacking {
    /// A default with the exact name of the secret; nothing else grants one (AUTH-04).
    ExactDefault,
    /// A default or a grant on the component's path.
    DefaultOrComponent,
    /// One of these, or the component's own list.
    AnySource,
}

/// Grants by pattern.
pub type Granted = BTreeMap<Grant, Scope>;

/// What is granted to the members of a tenant.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub struct Policy {
    /// To every component.
    pub defaults: Granted,
    /// To the component on a path.
    pub components: BTreeMap<ComponentPath, Granted>,
}

impl Policy {
    /// Who grants a capability, and confined to what. Of several grants of one source the narrowest
    /// scope counts.
    ///
    /// # Errors
    /// Nobody who could: which source is lacking.
    pub fn source(
        &self,
        key: &CapabilityKey,
        need: Need,
        component: Option<&ComponentPath>,
        declared: &BTreeSet<Grant>,
    ) -> Result<(Source, Scope), Lacking> {
        if let Some(scope) = narrowest(&self.defaults, key) {
            return Ok((Source::Default, scope));
        }
        if key.is_secret() {
            return Err(Lacking::ExactDefault);
        }
        if let Some(path) = component
            && let Some(scope) = self.components.get(path).and_then(|it| narrowest(it, key))
        {
            return Ok((Source::Component(path.clone()), scope));
        }
        match need {
            Need::Registry => Err(Lacking::DefaultOrComponent),
            Need::Implementation if declared.iter().any(|grant| grant.matches(key)) => {
                Ok((Source::Declared, Scope::Workspace))
            }
            Need::Implementation => Err(Lacking::AnySource),
        }
    }

    /// Everything that is granted to anybody: what a ceiling is cut from.
    #[must_use]
    pub fn rights(&self) -> Rights {
        let granted = core::iter::once(&self.defaults).chain(self.components.values());
        let grants = granted.flat_map(BTreeMap::keys).cloned();
        grants.map(|grant| Right { grant, within: Selector::Any }).collect()
    }

    /// Takes a grant back. Whether it was there.
    pub fn revoke(&mut self, component: Option<&ComponentPath>, grant: &Grant) -> bool {
        let granted = match component {
            None => Some(&mut self.defaults),
            Some(path) => self.components.get_mut(path),
        };
        granted.is_some_and(|granted| granted.remove(grant).is_some())
    }

    /// Equal for equal policies only.
    #[must_use]
    pub fn digest(&self) -> Digest {
        let begin = Hasher::new("everstep/authority").number(self.defaults.len() as u64);
        let defaults = self.defaults.iter().fold(begin, spell);
        let components = self.components.iter().fold(defaults, |hasher, (path, granted)| {
            let hasher = hasher.bytes(path.as_str().as_bytes()).number(granted.len() as u64);
            granted.iter().fold(hasher, spell)
        });
        components.digest()
    }
}

fn spell(hasher: Hasher, (grant, scope): (&Grant, &Scope)) -> Hasher {
    hasher.bytes(format!("{grant}").as_bytes()).number(*scope as u64)
}

fn narrowest(granted: &Granted, key: &CapabilityKey) -> Option<Scope> {
    granted.iter().filter(|(grant, _)| grant.matches(key)).map(|(_, scope)| *scope).min()
}
