//! Records to bytes and back, and every reason why bytes are no records.

use alloc::string::ToString;
use alloc::vec;

use proptest::prelude::*;

use super::*;
use crate::agent::{Diagnostic, ResponsePart, ToolCall};
use crate::limits::{
    BATCH_BYTES, BATCH_RECORDS, DIAGNOSTIC_MESSAGE_BYTES, JSON_BYTES, RESPONSE_CALLS,
    RESPONSE_PARTS, TEXT_BYTES,
};
use crate::record::strategies::{cases, record, records};

fn versioned(payload: &impl Serialize) -> Vec<u8> {
    postcard::to_extend(payload, SCHEMA_VERSION.to_be_bytes().to_vec()).unwrap()
}

fn decided(row: u8) -> Record {
    Record::RecoveryDecided(RecoveryDecided { submission: SUBMISSION, epoch: Epoch(1), row })
}

fn abort(reason: &str) -> Record {
    let principal = PrincipalId::new("ada").unwrap();
    Record::AbortRequested(AbortRequested {
        submission: SUBMISSION,
        principal,
        reason: reason.into(),
    })
}

fn responded(parts: Vec<ResponsePart>) -> Record {
    let Record::ModelResponded(mut it) = one_of_each().swap_remove(2) else {
        panic!("the third sample is a response")
    };
    Arc::make_mut(&mut it.response).parts = parts;
    Record::ModelResponded(it)
}

fn call(label: &str) -> ResponsePart {
    let tool = ToolName::new("refund").unwrap();
    ResponsePart::Call(ToolCall { label: label.into(), tool, parameters: json("{}") })
}

/// A diagnostic that no constructor makes, as only foreign bytes can hold one.
fn oversized() -> Diagnostic {
    let bytes = postcard::to_allocvec(&("Tag", "x".repeat(DIAGNOSTIC_MESSAGE_BYTES + 1))).unwrap();
    postcard::from_bytes(&bytes).unwrap()
}

#[test]
fn arc_09_every_kind_of_record_is_read_back_as_it_was_written() {
    for record in one_of_each() {
        let bytes = encode_records(core::slice::from_ref(&record)).unwrap();
        assert_eq!(decode_records(&bytes), Ok(vec![record]));
    }
}

#[test]
fn store_005_unsupported_version_is_refused() {
    let mut bytes = encode_records(&one_of_each()).unwrap();
    for found in [0, SCHEMA_VERSION + 1, 0x0100, u16::MAX] {
        bytes[..2].copy_from_slice(&found.to_be_bytes());
        assert_eq!(decode_records(&bytes), Err(CodecError::Version { found }));
        // Before anything else is looked at: there may be nothing that this build understands.
        assert_eq!(decode_records(&bytes[..2]), Err(CodecError::Version { found }));
        let huge = [&bytes[..2], &vec![0xff; BATCH_BYTES]].concat();
        assert_eq!(decode_records(&huge), Err(CodecError::Version { found }));

        let mut whole = stored().encode();
        whole[..2].copy_from_slice(&found.to_be_bytes());
        assert_eq!(StoredBatch::decode(&whole), Err(Corruption::Version { found }));
        assert_eq!(StoredBatch::decode(&whole[..2]), Err(Corruption::Version { found }));
    }
}

#[test]
fn codec_error_truncated_is_an_end_before_the_version_does() {
    assert_eq!(decode_records(&[]), Err(CodecError::Truncated));
    assert_eq!(decode_records(&[0]), Err(CodecError::Truncated));
}

#[test]
fn codec_error_malformed_is_an_end_anywhere_after_it() {
    let bytes = encode_records(&one_of_each()).unwrap();
    for length in 2..bytes.len() {
        assert_eq!(decode_records(&bytes[..length]), Err(CodecError::Malformed), "{length}");
    }
}

#[test]
fn codec_error_malformed_is_also_what_follows_or_is_spelled_otherwise() {
    let bytes = encode_records(&[decided(18)]).unwrap();
    assert_eq!(decode_records(&[&*bytes, &[0]].concat()), Err(CodecError::Malformed));
    // The count 1 as a varint of two bytes: postcard reads it, nobody wrote it.
    let spelled = [&bytes[..2], &[0x81, 0x00], &bytes[3..]].concat();
    assert_eq!(decode_records(&spelled), Err(CodecError::Malformed));
    // Names and JSON are validated on the way in.
    let name = encode_records(&[abort("x")]).unwrap();
    let at = name.windows(3).position(|window| window == b"ada").unwrap();
    let mut control = name.clone();
    control[at] = b'\n';
    assert_eq!(decode_records(&control), Err(CodecError::Malformed));
    let json = encode_records(&one_of_each()[2..3]).unwrap();
    let at = json.windows(2).position(|window| window == b"12").unwrap();
    let mut padded = json.clone();
    padded[at] = b' ';
    assert_eq!(decode_records(&padded), Err(CodecError::Malformed), "not canonical any more");
}

#[test]
fn codec_error_count_bounds_a_batch_at_both_ends() {
    let rows = |count| vec![decided(1); count];
    assert!(encode_records(&rows(1)).is_ok());
    assert!(encode_records(&rows(BATCH_RECORDS)).is_ok());
    for count in [0, BATCH_RECORDS + 1] {
        assert_eq!(encode_records(&rows(count)), Err(CodecError::Count));
        assert_eq!(decode_records(&versioned(&rows(count))), Err(CodecError::Count));
        assert_eq!(Batch::new(&desk(), rows(count)), Err(BatchError::Count));
    }
}

#[test]
fn codec_error_too_large_bounds_the_bytes() {
    let text = CanonicalJson::string(&"x".repeat(JSON_BYTES - 2)).unwrap();
    let outcome = Arc::new(ToolOutcome::Success(text));
    let settled = Record::ToolSettled(ToolSettled { submission: SUBMISSION, call: CALL, outcome });
    let full = BATCH_BYTES / JSON_BYTES;
    assert!(encode_records(&vec![settled.clone(); full - 1]).is_ok());
    assert_eq!(encode_records(&vec![settled.clone(); full]), Err(CodecError::TooLarge));
    let bytes = versioned(&vec![settled; full]);
    assert_eq!(decode_records(&bytes), Err(CodecError::TooLarge));
}

#[test]
fn codec_error_rule_names_the_record_that_breaks_it() {
    let text = |length| "x".repeat(length);
    let resolved = |resolution, reason: &str| {
        let Record::ToolResolved(it) = one_of_each().swap_remove(7) else {
            panic!("the eighth sample is a resolution")
        };
        let (resolution, reason) = (Arc::new(resolution), reason.into());
        Record::ToolResolved(ToolResolved { resolution, reason, ..it })
    };
    let tool = |outcome| {
        let outcome = Arc::new(outcome);
        Record::ToolSettled(ToolSettled { submission: SUBMISSION, call: CALL, outcome })
    };
    let settled = |run, settlement| {
        Record::SubmissionSettled(SubmissionSettled { submission: SUBMISSION, run, settlement })
    };
    let output = json("1");
    let broken = [
        responded(vec![ResponsePart::Text("".into()); RESPONSE_PARTS + 1]),
        responded(vec![call("a"); RESPONSE_CALLS + 1]),
        responded(vec![call(&text(TEXT_BYTES + 1))]),
        tool(ToolOutcome::Failure(oversized())),
        tool(ToolOutcome::InvalidInput(oversized())),
        tool(ToolOutcome::Defect(oversized())),
        resolved(Resolution::Failed(oversized()), "why"),
        resolved(Resolution::Failed(Diagnostic::cut("a", "b")), &text(TEXT_BYTES + 1)),
        resolved(Resolution::NeverStarted, &text(TEXT_BYTES + 1)),
        abort(&text(TEXT_BYTES + 1)),
        settled(None, Settlement::Failed { diagnostic: oversized(), limit: None }),
        settled(
            None,
            Settlement::Completed { output, finish: FinishKind::ModelStop, disposition: None },
        ),
    ];
    for record in broken {
        let records = [decided(1), record];
        assert_eq!(encode_records(&records), Err(CodecError::Rule { index: 1 }));
        let bytes = versioned(&records.to_vec());
        assert_eq!(decode_records(&bytes), Err(CodecError::Rule { index: 1 }));
    }
    let legal = [
        responded(vec![ResponsePart::Text("".into()); RESPONSE_PARTS]),
        responded(vec![call("a"); RESPONSE_CALLS]),
        responded(vec![call(&text(TEXT_BYTES))]),
        resolved(Resolution::SafeToRepeat, &text(TEXT_BYTES)),
        abort(&text(TEXT_BYTES)),
    ];
    for record in legal {
        assert!(encode_records(&[record]).is_ok(), "a bound holds at its limit");
    }
}

#[test]
fn each_codec_error_says_what_is_wrong() {
    let said = [
        (CodecError::Truncated, "the bytes end before the schema version does"),
        (CodecError::Version { found: 2 }, "schema version 2 is not supported; this build reads 1"),
        (CodecError::Malformed, "the bytes do not decode to records"),
        (CodecError::Count, "a batch holds 1 to 256 records"),
        (CodecError::TooLarge, "an encoded batch has at most 12582912 bytes"),
        (CodecError::Rule { index: 3 }, "record 3 breaks a rule of its kind"),
    ];
    for (error, words) in said {
        assert_eq!(error.to_string(), words);
    }
}

proptest! {
    #![proptest_config(cases(256))]

    #[test]
    fn arc_09_any_records_are_read_back_as_they_were_written(records in records()) {
        let bytes = encode_records(&records).unwrap();
        prop_assert_eq!(decode_records(&bytes), Ok(records));
    }

    #[test]
    fn any_bytes_are_answered_and_only_written_ones_accepted(payload in any::<Vec<u8>>()) {
        let bytes = [&SCHEMA_VERSION.to_be_bytes()[..], &payload].concat();
        if let Ok(records) = decode_records(&bytes) {
            prop_assert_eq!(encode_records(&records), Ok(bytes));
        }
    }

    #[test]
    fn changed_bytes_are_answered_and_only_written_ones_accepted(
        record in record(),
        edits in prop::collection::vec((any::<prop::sample::Index>(), any::<u8>()), 1..4),
    ) {
        let mut bytes = encode_records(&[record]).unwrap();
        for (at, byte) in edits {
            let at = at.index(bytes.len());
            bytes[at] = byte;
        }
        if let Ok(records) = decode_records(&bytes) {
            prop_assert_eq!(encode_records(&records), Ok(bytes));
        }
    }
}
