//! Rights: what may be done to what, as a set that can be cut with another one.

use alloc::collections::BTreeSet;

use super::{CapabilityKey, Grant, Resource, Selector};

/// What may be done, and to which resources.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Right {
    /// What.
    pub grant: Grant,
    /// To which.
    pub within: Selector,
}

/// Several rights. What none of them allows is not allowed.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub struct Rights(BTreeSet<Right>);

impl Rights {
    /// Whether one of them allows a capability at all.
    #[must_use]
    pub fn names(&self, key: &CapabilityKey) -> bool {
        self.0.iter().any(|right| right.grant.matches(key))
    }

    /// Whether one of them allows a capability on this resource.
    #[must_use]
    pub fn allow(&self, key: &CapabilityKey, resource: Option<&Resource>) -> bool {
        let allows = |right: &Right| right.grant.matches(key) && right.within.reaches(resource);
        self.0.iter().any(allows)
    }

    /// What both allow, and nothing else.
    #[must_use]
    pub fn meet(&self, other: &Self) -> Self {
        let pairs = self.0.iter().flat_map(|one| other.0.iter().map(move |two| (one, two)));
        let met = pairs.filter_map(|(one, two)| {
            let (grant, within) = (one.grant.meet(&two.grant)?, one.within.meet(&two.within)?);
            Some(Right { grant, within })
        });
        met.collect()
    }
}

impl FromIterator<Right> for Rights {
    fn from_iter<I: IntoIterator<Item = Right>>(rights: I) -> Self {
        Self(rights.into_iter().collect())
    }
}
