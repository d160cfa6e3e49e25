//! What becomes of a model's response.

use alloc::string::String;
use alloc::sync::Arc;
use alloc::vec::Vec;

use super::budget::Used;
use super::failure::{failed, fault};
use super::next::{Next, next};
use super::step::Effects;
use super::{Effect, State};
use crate::agent::{
    Diagnostic, FinishReason, LostResponse, ModelResponse, Purpose, RejectionReason, ToolChoice,
    ToolOutcome, UsageReporting,
};
use crate::effect::{CheckSubject, External, Fitting};
use crate::event::RunEvent;
use crate::identity::{ToolCallId, Turn};
use crate::json::CanonicalJson;
use crate::record::{FinishKind, ModelResponded, Record, Settlement};

impl State {
    pub(super) fn responded(
        &mut self,
        turn: Turn,
        purpose: Purpose,
        response: Result<Arc<ModelResponse>, LostResponse>,
        effects: &mut Effects,
    ) {
        match purpose {
            Purpose::Summarize { through } => {
                return self.summarized(turn, through, response, effects);
            }
            Purpose::Respond => {}
        }
        let response = match response {
            Ok(response) => response,
            Err(lost) => return self.lost(turn, &lost, effects),
        };
        (self.retries, self.shortened, self.cleared) = (0, false, false);
        if let Err(settlement) = self.judge(&response) {
            return self.pay_and_settle(turn, &response, settlement, effects);
        }
        let record = ModelResponded { submission: self.submission, turn, response };
        let usage = record.response.usage;
        let before = if self.watched { self.gauges() } else { Vec::new() };
        let response = record.response.clone();
        let Some(batch) = self.fold_response(record) else {
            let settlement = failed("ResponseTooLarge", "the response is over its bounds");
            return self.pay_and_settle(turn, &response, settlement, effects);
        };
        effects.push(Effect::Commit(batch.clone()));
        self.tell_facts(&batch, effects);
        self.warn(&before, effects);
        if self.run().is_some_and(|run| run.unsettled_calls().next().is_none()) {
            self.tell(|| RunEvent::TurnCompleted { turn, usage }, effects);
        }
        self.go_on(effects);
    }

    /// A response that does not become canonical ends the run, and is paid for first (BU-07).
    fn pay_and_settle(
        &mut self,
        turn: Turn,
        useless: &ModelResponse,
        settlement: Settlement,
        effects: &mut Effects,
    ) {
        let shown = self.projection.messages(self.submission);
        self.charge_useless(turn, useless, &shown, effects);
        self.settle(settlement, effects);
    }

    /// The turn has no response. It is paid for first; then it is asked for again where that may
    /// help, or the run ends.
    fn lost(&mut self, turn: Turn, lost: &LostResponse, effects: &mut Effects) {
        let shown = self.projection.messages(self.submission);
        self.charge(turn, lost, &shown, effects);
        if !self.run().is_some_and(|run| matches!(next(run, &self.terms()), Next::AskModel(..))) {
            return self.go_on(effects);
        }
        let why = &lost.fault;
        if !self.retry(turn, why, effects) && !self.shorten(turn, why, effects) {
            self.settle(fault(why), effects);
        }
    }

    /// Folds a response. The calls of one that is over a budget are turned down in the same
    /// batch: they are never declared pending, and none of them runs (RUN-015).
    fn fold_response(&mut self, record: ModelResponded) -> Option<Arc<crate::record::Batch>> {
        let run = self.run()?;
        let reporting = self.policy().usage;
        let used = Used::by(run, reporting).response(&record.response, reporting);
        let allowance = self.allowance();
        let is_over = used.over(&allowance).is_some() || used.is_too_expensive(&allowance);
        let (run, turn) = (run.run, record.turn);
        let refused = if is_over { record.response.calls().count() } else { 0 };
        let outcome = Arc::new(ToolOutcome::Rejected(RejectionReason::OverBudget));
        let refused = (0..refused)
            .map(|index| self.settled(ToolCallId::derive(run, turn, index), outcome.clone()));
        let response = Record::ModelResponded(record);
        let records = core::iter::once(response).chain(refused).collect();
        self.fold(records)
    }

    /// Whether a response may become canonical: it is complete, its finish fits its calls
    /// (RUN-004, MM-01), it says what it used (RUN-020), and it calls tools only if it may
    /// (RUN-017).
    fn judge(&self, response: &ModelResponse) -> Result<(), Settlement> {
        let has_calls = response.calls().next().is_some();
        match response.usage {
            Some(usage) if !usage.is_possible() => {
                return Err(failed("UsageImpossible", "the response used less than it cached"));
            }
            None if self.policy().usage == UsageReporting::Reported => {
                return Err(failed("UsageMissing", "the response does not say what it used"));
            }
            Some(_) | None => {}
        }
        match (response.finish, has_calls) {
            (FinishReason::Length, _) => {
                Err(failed("ResponseTruncated", "the response was cut at a length limit"))
            }
            (FinishReason::Withheld, _) => {
                Err(failed("ResponseWithheld", "the provider withheld the response"))
            }
            (FinishReason::Stop, true) | (FinishReason::ToolCalls, false) => {
                Err(failed("ResponseContradictory", "the finish reason does not fit the calls"))
            }
            (FinishReason::ToolCalls, true) if self.forbids_tools() => {
                Err(failed("ToolsForbidden", "the model called a tool in its final answer"))
            }
            (FinishReason::Stop, false) | (FinishReason::ToolCalls, true) => Ok(()),
        }
    }

    fn forbids_tools(&self) -> bool {
        let next = self.run().map(|run| next(run, &self.terms()));
        matches!(next, Some(Next::AskModel(_, ToolChoice::Forbidden)))
    }

    /// Ends the run with its last response, once that is what it has to be.
    pub(super) fn answer(&mut self, finish: FinishKind, effects: &mut Effects) {
        let Some(run) = self.run() else { return };
        let Some(last) = run.turns.last() else { return };
        let text: String = last.response.texts().collect();
        let Some(schema) = self.policy().output.clone() else {
            let settlement = match CanonicalJson::string(&text) {
                Ok(output) => self.completed(output, finish),
                Err(_) => failed("OutputTooLarge", "the answer is over its bound"),
            };
            return self.settle(settlement, effects);
        };
        match CanonicalJson::parse(text.as_bytes()) {
            Err(why) => {
                let message = alloc::format!("the answer is no JSON: {why}");
                self.settle(failed("OutputInvalid", &message), effects);
            }
            Ok(value) => {
                let (run, turn) = (run.run, last.turn);
                let (subject, values) =
                    (CheckSubject::Output, alloc::vec![Fitting { schema, value }]);
                self.flights.check = Some((turn, subject));
                let check = External::Check { run, turn, subject, values };
                effects.push(Effect::External(check));
            }
        }
    }

    /// The answer was checked against the output contract (RUN-025).
    pub(super) fn output_checked(
        &mut self,
        verdicts: &[Option<Diagnostic>],
        effects: &mut Effects,
    ) {
        let Some(Next::Answer(finish)) = self.run().map(|run| next(run, &self.terms())) else {
            return self.go_on(effects);
        };
        let settlement = match verdicts {
            [None] => self.contracted(finish),
            [Some(why)] => failed("OutputInvalid", why.message()),
            _ => failed("OutputInvalid", "the answer was not checked"),
        };
        self.settle(settlement, effects);
    }

    fn contracted(&self, finish: FinishKind) -> Settlement {
        let last = self.run().and_then(|run| run.turns.last());
        let text: String = last.into_iter().flat_map(|turn| turn.response.texts()).collect();
        match CanonicalJson::parse(text.as_bytes()) {
            Ok(output) => self.completed(output, finish),
            Err(_) => failed("OutputInvalid", "the answer is no JSON"),
        }
    }

    fn completed(&self, output: CanonicalJson, finish: FinishKind) -> Settlement {
        let ordinary = !matches!(finish, FinishKind::BudgetExhausted(_));
        let disposition = match &self.policy().disposition {
            Some(rule) if ordinary => match rule.of(&output) {
                Some(word) => Some(word),
                None => {
                    let message = "the answer has no disposition that the agent allows";
                    return failed("DispositionInvalid", message);
                }
            },
            Some(_) | None => None,
        };
        Settlement::Completed { output, finish, disposition }
    }
}
