//! Any commands of any writers, in any order.

use proptest::prelude::*;

use super::*;

/// One command, chosen without knowing the log. `skew` is how far its epoch is from the log's,
/// `tail` how many tails ago its writer read; mostly neither is wrong.
#[derive(Clone, Debug)]
enum Act {
    Materialize { skew: i64, agent: &'static str },
    Fence { skew: i64, tail: usize },
    Append { skew: i64, tail: usize, numbers: Vec<u8>, text: &'static str },
    Clock(u64),
}

fn act() -> impl Strategy<Value = Act> {
    let skew = || prop_oneof![4 => Just(0_i64), 1 => -2..3_i64];
    let tail = || prop_oneof![4 => Just(0_usize), 1 => 0..4_usize];
    let numbers = prop::collection::vec(0..24_u8, 1..4);
    let text = prop_oneof![4 => Just("hello"), 1 => Just("other")];
    let agent = prop_oneof![Just("clerk"), Just("chef")];
    prop_oneof![
        1 => (skew(), agent).prop_map(|(skew, agent)| Act::Materialize { skew, agent }),
        1 => (-1..3_i64, tail()).prop_map(|(skew, tail)| Act::Fence { skew, tail }),
        8 => (skew(), tail(), numbers, text)
            .prop_map(|(skew, tail, numbers, text)| Act::Append { skew, tail, numbers, text }),
        1 => any::<u64>().prop_map(Act::Clock),
    ]
}

impl Act {
    /// `tails` are all tails so far, the newest first.
    fn command(&self, log: &Log, tails: &[TailRef]) -> Option<Command> {
        let seen = |index: usize| tails[index.min(tails.len() - 1)];
        let current = log.tail.map_or(0, |tail| tail.epoch.0);
        let epoch = |skew: i64| current.saturating_add_signed(skew);
        Some(match self {
            Self::Materialize { skew, agent } => {
                materialize(epoch(*skew), batch(Vec::from([creation(&desk(), agent)])))
            }
            Self::Fence { skew, tail } => fence(epoch(*skew), seen(*tail)),
            Self::Append { skew, tail, numbers, text } => {
                let records = numbers.iter().map(|n| input(*n, text)).collect();
                append(epoch(*skew), seen(*tail), batch(records))
            }
            Self::Clock(_) => return None,
        })
    }

    fn clock(&self, now: Timestamp) -> Timestamp {
        if let Self::Clock(jump) = self { Timestamp(*jump) } else { now }
    }
}

/// What must hold between two states of a log, whatever happened.
fn only_grows(before: &Log, after: &Log) {
    assert!(after.batches.starts_with(&before.batches), "a log keeps what it holds");
    if let (Some(before), Some(after)) = (before.tail, after.tail) {
        assert!(before.epoch <= after.epoch && before.next_sequence <= after.next_sequence);
    }
    assert!(before.tail.is_none() || after.tail.is_some());
}

fn check_answer(before: &Log, log: &mut Log, command: Command, answer: Result<Reply, Refusal>) {
    let grew = before.batches.len() != log.batches.len();
    match (&command, answer) {
        (Command::Append { epoch, .. }, Ok(_)) => assert_eq!(*epoch, log.tail().epoch),
        (Command::Fence { .. }, Ok(_)) => assert!(!grew),
        (_, Err(_)) => assert_eq!(before, log, "a refusal changes nothing"),
        (Command::Materialize { .. }, Ok(_)) => assert_eq!(grew, before.tail.is_none()),
    }
    if answer.is_ok() {
        assert_eq!(log.again(command), answer, "a replay is answered as the first time");
    }
}

proptest! {
    #![proptest_config(ProptestConfig {
        cases: 256, failure_persistence: None, ..ProptestConfig::default()
    })]

    #[test]
    fn dur_007_whatever_is_sent_the_log_is_one_verified_chain(
        acts in prop::collection::vec(act(), 1..60),
    ) {
        let mut log = Log::absent();
        let mut tails = Vec::from([TailRef { next_sequence: Sequence(0), content: Digest::ZERO }]);
        for act in acts {
            let before = log.clone();
            match act.command(&log, &tails) {
                None => log.now = act.clock(log.now),
                Some(command) => {
                    let answer = log.send(command.clone());
                    check_answer(&before, &mut log, command, answer);
                }
            }
            only_grows(&before, &log);
            if log.tail.is_some_and(|tail| tail.reference() != tails[0]) {
                tails.insert(0, log.end());
            }
        }
        log.verify();
        let mut ids: Vec<_> =
            log.batches.iter().flat_map(|it| it.batch().record_ids().to_vec()).collect();
        let all = ids.len();
        ids.sort_unstable();
        ids.dedup();
        prop_assert_eq!(ids.len(), all, "a record is canonical once");
    }
}
