//! The rules of sessions, and what holds whatever is asked.

use alloc::collections::BTreeMap;
use alloc::vec;
use alloc::vec::Vec;

use proptest::prelude::*;

use super::*;
use crate::contract::Machine;
use crate::identity::{ConversationId, Revision, SessionId, TenantId, Timestamp};
use crate::json::CanonicalJson;
use crate::limits::{SESSION_CONVERSATIONS, SESSION_METADATA_BYTES, SESSIONS};

fn named(name: &str) -> SessionId {
    SessionId::new(name).unwrap()
}

fn talk(n: usize) -> ConversationId {
    ConversationId::new(&alloc::format!("talk {n}")).unwrap()
}

fn metadata(text: &str) -> Metadata {
    Metadata { version: 1, json: CanonicalJson::string(text).unwrap() }
}

fn draft(text: &str) -> Draft {
    let tenant = TenantId::new("shop").unwrap();
    Draft { tenant, metadata: metadata(text), conversations: vec![talk(0)] }
}

/// Every session there is, in plain memory.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
struct Room {
    shelf: Shelf,
    sessions: BTreeMap<SessionId, Session>,
}

impl Room {
    fn ask(&mut self, command: Command, now: u64) -> Result<Session, Refusal> {
        let session = self.sessions.get(command.id()).cloned();
        let slice = Slice { shelf: self.shelf, session };
        let step = Sessions::step(slice, Stamped { command, now: Timestamp(now) });
        let mut answer = None;
        for effect in step.effects {
            assert!(answer.is_none(), "the answer comes last");
            match effect {
                Effect::Change(Change::Shelf(shelf)) => self.shelf = shelf,
                Effect::Change(Change::Put(it)) => drop(self.sessions.insert(it.id.clone(), it)),
                Effect::Change(Change::Delete(id)) => drop(self.sessions.remove(&id)),
                Effect::Reply(session) => answer = Some(Ok(session)),
                Effect::Refuse(why) => answer = Some(Err(why)),
            }
        }
        answer.expect("one answer")
    }

    fn create(&mut self, name: &str, text: &str) -> Result<Session, Refusal> {
        self.ask(Command::Create { id: named(name), draft: draft(text) }, 10)
    }

    fn update(&mut self, expected: u64, patch: Patch) -> Result<Session, Refusal> {
        let expected = Revision(expected);
        self.ask(Command::Update { id: named("a"), expected, patch }, 20)
    }
}

#[test]
fn cap_012_a_session_is_changed_by_who_has_seen_it_and_a_conflict_names_both_revisions() {
    let mut room = Room::default();
    assert_eq!(room.create("a", "one").unwrap().revision, Revision(1));
    let patch = Patch { metadata: Some(metadata("two")), ..Patch::default() };
    assert_eq!(room.update(1, patch.clone()).unwrap().revision, Revision(2));
    let (expected, found) = (Revision(1), Revision(2));
    assert_eq!(room.update(1, patch), Err(Refusal::Conflict { expected, found }));
    let delete = Command::Delete { id: named("a"), expected };
    assert_eq!(room.ask(delete, 30), Err(Refusal::Conflict { expected, found }));
    assert_eq!(room.sessions[&named("a")].metadata, metadata("two"));
}

#[test]
fn cap_012_a_creation_that_is_sent_again_is_answered_as_the_first_time_until_something_changes() {
    let mut room = Room::default();
    let first = room.create("a", "one").unwrap();
    assert_eq!(room.create("a", "one"), Ok(first));
    let found = Revision(1);
    assert_eq!(room.create("a", "other"), Err(Refusal::Exists { found }));
    room.update(1, Patch::default()).unwrap();
    assert_eq!(room.create("a", "one"), Err(Refusal::Exists { found: Revision(2) }));
}

#[test]
fn cap_012_a_name_that_is_made_again_has_a_revision_that_nobody_has_seen() {
    let mut room = Room::default();
    room.create("a", "one").unwrap();
    room.ask(Command::Delete { id: named("a"), expected: Revision(1) }, 20).unwrap();
    assert_eq!(room.update(1, Patch::default()), Err(Refusal::Absent));
    assert_eq!(room.create("a", "one").unwrap().revision, Revision(2));
    let (expected, found) = (Revision(1), Revision(2));
    assert_eq!(room.update(1, Patch::default()), Err(Refusal::Conflict { expected, found }));
}

#[test]
fn cap_012_conversations_are_added_and_removed_each_once() {
    let mut room = Room::default();
    room.create("a", "one").unwrap();
    let patch = Patch { add: vec![talk(1), talk(0)], ..Patch::default() };
    let session = room.update(1, patch).unwrap();
    assert_eq!(session.conversations, [talk(0), talk(1)]);
    let remove = Patch { remove: vec![talk(0)], ..Patch::default() };
    assert_eq!(room.update(2, remove.clone()).unwrap().conversations, [talk(1)]);
    assert_eq!(room.update(3, remove), Err(Refusal::NotThere));
    let twice = Patch { add: vec![talk(2), talk(2)], ..Patch::default() };
    assert_eq!(room.update(3, twice), Err(Refusal::Twice));
    let both = Patch { add: vec![talk(1)], remove: vec![talk(1)], ..Patch::default() };
    assert_eq!(room.update(3, both), Err(Refusal::Twice));
}

#[test]
fn cap_012_a_session_is_bounded() {
    let mut room = Room::default();
    let fits = "x".repeat(SESSION_METADATA_BYTES - 2);
    room.create("a", &fits).unwrap();
    let bytes = SESSION_METADATA_BYTES + 1;
    assert_eq!(room.create("b", &alloc::format!("{fits}x")), Err(Refusal::TooLarge { bytes }));
    let all = |n: usize| Patch { add: (0..n).map(talk).collect(), ..Patch::default() };
    assert_eq!(room.update(1, all(SESSION_CONVERSATIONS + 1)), Err(Refusal::TooMany));
    room.update(1, all(SESSION_CONVERSATIONS)).unwrap();
    room.shelf.sessions = u32::try_from(SESSIONS).unwrap();
    assert_eq!(room.create("b", "one"), Err(Refusal::Full));
}

#[derive(Clone, Debug)]
enum Act {
    Create(u8, u8),
    Update(u8, u64, Vec<u8>, Vec<u8>),
    Delete(u8, u64),
}

fn act() -> impl Strategy<Value = Act> {
    let few = || prop::collection::vec(0..4_u8, 0..3);
    prop_oneof![
        (0..3_u8, 0..2_u8).prop_map(|(id, text)| Act::Create(id, text)),
        (0..3_u8, 0..6_u64, few(), few()).prop_map(|(id, at, a, b)| Act::Update(id, at, a, b)),
        (0..3_u8, 0..6_u64).prop_map(|(id, at)| Act::Delete(id, at)),
    ]
}

proptest! {
    #![proptest_config(crate::record::strategies::cases(400))]

    #[test]
    fn cap_012_whatever_is_asked_revisions_only_rise_and_a_refusal_changes_nothing(
        acts in prop::collection::vec(act(), 0..40),
    ) {
        let (mut room, mut given) = (Room::default(), Vec::new());
        for (now, act) in (0..).zip(acts) {
            let id = |n: u8| named(&alloc::format!("{n}"));
            let talks = |all: Vec<u8>| all.into_iter().map(|n| talk(n.into())).collect();
            let command = match act {
                Act::Create(n, text) => Command::Create { id: id(n), draft: draft(&alloc::format!("{text}")) },
                Act::Update(n, at, add, remove) => {
                    let patch = Patch { metadata: None, add: talks(add), remove: talks(remove) };
                    Command::Update { id: id(n), expected: Revision(at), patch }
                }
                Act::Delete(n, at) => Command::Delete { id: id(n), expected: Revision(at) },
            };
            let before = room.clone();
            let answer = room.ask(command.clone(), now);
            if answer.is_err() {
                prop_assert_eq!(&room, &before);
            }
            if room.shelf.last != before.shelf.last {
                let revision = answer.unwrap().revision;
                prop_assert!(given.last().is_none_or(|last| *last < revision));
                given.push(revision);
            }
            prop_assert_eq!(room.shelf.sessions as usize, room.sessions.len());
            for session in room.sessions.values() {
                let mut names = session.conversations.clone();
                names.sort();
                names.dedup();
                prop_assert_eq!(names.len(), session.conversations.len());
            }
        }
    }
}
