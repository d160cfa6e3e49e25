//! Handlers of tools that are functions.

use std::fmt;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;

use everstep_machine::agent::{Diagnostic, ToolOutcome};
use everstep_machine::identity::{ToolCallId, ToolName};
use everstep_machine::json::CanonicalJson;

/// A call, as the handler of its tool sees it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Called<'a> {
    /// Which tool.
    pub tool: &'a ToolName,
    /// Which call: the key of one that may be made again.
    pub call: ToolCallId,
    /// With what.
    pub parameters: &'a CanonicalJson,
}

/// A tool's handler in a simulation: it says how a call ends, and nothing but the call decides that.
/// A simulation asks it twice, and again after every crash.
#[derive(Clone)]
pub struct Function(Arc<dyn Fn(&Called<'_>) -> ToolOutcome + Send + Sync>);

impl Function {
    pub(super) fn new(
        function: impl Fn(&Called<'_>) -> ToolOutcome + Send + Sync + 'static,
    ) -> Self {
        Self(Arc::new(function))
    }

    /// How a call ends. A handler that panics has broken, as in a host.
    pub(crate) fn ends(&self, called: &Called<'_>) -> ToolOutcome {
        catch_unwind(AssertUnwindSafe(|| (self.0)(called))).unwrap_or_else(|_| {
            ToolOutcome::Defect(Diagnostic::cut("Panic", "the tool's handler panicked"))
        })
    }
}

impl PartialEq for Function {
    /// Whether they are one function; of two nobody can tell whether they do the same.
    fn eq(&self, other: &Self) -> bool {
        Arc::ptr_eq(&self.0, &other.0)
    }
}

impl Eq for Function {}

impl fmt::Debug for Function {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Function").finish_non_exhaustive()
    }
}
