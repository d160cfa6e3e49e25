use std::collections::BTreeSet;
use std::path::Path;

use everstep_machine::effect::Failpoint;

use super::{Capability, Row, document, open_rows, row_of};

#[test]
fn dur_019_every_failpoint_realises_one_row_and_every_row_has_failpoints() {
    let mut realised = 0;
    for row in Row::ALL {
        let points: Vec<_> = row.failpoints().collect();
        assert!(!points.is_empty(), "{row} has no failpoint");
        assert!(points.iter().all(|point| row_of(*point) == *row));
        realised += points.len();
    }
    assert_eq!(realised, Failpoint::all().count());
}

#[test]
fn dur_019_rows_are_numbered_without_gaps() {
    let built = Row::ALL.iter().map(|row| row.id());
    let ids: Vec<_> = built.chain(open_rows().iter().map(|row| row.id)).collect();
    for (letter, count) in [("D", 17), ("A", 14), ("S", 20)] {
        let found: BTreeSet<_> = ids.iter().copied().filter(|id| id.starts_with(letter)).collect();
        let expected: BTreeSet<_> = (1..=count).map(|n| format!("{letter}-{n:02}")).collect();
        assert!(found.iter().copied().eq(expected.iter().map(String::as_str)), "{found:?}");
    }
    assert_eq!(ids.iter().collect::<BTreeSet<_>>().len(), ids.len(), "an id is used twice");
}

/// Effects that belong to a capability which rows are still marked to wait for.
fn outlived<'a>(names: impl Iterator<Item = &'a str>) -> Vec<(Capability, String)> {
    let waits = |capability| open_rows().iter().any(|row| row.capability == capability);
    let waiting: Vec<_> = Capability::ALL.iter().copied().filter(|one| waits(*one)).collect();
    let mut outlived = Vec::new();
    for name in names {
        let lower = name.to_lowercase();
        for capability in &waiting {
            if capability.words().iter().any(|word| lower.contains(word)) {
                outlived.push((*capability, name.to_owned()));
            }
        }
    }
    outlived
}

#[test]
fn dur_019_no_mark_outlives_its_capability() {
    let names: Vec<_> = Failpoint::all().map(|point| point.effect.name()).collect();
    assert_eq!(outlived(names.into_iter()), []);
    let built = ["conversation.append:SubagentRequested", "conversation.append:ChildSettled"];
    assert_eq!(outlived(built.into_iter()).len(), built.len(), "marks must be able to outlive");
    for capability in Capability::ALL {
        let waits = open_rows().iter().any(|row| row.capability == *capability);
        assert!(waits, "no row waits for {capability}: it is built, or its rows are forgotten");
    }
}

#[test]
fn titles_fit_the_table() {
    for row in Row::ALL {
        assert!(row.title().chars().count() <= 45, "{row}: {}", row.title());
    }
}

#[test]
fn dur_019_crash_matrix_document_is_current() {
    let place = Path::new(env!("CARGO_MANIFEST_DIR")).join("../docs/crash-matrix.md");
    let expected = document();
    if std::env::var_os("UPDATE").is_some() {
        std::fs::write(&place, &expected).expect("the document can be written");
    }
    let committed = std::fs::read_to_string(&place).expect("the document is there");
    for (line, (old, new)) in committed.lines().zip(expected.lines()).enumerate() {
        assert_eq!(old, new, "docs/crash-matrix.md is out of date in line {}", line + 1);
    }
    assert_eq!(committed, expected, "docs/crash-matrix.md is out of date");
}
