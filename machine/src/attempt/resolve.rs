//! What people say about doubts becomes canonical.
//!
//! Their word stands as they said it. What is shown of it to a model is held against what the tool
//! declares, as a handler's own word is: a result that does not fit is a defect of the call (CAP-004).
//! Who says it need not know the agent, so this is the first place where it can be checked.

use alloc::sync::Arc;
use alloc::vec::Vec;

use super::act::Progress;
use super::effect::Effect;
use super::predict::{Defect, Draft};
use super::state::{Fit, Setup, Working};
use crate::agent::{Diagnostic, Resolution, ToolOutcome};
use crate::effect::{CheckSubject, External, Fitting};
use crate::ledger::ResolutionIntent;
use crate::record::{Doubt, Record, ToolResolved, ToolSettled};

impl Working {
    /// Makes what people said canonical: the resolution, and the result that it proves. Nothing of
    /// it before all of it is checked.
    pub(super) fn resolve(
        &mut self,
        setup: &Setup,
        draft: &mut Draft,
        intents: &[(Doubt, ResolutionIntent)],
    ) -> Result<Progress, Defect> {
        for (doubt, intent) in intents {
            self.ask_whether_it_fits(draft, *doubt, &intent.resolution);
        }
        if intents.iter().any(|(doubt, _)| self.fits.get(doubt) == Some(&Fit::Asked)) {
            return Ok(Progress::Wait);
        }
        let groups = intents.iter().map(|(doubt, intent)| {
            let resolved = Record::ToolResolved(ToolResolved {
                submission: self.submission,
                doubt: *doubt,
                resolution: self.run.kept_of(doubt.call, &intent.resolution),
                principal: intent.principal.clone(),
                reason: intent.reason.clone(),
            });
            let result = self.said_record(*doubt, &intent.resolution);
            core::iter::once(resolved).chain(result).collect()
        });
        let groups = groups.collect();
        self.record_groups(setup, draft, groups)?;
        Ok(Progress::Again)
    }

    /// Has a result checked that a person names, once, unless its tool may return anything.
    fn ask_whether_it_fits(&mut self, draft: &mut Draft, doubt: Doubt, said: &Resolution) {
        let Resolution::Completed(value) = said else { return };
        let Some((run, turn, schema)) = self.run.returns(doubt.call) else { return };
        if schema.is_anything() || self.fits.contains_key(&doubt) {
            return;
        }
        let (subject, value) = (CheckSubject::Resolution(doubt), value.clone());
        let values = alloc::vec![Fitting { schema, value }];
        self.fits.insert(doubt, Fit::Asked);
        draft.after.push(Effect::External(External::Check { run, turn, subject, values }));
    }

    /// What was asked for is checked. What nobody has checked does not fit.
    pub(super) fn fitted(&mut self, doubt: Doubt, verdicts: Vec<Option<Diagnostic>>) {
        let Some(fit) = self.fits.get_mut(&doubt) else { return };
        *fit = match verdicts.into_iter().next() {
            Some(None) => Fit::Fits,
            Some(Some(why)) => Fit::Misfits(why),
            None => Fit::Misfits(Diagnostic::cut("OutputInvalid", "it was not checked")),
        };
    }

    /// How a call has ended of which somebody says so; none if it starts anew.
    fn said_record(&self, doubt: Doubt, said: &Resolution) -> Option<Record> {
        let Some(Fit::Misfits(why)) = self.fits.get(&doubt) else {
            return self.result_record(doubt, said);
        };
        let why = Diagnostic::cut("OutputInvalid", why.message());
        let (submission, call) = (self.submission, doubt.call);
        let outcome = Arc::new(ToolOutcome::Defect(why));
        Some(Record::ToolSettled(ToolSettled { submission, call, outcome }))
    }
}
