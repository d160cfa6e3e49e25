//! Parts of one kind that have begun and not ended, by their labels.

use alloc::collections::BTreeMap;
use alloc::collections::btree_map::Entry;
use alloc::string::String;
use alloc::sync::Arc;

use super::ProtocolError;

/// Parts of one kind that are open.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(super) struct Open<T>(BTreeMap<Arc<str>, T>);

/// A part that grows. Its text is kept in one place, so that many small pieces cost no more than
/// a few large ones.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(super) struct Growing {
    /// Its place in the response.
    pub(super) part: usize,
    /// What has come of it.
    pub(super) text: String,
}

impl Growing {
    pub(super) const fn new(part: usize) -> Self {
        Self { part, text: String::new() }
    }
}

impl<T> Default for Open<T> {
    fn default() -> Self {
        Self(BTreeMap::new())
    }
}

impl<T> Open<T> {
    /// One more part. Its label must not be in use, or nobody could say whose a piece is.
    pub(super) fn begin(&mut self, label: Arc<str>, part: T) -> Result<(), ProtocolError> {
        match self.0.entry(label) {
            Entry::Vacant(free) => {
                free.insert(part);
                Ok(())
            }
            Entry::Occupied(_) => Err(ProtocolError::LabelOpen),
        }
    }

    /// Whether a part is open under a label.
    pub(super) fn has(&self, label: &str) -> bool {
        self.0.contains_key(label)
    }

    /// The part that is open under a label.
    pub(super) fn of(&mut self, label: &str) -> Result<&mut T, ProtocolError> {
        self.0.get_mut(label).ok_or(ProtocolError::LabelUnknown)
    }

    /// Takes out the part that is open under a label; the label is free again.
    pub(super) fn end(&mut self, label: &str) -> Result<T, ProtocolError> {
        self.0.remove(label).ok_or(ProtocolError::LabelUnknown)
    }
}
