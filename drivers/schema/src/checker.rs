//! Checks values, and keeps the schemas that it has compiled.

use std::collections::HashMap;
use std::fmt;
use std::sync::{Arc, Mutex, PoisonError};

use everstep_machine::agent::{Diagnostic, Resolution, Schema, ToolDefinition, ToolOutcome};
use everstep_machine::effect::{Answer, CheckSubject, Fitting};
use everstep_machine::identity::{RunId, Turn};
use everstep_machine::json::CanonicalJson;

use crate::compiled::Compiled;
use crate::error::SchemaError;
use crate::limits::CACHED_SCHEMAS;

/// Says whether values fit schemas. A copy shares what is compiled.
///
/// What it says depends on the value and the schema alone, never on what it was asked before.
#[derive(Clone, Default)]
pub struct Checker(Arc<Mutex<Cache>>);

/// What became of a schema.
type Result = std::result::Result<Arc<Compiled>, SchemaError>;

#[derive(Default)]
struct Cache {
    schemas: HashMap<CanonicalJson, (u64, Result)>,
    uses: u64,
}

impl Cache {
    fn find(&mut self, schema: &Schema) -> Option<Result> {
        self.uses += 1;
        let (used, found) = self.schemas.get_mut(schema.json())?;
        *used = self.uses;
        Some(found.clone())
    }

    /// Makes room by forgetting what was used longest ago.
    fn keep(&mut self, schema: &Schema, result: Result) {
        if self.schemas.len() >= CACHED_SCHEMAS {
            let oldest = self.schemas.iter().min_by_key(|(_, (used, _))| *used);
            if let Some(oldest) = oldest.map(|(text, _)| text.clone()) {
                self.schemas.remove(&oldest);
            }
        }
        self.schemas.insert(schema.json().clone(), (self.uses, result));
    }
}

impl Checker {
    /// A checker that has compiled nothing yet.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// Whether a schema is sound; asked of every schema when a runtime is built (CAP-002).
    ///
    /// # Errors
    /// It breaks the rules of JSON Schema, refers to something outside of itself, or would make
    /// checks expensive.
    pub fn compile(&self, schema: &Schema) -> std::result::Result<(), SchemaError> {
        self.compiled(schema).map(|_| ())
    }

    /// Why a value does not fit its schema; none if it does. The first few violations, each with
    /// its place, in at most 16 KiB; of the value only the names of its members are shown.
    #[must_use]
    pub fn check(&self, fitting: &Fitting) -> Option<Diagnostic> {
        self.refusal(&fitting.schema, &fitting.value)
    }

    /// The answer to [`everstep_machine::effect::External::Check`].
    #[must_use]
    pub fn answer(
        &self,
        run: RunId,
        turn: Turn,
        subject: CheckSubject,
        values: &[Fitting],
    ) -> Answer {
        let verdicts = values.iter().map(|fitting| self.check(fitting)).collect();
        Answer::Checked { run, turn, subject, verdicts }
    }

    /// The outcome of a call: a success or a failure that does not fit what the tool declares is a
    /// defect of the call (CAP-004). Everything else stays as it is.
    #[must_use]
    pub fn outcome(&self, tool: &ToolDefinition, outcome: ToolOutcome) -> ToolOutcome {
        match &outcome {
            ToolOutcome::Success(result) => match self.refusal(&tool.success, result) {
                Some(why) => ToolOutcome::Defect(Diagnostic::cut("OutputInvalid", why.message())),
                None => outcome,
            },
            ToolOutcome::Failure(why) => match self.undeclared(tool, &declared(why)) {
                Some(why) => ToolOutcome::Defect(why),
                None => outcome,
            },
            ToolOutcome::Rejected(_)
            | ToolOutcome::InvalidInput(_)
            | ToolOutcome::Defect(_)
            | ToolOutcome::Truncated(_)
            | ToolOutcome::Kept(_) => outcome,
        }
    }

    /// Why a failure is none that the tool declares, as the diagnostic of a defect; none if it is.
    #[must_use]
    pub fn undeclared(&self, tool: &ToolDefinition, failure: &CanonicalJson) -> Option<Diagnostic> {
        let why = self.refusal(&tool.fails_with, failure)?;
        Some(Diagnostic::cut("FailureInvalid", why.message()))
    }

    /// What a reconciler has found out: that a call returned what its tool cannot return is no
    /// better from hearsay. Everything else stays as it is.
    #[must_use]
    pub fn resolution(&self, tool: &ToolDefinition, resolution: Resolution) -> Resolution {
        match &resolution {
            Resolution::Completed(result) => match self.refusal(&tool.success, result) {
                Some(why) => Resolution::Failed(Diagnostic::cut("OutputInvalid", why.message())),
                None => resolution,
            },
            Resolution::Failed(why) => match self.undeclared(tool, &declared(why)) {
                Some(why) => Resolution::Failed(why),
                None => resolution,
            },
            Resolution::NeverStarted | Resolution::SafeToRepeat => resolution,
        }
    }

    fn refusal(&self, schema: &Schema, value: &CanonicalJson) -> Option<Diagnostic> {
        if schema.is_anything() {
            return None;
        }
        let compiled = match self.compiled(schema) {
            Ok(compiled) => compiled,
            Err(why) => return Some(Diagnostic::cut("SchemaUnsound", &why.to_string())),
        };
        match serde_json::from_str(value.as_str()) {
            Ok(value) => {
                compiled.refusal(&value).map(|words| Diagnostic::cut("DoesNotFit", &words))
            }
            Err(why) => Some(Diagnostic::cut("DoesNotFit", &why.to_string())),
        }
    }

    /// Compiles outside the lock: two callers may do the same work once.
    fn compiled(&self, schema: &Schema) -> Result {
        let cache = || self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(found) = cache().find(schema) {
            return found;
        }
        let result = Compiled::new(schema).map(Arc::new);
        cache().keep(schema, result.clone());
        result
    }
}

/// What a diagnostic says of a failure: the JSON of its message, or else the message as a text.
fn declared(why: &Diagnostic) -> CanonicalJson {
    let said = CanonicalJson::parse(why.message().as_bytes());
    said.or_else(|_| CanonicalJson::string(why.message())).unwrap_or_else(|_| CanonicalJson::null())
}

impl fmt::Debug for Checker {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Checker").finish_non_exhaustive()
    }
}
