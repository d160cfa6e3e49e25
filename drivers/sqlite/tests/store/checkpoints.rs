//! Folds that are kept beside their logs: right in every respect, or none.

use everstep_machine::projection::Reader;
use everstep_machine::store::Shared as _;

use crate::support::{Folder, Worker, admit, call, conversation, log};

/// A file with one conversation of two settled submissions, and the fold of its log up to the end
/// of the first.
fn kept() -> (Folder, Reader) {
    let (folder, desk) = (Folder::new(), conversation("desk"));
    let mut store = folder.open();
    admit(&mut store, call(&desk, "1", "hello"));
    Worker::new(vec!["pay"]).work(&mut store, &desk);
    let mut fold = Reader::default();
    log(&store.reader().unwrap(), &desk).iter().for_each(|batch| fold.feed(batch).unwrap());
    assert_eq!(store.checkpoint(&desk), None, "nothing is kept yet");
    store.keep_checkpoint(&desk, &fold.checkpoint(&desk));
    assert_eq!(store.checkpoint(&desk).as_ref(), Some(&fold), "at the end of the log");
    admit(&mut store, call(&desk, "2", "hello"));
    Worker::new(vec![]).work(&mut store, &desk);
    (folder, fold)
}

#[test]
fn store_007_a_checkpoint_is_found_by_whoever_opens_the_file_next() {
    let (folder, fold) = kept();
    let desk = conversation("desk");
    let mut store = folder.open();
    assert_eq!(store.checkpoint(&desk), Some(fold.clone()), "in the midst of the log");
    assert_eq!(store.checkpoint(&conversation("other")), None);
    let mut whole = fold;
    let from = whole.next_sequence();
    let reader = store.reader().unwrap();
    let tail = reader.log_page(&desk, from).unwrap();
    tail.batches.iter().for_each(|batch| whole.feed(batch).unwrap());
    store.keep_checkpoint(&desk, &whole.checkpoint(&desk));
    assert_eq!(store.checkpoint(&desk), Some(whole), "the later one is in its place");
    reader.verify_file().unwrap();
}

#[test]
fn store_007_a_checkpoint_that_is_damaged_or_of_another_log_is_none() {
    let (folder, fold) = kept();
    let desk = conversation("desk");
    let good = fold.checkpoint(&desk);
    // Another history of the same name.
    let (other, _) = kept();
    let mut theirs = other.open();
    assert!(theirs.checkpoint(&desk).is_some());
    theirs.keep_checkpoint(&desk, &good);
    assert_eq!(theirs.checkpoint(&desk), None, "another log");
    let mut store = folder.open();
    let wrong = |bytes: &[u8]| {
        folder.sql().execute("UPDATE log_checkpoint SET bytes = ?1", [bytes]).unwrap();
    };
    for at in (0..good.len()).step_by(37) {
        let mut flipped = good.clone();
        flipped[at] ^= 1;
        wrong(&flipped);
        assert_eq!(store.checkpoint(&desk), None, "byte {at}");
    }
    for bytes in [&good[..good.len() - 1], &good[..3], b"", b"a letter to a friend"] {
        wrong(bytes);
        assert_eq!(store.checkpoint(&desk), None);
    }
    // It is nobody's business but that of who looks for it.
    let reader = store.reader().unwrap();
    assert_eq!(reader.verify(&desk).unwrap().rows, 2);
    drop(reader);
    folder.sql().execute("DELETE FROM log_checkpoint", ()).unwrap();
    assert_eq!(store.checkpoint(&desk), None);
    wrong(&good);
    store.keep_checkpoint(&desk, &good);
    assert_eq!(store.checkpoint(&desk), Some(fold));
}

#[test]
fn store_007_a_checkpoint_that_is_ahead_of_its_log_is_none() {
    let (folder, desk) = (Folder::new(), conversation("desk"));
    let mut store = folder.open();
    admit(&mut store, call(&desk, "1", "hello"));
    let short = crate::support::log(&store.reader().unwrap(), &desk);
    Worker::new(vec![]).work(&mut store, &desk);
    let mut fold = Reader::default();
    log(&store.reader().unwrap(), &desk).iter().for_each(|batch| fold.feed(batch).unwrap());
    assert!(fold.next_sequence() > short.last().unwrap().next_sequence());
    let fresh = Folder::new();
    let mut store = fresh.open();
    store.keep_checkpoint(&desk, &fold.checkpoint(&desk));
    assert_eq!(store.checkpoint(&desk), None, "there is no log at all");
    admit(&mut store, call(&desk, "1", "hello"));
    assert_eq!(store.checkpoint(&desk), None, "it is shorter");
}
