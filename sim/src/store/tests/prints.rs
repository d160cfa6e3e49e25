//! What the fingerprint of a shelf covers.

use everstep_machine::identity::Timestamp;
use everstep_machine::store::Store;

use super::{LEASE, admission, admitted, append, batch, claim, execute, execute_at, shelf, tail};
use crate::fingerprint::Fingerprinter;
use crate::profile::Profile;
use crate::store::{MemoryStore, Shelf};

fn print(shelf: &Shelf, clock: u64) -> u128 {
    let mut state = Fingerprinter::new();
    shelf.print(Timestamp(clock), &mut state);
    state.value()
}

fn admitted_at(now: u64) -> MemoryStore {
    let mut store = MemoryStore::new(Profile::Weak, None);
    store.set_clock(Timestamp(now));
    store.execute(&admission("a")).unwrap();
    store
}

#[test]
fn the_same_later_has_the_same_fingerprint() {
    let (early, late) = (admitted_at(0), admitted_at(5_000));
    assert_eq!(print(shelf(&early), 0), print(shelf(&late), 5_000));
    assert_eq!(print(shelf(&early), 0), print(shelf(&early), 77), "nothing runs out");
}

#[test]
fn a_lease_counts_from_now() {
    let (mut early, mut late) = (admitted_at(0), admitted_at(5_000));
    execute_at(&mut early, 0, vec![claim("a", 0, 1)]).unwrap();
    execute_at(&mut late, 5_000, vec![claim("a", 0, 1)]).unwrap();
    assert_eq!(print(shelf(&early), 10), print(shelf(&late), 5_010));
    assert_ne!(print(shelf(&early), 10), print(shelf(&early), 11));
    let over = LEASE.0;
    assert_eq!(print(shelf(&early), over), print(shelf(&early), over + 9), "over is over");
}

#[test]
fn whatever_is_written_changes_the_fingerprint() {
    let mut store = admitted(Profile::Weak, None);
    let mut seen = vec![print(shelf(&store), 0)];
    let mut look = |store: &MemoryStore| {
        let now = print(shelf(store), 0);
        assert!(!seen.contains(&now));
        seen.push(now);
    };
    execute(&mut store, vec![claim("a", 0, 1)]).unwrap();
    look(&store);
    let read = tail(&store).reference();
    execute(&mut store, vec![append(0, read, &batch(1))]).unwrap();
    look(&store);
    store.execute(&admission("b")).unwrap();
    look(&store);
}
