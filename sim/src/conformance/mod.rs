//! Whether a store is one: anything that implements the store port, beside the pure machines
//! (STORE-010).
//!
//! A store contains no rules, so there is one question: does it answer like the machines on plain
//! memory, and does it hold what they hold? [`check`] plays scripts on it. Some are written down,
//! and reach every command and every refusal; the others are drawn from a seed. Two handles are
//! open all the time, pipelines are repeated, wait together and are cut off by crashes, and the
//! clock goes back and forth. [`race`] lets the two handles write at the same moment.
//!
//! ```text
//! seed -> script -> act --in a state--> command -> store      -> answer --+
//!                                          |                              +-- equal?
//!                                          +----> Reference  -> answer --+
//! ```
//!
//! What differs comes back as a [`Finding`]: the rule that is broken, the seed, and the shortest
//! script that shows it. What a kit never meets it cannot judge, so one in which a command was
//! never accepted or a refusal never given fails as [`Check::Vacuous`].
//!
//! [`fail`] plays the same scripts on a disk that fails: pipelines are cut off anywhere, the answer is
//! lost, and the identical pipeline comes again.
//!
//! Deliberately absent: time limits, and damaged files. A store that answers
//! [`StoreFault::Indeterminate`](everstep_machine::store::StoreFault) to a healthy disk has failed.
//! `docs/stores.md` shows the kit at work on a store of one's own.

mod actor;
mod acts;
mod beside;
mod choose;
mod coverage;
mod draw;
mod facts;
mod failing;
mod finding;
mod look;
mod race;
mod reference;
mod shrink;
mod stories;
mod trial;

use std::ops::RangeInclusive;

use everstep_machine::identity::Timestamp;
use everstep_machine::store::{Pipeline, Store};

pub use beside::{Beside, Everything, check_beside, race_beside};
pub use failing::{Failing, Plan};
pub use finding::{Check, Finding, Report};
pub use race::race;
pub use reference::{Reference, Shelf};

use acts::Line;
use coverage::Coverage;
use draw::Draw;
use failing::Faulty;
use finding::Difference;
use shrink::shrink;
use trial::Trial;

/// How many lines a drawn script has.
const LINES: i64 = 30;

/// A kind of store, for the kit to open as often as it likes.
pub trait Subject {
    /// What implements the port: one handle on the data, such as a connection.
    type Store: Store;

    /// A handle on new data that holds nothing. Every earlier handle is gone by then.
    fn fresh(&mut self) -> Self::Store;

    /// Another handle on the data of the last [`Subject::fresh`], as another process has it, or the
    /// same one after it has ended. There may be one beside it, or none.
    fn reopen(&mut self) -> Self::Store;

    /// Sets the clock of every handle, those to come included: each command is stamped with this
    /// time until it is set again. It may go back.
    fn set_clock(&mut self, now: Timestamp);

    /// Ends the process that has this handle while it executes a pipeline, at this point of it. How
    /// many of the commands may be on the disk then: all that a store commits at once, or none of
    /// them. Whatever it says, what is found is a beginning of the pipeline and nothing else.
    ///
    /// Without an implementation the process dies before it begins.
    fn crash(
        &mut self,
        store: Self::Store,
        pipeline: &Pipeline,
        point: Point,
    ) -> RangeInclusive<usize> {
        let _never_sent = (pipeline, point);
        drop(store);
        0..=0
    }

    /// Compares what only this store can be asked, such as lists over all lanes, with what it
    /// should hold. Called whenever both handles are looked at.
    ///
    /// # Errors
    /// What differs, in words.
    fn inspect(&mut self, kept: &Reference) -> Result<(), String> {
        let _nothing_to_ask = kept;
        Ok(())
    }
}

/// A point in a pipeline. It is reached: no command before it is refused.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Point {
    /// The position of a command.
    pub command: usize,
    /// Whether that one is done: in a store that commits command by command, whether it is
    /// committed.
    pub done: bool,
}

/// Plays the written scripts, and as many drawn ones as `scripts` says, and compares (STORE-010).
/// The same seed draws the same scripts.
///
/// # Errors
/// The first [`Finding`].
pub fn check<S: Subject>(subject: &mut S, seed: u64, scripts: u32) -> Result<Report, Finding> {
    play(subject, seed, scripts, None)
}

/// Plays the same on a disk that fails (STORE-010): before most pipelines a beginning of them, of any
/// length, takes effect without an answer, as [`Failing`] does it, and the identical pipeline is sent
/// again. It has to be answered as the machines answer it then.
///
/// # Errors
/// The first [`Finding`].
pub fn fail<S: Subject>(subject: &mut S, seed: u64, scripts: u32) -> Result<Report, Finding> {
    let plan = Plan::default();
    play(&mut Faulty { subject, plan: plan.clone() }, seed, scripts, Some(&plan))
}

fn play<S: Subject>(
    subject: &mut S,
    seed: u64,
    scripts: u32,
    plan: Option<&Plan>,
) -> Result<Report, Finding> {
    let mut draw = Draw::new(seed);
    let mut coverage = Coverage::default();
    let mut report = Report::default();
    let drawn = (0..scripts).map(|_| choose::script(&mut draw, LINES));
    for script in stories::all().into_iter().chain(drawn) {
        let mut trial = Trial::new(subject, plan);
        trial.coverage = coverage;
        trial.tally = Report { scripts: report.scripts + 1, ..report };
        let found = trial.run(&script);
        (coverage, report) = (trial.coverage, trial.tally);
        if let Err(difference) = found {
            return Err(shortest(subject, seed, &script, difference, plan));
        }
    }
    let complete = coverage.complete();
    complete.map_err(|missing| missing.into_finding(seed, Vec::new()))?;
    report.met = coverage.met();
    Ok(report)
}

/// The shortest script that breaks the same rule.
fn shortest<S: Subject>(
    subject: &mut S,
    seed: u64,
    script: &[Line],
    difference: Difference,
    plan: Option<&Plan>,
) -> Finding {
    let check = difference.check;
    let mut last = difference;
    let script = shrink(script, |script| match Trial::new(subject, plan).run(script) {
        Err(difference) if difference.check == check => {
            last = difference;
            true
        }
        Err(_) | Ok(()) => false,
    });
    last.into_finding(seed, script.iter().map(line_text).collect())
}

fn line_text(line: &Line) -> String {
    format!("{line:?}")
}

#[cfg(test)]
mod tests;
