//! Tables of commands and what they come to, and what holds for any text.

mod blocked;
mod bounds;
mod laws;
mod prompted;
mod read_only;

use super::{Environment, Judged, Reason, Verdict, judge};

fn judged(text: &str) -> Judged {
    judge(text, Environment::Inherited)
}

fn verdict(text: &str) -> Verdict {
    judged(text).verdict
}
