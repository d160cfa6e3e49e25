//! Every bound of schemas and of checks, each with its reason.

/// Bytes of one schema's text. Far more than any tool declares, and compiled at once.
pub const SCHEMA_BYTES: usize = 256 * 1024;
/// Steps from one schema to another that looks at the *same* value: references and alternatives,
/// one inside the other. Checking goes down the stack with each, at every level of the value.
pub const SCHEMA_STEPS: usize = 16;
/// Schemas that may look at one and the same value, however they are reached.
pub const SCHEMA_LOOKS: u64 = 4_096;
/// What `unevaluatedProperties` and `unevaluatedItems` multiply the looks beneath them by: they
/// have to look again at what the schemas beside them have looked at.
pub(crate) const UNEVALUATED_LOOKS: u64 = 4;
/// How often one pattern may go back in one text, where it needs that at all. A pattern without
/// look-around and back-references takes time in proportion to the text and never does.
pub(crate) const PATTERN_BACKTRACKS: usize = 10_000;
/// Bytes of one compiled pattern.
pub(crate) const PATTERN_BYTES: usize = 1024 * 1024;
/// Compiled schemas that a checker keeps.
pub(crate) const CACHED_SCHEMAS: usize = 256;
/// Violations that are put in words.
pub(crate) const VIOLATIONS: usize = 8;
/// Bytes of the words for one violation.
pub(crate) const VIOLATION_BYTES: usize = 400;
/// Schemas that are looked at while the words are sought.
pub(crate) const EXPLAINING_LOOKS: u32 = 100_000;
/// How many of them one inside the other; the way there and back is on the stack.
pub(crate) const EXPLAINING_DEPTH: u32 = 256;
