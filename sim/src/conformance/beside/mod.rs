//! What a store keeps beside lanes and logs: agents' state, sessions and artifacts (CAP-012, STORE-009).
//!
//! No submission depends on any of it, so a store that keeps none is a store all the same, and
//! [`check`](super::check) does not ask. One that does implements [`Beside`], and is held against the
//! machines here: [`check_beside`] plays scripts in which two handles work on the same lanes, start and
//! end calls, and write state as all kinds of callers, of the owner's epoch and of older ones; after
//! every act both handles have to show every key, session and artifact as the machines have it.
//!
//! What is decided by a batch is written in the transaction that appends it: a crash leaves both or
//! neither, which is why an append that is cut off is looked at in the same way.

mod acts;
mod coverage;
mod everything;
mod race;
mod script;
mod trial;

use everstep_machine::agent_state::{self, Address, Slot};
use everstep_machine::digest::Digest;
use everstep_machine::identity::{ConversationId, SessionId};
use everstep_machine::session::{self, Session};
use everstep_machine::store::{Store, StoreFault};

pub use everything::Everything;
pub use race::race_beside;

use super::Subject;
use super::draw::Draw;
use super::finding::{Check, Difference, Finding, Report};
use super::shrink::shortened;
use coverage::Coverage;
use trial::Trial;

/// How many acts a drawn script has.
const ACTS: i64 = 60;

/// A store that keeps agents' state, sessions and artifacts, too.
///
/// Every method is one transaction, stamped by the same clock as the commands of a pipeline. Whatever
/// [`Store::execute`] appends also does what [`agent_state::closings`] finds in the batch, and keeps
/// what its records have brought along ([`everstep_machine::agent::Kept::whole`]).
pub trait Beside: Store {
    /// Reads or writes an agent's state as somebody who asks.
    ///
    /// # Errors
    /// The store could not say. Inside, why the command is refused.
    fn ask_state(
        &mut self,
        command: &agent_state::Command,
    ) -> Result<Result<agent_state::Reply, agent_state::Refusal>, StoreFault>;

    /// What is under a key, as an operator sees it.
    ///
    /// # Errors
    /// It cannot be read.
    fn slot(&mut self, address: &Address) -> Result<Slot, StoreFault>;

    /// Makes, changes or deletes a session.
    ///
    /// # Errors
    /// The store could not say. Inside, why the command is refused.
    fn ask_session(
        &mut self,
        command: &session::Command,
    ) -> Result<Result<Session, session::Refusal>, StoreFault>;

    /// A session, if it is there.
    ///
    /// # Errors
    /// It cannot be read.
    fn session(&mut self, id: &SessionId) -> Result<Option<Session>, StoreFault>;

    /// The bytes of an artifact of a conversation, if it is there.
    ///
    /// # Errors
    /// It cannot be read.
    fn artifact(
        &mut self,
        conversation: &ConversationId,
        digest: Digest,
    ) -> Result<Option<Vec<u8>>, StoreFault>;
}

/// Plays the written script, and as many drawn ones as `scripts` says, and compares (STORE-010, CAP-012,
/// STORE-009). The same seed draws the same scripts.
///
/// # Errors
/// The first [`Finding`].
pub fn check_beside<S>(subject: &mut S, seed: u64, scripts: u32) -> Result<Report, Finding>
where
    S: Subject,
    S::Store: Beside,
{
    let mut draw = Draw::new(seed);
    let mut coverage = Coverage::default();
    let mut report = Report::default();
    let drawn = (0..scripts).map(|_| script::drawn(&mut draw, ACTS));
    for script in script::written().into_iter().chain(drawn) {
        report.scripts += 1;
        let mut trial = Trial::new(subject, coverage);
        let found = trial.run(&script);
        (report.refusals, report.crashes) =
            (report.refusals + trial.refusals, report.crashes + trial.crashes);
        coverage = trial.coverage;
        if let Err(difference) = found {
            return Err(shortest(subject, seed, &script, difference));
        }
    }
    coverage.complete().map_err(|missing| missing.into_finding(seed, Vec::new()))?;
    report.met = coverage.met();
    Ok(report)
}

/// The shortest script that breaks the same rule.
fn shortest<S>(
    subject: &mut S,
    seed: u64,
    script: &[script::Line],
    difference: Difference,
) -> Finding
where
    S: Subject,
    S::Store: Beside,
{
    let check = difference.check;
    let mut last = difference;
    let script = shortened(script, &mut |script: &[script::Line]| match Trial::new(
        subject,
        Coverage::default(),
    )
    .run(script)
    {
        Err(difference) if difference.check == check => {
            last = difference;
            true
        }
        Err(_) | Ok(()) => false,
    });
    last.into_finding(seed, script.iter().map(|line| format!("{line:?}")).collect())
}
