//! The layout of lanes, rows and tails, pinned to its version (case SQ-07).
//!
//! These constants are what files in the field hold. A test here that fails means that the layout
//! of one of these values changed: raise `LAYOUT_VERSION`, which makes older files be refused
//! when they are opened, and put the new constants in place of these.

use std::sync::Arc;

use everstep_machine::conversation::Tail;
use everstep_machine::ledger::{InputMarker, Lane, MarkState, Phase, Reserved, Row};
use everstep_machine::record::{Settlement, SubmissionSettled};
use proptest::prelude::*;

use super::*;
use crate::testkit::{abort, intent, lane, mark, row, settled, submission, tail};

const LABEL: Label<'_> = Label { tag: "everstep/test", owner: "desk", position: 1 };

/// One row of every phase and every state of a mark, with and without an abort.
fn rows() -> Vec<Row> {
    let settlement = Settlement::Aborted;
    let record = SubmissionSettled { submission: submission(5), run: None, settlement };
    let reserved = Reserved::new(record).unwrap();
    let marks = vec![
        mark(MarkState::Open),
        mark(MarkState::Intended(intent())),
        mark(MarkState::Closed(intent())),
    ];
    vec![
        row(0, Phase::Admitted),
        row(1, Phase::Ready),
        row(2, Phase::Running(InputMarker::Missing)),
        row(3, Phase::Running(InputMarker::Applied)),
        Row { marks, ..row(4, Phase::Unknown) },
        Row { abort: Some(abort()), claims: 2, ..row(5, Phase::Terminalizing(reserved)) },
        row(6, settled()),
    ]
}

fn hex(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}

/// Digest of what the values of the file look like, in the order of the table below.
const VERSION_1: [&str; 3] = ["lane", "tail", "rows"];

#[test]
fn case_sq_07_the_bytes_of_lanes_rows_and_tails_are_those_of_version_1() {
    assert_eq!(LAYOUT_VERSION, 1, "a new version needs its own golden bytes");
    let rows: Vec<String> = rows().iter().map(|row| hex(&seal(LABEL, row))).collect();
    let written = [hex(&seal(LABEL, &lane())), hex(&seal(LABEL, &tail())), rows.join("\n")];
    assert_eq!(written, VERSION_1);
}
