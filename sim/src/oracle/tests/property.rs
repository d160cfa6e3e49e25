//! Names and sets.

use std::collections::BTreeSet;

use crate::oracle::{Property, Sometimes, SometimesSet};

#[test]
fn names_are_plain_words_and_each_its_own() {
    let always = Property::ALL.iter().map(|it| it.name());
    let names: Vec<_> = always.chain(Sometimes::ALL.iter().map(|it| it.name())).collect();
    let distinct: BTreeSet<_> = names.iter().collect();
    assert_eq!(distinct.len(), names.len());
    assert!(names.iter().all(|name| name.contains(' ') && !name.contains(['_', ':'])));
}

#[test]
fn a_set_holds_what_was_put_into_it() {
    assert!(Sometimes::ALL.len() <= 64, "the set has 64 bits");
    let mut set = SometimesSet::default();
    assert_eq!(set.iter().count(), 0);
    set.insert(Sometimes::Renewed);
    let mut other = SometimesSet::default();
    other.insert(Sometimes::Tombstoned);
    let both = set.union(other);
    assert!(both.contains(Sometimes::Renewed) && both.contains(Sometimes::Tombstoned));
    assert!(!set.contains(Sometimes::Tombstoned));
    assert_eq!(both.iter().collect::<Vec<_>>(), [Sometimes::Renewed, Sometimes::Tombstoned]);
}
