//! Random records, batches and what they are made of, for the property tests of every room.
//!
//! A record by itself is any record that the codec accepts. It makes no history: what may follow
//! what is a question for the fold, and its tests choose with care.

use alloc::format;
use alloc::string::String;
use alloc::sync::Arc;
use alloc::vec::Vec;
use core::fmt::Debug;

use proptest::prelude::*;

use super::*;
use crate::agent::{
    Allowance, Diagnostic, Dimension, FinishReason, Kept, NamedStep, RejectionReason, ResponsePart,
    ToolCall, Usage,
};
use crate::identity::{NameError, ProducerId, Sequence, StepName, Timestamp};

/// How many cases a property of records is tried on.
pub(crate) fn cases(cases: u32) -> ProptestConfig {
    ProptestConfig { cases, failure_persistence: None, ..ProptestConfig::default() }
}

/// A name of any kind, made by its constructor.
pub(crate) fn name<T: Debug>(
    make: impl Fn(&str) -> Result<T, NameError>,
) -> impl Strategy<Value = T> {
    "[a-z0-9äß€😀 ._/-]{1,12}".prop_map(move |text| make(&text).expect("a legal name"))
}

pub(crate) fn submission_id() -> impl Strategy<Value = SubmissionId> {
    any::<[u8; 16]>().prop_map(SubmissionId)
}

pub(crate) fn digest() -> impl Strategy<Value = Digest> {
    any::<[u8; 32]>().prop_map(Digest)
}

pub(crate) fn epoch() -> impl Strategy<Value = Epoch> {
    prop_oneof![0..4_u64, any::<u64>()].prop_map(Epoch)
}

pub(crate) fn turn() -> impl Strategy<Value = Turn> {
    prop_oneof![0..4_u32, any::<u32>()].prop_map(Turn)
}

/// A text of any letters.
pub(crate) fn text() -> impl Strategy<Value = Arc<str>> {
    prop::collection::vec(any::<char>(), 0..12)
        .prop_map(|letters| Arc::from(String::from_iter(letters)))
}

pub(crate) fn diagnostic() -> impl Strategy<Value = Diagnostic> {
    (text(), text()).prop_map(|(tag, message)| Diagnostic::cut(&tag, &message))
}

pub(crate) fn canonical_json() -> impl Strategy<Value = CanonicalJson> {
    let string = text().prop_map(|text| CanonicalJson::string(&text).expect("a short text"));
    let leaf = prop_oneof![
        string.prop_map(|json| String::from(json.as_str())),
        any::<i64>().prop_map(|number| format!("{number}")),
        (-9999..9999_i32, 1..9999_u32).prop_map(|(whole, part)| format!("{whole}.{part}")),
        prop::sample::select(["null", "true", "false", "[]", "{}"].to_vec()).prop_map(String::from),
    ];
    leaf.prop_recursive(3, 12, 4, |inner| {
        let items = prop::collection::vec(inner, 0..4);
        (items, any::<bool>()).prop_map(|(items, named)| {
            let member = |(at, item): (usize, &String)| format!("\"{at}\":{item}");
            if named {
                let members: Vec<_> = items.iter().enumerate().map(member).collect();
                format!("{{{}}}", members.join(","))
            } else {
                format!("[{}]", items.join(","))
            }
        })
    })
    .prop_map(|text| CanonicalJson::parse(text.as_bytes()).expect("legal JSON"))
}

fn response_part() -> impl Strategy<Value = ResponsePart> {
    let call = (text(), name(ToolName::new), canonical_json());
    prop_oneof![
        text().prop_map(ResponsePart::Text),
        call.prop_map(|(label, tool, parameters)| {
            ResponsePart::Call(ToolCall { label, tool, parameters })
        }),
    ]
}

fn usage() -> impl Strategy<Value = Usage> {
    any::<(u32, u32, u32, u64, u64)>().prop_map(
        |(fresh, read, write, output_tokens, cost_micros)| {
            let (cache_read_tokens, cache_write_tokens) = (read.into(), write.into());
            let input_tokens = u64::from(fresh) + cache_read_tokens + cache_write_tokens;
            Usage {
                input_tokens,
                cache_read_tokens,
                cache_write_tokens,
                output_tokens,
                cost_micros,
            }
        },
    )
}

pub(crate) fn response() -> impl Strategy<Value = ModelResponse> {
    let finish = [FinishReason::Stop, FinishReason::ToolCalls, FinishReason::Length];
    let parts = prop::collection::vec(response_part(), 0..4);
    (parts, prop::sample::select(finish.to_vec()), prop::option::of(usage()))
        .prop_map(|(parts, finish, usage)| ModelResponse { parts, finish, usage })
}

pub(crate) fn tool_outcome() -> impl Strategy<Value = ToolOutcome> {
    let reasons = [RejectionReason::NotAuthorized, RejectionReason::BatchRefused];
    prop_oneof![
        canonical_json().prop_map(ToolOutcome::Success),
        diagnostic().prop_map(ToolOutcome::Failure),
        prop::sample::select(reasons.to_vec()).prop_map(ToolOutcome::Rejected),
        diagnostic().prop_map(ToolOutcome::InvalidInput),
        diagnostic().prop_map(ToolOutcome::Defect),
        (canonical_json(), 0..8_usize)
            .prop_map(|(result, most)| ToolOutcome::Kept(Kept::of(&result, most))),
    ]
}

pub(crate) fn resolution() -> impl Strategy<Value = Resolution> {
    prop_oneof![
        canonical_json().prop_map(Resolution::Completed),
        diagnostic().prop_map(Resolution::Failed),
        Just(Resolution::NeverStarted),
        Just(Resolution::SafeToRepeat),
    ]
}

/// Every legal shape of a settlement, with and without its run where both are legal.
pub(crate) fn submission_settled() -> impl Strategy<Value = SubmissionSettled> {
    let settlement = prop_oneof![
        canonical_json().prop_map(|output| Settlement::Completed {
            output,
            finish: FinishKind::ModelStop,
            disposition: None
        }),
        diagnostic().prop_map(|diagnostic| Settlement::Failed { diagnostic, limit: None }),
        text().prop_map(|message| Settlement::Failed {
            diagnostic: Diagnostic::cut("BudgetExceeded", &message),
            limit: Some(PolicyLimit::Budget(Dimension::Turns)),
        }),
        Just(Settlement::Aborted),
    ];
    let run = prop::option::of(any::<[u8; 16]>().prop_map(RunId));
    (submission_id(), run, settlement)
        .prop_map(|(submission, run, settlement)| SubmissionSettled { submission, run, settlement })
        .prop_filter("legal", |settled| settled.check().is_ok())
}

fn doubt() -> impl Strategy<Value = Doubt> {
    (any::<[u8; 16]>(), epoch()).prop_map(|(call, start)| Doubt { call: ToolCallId(call), start })
}

fn of_a_conversation() -> impl Strategy<Value = Record> {
    let names = (name(ConversationId::new), name(TenantId::new), name(AgentId::new));
    let created = (names, digest(), digest(), digest()).prop_map(
        |((conversation, tenant, agent), definition, model, tools)| {
            let created =
                ConversationCreated { conversation, tenant, agent, definition, model, tools };
            Record::ConversationCreated(created)
        },
    );
    let input = (submission_id(), name(PrincipalId::new), any::<[u8; 16]>(), canonical_json())
        .prop_map(|(submission, principal, run, input)| {
            let (run, at, allowance) = (RunId(run), Timestamp(1_000), Allowance::default());
            let kind = InputKind::First;
            Record::InputRecorded(InputRecorded {
                submission,
                principal,
                run,
                input,
                kind,
                at,
                allowance,
            })
        });
    let abort = (submission_id(), name(PrincipalId::new), text()).prop_map(
        |(submission, principal, reason)| {
            Record::AbortRequested(AbortRequested { submission, principal, reason })
        },
    );
    let decided = (submission_id(), epoch(), any::<u8>()).prop_map(|(submission, epoch, row)| {
        Record::RecoveryDecided(RecoveryDecided { submission, epoch, row })
    });
    let settled = submission_settled().prop_map(Record::SubmissionSettled);
    prop_oneof![created, input, abort, decided, settled]
}

fn of_a_turn() -> impl Strategy<Value = Record> {
    let responded =
        (submission_id(), turn(), response()).prop_map(|(submission, turn, response)| {
            let response = Arc::new(response);
            Record::ModelResponded(ModelResponded { submission, turn, response })
        });
    let interrupted = (submission_id(), turn(), epoch(), any::<(u32, u64, u64)>()).prop_map(
        |(submission, turn, epoch, (ordinal, lost_tokens, lost_cost_micros))| {
            Record::ModelInterrupted(ModelInterrupted {
                submission,
                turn,
                epoch,
                ordinal,
                lost_tokens,
                lost_cost_micros,
            })
        },
    );
    let prepared = (submission_id(), doubt(), name(ToolName::new), digest()).prop_map(
        |(submission, Doubt { call, start: epoch }, tool, parameters)| {
            Record::ToolPrepared(ToolPrepared { submission, call, epoch, tool, parameters })
        },
    );
    let named = (name(StepName::new), any::<u32>());
    let step = (submission_id(), doubt(), any::<u32>(), named, canonical_json()).prop_map(
        |(submission, Doubt { call, .. }, ordinal, (name, version), output)| {
            let digest = output.digest();
            let output = Arc::new(StepOutput { step: NamedStep { name, version }, output });
            Record::StepRecorded(StepRecorded { submission, call, ordinal, output, digest })
        },
    );
    let settled = (submission_id(), any::<[u8; 16]>(), tool_outcome()).prop_map(
        |(submission, call, outcome)| {
            let (call, outcome) = (ToolCallId(call), Arc::new(outcome));
            Record::ToolSettled(ToolSettled { submission, call, outcome })
        },
    );
    let unknown = (submission_id(), doubt())
        .prop_map(|(submission, doubt)| Record::ToolUnknown(ToolUnknown { submission, doubt }));
    let resolved = (submission_id(), doubt(), resolution(), name(PrincipalId::new), text())
        .prop_map(|(submission, doubt, resolution, principal, reason)| {
            let resolution = Arc::new(resolution);
            let resolved = ToolResolved { submission, doubt, resolution, principal, reason };
            Record::ToolResolved(resolved)
        });
    prop_oneof![responded, interrupted, prepared, step, settled, unknown, resolved]
}

/// A record of any kind.
pub(crate) fn record() -> impl Strategy<Value = Record> {
    prop_oneof![of_a_conversation(), of_a_turn()]
}

/// Records enough for a batch, in no meaningful order.
pub(crate) fn records() -> impl Strategy<Value = Vec<Record>> {
    prop::collection::vec(record(), 1..6)
}

pub(crate) fn envelope() -> impl Strategy<Value = Envelope> {
    let names = (name(ConversationId::new), name(ProducerId::new));
    (names, any::<(u64, u64)>(), epoch(), digest()).prop_map(
        |((conversation, producer), (first, at), epoch, previous)| Envelope {
            conversation,
            first_sequence: Sequence(first),
            epoch,
            producer,
            committed_at: Timestamp(at),
            previous,
        },
    )
}

/// A batch as some store could have committed it.
pub(crate) fn stored_batch() -> impl Strategy<Value = StoredBatch> {
    (envelope(), records()).prop_map(|(envelope, records)| {
        let batch = Batch::new(&envelope.conversation, records).expect("legal records");
        StoredBatch::commit(envelope, batch)
    })
}
