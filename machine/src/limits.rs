//! Every bound of the core, in one place, each with its reason.

/// Records in one batch. Large enough for any batch of tool calls, small enough to hash at once.
pub const BATCH_RECORDS: usize = 256;
/// Bytes of one encoded batch: the largest response, and room for its labels and results.
pub const BATCH_BYTES: usize = 12 * 1024 * 1024;
/// Batches in one page of a log read: a recovery holds one page beside the fold.
pub const PAGE_BATCHES: usize = 1_024;
/// Characters of an identifier that a person or another system chose.
pub const IDENTIFIER_CHARS: usize = 256;
/// Bytes of a text field (reason, instructions, label).
pub const TEXT_BYTES: usize = 64 * 1024;
/// Bytes of the parameters that a request for approval shows.
pub const APPROVAL_PREVIEW_BYTES: usize = 1024;
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
/// Milliseconds that a handler may go on after it was told that nobody wants it any more (RUN-008).
pub const HANDLER_GRACE_MS: u64 = 1_000;
/// Milliseconds that a run that is to end waits for its calls: somewhat longer, so that what is said
/// of a handler that was dropped still comes in.
pub const CALL_OFF_MS: u64 = 1_500;
/// Lanes that wait for a host to have a free slot; more are found by its next scan.
pub const QUEUED_LANES: usize = 1_024;
/// Lanes that a host remembers to leave alone, because they are corrupt or an attempt found a bug;
/// and as many that it leaves to others for a while.
pub const LEFT_ALONE: usize = 1_024;
/// Milliseconds after which a host makes a scan again that failed.
pub const SCAN_RETRY_MS: u64 = 1_000;
/// The longest wait in milliseconds before a host looks again at a lane that it could not begin
/// with.
pub const DECLINED_MS: u64 = 60_000;
/// Milliseconds that a tool's handler may take unless its definition says otherwise.
pub const TOOL_TIMEOUT_MS: u64 = 60_000;
/// Bytes of a tool's result that its record shows unless its definition says less (RUN-019).
pub const TOOL_RESULT_BYTES: u32 = 50 * 1024;
/// Milliseconds that a model may take to answer, unless the agent's policy says otherwise.
pub const MODEL_TIMEOUT_MS: u64 = 600_000;
/// Starts of one call without a step of it being recorded. One that is in doubt after so many of
/// them is not made again by itself, whatever its class allows: a person decides (DUR-014).
pub const CALL_STARTS: usize = 5;
/// Steps of one call of a durable tool: whoever enters its handler again is given all of them.
pub const CALL_STEPS: usize = 64;
/// Bytes of what one step gives. Beside [`CALL_STEPS`] it bounds what an open call holds.
pub const STEP_OUTPUT_BYTES: usize = 64 * 1024;
/// Bytes of one value of an agent's state. Two of them are kept of each write that is still open.
pub const STATE_VALUE_BYTES: usize = 64 * 1024;
/// Keys of the state of one agent and tenant, or of one run.
pub const STATE_KEYS: usize = 4_096;
/// Keys that one call may write: all of them are closed in the commit that records its end.
pub const CALL_STATE_WRITES: usize = 64;
/// Bytes of what a client remembers of one session: a title and some labels.
pub const SESSION_METADATA_BYTES: usize = 16 * 1024;
/// Conversations that one session points to.
pub const SESSION_CONVERSATIONS: usize = 64;
/// Sessions in one store.
pub const SESSIONS: usize = 65_536;
/// Owners of a submission in a row that may die without getting anywhere. The next one gives it up:
/// whatever it is that kills them, the lane goes on without it (DUR-018).
pub const FRUITLESS_CLAIMS: usize = 5;
/// Milliseconds that a run waits for somebody who has the binding that it is bound to, since the first
/// came who has not: a week, which a weekend and its repair fit into. Whoever comes after it ends the
/// run.
pub const INCOMPATIBLE_MS: u64 = 7 * 24 * 60 * 60 * 1_000;
/// Submissions that one run takes in beside its first. They settle in one batch with it.
pub const JOINED_A_RUN: usize = 32;
/// Milliseconds of the longest pause, beside its lease, before a lane is claimed again whose owners
/// die without getting anywhere.
pub const FRUITLESS_PAUSE_MS: u64 = 600_000;
/// Calls of one run that run at once unless its policy says otherwise.
pub const RUN_PARALLEL_CALLS: u32 = 8;
/// Calls in a row that may fail before a run ends, unless its policy says otherwise.
pub const REPEATED_FAILURES: u32 = 3;
/// How often a host makes a call again by itself that had no effect (RUN-014).
pub const TOOL_RETRIES: u32 = 2;
/// Milliseconds before a model that could not answer is asked again for the first time.
pub const RETRY_FIRST_MS: u64 = 500;
/// Milliseconds of the longest pause before a model is asked again.
pub const RETRY_LONGEST_MS: u64 = 30_000;
/// Estimated tokens of recent context that a compaction leaves as they are.
pub const CONTEXT_KEEP_TOKENS: u64 = 20_000;
/// One part in so many of a request: making context smaller by less is not worth a record.
pub const WORTHWHILE_SHARE: u64 = 10;
/// Bytes of text that count as one token where no provider has counted.
pub const BYTES_A_TOKEN: u64 = 4;
/// Characters of what a summarizer is shown.
pub const SUMMARIZER_CHARS: usize = 80_000;
/// Bytes of a summary. A hundred compactions do not grow it.
pub const SUMMARY_BYTES: usize = 16 * 1024;
/// Bytes of one model response, all its parts together.
pub const RESPONSE_BYTES: usize = 8 * 1024 * 1024;
/// Bytes of words that the live events of one run keep: the longest response, whole.
pub const RUN_EVENT_BYTES: usize = RESPONSE_BYTES;
/// Live events of one run; the last place is kept for the terminal one (RUN-031).
pub const RUN_EVENTS: usize = 65_536;
/// Calls of one agent that run at once in one host, over all its runs.
pub const AGENT_CALLS: usize = 64;
/// Calls of one group of tools that run at once in one host.
pub const GROUP_CALLS: usize = 16;
/// Calls that run at once in one host.
pub const HOST_CALLS: usize = 256;
/// Bytes of a capability, its subject included.
pub const CAPABILITY_BYTES: usize = 256;
/// Bytes of a resource that an action names, and of a component's path.
pub const RESOURCE_BYTES: usize = 4_096;
/// Milliseconds that an allow for a session lives at most (AUTH-10).
pub const SESSION_ALLOW_MS: u64 = 8 * 60 * 60 * 1_000;
/// Allows for sessions that a host keeps. Beyond them the oldest is forgotten, and asked for again.
pub const SESSION_ALLOWS: usize = 1_024;
/// Sessions that are open in a host.
pub const OPEN_SESSIONS: usize = 1_024;
/// Questions that a host has put to people and that are open.
pub const OPEN_QUESTIONS: usize = 1_024;
/// Requests that wait for one question.
pub const QUESTION_WAITERS: usize = 256;
/// Bytes of a command that the guard judges. Nobody reads a longer one before approving it.
pub const COMMAND_BYTES: usize = 16 * 1024;
/// Commands within commands that the guard follows.
pub const COMMAND_NESTING: usize = 8;
/// Functions in a command that the guard looks into. With more of them it is blocked.
pub const COMMAND_FUNCTIONS: usize = 32;
/// Bytes that the guard reads to judge one command: itself, its copies, and what is within them.
pub const COMMAND_READING_BYTES: usize = 16 * COMMAND_BYTES;
/// Children that one run and its descendants ever reserve for.
pub const RESERVATIONS: u64 = 4_096;
/// The most that a budget or a report says of one dimension: sums of all children stay in 64 bits.
pub const RESERVED_AMOUNT: u64 = 1 << 48;
