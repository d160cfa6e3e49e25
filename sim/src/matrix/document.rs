//! `docs/crash-matrix.md`, written from the rows.

use std::fmt::Write as _;

use super::open::{Capability, open_rows};
use super::rows::Row;
use crate::explore::failpoints;

const HEAD: &str = "\
# The crash matrix

<!-- Generated: UPDATE=1 cargo test -p everstep-sim crash_matrix_document -->

Where a submission may break, and what becomes of it. Each row is realised by failpoints: an
effect and a phase of it, `before` it happens, `during` it (for effects outside the store, which
may or may not happen then), or `after` it happened with its answer lost. The list of failpoints is
computed from the kinds of effects; none is kept by hand.

Each row is proven twice. *Simulated*: `everstep matrix` runs the corpus through a crash, a pause and
(at the store) a lost message at every one of these failpoints, `--depth 2` through every pair, and
gives each row its verdict. *Killed*: [`drivers/cli/tests/kills.rs`](../drivers/cli/tests/kills.rs)
ends the real binary by SIGKILL at every one of them, with whole pipelines and with single commands
as transactions on a SQLite file, and runs the same line again. Its tests
`dur_019_killed_at_every_failpoint_…` compare, row by row, where they have killed with the failpoints
of this table.
";

/// Who proves a row that is built.
const PROOF: &str = "simulated; [killed](../drivers/cli/tests/kills.rs)";

/// The whole document.
#[must_use]
pub fn document() -> String {
    let mut text = String::from(HEAD);
    let all = failpoints().len();
    let _ = write!(text, "\n## Proven\n\n{} rows, {all} failpoints.\n\n", Row::ALL.len());
    text.push_str("| row | the crash strikes | what becomes of the submission | failpoints ");
    text.push_str("| proof |\n| --- | --- | --- | --- | --- |\n");
    for row in Row::ALL {
        let points: Vec<_> = row.failpoints().map(|point| format!("`{point}`")).collect();
        let (title, recovery) = (row.title(), row.recovery());
        let points = points.join(" ");
        let _ = writeln!(text, "| {row} | {title} | {recovery} | {points} | {PROOF} |");
    }
    text.push_str("\n## Open\n\nThese rows wait for a capability that is not built. ");
    text.push_str("They have no failpoints yet and nothing is claimed about them.\n\n");
    text.push_str("| row | the crash strikes | waits for |\n| --- | --- | --- |\n");
    for row in open_rows() {
        let _ = writeln!(text, "| {} | {} | {} |", row.id, row.title, row.capability);
    }
    let waiting: Vec<_> = Capability::ALL.iter().map(|capability| capability.name()).collect();
    let _ = writeln!(text, "\nCapabilities that rows wait for: {}.", waiting.join(", "));
    text
}
