//! Response reduction: what a provider streams becomes one complete response, or none.
//!
//! A model speaks in parts: words, thoughts and calls, each begun, continued piece by piece and
//! ended. The machine puts the pieces together and checks them against the rules of a stream
//! (design 3.6). Only the whole response leaves it. A stream that breaks a rule is a
//! [`ProtocolError`]: nothing is repaired, and what was received is dropped. Pieces of text are
//! shown to whoever watches on the way, and nobody decides anything by them.
//!
//! ```text
//! Waiting --Start--> Receiving --Finish--> Finished --Ended--> Done: the response
//!                    |      ^
//!                    +------+ any other part
//!
//! anything but Done --Failed, Ended too early, a broken rule--> Done: a fault
//! ```
//!
//! # Labels
//!
//! A provider names its parts with labels of its own, and the machine believes them in one
//! respect only: a piece belongs to the part of its kind that is open under its label. So two
//! parts of one kind cannot be open under one label. Once a part has ended its label is free, and
//! two calls of one label are two calls. A call is known by its place among the calls of the
//! response, in the order in which they began (RUN-034).
//!
//! ```
//! use everstep_machine::response::{Delta, Effect, Input, Reduction, State, StreamPart};
//! use everstep_machine::{Machine, Step};
//!
//! let label = "0".into();
//! let state = Reduction::step(State::new(), Input::Received(StreamPart::Start)).state;
//! let state = Reduction::step(state, Input::Received(StreamPart::TextStart { label })).state;
//! let part = StreamPart::TextDelta { label: "0".into(), text: "Hello".into() };
//! let Step { state, effects } = Reduction::step(state, Input::Received(part));
//! assert_eq!(effects, [Effect::Show(Delta::Text { part: 0, text: "Hello".into() })]);
//!
//! // The transport is at its end, and the response is not.
//! let Step { state, effects } = Reduction::step(state, Input::Ended);
//! let [Effect::Done(Err(lost))] = &effects[..] else { panic!("{effects:?}") };
//! assert_eq!(lost.fault.diagnostic().tag(), "StreamCut");
//! assert!(state.is_done());
//! ```
//!
//! | invariant | where it is kept |
//! | --- | --- |
//! | ARC-02, DUR-008: arguments are complete or there is no call | `draft::parameters`; a response leaves only from `Finished` |
//! | RUN-004: a stream that is cut gives no response | `step`: `Ended` counts only after `Finish` |
//! | RUN-020, BU-05: usage only grows, and is possible | `draft::used` |
//! | RUN-030: what the provider runs by itself is kept apart | `ResponsePart::ProviderCall` |
//! | RUN-031, SEC-06: parts, calls, labels and bytes are bounded | `draft::begin`, `draft::declare`, `draft::count`, each before anything is parsed |
//! | RUN-034: labels neither merge nor lose calls | `open::begin` |
//! | one answer | no rule leaves `Done` |
//!
//! | crash point | what recovery does |
//! | --- | --- |
//! | D-07 mid stream | nothing here is durable: the interruption is recorded and the model asked again |
//!
//! Deliberately absent: whether the finish reason fits the calls, whether usage has to be
//! reported and what is asked again (the [`crate::run`] knows the policy), clocks, and every
//! provider's format.

mod draft;
mod effect;
mod error;
mod input;
mod open;
mod parts;
mod state;
mod step;

pub use effect::{Delta, Effect};
pub use error::ProtocolError;
pub use input::{Input, StreamPart, WholeCall};
pub use parts::parts_of;
pub use state::State;
pub use step::Reduction;

#[cfg(test)]
mod tests;
