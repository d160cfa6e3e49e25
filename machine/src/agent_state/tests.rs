//! The rules of state, and what holds whatever calls do and whoever dies.

use alloc::collections::BTreeMap;
use alloc::vec;
use alloc::vec::Vec;

use proptest::prelude::*;

use super::*;
use crate::identity::{
    AgentId, ConversationId, Epoch, RunId, StateKey, SubmissionId, TenantId, Timestamp, ToolCallId,
};
use crate::json::CanonicalJson;
use crate::limits::{CALL_STATE_WRITES, STATE_KEYS, STATE_VALUE_BYTES};

const SUBMISSION: SubmissionId = SubmissionId([1; 16]);

fn run() -> RunId {
    RunId::derive(SUBMISSION)
}

fn call(n: u8) -> ToolCallId {
    ToolCallId([n; 16])
}

fn owner() -> Owner {
    let (tenant, agent) = (TenantId::new("shop").unwrap(), AgentId::new("clerk").unwrap());
    Owner { tenant, agent }
}

fn caller(n: u8, start: u64) -> Caller {
    let lane = ConversationId::new("desk").unwrap();
    Caller { lane, run: run(), call: call(n), start: Epoch(start) }
}

/// A start that may do everything.
fn guard(epoch: u64) -> Guard {
    let work = Some(Work { submission: SUBMISSION, owner: owner() });
    Guard { current: Epoch(epoch), work, is_prepared: true, has_ended: false }
}

fn key(name: &str) -> StateKey {
    StateKey::new(name).unwrap()
}

fn value(text: &str) -> Value {
    Value { version: 1, json: CanonicalJson::string(text).unwrap() }
}

fn put(class: WriteClass, expected: Option<u64>, text: &str) -> Put {
    let expected = expected.map(Revision);
    Put { key: key("k"), class, expected, value: Some(value(text)) }
}

/// What everybody asks in the tests, at the epoch of its start.
fn ask(shelves: &mut Shelves, caller: Caller, put: Put) -> Result<Reply, Refusal> {
    let guard = guard(caller.start.0);
    shelves.ask(&guard, &Command::Put { caller, put }, Timestamp(9))
}

fn read(shelves: &mut Shelves, caller: Caller, whose: Whose) -> Option<(Revision, Value)> {
    let guard = guard(caller.start.0);
    let get = Command::Get { caller, whose, key: key("k") };
    match shelves.ask(&guard, &get, Timestamp(9)).unwrap() {
        Reply::Read(found) => found.map(|it| (it.revision, it.value)),
        Reply::Written(_) => panic!("a reading writes nothing"),
    }
}

fn written(revision: u64) -> Result<Reply, Refusal> {
    Ok(Reply::Written(Revision(revision)))
}

fn sees(revision: u64, text: &str) -> Option<(Revision, Value)> {
    Some((Revision(revision), value(text)))
}

/// A shelf with `old` under the key, at revision 1, by nobody's call.
fn furnished() -> Shelves {
    let mut shelves = Shelves::default();
    let set = Command::Set { owner: owner(), put: put(WriteClass::Uncertain, None, "old") };
    shelves.ask(&Guard::default(), &set, Timestamp(1)).unwrap();
    shelves
}

fn end(shelves: &mut Shelves, n: u8, succeeded: bool) {
    shelves.close(Closing::Call { call: call(n), succeeded });
}

#[test]
fn cap_012_what_is_canonical_is_seen_by_others_with_the_success_of_its_call_and_never_otherwise() {
    for succeeds in [true, false] {
        let mut shelves = furnished();
        let new = put(WriteClass::Canonical, Some(1), "new");
        assert_eq!(ask(&mut shelves, caller(1, 3), new), written(2));
        assert_eq!(read(&mut shelves, caller(1, 3), Whose::Agent), sees(2, "new"), "its own");
        assert_eq!(read(&mut shelves, caller(2, 3), Whose::Agent), sees(1, "old"));
        end(&mut shelves, 1, succeeds);
        let after = if succeeds { sees(2, "new") } else { sees(1, "old") };
        assert_eq!(read(&mut shelves, caller(2, 3), Whose::Agent), after);
        assert!(shelves.marks.is_empty());
    }
}

#[test]
fn cap_012_what_is_compensatable_is_seen_at_once_and_taken_back_if_its_call_fails() {
    for succeeds in [true, false] {
        let mut shelves = furnished();
        let new = put(WriteClass::Compensatable, Some(1), "new");
        assert_eq!(ask(&mut shelves, caller(1, 3), new), written(2));
        assert_eq!(read(&mut shelves, caller(2, 3), Whose::Agent), sees(2, "new"));
        end(&mut shelves, 1, succeeds);
        let after = if succeeds { sees(2, "new") } else { sees(1, "old") };
        assert_eq!(read(&mut shelves, caller(2, 3), Whose::Agent), after);
    }
}

#[test]
fn cap_012_what_is_uncertain_is_seen_at_once_and_stays() {
    let mut shelves = furnished();
    let new = put(WriteClass::Uncertain, Some(1), "new");
    assert_eq!(ask(&mut shelves, caller(1, 3), new), written(2));
    let other = put(WriteClass::Uncertain, Some(2), "newer");
    assert_eq!(ask(&mut shelves, caller(2, 3), other), written(3), "nothing is held");
    end(&mut shelves, 1, false);
    assert_eq!(read(&mut shelves, caller(3, 3), Whose::Agent), sees(3, "newer"));
}

#[test]
fn cap_012_what_is_run_local_is_its_runs_alone_and_gone_when_that_settles() {
    let mut shelves = furnished();
    let new = put(WriteClass::RunLocal, None, "mine");
    assert_eq!(ask(&mut shelves, caller(1, 3), new), written(1));
    assert_eq!(read(&mut shelves, caller(2, 3), Whose::Run), sees(1, "mine"));
    assert_eq!(read(&mut shelves, caller(2, 3), Whose::Agent), sees(1, "old"));
    end(&mut shelves, 1, false);
    assert_eq!(read(&mut shelves, caller(2, 3), Whose::Run), sees(1, "mine"));
    shelves.close(Closing::Run(run()));
    assert_eq!(read(&mut shelves, caller(2, 3), Whose::Run), None);
    assert_eq!(shelves, furnished(), "nothing else is gone, and nothing else is left");
}

#[test]
fn cap_012_a_conflict_names_what_was_expected_and_what_was_found() {
    let mut shelves = furnished();
    for class in [WriteClass::Canonical, WriteClass::Compensatable, WriteClass::Uncertain] {
        for expected in [None, Some(7)] {
            let refused = ask(&mut shelves, caller(1, 3), put(class, expected, "new"));
            let (expected, found) = (expected.map(Revision), Some(Revision(1)));
            assert_eq!(refused, Err(Refusal::Conflict { expected, found }));
        }
    }
    let refusal = Refusal::Conflict { expected: None, found: Some(Revision(1)) };
    assert_eq!(alloc::format!("{refusal}"), "expected nothing, found revision 1");
    assert_eq!(shelves, furnished());
}

#[test]
fn cap_012_what_is_not_decided_is_written_by_nobody_else() {
    for class in [WriteClass::Canonical, WriteClass::Compensatable] {
        let mut shelves = furnished();
        ask(&mut shelves, caller(1, 3), put(class, Some(1), "new")).unwrap();
        let by = call(1);
        for expected in [Some(1), Some(2)] {
            let other = put(WriteClass::Uncertain, expected, "other");
            assert_eq!(ask(&mut shelves, caller(2, 3), other.clone()), Err(Refusal::Held { by }));
            let set = Command::Set { owner: owner(), put: other };
            let refused = shelves.ask(&Guard::default(), &set, Timestamp(9));
            assert_eq!(refused, Err(Refusal::Held { by }));
        }
    }
}

#[test]
fn cap_012_a_call_that_starts_again_reads_the_same_writes_the_same_and_is_answered_the_same() {
    for class in WriteClass::ALL {
        let mut shelves = furnished();
        let (whose, first) = match class {
            WriteClass::RunLocal => (Whose::Run, None),
            _ => (Whose::Agent, Some(1)),
        };
        let before = read(&mut shelves, caller(1, 3), whose);
        let new = put(class, first, "new");
        let answer = ask(&mut shelves, caller(1, 3), new.clone()).unwrap();
        let once = shelves.slots.clone();
        // Its owner dies. The next one starts it again.
        assert_eq!(read(&mut shelves, caller(1, 5), whose), before, "{class:?}");
        assert_eq!(ask(&mut shelves, caller(1, 5), new.clone()), Ok(answer.clone()), "{class:?}");
        assert_eq!(shelves.slots, once, "{class:?}: nothing is written twice");
        let Reply::Written(revision) = answer else { panic!("it was written") };
        let now = read(&mut shelves, caller(1, 5), whose);
        assert_eq!(now, Some((revision, value("new"))), "{class:?}: it has said it");
        let other = Put { value: Some(value("other")), ..new };
        assert_eq!(ask(&mut shelves, caller(1, 5), other), Err(Refusal::Otherwise), "{class:?}");
    }
}

#[test]
fn cap_012_what_is_removed_is_gone_and_its_revision_is_not_given_again() {
    let mut shelves = furnished();
    let remove = |class| Put { value: None, ..put(class, Some(1), "") };
    assert_eq!(ask(&mut shelves, caller(1, 3), remove(WriteClass::Canonical)), written(2));
    assert_eq!(read(&mut shelves, caller(2, 3), Whose::Agent), sees(1, "old"));
    end(&mut shelves, 1, true);
    assert!(shelves.slots.is_empty());
    let again = put(WriteClass::Uncertain, None, "again");
    assert_eq!(ask(&mut shelves, caller(2, 3), again), written(3));
    let nothing = Put { key: key("none"), expected: None, ..remove(WriteClass::Uncertain) };
    assert_eq!(ask(&mut shelves, caller(3, 3), nothing), Err(Refusal::Nothing));
}

#[test]
fn cap_012_who_is_superseded_has_ended_or_never_started_writes_nothing() {
    let mut shelves = furnished();
    let new =
        Command::Put { caller: caller(1, 3), put: put(WriteClass::Uncertain, Some(1), "new") };
    let refused = |shelves: &mut Shelves, guard: Guard| shelves.ask(&guard, &new, Timestamp(9));
    let superseded =
        |current| Err(Refusal::Superseded { start: Epoch(3), current: Epoch(current) });
    assert_eq!(refused(&mut shelves, guard(4)), superseded(4));
    let idle = Guard { work: None, ..guard(3) };
    assert_eq!(refused(&mut shelves, idle), superseded(3));
    let work = Some(Work { submission: SubmissionId([2; 16]), owner: owner() });
    assert_eq!(refused(&mut shelves, Guard { work, ..guard(3) }), superseded(3));
    let unprepared = Guard { is_prepared: false, ..guard(3) };
    assert_eq!(refused(&mut shelves, unprepared), Err(Refusal::NotPrepared));
    let ended = Guard { has_ended: true, ..guard(3) };
    assert_eq!(refused(&mut shelves, ended), Err(Refusal::Ended));
    assert_eq!(shelves, furnished());
}

#[test]
fn cap_012_who_is_no_call_says_that_nothing_depends_on_its_write() {
    let mut shelves = Shelves::default();
    for class in [WriteClass::RunLocal, WriteClass::Canonical, WriteClass::Compensatable] {
        let set = Command::Set { owner: owner(), put: put(class, None, "new") };
        let refused = shelves.ask(&Guard::default(), &set, Timestamp(9));
        assert_eq!(refused, Err(Refusal::NeedsCall { class }));
    }
}

#[test]
fn cap_012_values_keys_and_writes_are_bounded() {
    let mut shelves = furnished();
    let fits = "x".repeat(STATE_VALUE_BYTES - 2);
    let bytes = STATE_VALUE_BYTES + 1;
    let large = put(WriteClass::Uncertain, Some(1), &alloc::format!("{fits}x"));
    assert_eq!(ask(&mut shelves, caller(1, 3), large), Err(Refusal::TooLarge { bytes }));
    ask(&mut shelves, caller(1, 3), put(WriteClass::Uncertain, Some(1), &fits)).unwrap();
    for n in 1..CALL_STATE_WRITES {
        let key = key(&alloc::format!("{n}"));
        let more = Put { key, ..put(WriteClass::Uncertain, None, "") };
        ask(&mut shelves, caller(1, 3), more).unwrap();
    }
    let more = Put { key: key("more"), ..put(WriteClass::Uncertain, None, "") };
    assert_eq!(ask(&mut shelves, caller(1, 3), more.clone()), Err(Refusal::TooManyWrites));
    let scope = Scope::Agent(owner());
    let keys = u32::try_from(STATE_KEYS).unwrap();
    shelves.shelves.insert(scope, Shelf { last: Revision(99), keys });
    assert_eq!(ask(&mut shelves, caller(2, 3), more), Err(Refusal::Full));
    let over = put(WriteClass::Uncertain, Some(2), "there is room for what is there");
    assert_eq!(ask(&mut shelves, caller(2, 3), over), written(100));
}

/// One thing that happens.
#[derive(Clone, Debug)]
enum Act {
    /// A call writes a key, over what it reads there, a text that follows from both.
    Write(u8, u8, WriteClass, bool),
    /// A call writes over a revision that it has made up.
    Guess(u8, u8, WriteClass, u64),
    /// A call ends.
    End(u8, bool),
    /// Whoever owns the lane dies, and every call is started again.
    Die,
    /// The submission settles.
    Settle,
}

fn act() -> impl Strategy<Value = Act> {
    let class = || prop::sample::select(WriteClass::ALL.to_vec());
    let write = (0..4_u8, 0..3_u8, class(), any::<bool>());
    prop_oneof![
        6 => write.prop_map(|(call, key, class, removes)| Act::Write(call, key, class, removes)),
        1 => (0..4_u8, 0..3_u8, class(), 0..9_u64).prop_map(|(c, k, class, at)| Act::Guess(c, k, class, at)),
        2 => (0..4_u8, any::<bool>()).prop_map(|(call, good)| Act::End(call, good)),
        2 => Just(Act::Die),
        1 => Just(Act::Settle),
    ]
}

proptest! {
    #![proptest_config(crate::record::strategies::cases(600))]

    /// Whatever calls do and whoever dies: a call that does the same again is answered the same; no
    /// revision is given twice; what fails leaves no trace unless it said so; what is held is held by
    /// a call that is open; and keys are counted.
    #[test]
    fn cap_012_whatever_happens_nothing_is_written_twice_and_nothing_is_held_for_nobody(
        acts in prop::collection::vec(act(), 0..60),
    ) {
        let mut shelves = Shelves::default();
        let (mut epoch, mut generation) = (1, [0_u8; 4]);
        // What each call was answered for each key, and what was there before.
        let mut said: BTreeMap<(ToolCallId, u8, bool), (Put, Revision)> = BTreeMap::new();
        let mut given: Vec<(Scope, Revision)> = vec![];
        for act in acts {
            let before = shelves.clone();
            let id = |n: u8, generation: &[u8; 4]| n + 10 * (1 + generation[usize::from(n)] % 20);
            match act {
                Act::Write(n, k, class, removes) => {
                    let of = caller(id(n, &generation), epoch);
                    let key = key(&alloc::format!("{k}"));
                    let is_local = class == WriteClass::RunLocal;
                    let whose = if is_local { Whose::Run } else { Whose::Agent };
                    let get = Command::Get { caller: of.clone(), whose, key: key.clone() };
                    let Ok(Reply::Read(seen)) = shelves.ask(&guard(epoch), &get, Timestamp(0)) else {
                        panic!("a reading is answered");
                    };
                    let expected = seen.as_ref().map(|it| it.revision);
                    let text = alloc::format!("{n} over {expected:?}");
                    let value = Some(value(&text)).filter(|_| !removes);
                    let put = Put { key, class, expected, value };
                    let answer = ask(&mut shelves, of.clone(), put.clone());
                    let at = (of.call, k, is_local);
                    match answer {
                        Ok(Reply::Written(revision)) => match said.get(&at) {
                            Some((same, first)) => {
                                prop_assert_eq!(&put, same);
                                prop_assert_eq!(revision, *first);
                                prop_assert_eq!(&shelves.slots, &before.slots);
                            }
                            None => {
                                let scope = if is_local { Scope::Run(run()) } else { Scope::Agent(owner()) };
                                let latest = given.iter().filter(|it| it.0 == scope).map(|it| it.1).max();
                                prop_assert!(latest.is_none_or(|it| it < revision));
                                given.push((scope, revision));
                                said.insert(at, (put, revision));
                            }
                        },
                        Ok(Reply::Read(_)) => prop_assert!(false, "a write is no reading"),
                        Err(_) => prop_assert_eq!(&shelves, &before),
                    }
                }
                Act::Guess(n, k, class, at) => {
                    let of = caller(id(n, &generation), epoch);
                    let put = Put { key: key(&alloc::format!("{k}")), ..put(class, Some(at), "guess") };
                    let is_said = said.contains_key(&(of.call, k, class == WriteClass::RunLocal));
                    match ask(&mut shelves, of.clone(), put.clone()) {
                        Err(_) => prop_assert_eq!(&shelves, &before),
                        Ok(Reply::Written(revision)) if !is_said => {
                            let is_local = class == WriteClass::RunLocal;
                            let scope = if is_local { Scope::Run(run()) } else { Scope::Agent(owner()) };
                            given.push((scope, revision));
                            said.insert((of.call, k, is_local), (put, revision));
                        }
                        Ok(_) => prop_assert_eq!(&shelves.slots, &before.slots),
                    }
                }
                Act::End(n, succeeded) => {
                    let call = call(id(n, &generation));
                    shelves.close(Closing::Call { call, succeeded });
                    prop_assert!(shelves.marks.keys().all(|(by, _)| *by != call));
                    said.retain(|(by, ..), _| *by != call);
                    generation[usize::from(n)] += 1;
                }
                Act::Die => epoch += 1,
                Act::Settle => {
                    shelves.close(Closing::Run(run()));
                    // Its calls have ended by then, or are never started again.
                    for n in 0..4 {
                        shelves.close(Closing::Call { call: call(id(n, &generation)), succeeded: false });
                        generation[usize::from(n)] += 1;
                    }
                    said.clear();
                    given.retain(|(scope, _)| *scope != Scope::Run(run()));
                    prop_assert!(shelves.marks.is_empty());
                    prop_assert!(shelves.slots.values().all(|slot| slot.hold.is_none()));
                }
            }
            for (scope, shelf) in &shelves.shelves {
                let keys = shelves.slots.keys().filter(|it| it.scope == *scope).count();
                prop_assert_eq!(shelf.keys as usize, keys);
            }
            for (address, slot) in &shelves.slots {
                prop_assert!(!slot.is_blank());
                if let Some(by) = slot.hold {
                    prop_assert!(shelves.marks.contains_key(&(by, address.clone())));
                }
            }
        }
    }
}
