//! A log is read once, page by page, and every break in it is found (STORE-011).

use alloc::vec::Vec;

use super::stage::{Fate, Stage};
use crate::attempt::{Effect, End, Input};
use crate::identity::Sequence;
use crate::record::Corruption;
use crate::store::{LogPage, Replies, Reply, Store, StoreCommand};
use crate::testkit::{Host, call};

/// A lane with this many settled submissions before one that waits.
fn lane(settled: usize) -> Stage {
    let keys = ["a", "b", "c", "d", "e", "f", "g", "h"];
    let mut host = Host::new(&[]);
    for key in &keys[..settled] {
        host.admit(call(key, key));
        assert_eq!(host.work(), End::Settled);
    }
    let mut stage = Stage::of(host);
    stage.admit(call("1", "hello"));
    stage.enter();
    stage
}

/// Reads until the first pipeline that writes; where each page began. Behind every page the lane
/// is read, so a row is never older than the log it is judged by.
pub(super) fn reading(stage: &mut Stage, at: usize) -> Vec<u64> {
    let mut pages = Vec::new();
    loop {
        match &stage.actors[at].pipeline().expect("it reads or writes").commands[..] {
            [StoreCommand::ReadLog { from }, StoreCommand::ReadLane(_)] => pages.push(from.0),
            _ => return pages,
        }
        stage.perform(at, Fate::Done);
    }
}

#[test]
fn store_011_every_page_is_read_once() {
    for settled in 0..8 {
        let mut stage = lane(settled);
        let pages = reading(&mut stage, 0);
        // The store of these tests gives two batches a page.
        let log = &stage.host.store.log;
        let begins = log.iter().step_by(2).map(|it| it.envelope().first_sequence.0);
        assert_eq!(pages, begins.collect::<Vec<_>>());
        assert_eq!(stage.finish(0), Some(End::Settled));
    }
    assert_eq!(lane(7).host.store.log.len(), 1 + 7 * 3);
}

#[test]
fn store_011_what_is_appended_while_it_reads_is_read_too() {
    let mut stage = lane(2);
    stage.admit(call("2", "again"));
    stage.perform(0, Fate::Done);
    // Another process settles the submission before the second page is read.
    let other = stage.enter();
    assert_eq!(stage.finish(other), Some(End::Settled));
    let pages = reading(&mut stage, 0);
    assert_eq!(pages, [2, 4, 6, 8]);
    // The row that it saw is not the one that waits now.
    assert_eq!(stage.finish(0), Some(End::Settled));
    stage.settle(&crate::agent::Resolution::NeverStarted);
}

/// Reads with a store that changes the second answer that holds a page.
fn tampered(change: impl Fn(&mut LogPage)) -> Option<End> {
    let mut stage = lane(2);
    stage.perform(0, Fate::Done);
    let pipeline = stage.actors[0].pipeline().unwrap().clone();
    let mut replies: Replies = stage.host.store.execute(&pipeline).unwrap();
    let Some(Reply::Log(page)) = replies.first_mut() else { panic!("{replies:?}") };
    change(page);
    stage.actors[0].waiting.clear();
    stage.actors[0].told(Input::Stored(Ok(replies)));
    match stage.actors[0].waiting.back() {
        Some(Effect::End(end)) => Some(*end),
        _ => None,
    }
}

#[test]
fn store_006_a_page_that_does_not_follow_the_one_before_is_a_gap() {
    let (expected, found) = (Sequence(2), Sequence(3));
    let gap = End::Corrupt(Corruption::Gap { expected, found });
    assert_eq!(tampered(|page| drop(page.batches.remove(0))), Some(gap));
}

#[test]
fn store_006_a_page_that_holds_nothing_before_the_end_is_a_gap() {
    let (expected, found) = (Sequence(7), Sequence(2));
    let gap = End::Corrupt(Corruption::Gap { expected, found });
    assert_eq!(tampered(|page| page.batches.clear()), Some(gap));
}

#[test]
fn store_006_a_page_that_leads_beyond_the_end_is_a_gap() {
    let (expected, found) = (Sequence(3), Sequence(4));
    let gap = End::Corrupt(Corruption::Gap { expected, found });
    let shorten = |page: &mut LogPage| page.tail.as_mut().unwrap().next_sequence = Sequence(3);
    assert_eq!(tampered(shorten), Some(gap));
}

#[test]
fn store_006_a_log_that_does_not_end_in_the_chain_that_its_tail_names_is_broken() {
    let other = crate::digest::Digest::of("test", b"another history");
    let end = tampered(|page| {
        let tail = page.tail.as_mut().unwrap();
        (tail.next_sequence, tail.chain) = (Sequence(4), other);
    });
    let Some(End::Corrupt(Corruption::Chain { at, found, .. })) = end else { panic!("{end:?}") };
    assert_eq!((at, found), (Sequence(4), other));
}

#[test]
fn store_006_an_untouched_page_is_read_on() {
    assert_eq!(tampered(|_| ()), None);
}
