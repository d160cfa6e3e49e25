//! What a log keeps, drops and shows.

use super::*;
use crate::limits::{RUN_EVENT_BYTES, RUN_EVENTS, TEXT_BYTES};

fn log(places: usize, bytes: usize) -> EventLog {
    EventLog::bounded(source(), places, bytes)
}

fn push(log: &mut EventLog, event: RunEvent) -> Result<u64, Refusal> {
    log.push(Timestamp(5), event).map(|sequence| sequence.0)
}

fn page(log: &EventLog, from: u64) -> Page {
    log.read(EventSequence(from), usize::MAX)
}

/// The numbers on the page from this offset.
fn numbers(log: &EventLog, from: u64) -> Vec<u64> {
    page(log, from).events.iter().map(|event| event.sequence.0).collect()
}

#[test]
fn run_032_every_event_gets_the_coordinates_of_its_run_and_the_next_number() {
    let mut log = log(10, 100);
    assert_eq!(push(&mut log, begun()), Ok(0));
    assert_eq!(push(&mut log, text("hello")), Ok(1));
    let page = page(&log, 0);
    assert_eq!(
        page.events,
        [
            source().envelope(EventSequence(0), Timestamp(5), begun()),
            source().envelope(EventSequence(1), Timestamp(5), text("hello")),
        ]
    );
    assert_eq!((page.next, page.ended, page.missed), (EventSequence(2), false, 0));
    assert_eq!(log.source(), &source());
}

#[test]
fn run_010_pages_follow_each_other_and_the_end_is_seen_with_the_last_event() {
    let mut log = log(10, 100);
    for turn in 0..4 {
        push(&mut log, fact(turn)).unwrap();
    }
    push(&mut log, completed()).unwrap();
    let read = |from, limit| {
        let page = log.read(EventSequence(from), limit);
        (page.events.len(), page.next.0, page.ended, page.missed)
    };
    assert_eq!(read(0, 2), (2, 2, false, 0));
    assert_eq!(read(2, 2), (2, 4, false, 0));
    assert_eq!(read(4, 2), (1, 5, true, 0));
    assert_eq!(read(5, 2), (0, 5, true, 0), "there is nothing behind the end");
    assert_eq!(read(9, 2), (0, 9, true, 0), "nor anywhere behind it");
    assert_eq!(
        read(2, 0),
        (0, 2, false, 0),
        "a page without room shows nothing and moves on nowhere"
    );
    assert_eq!(read(2, 2), read(2, 2), "reading changes nothing");
}

#[test]
fn run_010_a_reader_that_is_ahead_waits_until_the_log_has_caught_up() {
    let mut log = log(10, 100);
    push(&mut log, fact(0)).unwrap();
    assert_eq!(
        page(&log, 2),
        Page { events: Vec::new(), next: EventSequence(2), ended: false, missed: 0 }
    );
    push(&mut log, fact(1)).unwrap();
    push(&mut log, fact(2)).unwrap();
    assert_eq!(numbers(&log, 2), [2]);
}

#[test]
fn run_002_full_the_place_of_the_terminal_event_is_kept_and_it_tells_what_was_dropped() {
    let mut log = log(4, 100);
    for turn in 0..3 {
        push(&mut log, fact(turn)).unwrap();
    }
    for _ in 0..2 {
        assert_eq!(push(&mut log, fact(9)), Err(Refusal::Full));
        assert_eq!(push(&mut log, text("w")), Err(Refusal::Full));
    }
    assert_eq!(log.dropped(), 4);
    assert_eq!(push(&mut log, completed()), Ok(3), "what was dropped never had a number");
    let last = page(&log, 3).events.remove(0);
    assert_eq!(last.event, RunEvent::RunCompleted { finish: FinishKind::ModelStop, dropped: 4 });
}

#[test]
fn run_002_each_terminal_event_tells_what_was_dropped() {
    for index in [17, 18, 19] {
        let mut log = log(1, 100);
        assert_eq!(push(&mut log, fact(0)), Err(Refusal::Full));
        assert_eq!(push(&mut log, one_of_each().swap_remove(index)), Ok(0));
        match &page(&log, 0).events[0].event {
            RunEvent::RunCompleted { dropped, .. }
            | RunEvent::RunFailed { dropped, .. }
            | RunEvent::RunInterrupted { dropped, .. } => assert_eq!(*dropped, 1),
            other => panic!("{other:?} is terminal"),
        }
    }
}

#[test]
fn case_ab_07_run_002_ended_what_comes_after_the_terminal_event_is_dropped_and_counted() {
    let mut log = log(4, 100);
    push(&mut log, fact(0)).unwrap();
    push(&mut log, RunEvent::RunInterrupted { why: Interruption::Aborted, dropped: 0 }).unwrap();
    let before = page(&log, 0);
    for late in one_of_each() {
        assert_eq!(push(&mut log, late), Err(Refusal::Ended));
    }
    assert_eq!(page(&log, 0), before);
    assert_eq!((log.late(), log.dropped(), log.next().0), (20, 0, 2));
    assert!(log.has_ended());
}

#[test]
fn run_031_the_oldest_words_make_room_for_whatever_is_new() {
    let mut log = log(5, 100);
    for event in [text("a"), fact(0), text("b"), RunEvent::progress(CALL, "c")] {
        push(&mut log, event).unwrap();
    }
    assert_eq!(numbers(&log, 0), [0, 1, 2, 3]);
    push(&mut log, fact(1)).unwrap();
    assert_eq!(numbers(&log, 0), [1, 2, 3, 4], "for a fact");
    push(&mut log, text("d")).unwrap();
    assert_eq!(numbers(&log, 0), [1, 3, 4, 5], "for words");
    push(&mut log, fact(2)).unwrap();
    push(&mut log, fact(3)).unwrap();
    assert_eq!(numbers(&log, 0), [1, 4, 6, 7]);
    assert_eq!(push(&mut log, fact(4)), Err(Refusal::Full), "facts make no room for facts");
}

#[test]
fn run_031_the_oldest_words_make_room_for_long_ones() {
    let mut log = log(100, 10);
    for words in ["aaaa", "bbb", "ccc"] {
        push(&mut log, text(words)).unwrap();
    }
    assert_eq!(numbers(&log, 0), [0, 1, 2], "exactly the bound fits");
    push(&mut log, fact(0)).unwrap();
    push(&mut log, text("dd")).unwrap();
    assert_eq!(numbers(&log, 0), [1, 2, 3, 4], "as few as it takes");
    push(&mut log, text("eeeeeeeeee")).unwrap();
    assert_eq!(numbers(&log, 0), [3, 5], "all of them, if it takes all; never a fact");
    push(&mut log, text("")).unwrap();
    assert_eq!(numbers(&log, 0), [3, 5, 6]);
}

#[test]
fn run_031_too_long_what_no_room_would_be_enough_for_is_dropped_alone() {
    let mut narrow = log(100, 10);
    push(&mut narrow, text("aaaa")).unwrap();
    assert_eq!(push(&mut narrow, text("eleven byte")), Err(Refusal::TooLong));
    assert_eq!(numbers(&narrow, 0), [0], "nothing has made room for it");
    assert_eq!(narrow.dropped(), 1);
    let mut wide = log(100, RUN_EVENT_BYTES);
    let long = Arc::from("x".repeat(TEXT_BYTES + 1));
    let progress = RunEvent::ToolProgress { call: CALL, text: Arc::clone(&long) };
    assert_eq!(push(&mut wide, progress), Err(Refusal::TooLong), "a handler's words are few");
    assert_eq!(push(&mut wide, RunEvent::TextDelta { text: long }), Ok(0), "a model's are not");
}

#[test]
fn run_010_a_reader_is_told_how_many_words_made_room_since_its_offset() {
    let mut log = log(5, 100);
    for words in ["a", "b", "c", "d", "e", "f"] {
        push(&mut log, text(words)).unwrap();
    }
    assert_eq!(numbers(&log, 0), [2, 3, 4, 5]);
    let missed = |from, limit| {
        let page = log.read(EventSequence(from), limit);
        (page.missed, page.next.0)
    };
    assert_eq!(missed(0, 1), (2, 3));
    assert_eq!(missed(1, 1), (1, 3));
    assert_eq!(missed(2, 9), (0, 6));
    assert_eq!(missed(6, 9), (0, 6));
}

#[test]
fn run_031_no_log_is_larger_than_the_bounds_of_a_run_or_too_small_for_its_end() {
    assert_eq!(log(usize::MAX, usize::MAX), EventLog::new(source()));
    assert_eq!(EventLog::new(source()), log(RUN_EVENTS, RUN_EVENT_BYTES));
    let mut smallest = log(0, 0);
    assert_eq!(push(&mut smallest, fact(0)), Err(Refusal::Full));
    assert_eq!(push(&mut smallest, text("w")), Err(Refusal::TooLong));
    assert_eq!(push(&mut smallest, completed()), Ok(0));
    assert!(page(&smallest, 0).ended);
}

#[test]
fn run_031_a_run_of_words_without_end_keeps_every_fact_and_the_newest_words() {
    let mut log = EventLog::new(source());
    for step in 0..200_000 {
        let event = if step % 1_000 == 0 { fact(step / 1_000) } else { text("word") };
        push(&mut log, event).unwrap();
    }
    push(&mut log, completed()).unwrap();
    let page = page(&log, 0);
    assert_eq!(page.events.len(), RUN_EVENTS);
    assert_eq!(page.missed, 200_001 - RUN_EVENTS as u64);
    let facts = page.events.iter().filter(|it| it.event.words().is_none());
    assert_eq!(facts.count(), 201);
    assert_eq!(log.dropped(), 0);
}
