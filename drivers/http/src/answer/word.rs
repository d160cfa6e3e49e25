//! The words for answers.

use everstep_machine::approval::Answer;
use everstep_machine::effect::ApprovalQuestion;
use serde::{Deserialize, Serialize};

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub(crate) enum Word {
    Once,
    Session,
    Deny,
}

impl From<Word> for Answer {
    fn from(word: Word) -> Self {
        match word {
            Word::Once => Self::Once,
            Word::Session => Self::ForSession,
            Word::Deny => Self::Deny,
        }
    }
}

/// What may be answered to a question.
pub(crate) fn allowed(question: &ApprovalQuestion) -> &'static [Word] {
    if question.may_hold_for_session() {
        &[Word::Once, Word::Session, Word::Deny]
    } else {
        &[Word::Once, Word::Deny]
    }
}
