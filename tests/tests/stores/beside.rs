//! What a file keeps beside lanes and logs is what the machines say, too (CAP-012, STORE-009).

use everstep_machine::agent_state::{self, Address, Slot};
use everstep_machine::digest::Digest;
use everstep_machine::identity::{ConversationId, SessionId};
use everstep_machine::session::{self, Session};
use everstep_machine::store::StoreFault;
use everstep_sim::conformance::{Beside, check_beside, race_beside};
use everstep_sqlite::{CommitMode, SqliteReader, StoreError};

use super::sqlite::{Connection, Files};

fn told<T>(answer: Result<T, StoreError>) -> Result<T, StoreFault> {
    answer.map_err(|error| panic!("a healthy disk: {error}"))
}

impl Connection {
    fn reader(&mut self) -> &SqliteReader {
        let store = &self.store;
        self.reader.get_or_insert_with(|| store.reader().unwrap())
    }
}

impl Beside for Connection {
    fn ask_state(
        &mut self,
        command: &agent_state::Command,
    ) -> Result<Result<agent_state::Reply, agent_state::Refusal>, StoreFault> {
        told(self.store.state(command))
    }

    fn slot(&mut self, address: &Address) -> Result<Slot, StoreFault> {
        told(self.reader().state(address))
    }

    fn ask_session(
        &mut self,
        command: &session::Command,
    ) -> Result<Result<Session, session::Refusal>, StoreFault> {
        told(self.store.session(command))
    }

    fn session(&mut self, id: &SessionId) -> Result<Option<Session>, StoreFault> {
        told(self.reader().session(id))
    }

    fn artifact(
        &mut self,
        conversation: &ConversationId,
        digest: Digest,
    ) -> Result<Option<Vec<u8>>, StoreFault> {
        told(self.reader().artifact(conversation, digest))
    }
}

#[test]
fn cap_012_store_009_what_a_file_keeps_beside_its_logs_is_equal_to_the_machines() {
    for mode in CommitMode::ALL {
        let report = check_beside(&mut Files::of(*mode), 1, 4).unwrap_or_else(|it| panic!("{it}"));
        assert!(report.crashes > 3, "{report:?}");
        assert!(report.refusals > 40, "{report:?}");
    }
}

#[test]
fn cap_012_two_connections_that_write_state_at_once_come_one_after_the_other() {
    for mode in CommitMode::ALL {
        let report = race_beside(&mut Files::of(*mode), 1, 20).unwrap_or_else(|it| panic!("{it}"));
        assert!(report.contests > 2, "{report:?}");
    }
}
