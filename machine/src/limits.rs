//! Every bound of the core, in one place, each with its reason.

/// Records in one batch. Large enough for any batch of tool calls, small enough to hash at once.
pub const BATCH_RECORDS: usize = 256;
/// Bytes of one encoded batch: two canonical values of full size and room for labels.
pub const BATCH_BYTES: usize = 4 * 1024 * 1024;
/// Batches in one page of a log read: a recovery holds one page beside the fold.
pub const PAGE_BATCHES: usize = 1_024;
/// Characters of an identifier that a person or another system chose.
pub const IDENTIFIER_CHARS: usize = 256;
/// Bytes of a text field (reason, instructions, label).
pub const TEXT_BYTES: usize = 64 * 1024;
/// Characters of a diagnostic's tag.
pub const DIAGNOSTIC_TAG_CHARS: usize = 256;
/// Bytes of a diagnostic's message.
pub const DIAGNOSTIC_MESSAGE_BYTES: usize = 16 * 1024;
/// Nesting of canonical JSON: deeper values are refused before they are parsed.
pub const JSON_DEPTH: usize = 64;
/// Entries of one JSON array or object.
pub const JSON_ENTRIES: usize = 4_096;
/// Values in one JSON document.
pub const JSON_NODES: usize = 65_536;
/// Bytes of one JSON document.
pub const JSON_BYTES: usize = 1024 * 1024;
/// Parts of one model response.
pub const RESPONSE_PARTS: usize = 16_384;
/// Tool calls of one model response. Each must fit one record of a batch with its resolution.
pub const RESPONSE_CALLS: usize = BATCH_RECORDS / 2;
/// Turns of one run unless the agent's policy says less.
pub const RUN_TURNS: u32 = 64;
/// Laps of the classifier on predicted slices before an attempt calls itself defective.
pub const CLASSIFY_LAPS: u32 = 32;
/// Milliseconds that a lease lasts unless it is renewed.
pub const LEASE_MS: u64 = 30_000;
/// Milliseconds after which an attempt renews its lease.
pub const RENEWAL_MS: u64 = 10_000;
/// Lanes that wait for a host to have a free slot; more are found by its next scan.
pub const QUEUED_LANES: usize = 1_024;
/// Milliseconds after which a host makes a scan again that failed.
pub const SCAN_RETRY_MS: u64 = 1_000;
