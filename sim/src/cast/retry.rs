//! What operators have tried again, known before it happens: its id follows from what was given up.

use std::sync::Arc;

use everstep_machine::identity::{PrincipalId, RunId, SubmissionId};
use everstep_machine::ledger::{Command, RetryIntent};
use everstep_machine::record::Outcome;

use super::{Client, scripted};
use crate::scenario::{RetryScript, Scenario};

/// One of them, with the run that comes of it.
#[derive(Debug)]
pub(crate) struct Retry {
    /// Of which submission of the scenario, tried again perhaps before.
    of: usize,
    /// What was given up.
    pub(crate) dead: SubmissionId,
    /// What tries it again.
    pub(crate) successor: Client,
    /// How many people ask for it.
    pub(crate) people: u32,
    /// How what tries it again may end.
    pub(crate) expect: Vec<Outcome>,
    /// What it is called in reports.
    pub(crate) name: String,
    principal: PrincipalId,
    reason: Arc<str>,
}

impl Retry {
    /// What the next one says, after so many have said it already.
    pub(crate) fn command(&self, already: u32) -> Command {
        let (principal, reason) = match already {
            0 => (self.principal.clone(), Arc::clone(&self.reason)),
            _ => (another(&self.principal, already), Arc::from("nothing seems to happen")),
        };
        let intent = RetryIntent { principal, reason };
        Command::Retry { submission: self.dead, intent }
    }
}

/// Somebody else, of a name that is told apart.
fn another(principal: &PrincipalId, already: u32) -> PrincipalId {
    let name = format!("{principal}-{}", already + 1);
    PrincipalId::new(&name).unwrap_or_else(|_| principal.clone())
}

/// Every retry of a scenario, each after the one whose successor it is about.
pub(super) fn retries(scenario: &Scenario, clients: &[Client]) -> Vec<Retry> {
    let mut retries: Vec<Retry> = Vec::new();
    for script in &scenario.retries {
        let client = &clients[script.submission];
        let name = &scenario.submissions[script.submission].name;
        let earlier = retries.iter().rfind(|it| it.of == script.submission);
        let dead = earlier.map_or(client.submission, |it| it.successor.submission);
        retries.push(retry(script, client, dead, name));
    }
    retries
}

fn retry(script: &RetryScript, client: &Client, dead: SubmissionId, name: &str) -> Retry {
    let submission = SubmissionId::retry_of(dead);
    let successor = Client {
        steers: None,
        call: client.call.clone(),
        lane: client.lane,
        submission,
        run: RunId::derive(submission),
        turns: script.turns.iter().map(scripted).collect(),
    };
    Retry {
        of: script.submission,
        dead,
        successor,
        people: script.people,
        expect: script.expect.clone(),
        name: format!("the retry of {name}"),
        principal: script.principal.clone(),
        reason: Arc::from(script.reason.as_str()),
    }
}
