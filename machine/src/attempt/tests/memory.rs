//! A process that remembers what its last attempt has folded (STORE-007): it reads only what is
//! new, and believes nothing that the log does not confirm.

use alloc::vec::Vec;

use super::pages::reading;
use super::stage::{Fate, Stage};
use crate::attempt::{Effect, End, Input};
use crate::identity::DurationMs;
use crate::projection::{Projection, Reader};
use crate::store::Store;
use crate::testkit::{Host, call};

/// A lane with two settled submissions and a third one that waits, and what was folded after the
/// first and the second.
fn lane(keys: [&'static str; 3]) -> (Stage, Vec<Reader>) {
    let mut stage = Stage::of(Host::new(&[]));
    for key in &keys[..2] {
        stage.admit(call(key, key));
        let at = stage.enter();
        assert_eq!(stage.finish(at), Some(End::Settled));
    }
    stage.admit(call(keys[2], "third"));
    let folds = core::mem::take(&mut stage.folds);
    (stage, folds)
}

#[test]
fn store_007_what_an_attempt_gives_back_is_the_fold_of_its_log() {
    let (mut stage, _) = lane(["a", "b", "c"]);
    let at = stage.enter();
    while !stage.actors[at].is_done() {
        // Nobody can predict when the store commits, and so no chain digest.
        stage.host.store.now = stage.host.store.now.after(DurationMs(7));
        if !stage.perform(at, Fate::Done) {
            stage.answer(at, 0);
        }
    }
    let (log, last) = (&stage.host.store.log, stage.folds.last().unwrap());
    let whole = Projection::of(log.iter().map(|it| &**it)).unwrap();
    assert_eq!((last.projection(), stage.folds.len()), (&whole, 1));
    assert_eq!(last.chain(), log.last().unwrap().chain(), "which the store has made");
}

#[test]
fn store_007_a_process_that_remembers_reads_only_what_is_new() {
    for back in [1, 0] {
        let (mut stage, mut folds) = lane(["a", "b", "c"]);
        let fold = folds.remove(back);
        let from = fold.next_sequence().0;
        let at = stage.enter_with(Some(fold));
        let pages = reading(&mut stage, at);
        assert_eq!(pages[0], from);
        assert_eq!(pages.len(), if back == 1 { 1 } else { 2 }, "{pages:?}");
        assert_eq!(stage.finish(at), Some(End::Settled));
    }
}

#[test]
fn store_007_what_is_remembered_of_another_log_is_thrown_away() {
    // Another history of the same length, one that was longer, and one of which nothing is left.
    let (_, other) = lane(["x", "y", "z"]);
    let (mut longer, _) = lane(["a", "b", "c"]);
    let at = longer.enter();
    assert_eq!(longer.finish(at), Some(End::Settled));
    for fold in [other.last(), other.first(), longer.folds.last()] {
        let (mut stage, _) = lane(["a", "b", "c"]);
        let fold = fold.unwrap().clone();
        let from = fold.next_sequence().0;
        let at = stage.enter_with(Some(fold.clone()));
        let pages = reading(&mut stage, at);
        assert_eq!(pages[..2], [from, 0], "it begins anew");
        assert_eq!(stage.finish(at), Some(End::Settled));

        let mut stage = Stage::of(Host::new(&[]));
        let at = stage.enter_with(Some(fold));
        stage.perform(at, Fate::Done);
        assert_eq!(stage.finish(at), Some(End::Idle), "there is no log at all");
    }
}

#[test]
fn store_006_a_log_that_does_not_verify_is_corrupt_whatever_is_remembered() {
    let (mut stage, folds) = lane(["a", "b", "c"]);
    stage.host.store.log.remove(4);
    // What lies behind that batch does not link to what was folded before it.
    let at = stage.enter_with(Some(folds[0].clone()));
    while let Some(pipeline) = stage.actors[at].pipeline().cloned() {
        let answer = stage.host.store.execute(&pipeline);
        stage.actors[at].waiting.clear();
        stage.actors[at].told(Input::Stored(answer));
    }
    let last = stage.actors[at].waiting.back();
    assert!(matches!(last, Some(Effect::End(End::Corrupt(_)))), "{last:?}");
}
