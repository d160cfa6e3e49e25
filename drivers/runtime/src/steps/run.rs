//! Steps, as a handler asks for them.

use std::fmt;
use std::sync::Arc;

use everstep_machine::agent::{NamedStep, StepOutput};
use everstep_machine::identity::{StepKey, StepName};
use everstep_machine::json::CanonicalJson;
use everstep_machine::steps::{Asked, StepFault};
use serde::Serialize;
use serde::de::DeserializeOwned;

use super::record::Recorder;

/// Why a step has no output.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum StepError<E> {
    /// Its body failed. Nothing is recorded, and the handler may ask for the step again.
    Failed(E),
    /// It is not the step that the record wants, or cannot be recorded. The call is a defect now,
    /// whatever its handler makes of it.
    Fault(StepFault),
    /// Nobody records steps of this start any more: the call has ended, or was called off.
    Stopped,
}

impl<E> From<E> for StepError<E> {
    fn from(failure: E) -> Self {
        Self::Failed(failure)
    }
}

impl<E: fmt::Display> fmt::Display for StepError<E> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Failed(why) => why.fmt(f),
            Self::Fault(why) => why.fmt(f),
            Self::Stopped => f.write_str("the call has ended, or was called off"),
        }
    }
}

impl<E: fmt::Debug + fmt::Display> std::error::Error for StepError<E> {}

/// The steps of one start of a durable call. A copy is about the same start.
///
/// What a handler does with an effect, it does in a step; what lies between steps runs again with
/// every start, and has to come to the same steps in the same order. A step is named once in a call.
/// Steps follow each other: to ask for one while another runs is a fault.
#[derive(Clone, Debug)]
pub struct Steps {
    recorder: Option<Recorder>,
}

impl Steps {
    pub(crate) const fn new(recorder: Option<Recorder>) -> Self {
        Self { recorder }
    }

    /// Does a step, unless it is recorded: then its body is not run and what it gave is returned.
    /// Otherwise the body runs, what it gives is recorded, and this returns once that is committed.
    ///
    /// The body runs **at least once**: who dies before its success is committed has left nothing,
    /// and the next start runs it again. It is given a key that is the same each time, of the call and
    /// the name of the step, so that whoever does the work can tell. What it gives is kept as it is,
    /// at most [`everstep_machine::limits::STEP_OUTPUT_BYTES`] of JSON: nothing is taken out of it,
    /// since the handler is given it again, so no secret belongs there.
    ///
    /// # Errors
    /// The body failed; the step is not the one that the record wants, or may not be recorded
    /// ([`StepFault`]); or nobody records steps of this start any more.
    pub async fn run<T, E>(
        &self,
        name: &str,
        version: u32,
        body: impl AsyncFnOnce(StepKey) -> Result<T, E>,
    ) -> Result<T, StepError<E>>
    where
        T: Serialize + DeserializeOwned,
    {
        let step = self.named(name, version).map_err(StepError::Fault)?;
        let Some(recorder) = &self.recorder else {
            return Err(StepError::Fault(StepFault::NotDurable { name: step.name }));
        };
        let (asked, ordinal) = {
            let mut entry = recorder.entry();
            let ordinal = entry.asked();
            (entry.ask(step.clone()).map_err(StepError::Fault)?, ordinal)
        };
        match asked {
            Asked::Recorded(known) => read(&known.output).ok_or_else(|| {
                let fault = StepFault::Mistyped { ordinal, step };
                StepError::Fault(recorder.entry().refuse(fault))
            }),
            Asked::Run => {
                let running = Running(recorder);
                let key = StepKey::derive(recorder.call(), &step.name);
                let given = body(key).await.map_err(StepError::Failed)?;
                running.keep(step, &given).await
            }
        }
    }

    fn named(&self, name: &str, version: u32) -> Result<NamedStep, StepFault> {
        match StepName::new(name) {
            Ok(name) => Ok(NamedStep { name, version }),
            Err(why) => {
                let fault = StepFault::Unnamed { why };
                Err(match &self.recorder {
                    Some(recorder) => recorder.entry().refuse(fault),
                    None => fault,
                })
            }
        }
    }
}

/// A step whose body runs, or is being recorded. Whoever stops waiting for it has given it up, unless
/// it is recorded by then.
struct Running<'a>(&'a Recorder);

impl Running<'_> {
    /// Records what a body gave, and returns what is read back from it: the first time the handler
    /// sees what it will see ever after.
    async fn keep<T, E>(self, step: NamedStep, given: &T) -> Result<T, StepError<E>>
    where
        T: Serialize + DeserializeOwned,
    {
        let json = serde_json::to_string(given).ok();
        let json = json.and_then(|text| CanonicalJson::parse(text.as_bytes()).ok());
        let kept = json.and_then(|output| Some((read(&output)?, output)));
        let Some((value, output)) = kept else {
            return Err(StepError::Fault(self.0.entry().refuse(StepFault::Unkept { step })));
        };
        let next = self.0.entry().succeeded(StepOutput { step, output });
        let (ordinal, output) = match next.map_err(StepError::Fault)? {
            Some(next) => next,
            None => return Err(StepError::Stopped),
        };
        if self.0.record(ordinal, Arc::clone(&output)).await {
            Ok(value)
        } else {
            Err(StepError::Stopped)
        }
    }
}

impl Drop for Running<'_> {
    fn drop(&mut self) {
        self.0.entry().abandon();
    }
}

fn read<T: DeserializeOwned>(output: &CanonicalJson) -> Option<T> {
    serde_json::from_str(output.as_str()).ok()
}
