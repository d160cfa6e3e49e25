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
