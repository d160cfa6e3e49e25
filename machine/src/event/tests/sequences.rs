//! Any events and any readers, in any order.

use alloc::collections::BTreeSet;

use proptest::prelude::*;

use super::*;

#[derive(Clone, Debug)]
enum Act {
    Push(RunEvent),
    /// A reader reads a page of this size.
    Read {
        reader: usize,
        limit: usize,
    },
    /// A reader goes back to an offset that it had before.
    Reconnect {
        reader: usize,
        back: u64,
    },
}

fn act() -> impl Strategy<Value = Act> {
    let words = "[a-z]{0,6}";
    prop_oneof![
        8 => words.prop_map(|words| Act::Push(text(&words))),
        2 => words.prop_map(|words| Act::Push(RunEvent::progress(CALL, &words))),
        4 => (0..9_u32).prop_map(|turn| Act::Push(fact(turn))),
        6 => (0..3_usize, 0..5_usize).prop_map(|(reader, limit)| Act::Read { reader, limit }),
        1 => (0..3_usize, 0..6_u64).prop_map(|(reader, back)| Act::Reconnect { reader, back }),
    ]
}

/// Somebody who reads, and remembers what it got since it last went back.
#[derive(Clone, Default)]
struct Reader {
    from: u64,
    next: EventSequence,
    got: Vec<Enveloped>,
    missed: u64,
}

impl Reader {
    fn read(&mut self, log: &EventLog, limit: usize) -> bool {
        let page = log.read(self.next, limit);
        assert!(page.events.len() <= limit);
        assert_eq!(page.next.0, self.next.0 + page.events.len() as u64 + page.missed);
        self.next = page.next;
        self.got.extend(page.events);
        self.missed += page.missed;
        page.ended
    }

    fn reconnect(&mut self, back: u64) {
        let next = EventSequence(self.next.0.saturating_sub(back));
        *self = Self { from: next.0, next, ..Self::default() };
    }

    /// Everything from its offset on is here exactly once, or was missed; only words are missed.
    fn check(&self, truth: &[RunEvent]) {
        let all = &truth[self.from as usize..self.next.0 as usize];
        assert_eq!(self.got.len() as u64 + self.missed, all.len() as u64);
        let numbers: BTreeSet<_> = self.got.iter().map(|it| it.sequence.0).collect();
        assert_eq!(numbers.len(), self.got.len(), "nothing is doubled");
        assert!(self.got.is_sorted_by_key(|it| it.sequence));
        for event in &self.got {
            assert_eq!(event.event, truth[event.sequence.0 as usize]);
        }
        for (event, number) in all.iter().zip(self.from..) {
            assert!(event.words().is_some() || numbers.contains(&number), "{number} is lost");
        }
    }
}

/// What a log has to look like that was told all this, `truth` being what it took.
fn check_log(log: &EventLog, truth: &[RunEvent], places: usize, bytes: usize) {
    let kept = log.read(EventSequence(0), usize::MAX).events;
    assert!(kept.len() <= places && (log.has_ended() || kept.len() < places));
    let lengths = kept.iter().filter_map(|it| it.event.words()).map(|words| words.len());
    assert!(lengths.sum::<usize>() <= bytes);
    let words: Vec<_> = (0..truth.len()).filter(|at| truth[*at].words().is_some()).collect();
    let kept_words = kept.iter().filter(|it| it.event.words().is_some());
    let kept_words: Vec<_> = kept_words.map(|it| it.sequence.0 as usize).collect();
    assert!(words.ends_with(&kept_words), "the oldest words go first");
    assert_eq!(log.next().0, truth.len() as u64);
}

/// Pushes, and checks that a refusal has its reason. Whether the event was taken.
fn push(log: &mut EventLog, event: &RunEvent, places: usize, bytes: usize) -> bool {
    let before = log.read(EventSequence(0), usize::MAX).events;
    let facts = before.iter().filter(|it| it.event.words().is_none()).count();
    let expected = if log.has_ended() {
        Err(Refusal::Ended)
    } else if event.words().is_some_and(|words| words.len() > bytes) {
        Err(Refusal::TooLong)
    } else if facts + 1 >= places {
        Err(Refusal::Full)
    } else {
        Ok(log.next())
    };
    assert_eq!(log.push(Timestamp(0), event.clone()), expected);
    expected.is_ok()
}

proptest! {
    #![proptest_config(ProptestConfig {
        cases: 512, failure_persistence: None, ..ProptestConfig::default()
    })]

    #[test]
    fn run_010_run_031_a_reader_loses_and_doubles_nothing_wherever_it_reconnects(
        places in 1..12_usize,
        bytes in 0..20_usize,
        acts in prop::collection::vec(act(), 0..120),
        late in prop::collection::vec(act(), 0..6),
    ) {
        let mut log = EventLog::bounded(source(), places, bytes);
        let mut readers = [const { Vec::new() }; 3].map(|got| Reader { got, ..Reader::default() });
        let (mut truth, mut dropped) = (Vec::new(), 0);
        for act in acts {
            match act {
                Act::Push(event) => {
                    if push(&mut log, &event, places, bytes) {
                        truth.push(event);
                    } else {
                        dropped += 1;
                    }
                    check_log(&log, &truth, places, bytes);
                }
                Act::Read { reader, limit } => {
                    let ended = readers[reader].read(&log, limit);
                    prop_assert!(!ended);
                    readers[reader].check(&truth);
                }
                Act::Reconnect { reader, back } => readers[reader].reconnect(back),
            }
        }
        log.push(Timestamp(0), completed()).expect("the terminal event always finds its place");
        truth.push(RunEvent::RunCompleted { finish: FinishKind::ModelStop, dropped });
        let lates = late.into_iter().filter_map(|act| match act {
            Act::Push(event) => Some(event),
            Act::Read { .. } | Act::Reconnect { .. } => None,
        });
        for (event, count) in lates.zip(1..) {
            push(&mut log, &event, places, bytes);
            prop_assert_eq!(log.late(), count);
        }
        prop_assert_eq!(log.dropped(), dropped);
        check_log(&log, &truth, places, bytes);
        for reader in &mut readers {
            let ended = (0..=truth.len()).any(|_| reader.read(&log, 3));
            prop_assert!(ended, "there are no more pages than events");
            reader.check(&truth);
            prop_assert_eq!(reader.got.last().map(|it| &it.event), truth.last());
        }
    }
}
