//! How much one scenario may hold, each bound with its reason. The bounds of single values are
//! the core's own: [`everstep_machine::limits`].

/// Bytes of a scenario file; larger ones are refused before they are parsed.
pub const SCENARIO_BYTES: usize = 1024 * 1024;
/// Values within values of a file: those of JSON, and the tables around them.
pub(super) const FILE_NESTING: usize = 80;
/// Worker processes. Everything interesting needs two; eight is as many as anyone can read.
pub const WORKERS: usize = 8;
/// Tools of the agent.
pub const TOOLS: usize = 64;
/// Submissions. Crash schedules grow with each of them.
pub const SUBMISSIONS: usize = 64;
/// Aborts. Each one at every moment multiplies the schedules.
pub const ABORTS: usize = 16;
/// Times that operators have something tried again.
pub const TRIES: usize = 16;
/// People who ask for one of them: two show that the second changes nothing.
pub(super) const RETRYING_PEOPLE: u64 = 4;
/// Milliseconds that a tool may take: a day, so that no clock comes near its end.
pub const LATENCY_MS: u64 = 24 * 60 * 60 * 1_000;
/// Starts of one call that give no answer: more than the engine makes by itself.
pub(super) const SILENT_STARTS: u32 = 16;
/// Workers, unless the scenario says otherwise: an owner and a successor.
pub(super) const DEFAULT_WORKERS: usize = 2;
/// Turns that a run may take, unless the agent says otherwise.
pub(super) const DEFAULT_MAX_TURNS: u32 = 16;
/// What a budget or a usage may say: a million millions, so that no sum comes near its end.
pub(super) const AMOUNT: u64 = 1_000_000_000_000;
/// Calls, or failures in a row, that a policy may speak of.
pub(super) const COUNT: u64 = 1_000_000;
/// How often a model may be asked again for one turn.
pub(super) const RETRIES: u64 = 16;
/// Faults before a turn is answered: more than a model is asked again for.
pub(super) const TURN_FAULTS: usize = 32;
/// Places of one tool that are taken out of its results.
pub(super) const REDACTIONS: usize = 32;
/// Grants, entries of a policy, or tools whose metadata is another.
pub(super) const ENTRIES: usize = 256;
/// Words for an outcome.
pub(super) const DISPOSITIONS: usize = 32;
/// Rules of a live model: as many as somebody can hold in the head, and then some.
pub const RULES: usize = 64;
