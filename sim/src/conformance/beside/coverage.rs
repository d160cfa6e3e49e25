//! What the scripts have met: a kit that never saw a refusal says nothing about it.

use std::collections::BTreeSet;

use everstep_machine::{agent_state, session};

use super::trial::{Answer, Asked};
use super::{Check, Difference};

/// What was met so far, by name.
#[derive(Clone, Debug, Default)]
pub(super) struct Coverage(BTreeSet<&'static str>);

/// A scope with as many keys as it may have, and as many sessions as there may be, take too long.
const ALL: &[&str] = &[
    "state: read",
    "state: written",
    "state: NeedsCall",
    "state: Superseded",
    "state: NotPrepared",
    "state: Ended",
    "state: Conflict",
    "state: Held",
    "state: Otherwise",
    "state: Nothing",
    "state: TooLarge",
    "state: TooManyWrites",
    "session: done",
    "session: Absent",
    "session: Exists",
    "session: Conflict",
    "session: Twice",
    "session: NotThere",
    "session: TooMany",
    "session: TooLarge",
    "an artifact is kept",
];

impl Coverage {
    pub(super) fn note(&mut self, asked: &Asked, answer: &Answer) {
        let name = match answer {
            Answer::State(Ok(Ok(agent_state::Reply::Read(_)))) => "state: read",
            Answer::State(Ok(Ok(agent_state::Reply::Written(_)))) => "state: written",
            Answer::State(Ok(Err(why))) => state_refusal(why),
            Answer::Session(Ok(Ok(_))) => "session: done",
            Answer::Session(Ok(Err(why))) => session_refusal(why),
            Answer::Pipeline(Ok(_)) if asked.keeps() => "an artifact is kept",
            Answer::Pipeline(_) | Answer::State(Err(_)) | Answer::Session(Err(_)) => return,
        };
        self.0.insert(name);
    }

    /// What was met.
    pub(super) fn met(&self) -> Vec<&'static str> {
        self.0.iter().copied().collect()
    }

    /// That everything was met that there is.
    pub(super) fn complete(&self) -> Result<(), Difference> {
        let missing: Vec<_> = ALL.iter().filter(|name| !self.0.contains(*name)).copied().collect();
        if missing.is_empty() {
            return Ok(());
        }
        let found = format!("never met: {}", missing.join(", "));
        Err(Difference { check: Check::Vacuous, expected: "everything is met".into(), found })
    }
}

fn state_refusal(why: &agent_state::Refusal) -> &'static str {
    use agent_state::Refusal;
    match why {
        Refusal::Superseded { .. } => "state: Superseded",
        Refusal::NotPrepared => "state: NotPrepared",
        Refusal::Ended => "state: Ended",
        Refusal::Conflict { .. } => "state: Conflict",
        Refusal::Held { .. } => "state: Held",
        Refusal::Otherwise => "state: Otherwise",
        Refusal::Nothing => "state: Nothing",
        Refusal::NeedsCall { .. } => "state: NeedsCall",
        Refusal::TooLarge { .. } => "state: TooLarge",
        Refusal::Full => "state: Full",
        Refusal::TooManyWrites => "state: TooManyWrites",
        Refusal::NotKept => "state: NotKept",
    }
}

const fn session_refusal(why: &session::Refusal) -> &'static str {
    use session::Refusal;
    match why {
        Refusal::Absent => "session: Absent",
        Refusal::Exists { .. } => "session: Exists",
        Refusal::Conflict { .. } => "session: Conflict",
        Refusal::Twice => "session: Twice",
        Refusal::NotThere => "session: NotThere",
        Refusal::TooMany => "session: TooMany",
        Refusal::TooLarge { .. } => "session: TooLarge",
        Refusal::Full => "session: Full",
    }
}
