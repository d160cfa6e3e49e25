//! Streams of events, watched fast, slowly and not at all.

use std::future::{Future, poll_fn};
use std::pin::{Pin, pin};
use std::task::Poll;

use everstep_machine::event::{Interruption, check_trace};
use everstep_machine::identity::{AgentId, ConversationId, RunId, SubmissionId, Turn};
use tokio::runtime::Builder;

use super::*;

const NOW: Timestamp = Timestamp(1);

fn source() -> Source {
    Source {
        run: RunId([1; 16]),
        conversation: ConversationId::new("desk").unwrap(),
        agent: AgentId::new("clerk").unwrap(),
    }
}

fn begun() -> RunEvent {
    RunEvent::RunStarted { submission: SubmissionId([2; 16]) }
}

fn fact(turn: u32) -> RunEvent {
    RunEvent::TurnStarted { turn: Turn(turn) }
}

fn text(words: &str) -> RunEvent {
    RunEvent::TextDelta { text: words.into() }
}

fn end() -> RunEvent {
    RunEvent::RunInterrupted { why: Interruption::Aborted, dropped: 0 }
}

/// Runs a test to its end, with two threads for what it spawns.
fn block_on(test: impl Future<Output = ()>) {
    Builder::new_multi_thread().worker_threads(2).build().unwrap().block_on(test);
}

/// Whether the future has to wait. What it is ready with is lost.
async fn waits<F: Future>(mut future: Pin<&mut F>) -> bool {
    poll_fn(|context| Poll::Ready(future.as_mut().poll(context).is_pending())).await
}

/// Reads up to the end.
async fn rest(stream: &mut RunStream) -> (Vec<Enveloped>, u64) {
    let (mut events, mut missed) = (Vec::new(), 0);
    loop {
        let page = stream.page().await.expect("the run ends");
        events.extend(page.events);
        missed += page.missed;
        if page.ended {
            return (events, missed);
        }
    }
}

fn numbers(events: &[Enveloped]) -> Vec<u64> {
    events.iter().map(|it| it.sequence.0).collect()
}

#[test]
fn run_010_a_watcher_that_never_reads_holds_nothing_up_and_learns_what_it_missed() {
    block_on(async {
        let events = RunEvents::on(EventLog::bounded(source(), 8, 1_000));
        let mut slow = events.stream(EventSequence(0));
        events.tell(NOW, begun()).unwrap();
        for _ in 0..10_000 {
            events.tell(NOW, text("word")).unwrap();
        }
        events.tell(NOW, end()).unwrap();
        let (seen, missed) = rest(&mut slow).await;
        assert_eq!(numbers(&seen), [0, 9_995, 9_996, 9_997, 9_998, 9_999, 10_000, 10_001]);
        assert_eq!(missed, 9_994);
    });
}

#[test]
fn run_010_a_watcher_is_woken_by_the_next_event_and_not_before() {
    block_on(async {
        let events = RunEvents::new(source());
        let mut stream = events.stream(EventSequence(0));
        let mut page = pin!(stream.page());
        assert!(waits(page.as_mut()).await);
        assert!(waits(page.as_mut()).await, "still");
        events.tell(NOW, begun()).unwrap();
        assert_eq!(numbers(&page.await.unwrap().events), [0]);
    });
}

#[test]
fn run_010_what_is_dropped_wakes_nobody() {
    block_on(async {
        let events = RunEvents::on(EventLog::bounded(source(), 2, 0));
        events.tell(NOW, begun()).unwrap();
        let mut stream = events.stream(EventSequence(1));
        let mut page = pin!(stream.page());
        assert!(waits(page.as_mut()).await);
        assert_eq!(events.tell(NOW, fact(0)), Err(Refusal::Full));
        assert_eq!(events.tell(NOW, text("w")), Err(Refusal::TooLong));
        assert!(waits(page.as_mut()).await);
        events.tell(NOW, end()).unwrap();
        let page = page.await.unwrap();
        assert_eq!((numbers(&page.events), page.ended), (vec![1], true));
        assert!(matches!(page.events[0].event, RunEvent::RunInterrupted { dropped: 2, .. }));
    });
}

#[test]
fn run_010_whoever_stops_waiting_has_missed_nothing() {
    block_on(async {
        let events = RunEvents::new(source());
        let (sole, mut queue) = RunStream::sole(source(), 4);
        let mut log = events.stream(EventSequence(0));
        for stream in [&mut log, &mut queue] {
            assert!(waits(pin!(stream.page())).await);
            assert_eq!(stream.next(), EventSequence(0));
        }
        for event in [begun(), fact(0), end()] {
            events.tell(NOW, event.clone()).unwrap();
            sole.tell(NOW, event).await.unwrap();
        }
        assert_eq!(numbers(&rest(&mut log).await.0), [0, 1, 2]);
        assert_eq!(numbers(&rest(&mut queue).await.0), [0, 1, 2]);
    });
}

#[test]
fn run_010_a_reconnected_watcher_goes_on_where_it_was() {
    block_on(async {
        let events = RunEvents::new(source());
        let mut first = events.stream(EventSequence(0));
        events.tell(NOW, begun()).unwrap();
        events.tell(NOW, fact(0)).unwrap();
        assert_eq!(numbers(&first.page().await.unwrap().events), [0, 1]);
        let offset = first.next();
        drop(first);
        events.tell(NOW, fact(1)).unwrap();
        events.tell(NOW, end()).unwrap();
        assert_eq!(numbers(&rest(&mut events.stream(offset)).await.0), [2, 3]);
        assert_eq!(numbers(&rest(&mut events.stream(EventSequence(0))).await.0), [0, 1, 2, 3]);
        assert_eq!(numbers(&events.page(EventSequence(3)).events), [3], "at once");
    });
}

#[test]
fn run_010_a_page_is_bounded_and_the_next_one_follows_it() {
    block_on(async {
        let events = RunEvents::new(source());
        for turn in 0..600 {
            events.tell(NOW, fact(turn)).unwrap();
        }
        events.tell(NOW, end()).unwrap();
        let mut stream = events.stream(EventSequence(0));
        for expected in [(256, false), (256, false), (89, true), (0, true)] {
            let page = stream.page().await.unwrap();
            assert_eq!((page.events.len(), page.ended), expected);
        }
    });
}

#[test]
fn run_002_the_end_stays_the_end_however_often_it_is_asked_for() {
    block_on(async {
        let events = RunEvents::new(source());
        events.tell(NOW, end()).unwrap();
        let (sole, queue) = RunStream::sole(source(), 1);
        sole.tell(NOW, end()).await.unwrap();
        let log = events.stream(EventSequence(0));
        drop((events, sole));
        for mut stream in [log, queue] {
            assert_eq!(numbers(&rest(&mut stream).await.0), [0]);
            for _ in 0..2 {
                let page = stream.page().await.unwrap();
                assert_eq!((page.events.len(), page.next.0, page.ended), (0, 1, true));
            }
        }
    });
}

#[test]
fn run_002_cut_off_a_stream_without_its_terminal_event_says_so_behind_the_last_one() {
    block_on(async {
        let events = RunEvents::new(source());
        let log = events.stream(EventSequence(0));
        let (sole, queue) = RunStream::sole(source(), 4);
        events.tell(NOW, begun()).unwrap();
        sole.tell(NOW, begun()).await.unwrap();
        let (copy, other) = (events.clone(), sole.clone());
        drop((events, sole));
        copy.tell(NOW, fact(0)).unwrap();
        other.tell(NOW, fact(0)).await.unwrap();
        drop((copy, other));
        for mut stream in [log, queue] {
            assert_eq!(numbers(&stream.page().await.unwrap().events), [0, 1]);
            assert_eq!(stream.page().await, Err(CutOff));
            assert_eq!(stream.page().await, Err(CutOff));
        }
    });
}

#[test]
fn run_010_the_one_consumer_is_waited_for_while_the_queue_is_full() {
    block_on(async {
        let (sole, mut stream) = RunStream::sole(source(), 2);
        sole.tell(NOW, begun()).await.unwrap();
        sole.tell(NOW, fact(0)).await.unwrap();
        let mut third = pin!(sole.tell(NOW, end()));
        assert!(waits(third.as_mut()).await, "the terminal event, too");
        assert_eq!(numbers(&stream.page().await.unwrap().events), [0, 1]);
        assert_eq!(third.await, Ok(EventSequence(2)));
        assert_eq!(numbers(&rest(&mut stream).await.0), [2]);
    });
}

#[test]
fn run_010_a_queue_without_room_has_room_for_one() {
    block_on(async {
        let (sole, mut stream) = RunStream::sole(source(), 0);
        sole.tell(NOW, begun()).await.unwrap();
        assert!(waits(pin!(sole.tell(NOW, fact(0)))).await);
        assert_eq!(numbers(&stream.page().await.unwrap().events), [0]);
    });
}

#[test]
fn run_032_an_event_that_was_given_up_while_waiting_has_no_number() {
    block_on(async {
        let (sole, mut stream) = RunStream::sole(source(), 1);
        sole.tell(NOW, begun()).await.unwrap();
        assert!(waits(pin!(sole.tell(NOW, fact(0)))).await);
        stream.page().await.unwrap();
        assert_eq!(sole.tell(NOW, end()).await, Ok(EventSequence(1)));
    });
}

#[test]
fn run_010_unheard_a_consumer_that_is_gone_holds_nothing_up() {
    block_on(async {
        let (sole, stream) = RunStream::sole(source(), 1);
        sole.tell(NOW, begun()).await.unwrap();
        let mut waiting = pin!(sole.tell(NOW, fact(0)));
        assert!(waits(waiting.as_mut()).await);
        drop(stream);
        assert_eq!(waiting.await, Err(Untold::Unheard));
        assert_eq!(sole.tell(NOW, end()).await, Err(Untold::Unheard));
    });
}

#[test]
fn case_ab_07_refused_what_comes_after_the_end_is_counted_and_waits_for_nobody() {
    block_on(async {
        let events = RunEvents::new(source());
        events.tell(NOW, end()).unwrap();
        assert_eq!(events.tell(NOW, text("late")), Err(Refusal::Ended));
        let (sole, stream) = RunStream::sole(source(), 1);
        sole.tell(NOW, end()).await.unwrap();
        let mut late = pin!(sole.tell(NOW, text("late")));
        assert!(!waits(late.as_mut()).await, "the queue is full, and it does not matter");
        drop(stream);
        let again = sole.tell(NOW, text("later")).await;
        assert_eq!(again, Err(Untold::Refused(Refusal::Ended)));
        assert_eq!(sole.late(), 2);
    });
}

#[test]
fn run_002_run_010_every_watcher_of_many_tellers_sees_one_whole_trace() {
    block_on(async {
        let events = RunEvents::new(source());
        let (sole, queue) = RunStream::sole(source(), 3);
        let log = || events.stream(EventSequence(0));
        let watchers = [log(), log(), queue]
            .map(|mut stream| tokio::spawn(async move { rest(&mut stream).await }));
        events.tell(NOW, begun()).unwrap();
        sole.tell(NOW, begun()).await.unwrap();
        let tellers = [0, 1, 2].map(|_| {
            let (events, sole) = (events.clone(), sole.clone());
            tokio::spawn(async move {
                for _ in 0..500 {
                    events.tell(NOW, text("word")).unwrap();
                    sole.tell(NOW, text("word")).await.unwrap();
                }
            })
        });
        for teller in tellers {
            teller.await.unwrap();
        }
        events.tell(NOW, end()).unwrap();
        sole.tell(NOW, end()).await.unwrap();
        for watcher in watchers {
            let (seen, missed) = watcher.await.unwrap();
            assert_eq!((seen.len(), missed), (1_502, 0));
            assert_eq!(check_trace(&seen), Ok(()));
        }
    });
}
