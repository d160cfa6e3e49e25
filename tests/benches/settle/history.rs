//! A long conversation, written without a host: the batches are those that a host would have
//! written for submissions without tools, one record each.

use std::sync::Arc;

use everstep_machine::agent::Allowance;
use everstep_machine::conversation::{Command, TailRef};
use everstep_machine::identity::{
    ConversationId, Epoch, PrincipalId, ProducerId, RunId, Sequence, SubmissionId, TenantId,
    Timestamp, Turn,
};
use everstep_machine::json::CanonicalJson;
use everstep_machine::record::{
    Batch, ConversationCreated, FinishKind, InputKind, InputRecorded, ModelResponded, Record,
    Settlement, SubmissionSettled,
};
use everstep_machine::store::{Pipeline, StoreCommand};
use everstep_sqlite::SqliteStore;

use crate::outside;

/// Submissions of one transaction.
const AT_ONCE: u64 = 128;

/// Makes a log that holds so many records or two more.
pub(crate) fn write(store: &mut SqliteStore, lane: &ConversationId, records: u64) {
    let created = Batch::new(lane, vec![created(lane)]).expect("a batch");
    let mut tail = TailRef { next_sequence: Sequence(1), content: created.content() };
    let (epoch, producer) = (Epoch(0), ProducerId::new("past").expect("a name"));
    let create = Command::Materialize { epoch, producer, created: Arc::new(created) };
    perform(store, lane, vec![create]);
    let mut submissions = 0_u64..;
    while tail.next_sequence.0 < records {
        let left = (records - tail.next_sequence.0).div_ceil(3).min(AT_ONCE) as usize;
        let past = submissions.by_ref().take(left).flat_map(settled);
        let commands = past.map(|record| append(lane, &mut tail, record)).collect();
        perform(store, lane, commands);
    }
}

fn created(lane: &ConversationId) -> Record {
    let binding = outside::binding(false);
    Record::ConversationCreated(ConversationCreated {
        conversation: lane.clone(),
        tenant: TenantId::new("shop").expect("a name"),
        agent: binding.definition.id().clone(),
        definition: binding.definition.definition_digest(),
        model: binding.model,
        tools: binding.definition.tools_digest(),
    })
}

fn settled(n: u64) -> [Record; 3] {
    let submission = SubmissionId(u128::from(n).to_be_bytes());
    let run = RunId::derive(submission);
    let principal = PrincipalId::new("ada").expect("a name");
    let text = |text| CanonicalJson::string(text).expect("a text");
    let (input, output) = (text("refund this, please"), text("It is refunded."));
    let settlement =
        Settlement::Completed { output, finish: FinishKind::ModelStop, disposition: None };
    let response = Arc::new(outside::answer());
    let input = InputRecorded {
        submission,
        principal,
        run,
        input,
        kind: InputKind::First { bound: outside::binding(false).bound() },
        at: Timestamp(0),
        allowance: Allowance::default(),
    };
    [
        Record::InputRecorded(input),
        Record::ModelResponded(ModelResponded { submission, turn: Turn(0), response }),
        Record::SubmissionSettled(SubmissionSettled { submission, run: Some(run), settlement }),
    ]
}

fn append(lane: &ConversationId, tail: &mut TailRef, record: Record) -> Command {
    let batch = Arc::new(Batch::new(lane, vec![record]).expect("a batch"));
    let next = TailRef { next_sequence: tail.next_sequence.next(), content: batch.content() };
    let expected = std::mem::replace(tail, next);
    let producer = ProducerId::new("past").expect("a name");
    Command::Append { epoch: Epoch(0), producer, expected, batch }
}

fn perform(store: &mut SqliteStore, lane: &ConversationId, commands: Vec<Command>) {
    let commands = commands.into_iter().map(StoreCommand::Conversation).collect();
    store.perform(&Pipeline { lane: lane.clone(), commands }).expect("written");
}
