//! The classifier: evidence in, one decision out.
//!
//! Every attempt at every submission goes through this one pure function, a fresh submission
//! included, so the code that survives crashes is the code that always runs. It sees what is
//! durable (a row and a fold of the log) and what this ownership period itself knows for sure
//! (calls it started under a fence that still holds, starts it has proven harmless). It governs
//! only while no run is live.
//!
//! ```text
//! (row, fold of the log, own knowledge) --classify--> the first row of the table that matches
//! ```
//!
//! | invariant | where it is kept |
//! | --- | --- |
//! | DUR-009: a start in doubt is never run again without proof | rows 6 to 9 stand before row 14 |
//! | AUTH-15: nothing starts that somebody has still to decide | rows 12 and 13 stand before row 14 |
//! | DUR-018: what kills its owners is given up, and never while it is in doubt | row 19 stands behind rows 7 to 9, before row 14 |
//! | CR-05, CR-09: nobody goes on with a run that is bound to something else | row 10 stands before every row that goes on, and no doubt is judged before it |
//! | DUR-011: a reserved settlement is the settlement | rows 2 and 3 stand before everything that could decide anew |
//! | DUR-013: decisions are testable from durable state alone | [`Evidence`] holds nothing else of another process |
//!
//! Deliberately absent: children, which come with their capability (row 11).

mod approval;
mod classify;
mod compat;
mod decision;
mod evidence;
mod joining;

pub use classify::classify;
pub use decision::{AbortStep, Classified, Decided, Decision};
pub use evidence::{Evidence, Log, OwnKnowledge};

#[cfg(test)]
mod tests;
