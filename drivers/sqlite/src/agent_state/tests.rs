//! The tables beside plain memory, on a real file, with a crash behind any command.

use std::sync::Arc;

use everstep_machine::agent::ToolOutcome;
use everstep_machine::agent_state::{Caller, Put, Revision, Shelves, Value, Whose, WriteClass};
use everstep_machine::conversation::{Change as LogChange, Tail};
use everstep_machine::digest::Digest;
use everstep_machine::identity::{Epoch, ProducerId, Sequence, StateKey, SubmissionId, ToolName};
use everstep_machine::ledger::{self, Lane, Phase};
use everstep_machine::record::{
    Envelope, Record, Settlement, StoredBatch, SubmissionSettled, ToolPrepared, ToolSettled,
};
use proptest::prelude::*;
use tempfile::TempDir;

use super::*;
use crate::testkit::{desk, lane, row, submission, text};

/// A file with a lane that is owned and a log that is at its epoch, and what it is compared with.
struct File {
    folder: TempDir,
    connection: Connection,
    shelves: Shelves,
    tail: Tail,
    lane: Lane,
    used: Vec<everstep_machine::identity::RecordId>,
}

const NOW: Timestamp = Timestamp(5_000);

fn run() -> RunId {
    RunId::derive(submission(1))
}

fn call(n: u8) -> ToolCallId {
    ToolCallId([n; 16])
}

fn key(n: u8) -> StateKey {
    StateKey::new(&format!("key {n}")).unwrap()
}

fn opened(folder: &TempDir) -> Connection {
    let connection = Connection::open(folder.path().join("db")).unwrap();
    connection.pragma_update(None, "journal_mode", "wal").unwrap();
    // It is processes that die here, and not machines: nobody has to wait for the disk.
    connection.pragma_update(None, "synchronous", "off").unwrap();
    connection
}

impl File {
    fn new() -> Self {
        let folder = TempDir::new().unwrap();
        let connection = opened(&folder);
        crate::format::create(&connection).unwrap();
        let lane = lane();
        let running = Arc::new(row(1, Phase::Ready));
        ledger_write(&connection, &ledger::Change::Lane(lane.clone()));
        ledger_write(&connection, &ledger::Change::Row(running));
        let zero = Digest::ZERO;
        let (epoch, next_sequence) = (lane.epoch, Sequence(0));
        let tail = Tail { epoch, next_sequence, content: zero, chain: zero };
        let (shelves, used) = (Shelves::default(), Vec::new());
        Self { folder, connection, shelves, tail, lane, used }
    }

    /// Appends records in a transaction with what they decide; `commits` or a crash before.
    fn append(&mut self, records: Vec<Record>, commits: bool) {
        let batch = Batch::new(&desk(), records).unwrap();
        let envelope = Envelope {
            conversation: desk(),
            first_sequence: self.tail.next_sequence,
            epoch: self.tail.epoch,
            producer: ProducerId::new("worker").unwrap(),
            committed_at: NOW,
            previous: self.tail.chain,
        };
        let stored = StoredBatch::commit(envelope, batch);
        let tail = Tail {
            epoch: self.tail.epoch,
            next_sequence: stored.next_sequence(),
            content: stored.batch().content(),
            chain: stored.chain(),
        };
        let transaction = self.connection.unchecked_transaction().unwrap();
        let change = LogChange::Commit(Box::new(stored.clone()));
        log::write(&transaction, &desk(), &change, &tail).unwrap();
        close(&transaction, &desk(), stored.batch()).unwrap();
        if commits {
            transaction.commit().unwrap();
            self.tail = tail;
            self.used.extend(stored.batch().record_ids());
            let used = &self.used;
            let closings: Result<Vec<Closing>, ()> =
                closings(stored.batch(), |id| Ok(used.contains(&id)));
            closings.unwrap().into_iter().for_each(|it| self.shelves.close(it));
        } else {
            drop(transaction);
            self.connection = opened(&self.folder);
        }
    }

    fn starts(&mut self, n: u8) {
        let prepared = ToolPrepared {
            submission: submission(1),
            call: call(n),
            epoch: self.lane.epoch,
            tool: ToolName::new("tool").unwrap(),
            parameters: Digest::ZERO,
        };
        let id = Record::start_of(submission(1), call(n), self.lane.epoch);
        if !self.used.contains(&id) {
            self.append(vec![Record::ToolPrepared(prepared)], true);
        }
    }

    /// Somebody else claims the lane and raises the log.
    fn superseded(&mut self) {
        let epoch = self.lane.epoch.next();
        self.lane = Lane { epoch, ..self.lane.clone() };
        self.tail.epoch = epoch;
        ledger_write(&self.connection, &ledger::Change::Lane(self.lane.clone()));
        log::write(&self.connection, &desk(), &LogChange::Raise(epoch), &self.tail).unwrap();
    }

    /// Asks both and compares the answers.
    fn ask(&mut self, command: &Command, commits: bool) -> Result<Reply, Refusal> {
        let guard = guard(&self.connection, command).unwrap();
        let mut other = self.shelves.clone();
        let expected = other.ask(&guard, command, NOW);
        let transaction = self.connection.unchecked_transaction().unwrap();
        let found = ask(&transaction, command, NOW).unwrap();
        assert_eq!(found, expected);
        if commits {
            transaction.commit().unwrap();
            self.shelves = other;
        } else {
            drop(transaction);
            self.connection = opened(&self.folder);
        }
        found
    }

    fn caller(&self, n: u8, start: Epoch) -> Caller {
        Caller { lane: desk(), run: run(), call: call(n), start }
    }

    /// What the file holds is what plain memory holds.
    fn agrees(&self) {
        let mut slots = std::collections::BTreeMap::new();
        each_slot(&self.connection, None, usize::MAX, |it| {
            let (address, slot) = it?;
            slots.insert(address, slot);
            Ok(())
        })
        .unwrap();
        assert_eq!(slots, self.shelves.slots);
        assert_eq!(verify(&self.connection).unwrap(), slots.len() as u64);
        for (scope, expected) in &self.shelves.shelves {
            assert_eq!(shelf(&self.connection, scope).unwrap(), *expected);
        }
        for ((by, address), mark) in &self.shelves.marks {
            let found = slice(&self.connection, address.clone(), Some(*by)).unwrap().mark;
            assert_eq!(found.as_ref(), Some(mark));
        }
        let marks = "SELECT count(*) FROM state_mark";
        let marks: usize = self.connection.query_row(marks, (), |row| row.get(0)).unwrap();
        assert_eq!(marks, self.shelves.marks.len());
    }
}

fn ledger_write(connection: &Connection, change: &ledger::Change) {
    crate::ledger::write(connection, &desk(), change).unwrap();
}

fn ended(n: u8, succeeded: bool) -> Record {
    let outcome = if succeeded {
        ToolOutcome::Success(text("done"))
    } else {
        ToolOutcome::Failure(everstep_machine::agent::Diagnostic::cut("Failed", "no"))
    };
    let (submission, outcome) = (submission(1), Arc::new(outcome));
    Record::ToolSettled(ToolSettled { submission, call: call(n), outcome })
}

fn put(class: WriteClass, k: u8, expected: Option<Revision>, words: &str) -> Put {
    let value = Some(Value { version: 1, json: text(words) });
    Put { key: key(k), class, expected, value }
}

#[test]
fn cap_012_arc_13_a_write_of_a_superseded_start_is_refused_on_the_file() {
    let mut file = File::new();
    file.starts(1);
    let first = file.caller(1, file.lane.epoch);
    let write = |caller: &Caller, words: &str| Command::Put {
        caller: caller.clone(),
        put: put(WriteClass::Uncertain, 1, None, words),
    };
    file.superseded();
    let (start, current) = (first.start, file.lane.epoch);
    let zombie = file.ask(&write(&first, "late"), true);
    assert_eq!(zombie, Err(Refusal::Superseded { start, current }));
    let second = file.caller(1, current);
    assert_eq!(file.ask(&write(&second, "new"), true), Err(Refusal::NotPrepared));
    file.starts(1);
    assert_eq!(file.ask(&write(&second, "new"), true), Ok(Reply::Written(Revision(1))));
    file.append(vec![ended(1, true)], true);
    assert_eq!(file.ask(&write(&second, "new"), true), Err(Refusal::Ended));
    file.agrees();
}

#[test]
fn cap_012_a_call_of_another_tenants_run_does_not_reach_it() {
    let mut file = File::new();
    file.starts(1);
    let stranger = Caller { run: RunId([9; 16]), ..file.caller(1, file.lane.epoch) };
    let get = Command::Get { caller: stranger, whose: Whose::Agent, key: key(1) };
    assert!(matches!(file.ask(&get, true), Err(Refusal::Superseded { .. })));
}

#[test]
fn cap_012_damaged_state_keeps_no_log_from_going_on_and_is_named() {
    let mut file = File::new();
    for n in [1, 2] {
        file.starts(n);
        let caller = file.caller(n, file.lane.epoch);
        let put = put(WriteClass::Canonical, n, None, "new");
        file.ask(&Command::Put { caller, put }, true).unwrap();
    }
    let flip = "UPDATE state_mark SET cell = zeroblob(40) WHERE call = ?1";
    file.connection.execute(flip, [call(1).0]).unwrap();
    let batch = vec![ended(1, true), ended(2, true)];
    file.append(batch, true);
    let found = verify(&file.connection);
    assert!(matches!(found, Err(Trouble::Flawed(Place::State(_), _))), "{found:?}");
    let scope = file.shelves.slots.keys().next().unwrap().scope.clone();
    let at = |n| slot(&file.connection, &Address { scope: scope.clone(), key: key(n) }).unwrap();
    assert_eq!(at(1).hold, Some(call(1)), "it is left as it is");
    assert_eq!(at(2).current.unwrap().value.json, text("new"), "the other one is not");
}

/// One thing that happens, and whether the process lives to see it committed.
#[derive(Clone, Debug)]
enum Act {
    Start(u8),
    Put(u8, u8, WriteClass, u64, bool, bool),
    Stale(u8, u8),
    Get(u8, u8, bool),
    Set(u8, u64, bool),
    End(u8, bool, bool),
    Supersede,
    Settle(bool),
}

fn act() -> impl Strategy<Value = Act> {
    let class = prop::sample::select(WriteClass::ALL.to_vec());
    let lives = || prop::bool::weighted(0.8);
    prop_oneof![
        3 => (0..3_u8).prop_map(Act::Start),
        8 => (0..3_u8, 0..2_u8, class, 0..5_u64, any::<bool>(), lives())
            .prop_map(|(n, k, class, at, value, lives)| Act::Put(n, k, class, at, value, lives)),
        1 => (0..3_u8, 0..2_u8).prop_map(|(n, k)| Act::Stale(n, k)),
        2 => (0..3_u8, 0..2_u8, any::<bool>()).prop_map(|(n, k, own)| Act::Get(n, k, own)),
        1 => (0..2_u8, 0..5_u64, lives()).prop_map(|(k, at, lives)| Act::Set(k, at, lives)),
        2 => (0..3_u8, any::<bool>(), lives()).prop_map(|(n, good, lives)| Act::End(n, good, lives)),
        1 => Just(Act::Supersede),
        1 => lives().prop_map(Act::Settle),
    ]
}

proptest! {
    #![proptest_config(ProptestConfig {
        cases: 48, failure_persistence: None, ..ProptestConfig::default()
    })]

    /// The file answers and holds what plain memory does, whatever is asked and wherever it crashes.
    #[test]
    fn cap_012_the_file_is_what_plain_memory_is_whatever_happens_and_wherever_it_crashes(
        acts in prop::collection::vec(act(), 1..40),
    ) {
        let mut file = File::new();
        let revision = |at: u64| Some(Revision(at)).filter(|it| it.0 > 0);
        let end_of = |n| Record::end_of_call(submission(1), call(n));
        for act in acts {
            let epoch = file.lane.epoch;
            let is_over = file.used.contains(&Record::end_of(submission(1)));
            match act {
                Act::Start(n) if !is_over && !file.used.contains(&end_of(n)) => file.starts(n),
                Act::Start(_) => {}
                Act::Put(n, k, class, at, has_value, lives) => {
                    let mut put = put(class, k, revision(at), "new");
                    put.value = put.value.filter(|_| has_value);
                    let caller = file.caller(n, epoch);
                    let _ = file.ask(&Command::Put { caller, put }, lives);
                }
                Act::Stale(n, k) => {
                    let caller = file.caller(n, Epoch(epoch.0 - 1));
                    let put = put(WriteClass::Uncertain, k, None, "stale");
                    let answer = file.ask(&Command::Put { caller, put }, true);
                    prop_assert!(answer.is_err());
                }
                Act::Get(n, k, own) => {
                    let whose = if own { Whose::Run } else { Whose::Agent };
                    let caller = file.caller(n, epoch);
                    let _ = file.ask(&Command::Get { caller, whose, key: key(k) }, true);
                }
                Act::Set(k, at, lives) => {
                    let put = put(WriteClass::Uncertain, k, revision(at), "set");
                    let of = row(1, Phase::Ready).admission;
                    let (tenant, agent) = (of.tenant.clone(), of.agent.clone());
                    let owner = everstep_machine::agent_state::Owner { tenant, agent };
                    let _ = file.ask(&Command::Set { owner, put }, lives);
                }
                Act::End(n, good, lives) => {
                    if !file.used.contains(&end_of(n)) {
                        file.append(vec![ended(n, good)], lives);
                    }
                }
                Act::Supersede => file.superseded(),
                Act::Settle(lives) => {
                    if !is_over {
                        let submission: SubmissionId = submission(1);
                        let settlement = Settlement::Aborted;
                        let record = SubmissionSettled { submission, run: Some(run()), settlement };
                        file.append(vec![Record::SubmissionSettled(record)], lives);
                    }
                }
            }
            file.agrees();
        }
    }
}
