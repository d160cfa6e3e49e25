//! Records as bytes: postcard behind a schema version.
//!
//! A reader decodes and validates, always (ARC-09). A version it does not know is refused before
//! anything else is looked at (STORE-005).

use alloc::vec::Vec;

use super::Record;
use crate::agent::{Kept, ModelResponse, Resolution, ToolOutcome};
use crate::limits::{
    APPROVAL_PREVIEW_BYTES, BATCH_BYTES, BATCH_RECORDS, RESPONSE_BYTES, RESPONSE_CALLS,
    RESPONSE_PARTS, STEP_OUTPUT_BYTES, SUMMARY_BYTES, TEXT_BYTES,
};

/// The version of the record layout. A change of any record's layout changes it.
pub const SCHEMA_VERSION: u16 = 1;

/// Why bytes are no records.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, thiserror::Error)]
pub enum CodecError {
    /// The bytes end before the schema version does.
    #[error("the bytes end before the schema version does")]
    Truncated,
    /// The schema version is not the one this build reads.
    #[error("schema version {found} is not supported; this build reads {SCHEMA_VERSION}")]
    Version {
        /// What the bytes say.
        found: u16,
    },
    /// The bytes do not decode to records, or not to these alone.
    #[error("the bytes do not decode to records")]
    Malformed,
    /// A batch holds 1 to [`BATCH_RECORDS`] records.
    #[error("a batch holds 1 to {BATCH_RECORDS} records")]
    Count,
    /// The encoded batch is over [`BATCH_BYTES`].
    #[error("an encoded batch has at most {BATCH_BYTES} bytes")]
    TooLarge,
    /// A record decodes, but its parts contradict each other or are over a bound.
    #[error("record {index} breaks a rule of its kind")]
    Rule {
        /// Position in the batch.
        index: usize,
    },
}

/// Encodes the records of one batch.
///
/// # Errors
/// Too many or no records, too many bytes, or a record that breaks a rule of its kind.
pub fn encode_records(records: &[Record]) -> Result<Vec<u8>, CodecError> {
    check(records)?;
    let mut bytes = SCHEMA_VERSION.to_be_bytes().to_vec();
    bytes = postcard::to_extend(records, bytes).map_err(|_| CodecError::Malformed)?;
    if bytes.len() > BATCH_BYTES {
        return Err(CodecError::TooLarge);
    }
    Ok(bytes)
}

/// Decodes and validates the records of one batch.
///
/// # Errors
/// Everything that [`CodecError`] lists.
pub fn decode_records(bytes: &[u8]) -> Result<Vec<Record>, CodecError> {
    let (version, rest) = bytes.split_first_chunk().ok_or(CodecError::Truncated)?;
    let found = u16::from_be_bytes(*version);
    if found != SCHEMA_VERSION {
        return Err(CodecError::Version { found });
    }
    if bytes.len() > BATCH_BYTES {
        return Err(CodecError::TooLarge);
    }
    let records = postcard::from_bytes::<Vec<Record>>(rest).map_err(|_| CodecError::Malformed)?;
    // postcard reads several spellings of one number and ignores what follows: here only the
    // bytes that this build writes count, so equal records have equal digests.
    if encode_records(&records)? != bytes {
        return Err(CodecError::Malformed);
    }
    Ok(records)
}

fn check(records: &[Record]) -> Result<(), CodecError> {
    if !(1..=BATCH_RECORDS).contains(&records.len()) {
        return Err(CodecError::Count);
    }
    match records.iter().position(|record| !keeps_its_rules(record)) {
        Some(index) => Err(CodecError::Rule { index }),
        None => Ok(()),
    }
}

fn keeps_its_rules(record: &Record) -> bool {
    match record {
        Record::ModelResponded(it) => response_is_bounded(&it.response),
        Record::StepRecorded(it) => {
            let output = &it.output.output;
            output.as_str().len() <= STEP_OUTPUT_BYTES && it.digest == output.digest()
        }
        Record::ToolSettled(it) => match &*it.outcome {
            ToolOutcome::Failure(why)
            | ToolOutcome::InvalidInput(why)
            | ToolOutcome::Defect(why) => why.check().is_ok(),
            ToolOutcome::Truncated(cut) | ToolOutcome::Kept(Kept { cut, .. }) => {
                is_text(&cut.head) && is_text(&cut.tail)
            }
            ToolOutcome::Success(_) | ToolOutcome::Rejected(_) => true,
        },
        Record::ToolResolved(it) => match &*it.resolution {
            Resolution::Failed(why) => is_text(&it.reason) && why.check().is_ok(),
            Resolution::Completed(_) | Resolution::NeverStarted | Resolution::SafeToRepeat => {
                is_text(&it.reason)
            }
        },
        Record::AbortRequested(it) => is_text(&it.reason),
        Record::ApprovalRequested(it) => it.preview.len() <= APPROVAL_PREVIEW_BYTES,
        Record::ApprovalDecided(it) => is_text(&it.reason),
        Record::CompactionCreated(it) => it.summary_bytes() <= SUMMARY_BYTES,
        Record::SubmissionSettled(it) => it.check().is_ok(),
        Record::ConversationCreated(_)
        | Record::InputRecorded(_)
        | Record::ModelInterrupted(_)
        | Record::ToolPrepared(_)
        | Record::ToolUnknown(_)
        | Record::RecoveryDecided(_) => true,
    }
}

fn response_is_bounded(response: &ModelResponse) -> bool {
    response.parts.len() <= RESPONSE_PARTS
        && response.calls().count() <= RESPONSE_CALLS
        && response.bytes() <= RESPONSE_BYTES
        && response.calls().chain(response.provider_calls()).all(|call| is_text(&call.label))
        && response.usage.is_none_or(|usage| usage.is_possible())
}

fn is_text(text: &str) -> bool {
    text.len() <= TEXT_BYTES
}
