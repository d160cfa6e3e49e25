//! What is kept beside lanes and logs: the machines themselves pass, and what breaks a rule is found.

use std::sync::{Arc, Mutex};

use everstep_machine::agent_state::{self, Address, Command, Slot};
use everstep_machine::digest::Digest;
use everstep_machine::identity::{ConversationId, SessionId, Timestamp};
use everstep_machine::session::{self, Session};
use everstep_machine::store::{Pipeline, Replies, Store, StoreCommand, StoreFault};

use crate::conformance::{Beside, Check, Everything, Finding, Subject, check_beside, race_beside};

/// What a store does wrong.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Wrong {
    Nothing,
    /// An append does not do what its batch decides about state.
    LeavesOpen,
    /// Every start is taken for the one that may write.
    AsksNobody,
    /// Artifacts are not kept.
    DropsArtifacts,
    /// A change of a session is answered and not written.
    DropsSessions,
    /// Reading and writing are two transactions.
    ReadsBeforeItLocks,
}

/// One handle.
#[derive(Clone)]
struct Drawer(Arc<Mutex<Everything>>, Wrong);

impl Drawer {
    fn memory(&self) -> Everything {
        self.0.lock().unwrap().clone()
    }

    /// Does something in two transactions instead of one.
    fn slowly<T>(&self, act: impl FnOnce(&mut Everything) -> T) -> T {
        let mut copy = self.memory();
        let answer = act(&mut copy);
        (0..500).for_each(|_| std::thread::yield_now());
        *self.0.lock().unwrap() = copy;
        answer
    }
}

impl Store for Drawer {
    fn execute(&mut self, pipeline: &Pipeline) -> Result<Replies, StoreFault> {
        let mut memory = self.0.lock().unwrap();
        let before = memory.clone();
        let answer = memory.execute(pipeline);
        let appends =
            pipeline.commands.iter().any(|it| matches!(it, StoreCommand::Conversation(_)));
        if self.1 == Wrong::LeavesOpen && appends {
            memory.put_back_state(&before);
        }
        answer
    }
}

impl Beside for Drawer {
    fn ask_state(
        &mut self,
        command: &Command,
    ) -> Result<Result<agent_state::Reply, agent_state::Refusal>, StoreFault> {
        let mut command = command.clone();
        if let (Wrong::AsksNobody, Command::Put { caller, .. } | Command::Get { caller, .. }) =
            (self.1, &mut command)
        {
            let lanes = self.memory();
            let mut shelves = lanes.lanes().shelves();
            caller.start = shelves.next().map_or(caller.start, |(_, it)| it.lane().epoch);
        }
        if self.1 == Wrong::ReadsBeforeItLocks {
            return self.slowly(|it| it.ask_state(&command));
        }
        self.0.lock().unwrap().ask_state(&command)
    }

    fn slot(&mut self, address: &Address) -> Result<Slot, StoreFault> {
        self.0.lock().unwrap().slot(address)
    }

    fn ask_session(
        &mut self,
        command: &session::Command,
    ) -> Result<Result<Session, session::Refusal>, StoreFault> {
        let mut memory = self.0.lock().unwrap();
        if self.1 == Wrong::DropsSessions && matches!(command, session::Command::Update { .. }) {
            return memory.clone().ask_session(command);
        }
        memory.ask_session(command)
    }

    fn session(&mut self, id: &SessionId) -> Result<Option<Session>, StoreFault> {
        self.0.lock().unwrap().session(id)
    }

    fn artifact(
        &mut self,
        conversation: &ConversationId,
        digest: Digest,
    ) -> Result<Option<Vec<u8>>, StoreFault> {
        let found = self.0.lock().unwrap().artifact(conversation, digest)?;
        Ok(found.filter(|_| self.1 != Wrong::DropsArtifacts))
    }
}

struct Cabinet(Drawer);

impl Cabinet {
    fn of(wrong: Wrong) -> Self {
        Self(Drawer(Arc::default(), wrong))
    }
}

impl Subject for Cabinet {
    type Store = Drawer;

    fn fresh(&mut self) -> Drawer {
        let now = self.0.memory().lanes().now();
        *self.0.0.lock().unwrap() = Everything::at(now);
        self.reopen()
    }

    fn reopen(&mut self) -> Drawer {
        self.0.clone()
    }

    fn set_clock(&mut self, now: Timestamp) {
        self.0.0.lock().unwrap().set_clock(now);
    }
}

fn found(wrong: Wrong) -> Finding {
    check_beside(&mut Cabinet::of(wrong), 1, 20).expect_err("the store is broken")
}

#[test]
fn cap_012_the_machines_on_memory_keep_state_sessions_and_artifacts() {
    let mut cabinet = Cabinet::of(Wrong::Nothing);
    let report = check_beside(&mut cabinet, 1, 60).unwrap_or_else(|it| panic!("{it}"));
    assert!(report.crashes > 20 && report.refusals > 500, "{report:?}");
    let report = race_beside(&mut cabinet, 1, 60).unwrap_or_else(|it| panic!("{it}"));
    assert!(report.contests > 5, "{report:?}");
}

#[test]
fn cap_012_a_store_that_does_not_do_what_a_batch_decides_is_found() {
    let finding = found(Wrong::LeavesOpen);
    assert_eq!(finding.check, Check::Handles, "{finding}");
    assert!(finding.script.len() <= 6, "{finding}");
}

#[test]
fn cap_012_dur_006_a_store_that_lets_a_superseded_start_write_is_found() {
    let finding = found(Wrong::AsksNobody);
    assert!(finding.expected.contains("Superseded"), "{finding}");
}

#[test]
fn store_009_a_store_that_drops_artifacts_is_found() {
    let finding = found(Wrong::DropsArtifacts);
    assert!(finding.found.contains("None"), "{finding}");
    assert!(finding.script.concat().contains("Large"), "{finding}");
}

#[test]
fn cap_012_a_store_that_drops_a_change_of_a_session_is_found() {
    let finding = found(Wrong::DropsSessions);
    assert!(finding.script.concat().contains("Update"), "{finding}");
}

#[test]
fn cap_012_two_handles_that_write_over_one_revision_are_found() {
    let mut cabinet = Cabinet::of(Wrong::ReadsBeforeItLocks);
    let finding = race_beside(&mut cabinet, 1, 500).expect_err("the store is broken");
    assert_eq!(finding.check, Check::Races, "{finding}");
}
