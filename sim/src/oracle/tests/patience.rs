//! Submissions that are given up, and when they may be (DUR-018).

use everstep_machine::agent::Diagnostic;
use everstep_machine::limits::FRUITLESS_CLAIMS;
use everstep_machine::record::{PolicyLimit, Settlement};

use super::*;

/// Lanes are claimed so late that no pause is in the way.
const LATE: u64 = 10_000_000;

fn given_up() -> Settlement {
    let limit = PolicyLimit::Attempts;
    Settlement::Failed { diagnostic: Diagnostic::cut(limit.tag(), ""), limit: Some(limit) }
}

/// The judge after a first owner that recorded the input and as many more that died in vain.
fn after(deaths: u64) -> Bench {
    let mut bench = Bench::claimed(None);
    let input = bench.append(1, vec![bench.input(0)]);
    bench.does(&input);
    for epoch in 1..=deaths + 1 {
        bench.does_at(epoch * LATE, &bench.claim(epoch), &Permits::default());
        bench.does_at(epoch * LATE, &bench.fence(epoch + 1), &Permits::default());
    }
    assert_eq!(bench.broken(), None);
    bench
}

fn ends(mut bench: Bench, epoch: u64) -> Option<Property> {
    let command = bench.append(epoch, vec![bench.settled(given_up())]);
    assert!(bench.does_at(epoch * LATE, &command, &Permits::default()).answer.is_ok());
    bench.broken()
}

#[test]
fn dur_018_who_is_given_up_too_early_is_found() {
    let budget = FRUITLESS_CLAIMS as u64;
    assert_eq!(ends(after(budget), budget + 2), None);
    assert_eq!(ends(after(budget - 1), budget + 1), Some(Property::Patience));
    assert_eq!(ends(after(0), 2), Some(Property::Patience));
}

#[test]
fn dur_018_who_got_somewhere_or_let_go_is_not_given_up() {
    let budget = FRUITLESS_CLAIMS as u64;
    let epoch = budget + 2;
    let mut bench = after(budget);
    let response = bench.append(epoch, vec![bench.response(0)]);
    bench.does_at(epoch * LATE, &response, &Permits::default());
    assert_eq!(ends(bench, epoch), Some(Property::Patience));
    let mut bench = after(budget);
    let release = StoreCommand::Ledger(Command::Release { owner: bench.owner(epoch) });
    bench.does_at(epoch * LATE, &release, &Permits::default());
    assert_eq!(ends(bench, epoch), Some(Property::Patience));
}
