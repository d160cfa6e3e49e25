//! The fold over a Conversation Log: everything durable about its runs, and nothing else.
//!
//! A live run is this fold plus volatile parts; a crash drops the volatile parts. So the fold is
//! the only memory there is, and whoever folds the same records knows the same (DUR-015).

mod compaction;
mod fold;
mod reader;
mod transcript;
mod usage;
mod view;

pub use reader::Reader;
pub use usage::UsageTotals;
pub use view::{
    ApprovalView, CallView, LateInput, Overhead, Projection, RunView, StartState, StartView,
    StepView, SubmissionView, TurnView,
};

#[cfg(test)]
mod tests;
