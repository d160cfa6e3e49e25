//! JSON Schema checks: which values fit, and in words why the others do not.
//!
//! The machines carry schemas as data and ask for checks as an effect that is answered at once.
//! This crate answers it, for the host and for the simulator alike: the same value and the same
//! schema give the same answer everywhere and always.
//!
//! | promise | how |
//! | --- | --- |
//! | CAP-002: an unsound schema is found when a runtime is built | [`Checker::compile`] |
//! | CAP-004: what goes into a tool and what comes out of it fits what the tool declares | [`Checker::check`], [`Checker::outcome`] |
//! | nothing is fetched | a reference that does not begin with `#` is refused |
//! | SEC-06: a check ends soon, on a small stack | schemas are bounded before they are compiled; patterns go back only so often |
//! | nothing leaks | the words name places and rules, and show nothing of the value but the names of its members |
//!
//! **Words.** The library that decides can also say why, but what it says about alternatives that
//! contain themselves doubles with every level of the value. So it is only asked whether a value
//! fits. The words are sought by going down the schema and the value side by side, as far as every
//! step is certain, with the library asked about one value and plain rules at a time.
//!
//! Deliberately absent: `format` as a rule, anchors and dynamic references, documents of more than
//! one resource.
//!
//! ```
//! use everstep_machine::agent::Schema;
//! use everstep_machine::effect::Fitting;
//! use everstep_machine::json::CanonicalJson;
//! use everstep_schema::Checker;
//!
//! let schema = Schema::parse(br#"{"properties":{"to":{"type":"string"}},"required":["to"]}"#)?;
//! let checker = Checker::new();
//! checker.compile(&schema).expect("a sound schema");
//!
//! let value = CanonicalJson::parse(br#"{"to":7}"#)?;
//! let refusal = checker.check(&Fitting { schema, value }).expect("a number is no string");
//! assert_eq!(refusal.message(), "at `/to`: value is not of type \"string\"");
//! # Ok::<(), everstep_machine::json::JsonError>(())
//! ```

mod bounds;
mod checker;
mod compiled;
mod error;
mod explain;
mod limits;
mod subschema;

pub use checker::Checker;
pub use error::SchemaError;
pub use limits::{SCHEMA_BYTES, SCHEMA_LOOKS, SCHEMA_STEPS};

#[cfg(test)]
mod tests;
