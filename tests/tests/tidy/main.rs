//! The rules of the house, kept by an ordinary test.
//!
//! Each check is a function from files to complaints. It is run twice: over the repository, where
//! it must find nothing, and over something planted, where it must object; a check that cannot
//! fail is no check.
//!
//! - [`manifests`]: who may depend on whom, one table of versions, one of lints
//! - [`sources`]: nothing unfinished, nothing dead, nothing endless, and a core that reaches no
//!   world
//! - [`documents`]: what is generated is current, what is linked exists, no path of one machine
//!
//! Documents that another crate generates are compared by a test file of their own beside this
//! folder, with `everstep_tests::generated::assert_current`.

mod documents;
mod manifests;
mod sources;

/// Fails with all complaints at once.
#[track_caller]
fn expect_none(complaints: &[String]) {
    assert!(complaints.is_empty(), "\n{}", complaints.join("\n"));
}
