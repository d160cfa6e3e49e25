//! One entering of a handler: a cursor over what is recorded, and the step that runs.

use alloc::sync::Arc;
use alloc::vec::Vec;

use super::{StepFault, follows, may_follow};
use crate::agent::{NamedStep, StepOutput};

/// A handler that was entered.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Entry {
    recorded: Vec<Arc<StepOutput>>,
    /// How many of the recorded steps were asked for.
    asked: usize,
    /// The step whose body runs.
    running: Option<NamedStep>,
    fault: Option<StepFault>,
}

/// What a handler that asks for a step is to do.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum Asked {
    /// Nothing: the step is recorded, and this is what it gave.
    Recorded(Arc<StepOutput>),
    /// Run its body.
    Run,
}

impl Entry {
    /// A handler that is entered and is to be given these, in order.
    #[must_use]
    pub const fn new(recorded: Vec<Arc<StepOutput>>) -> Self {
        Self { recorded, asked: 0, running: None, fault: None }
    }

    /// The handler asks for a step.
    ///
    /// # Errors
    /// It is not the one that is recorded there, its name is taken, another one runs, there are as
    /// many as there may be, or there was a fault before.
    pub fn ask(&mut self, step: NamedStep) -> Result<Asked, StepFault> {
        if let Some(fault) = &self.fault {
            return Err(fault.clone());
        }
        if let Some(running) = &self.running {
            let (running, found) = (running.name.clone(), step.name);
            return Err(self.broken(StepFault::AtOnce { running, found }));
        }
        match self.recorded.get(self.asked) {
            Some(known) if known.step == step => {
                let known = known.clone();
                self.asked += 1;
                Ok(Asked::Recorded(known))
            }
            Some(known) => {
                let (ordinal, expected) = (self.asked as u32, known.step.clone());
                Err(self.broken(StepFault::Differs { ordinal, expected, found: step }))
            }
            None => {
                let recorded: Vec<&StepOutput> = self.recorded.iter().map(Arc::as_ref).collect();
                if let Err(fault) = may_follow(&recorded, &step) {
                    return Err(self.broken(fault));
                }
                self.running = Some(step);
                Ok(Asked::Run)
            }
        }
    }

    /// The body of the step that runs has failed, or nobody waits for it any more. The handler may
    /// ask for it again.
    pub fn abandon(&mut self) {
        self.running = None;
    }

    /// The body of the step that runs has succeeded with this. What is to be recorded before the
    /// handler goes on, and how many steps stand before it; nothing if no such step runs.
    ///
    /// # Errors
    /// It cannot be recorded, or there was a fault before.
    pub fn succeeded(
        &mut self,
        output: StepOutput,
    ) -> Result<Option<(u32, Arc<StepOutput>)>, StepFault> {
        if let Some(fault) = &self.fault {
            return Err(fault.clone());
        }
        if self.running.as_ref() != Some(&output.step) {
            return Ok(None);
        }
        match follows(self.recorded.iter().map(Arc::as_ref), &output) {
            Ok(()) => Ok(Some((self.recorded.len() as u32, Arc::new(output)))),
            Err(fault) => Err(self.broken(fault)),
        }
    }

    /// The step that runs is recorded: the handler goes on.
    pub fn recorded(&mut self, output: Arc<StepOutput>) {
        self.running = None;
        self.recorded.push(output);
        self.asked = self.recorded.len();
    }

    /// Whether anything that the call did is recorded.
    #[must_use]
    pub fn has_recorded(&self) -> bool {
        !self.recorded.is_empty()
    }

    /// The handler has ended. What is wrong, if anything is: a call that ends so is a defect,
    /// whatever its handler says.
    #[must_use]
    pub fn end(&self) -> Option<StepFault> {
        let missed = || {
            let expected = self.recorded.get(self.asked)?.step.clone();
            Some(StepFault::Ended { ordinal: self.asked as u32, expected })
        };
        self.fault.clone().or_else(missed)
    }

    /// How many steps were asked for and are recorded.
    #[must_use]
    pub const fn asked(&self) -> u32 {
        self.asked as u32
    }

    /// Whoever carries values to the handler and back has found something wrong. The first fault
    /// counts.
    pub fn refuse(&mut self, fault: StepFault) -> StepFault {
        match &self.fault {
            Some(first) => first.clone(),
            None => self.broken(fault),
        }
    }

    fn broken(&mut self, fault: StepFault) -> StepFault {
        self.fault = Some(fault.clone());
        fault
    }
}
