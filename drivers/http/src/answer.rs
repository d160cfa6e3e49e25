//! What a service says: a list of decisions, taken whole or not at all.

pub(crate) mod word;

use std::sync::Arc;

use everstep_machine::approval::Answer;
use everstep_machine::clearance::Said;
use everstep_machine::effect::ApprovalQuestion;
use everstep_machine::identity::{NameError, PrincipalId};
use everstep_machine::limits::TEXT_BYTES;
use everstep_machine::record::Resolver;
use everstep_runtime::Decision;
use serde::Deserialize;
use thiserror::Error;

use crate::trouble::Trouble;
use word::Word;

/// Why a decision is wrong.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Error)]
pub enum Wrong {
    /// Nobody has asked about such a request: it may be about other parameters, or another policy
    /// (AUTH-13).
    #[error("its request is not one of those that it was asked about")]
    NotAsked,
    /// The parameters that it names are not those that it was asked about.
    #[error("it is about other parameters")]
    OtherParameters,
    /// There is one about this request already.
    #[error("it is the second one about its request")]
    Second,
    /// Somebody else alone may decide.
    #[error("somebody else has to decide it")]
    NotTheirs,
    /// An answer about this may not hold for the session (AUTH-10).
    #[error("it may hold for one call only")]
    NotForSession,
    /// Who decides is no name.
    #[error("`by`: {0}")]
    By(NameError),
    /// The reason is longer than a text may be.
    #[error("its reason has more than {TEXT_BYTES} bytes")]
    LongReason,
}

/// An answer. A key that is not known means something that is not understood, so it is refused.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Answered {
    decisions: Vec<Decided>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Decided {
    request: String,
    answer: Word,
    by: String,
    #[serde(default)]
    reason: String,
    #[serde(default)]
    parameters_digest: Option<String>,
}

/// The decisions of an answer. One that is wrong spoils them all: who says something that was not asked
/// may not mean what was.
pub(crate) fn decisions(
    bytes: &[u8],
    questions: &[ApprovalQuestion],
) -> Result<Vec<Decision>, Trouble> {
    let answered = serde_json::from_slice::<Answered>(bytes);
    let answered =
        answered.map_err(|why| Trouble::NotDecisions { line: why.line(), column: why.column() })?;
    let mut decisions: Vec<Decision> = Vec::new();
    for (index, decided) in answered.decisions.iter().enumerate() {
        let wrong = |why| Trouble::Wrong { at: index + 1, why };
        let decision = decision(decided, questions).map_err(wrong)?;
        if decisions.iter().any(|it| it.request == decision.request) {
            return Err(wrong(Wrong::Second));
        }
        decisions.push(decision);
    }
    Ok(decisions)
}

fn decision(decided: &Decided, questions: &[ApprovalQuestion]) -> Result<Decision, Wrong> {
    let about = |it: &&ApprovalQuestion| it.request.to_string() == decided.request;
    let question = questions.iter().find(about).ok_or(Wrong::NotAsked)?;
    let named = decided.parameters_digest.as_ref();
    if named.is_some_and(|digest| *digest != question.digest.to_string()) {
        return Err(Wrong::OtherParameters);
    }
    let by = Resolver::Person(PrincipalId::new(&decided.by).map_err(Wrong::By)?);
    if !question.is_for(&by) {
        return Err(Wrong::NotTheirs);
    }
    let answer = Answer::from(decided.answer);
    if answer == Answer::ForSession && !question.may_hold_for_session() {
        return Err(Wrong::NotForSession);
    }
    if decided.reason.len() > TEXT_BYTES {
        return Err(Wrong::LongReason);
    }
    let said = Said { answer, by, reason: Arc::from(decided.reason.as_str()) };
    Ok(Decision { request: question.request, said })
}
