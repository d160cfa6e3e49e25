//! Resources that actions name, and which of them a right reaches.

use alloc::sync::Arc;
use core::fmt;

use crate::limits::RESOURCE_BYTES;

/// Why a text names no resource.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum ResourceError {
    /// There is no text.
    #[error("a resource cannot be empty")]
    Empty,
    /// There are more than [`RESOURCE_BYTES`] bytes.
    #[error("a resource has at most {RESOURCE_BYTES} bytes")]
    TooLong,
    /// A part is empty, `.` or `..`: it was not normalized.
    #[error("a resource is normalized: no part of it is empty, `.` or `..`")]
    NotNormal,
    /// It holds a control character or a backslash, which some systems take for a slash.
    #[error("a resource holds no control characters and no backslashes")]
    Character,
}

fn checked(text: &str) -> Result<Arc<str>, ResourceError> {
    if text.is_empty() {
        return Err(ResourceError::Empty);
    }
    if text.len() > RESOURCE_BYTES {
        return Err(ResourceError::TooLong);
    }
    if text.chars().any(|letter| letter.is_control() || letter == '\\') {
        return Err(ResourceError::Character);
    }
    if text.split('/').any(|part| matches!(part, "" | "." | "..")) {
        return Err(ResourceError::NotNormal);
    }
    Ok(Arc::from(text))
}

macro_rules! path {
    ($($(#[$doc:meta])* $name:ident;)*) => {$(
        $(#[$doc])*
        ///
        /// Parts with slashes between them, 1 to [`RESOURCE_BYTES`] bytes, none before the first or
        /// behind the last; no part is empty, `.` or `..`.
        #[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
        pub struct $name(Arc<str>);

        impl $name {
            /// Checks and wraps a text that is normalized already.
            ///
            /// # Errors
            /// The text is not of this form.
            pub fn new(text: &str) -> Result<Self, ResourceError> {
                checked(text).map(Self)
            }

            /// The text itself.
            #[must_use]
            pub fn as_str(&self) -> &str {
                &self.0
            }
        }

        impl fmt::Debug for $name {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                write!(f, "{:?}", &self.0)
            }
        }

        impl fmt::Display for $name {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str(&self.0)
            }
        }
    )*};
}

path! {
    /// What an action acts on, as the host has normalized it: `workspace/notes/a.md`,
    /// `https/example.com/docs`.
    Resource;
    /// Where in an agent a component stands: `agent/output/archive_summary`.
    ComponentPath;
}

/// Which resources a right reaches.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Selector {
    /// All, and actions that name none.
    Any,
    /// This one and, part by part, what lies within it. An action that names none is not reached.
    Within(Resource),
}

impl Selector {
    /// Whether it reaches what an action names.
    #[must_use]
    pub fn reaches(&self, resource: Option<&Resource>) -> bool {
        match (self, resource) {
            (Self::Any, _) => true,
            (Self::Within(_), None) => false,
            (Self::Within(outer), Some(resource)) => is_within(resource, outer),
        }
    }

    /// What both reach.
    #[must_use]
    pub fn meet(&self, other: &Self) -> Option<Self> {
        match (self, other) {
            (Self::Any, narrow) | (narrow, Self::Any) => Some(narrow.clone()),
            (Self::Within(one), Self::Within(two)) if is_within(one, two) => Some(self.clone()),
            (Self::Within(one), Self::Within(two)) => is_within(two, one).then(|| other.clone()),
        }
    }
}

/// Part by part: a sibling whose name begins alike is not within.
fn is_within(inner: &Resource, outer: &Resource) -> bool {
    let rest = inner.as_str().strip_prefix(outer.as_str());
    rest.is_some_and(|rest| rest.is_empty() || rest.starts_with('/'))
}
