//! The crash matrix: where a submission may break, what recovery does there, and the proof.
//!
//! Every failpoint belongs to one [`Row`]. A row says in words at which point of a submission's
//! life the crash strikes and what becomes of the submission. A run of scenarios fills the rows
//! with schedules and gives each a verdict: it holds when no schedule with a fault at one of its
//! failpoints breaks a property (DUR-019).
//!
//! Rows of capabilities that are not built have no failpoints yet. They are listed as open, with
//! the capability's name.

mod document;
mod open;
mod report;
mod rows;
mod run;

pub use document::document;
pub use open::{Capability, OpenRow, open_rows};
pub use report::{Case, CaseName, Failure, Report, RowReport};
pub use rows::{Row, row_of};
pub use run::{MatrixError, Plan, run};

#[cfg(test)]
mod tests;
