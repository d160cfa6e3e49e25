//! Retries, written in Rust.

use everstep_machine::record::Outcome;

use super::said;
use crate::scenario::draft::{Located, Retry, Turn};

impl Retry {
    /// The operator has this submission tried again once it was given up. Another one for the same
    /// submission is about what was tried again and given up too.
    #[track_caller]
    #[must_use]
    pub fn of(submission: &str) -> Self {
        Self {
            submission: said(submission),
            people: Located::here(1),
            principal: said("operator"),
            reason: said("the cause is gone"),
            turns: Vec::new(),
            expect: Vec::new(),
        }
    }

    /// How many people ask for it, one after the other.
    #[track_caller]
    #[must_use]
    pub fn people(self, people: u32) -> Self {
        Self { people: Located::here(people.into()), ..self }
    }

    /// Who asks for it.
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

    /// One more turn of the model in the run that tries it again; without any it does what it did.
    #[must_use]
    pub fn turn(mut self, turn: Turn) -> Self {
        self.turns.push(turn);
        self
    }

    /// One more way in which what tries it again may settle.
    #[track_caller]
    #[must_use]
    pub fn expect(mut self, outcome: Outcome) -> Self {
        self.expect.push(Located::here(outcome));
        self
    }
}
