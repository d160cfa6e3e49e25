use alloc::vec::Vec;

use super::{Messages, PIECE};
use crate::agent::Message;
use crate::identity::Sequence;
use crate::json::CanonicalJson;

fn message(n: u64) -> Message {
    Message::User(CanonicalJson::string(&alloc::format!("message {n}")).unwrap())
}

fn list(n: u64) -> Messages {
    (0..n).map(|n| (Sequence(n), message(n))).collect()
}

#[test]
fn arc_04_messages_come_out_in_the_order_they_went_in() {
    for n in [0, 1, 63, 64, 65, 1_000] {
        let messages = list(n);
        assert_eq!((messages.len() as u64, messages.is_empty()), (n, n == 0));
        let expected: Vec<_> = (0..n).map(|n| (Sequence(n), message(n))).collect();
        assert_eq!(messages.entries().cloned().collect::<Vec<_>>(), expected);
        let backwards: Vec<_> = messages.backwards().cloned().collect();
        assert_eq!(backwards.into_iter().rev().collect::<Vec<_>>(), expected);
        let bytes: usize = messages.iter().map(Message::bytes).sum();
        assert_eq!(messages.bytes(), bytes as u64);
    }
}

#[test]
fn arc_04_a_copy_stays_as_it_was() {
    let mut messages = list(100);
    let before = messages.clone();
    messages.push(Sequence(100), message(100));
    assert_eq!((before.len(), messages.len()), (100, 101));
    assert_eq!(
        (before == messages, before == list(100), messages == list(101)),
        (false, true, true)
    );
}

#[test]
fn arc_04_a_long_list_is_dropped_without_a_long_stack() {
    let last = (PIECE as u64) * 100_000;
    let mut messages = Messages::default();
    for n in 0..last {
        messages.push(Sequence(n), Message::User(CanonicalJson::string("").unwrap()));
    }
    assert_eq!(messages.len() as u64, last);
    drop(messages);
}

#[test]
fn cap_017_a_count_holds_for_what_was_there_and_grows_by_what_comes_after() {
    let counted = |messages: &Messages| messages.counted().map(|it| (it.tokens, it.bytes_since));
    let mut messages = list(70);
    assert_eq!(counted(&messages), None);
    messages.count(500);
    assert_eq!(counted(&messages), Some((500, 0)));
    let copy = messages.clone();
    messages.push(Sequence(70), message(70));
    assert_eq!(counted(&messages), Some((500, message(70).bytes() as u64)));
    assert_eq!((counted(&copy), copy == list(70)), (Some((500, 0)), false));
    messages.count(900);
    assert_eq!(counted(&messages), Some((900, 0)));
    messages.uncount();
    assert_eq!((counted(&messages), messages == list(71)), (None, true));
}
