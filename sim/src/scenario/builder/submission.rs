//! Submissions and aborts, written in Rust.

use everstep_machine::agent::Allowance;
use everstep_machine::effect::Failpoint;
use everstep_machine::record::{FinishKind, Outcome, PolicyLimit};

use super::said;
use crate::scenario::draft::{Abort, ExactlySaid, Located, Submission, Turn};
use crate::scenario::words::EVERY_MOMENT;

impl Submission {
    /// A submission of this name with the input `{}`.
    #[track_caller]
    #[must_use]
    pub fn new(name: &str) -> Self {
        Self {
            name: said(name),
            conversation: said("main"),
            principal: said("client"),
            tenant: said("default"),
            key: said(name),
            input: said("{}"),
            turns: Vec::new(),
            allowance: Allowance::default(),
            steers: None,
            expect: Vec::new(),
            exactly: ExactlySaid::default(),
        }
    }

    /// The conversation.
    #[track_caller]
    #[must_use]
    pub fn conversation(self, conversation: &str) -> Self {
        Self { conversation: said(conversation), ..self }
    }

    /// Who submits.
    #[track_caller]
    #[must_use]
    pub fn principal(self, principal: &str) -> Self {
        Self { principal: said(principal), ..self }
    }

    /// Whose data it is.
    #[track_caller]
    #[must_use]
    pub fn tenant(self, tenant: &str) -> Self {
        Self { tenant: said(tenant), ..self }
    }

    /// The idempotency key.
    #[track_caller]
    #[must_use]
    pub fn key(self, key: &str) -> Self {
        Self { key: said(key), ..self }
    }

    /// The input, as JSON text.
    #[track_caller]
    #[must_use]
    pub fn input(self, json: &str) -> Self {
        Self { input: said(json), ..self }
    }

    /// One more turn of the model in this run.
    #[must_use]
    pub fn turn(mut self, turn: Turn) -> Self {
        self.turns.push(turn);
        self
    }

    /// One more way in which it may settle; without any it may settle in every way.
    #[track_caller]
    #[must_use]
    pub fn expect(mut self, outcome: Outcome) -> Self {
        self.expect.push(Located::here(outcome));
        self
    }

    /// How much less than its agent's policy allows the run may use.
    #[must_use]
    pub fn allowance(self, allowance: Allowance) -> Self {
        Self { allowance, ..self }
    }

    /// Why it finishes, if it is completed.
    #[track_caller]
    #[must_use]
    pub fn expect_finish(mut self, finish: FinishKind) -> Self {
        self.exactly.finish = Some(Located::here(finish));
        self
    }

    /// What it answers, as JSON text, if it is completed.
    #[track_caller]
    #[must_use]
    pub fn expect_output(mut self, json: &str) -> Self {
        self.exactly.output = Some(said(json));
        self
    }

    /// The application's word for its outcome, if it is completed.
    #[track_caller]
    #[must_use]
    pub fn expect_disposition(mut self, word: &str) -> Self {
        self.exactly.disposition = Some(said(word));
        self
    }

    /// The tag of its failure, if it fails.
    #[track_caller]
    #[must_use]
    pub fn expect_tag(mut self, tag: &str) -> Self {
        self.exactly.tag = Some(said(tag));
        self
    }

    /// The limit that ends it, if it fails.
    #[track_caller]
    #[must_use]
    pub fn expect_limit(mut self, limit: PolicyLimit) -> Self {
        self.exactly.limit = Some(Located::here(limit));
        self
    }
}

impl Submission {
    /// It is said to the run of this submission, at every moment while that goes on (RUN-012).
    #[track_caller]
    #[must_use]
    pub fn steers(mut self, host: &str) -> Self {
        self.steers = Some((said(host), said(EVERY_MOMENT)));
        self
    }

    /// It is said when the n-th occurrence (from 1) of this failpoint is reached.
    #[track_caller]
    #[must_use]
    pub fn steers_at(mut self, host: &str, failpoint: Failpoint, occurrence: u32) -> Self {
        self.steers = Some((said(host), said(&format!("{failpoint}@{occurrence}"))));
        self
    }
}

impl Abort {
    /// An abort of this submission, by `client`.
    #[track_caller]
    #[must_use]
    pub fn of(submission: &str) -> Self {
        Self {
            submission: said(submission),
            at: said(EVERY_MOMENT),
            principal: said("client"),
            reason: said("no longer wanted"),
        }
    }

    /// When the n-th occurrence (from 1) of this failpoint is reached.
    #[track_caller]
    #[must_use]
    pub fn at(self, failpoint: Failpoint, occurrence: u32) -> Self {
        Self { at: said(&format!("{failpoint}@{occurrence}")), ..self }
    }

    /// By whom.
    #[track_caller]
    #[must_use]
    pub fn by(self, principal: &str) -> Self {
        Self { principal: said(principal), ..self }
    }

    /// Why.
    #[track_caller]
    #[must_use]
    pub fn because(self, reason: &str) -> Self {
        Self { reason: said(reason), ..self }
    }
}
