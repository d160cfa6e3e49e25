//! An approver behind a URL: a service is asked about calls, and says what may start (AUTH-14).
//!
//! The questions of a batch are one `POST`, and its answer is a list of decisions. What a service says
//! nothing about is left to people, and so is everything if anything is wrong with the answer: a
//! service that cannot be reached, is slow, or says something that nobody has asked, decides nothing.
//! So a fault can delay a call and never start one.
//!
//! ```text
//! questions --body--> POST --exchange--> bytes --answer--> decisions
//!                                 \--------------\-------> Trouble: nothing is decided, and told
//! ```
//!
//! | promise | how |
//! | --- | --- |
//! | AUTH-13: a decision is about exactly what was asked | it names the request, whose id is made of call, parameters and policy; one of any other request spoils the answer |
//! | SEC-06: bounded before parsed | an answer has at most [`ANSWER_BYTES`]; names and reasons have the bounds of any other |
//! | SEC-04: the token is shown to nobody else | [`Token`] has no words; no redirect is followed and no proxy asked; no [`Trouble`] holds anything of the URL, the token or the answer |
//! | dropping the future gives up the request | its connection is shut down, so that the service knows too |
//!
//! It speaks HTTP, without TLS: a service that is not on the same machine or in the same private network
//! has a proxy before it that speaks TLS.

mod answer;
mod approver;
mod body;
mod exchange;
mod token;
mod trouble;
mod url;

pub use answer::Wrong;
pub use approver::HttpApprover;
pub use exchange::ANSWER_BYTES;
pub use token::{Token, TokenError};
pub use trouble::Trouble;
pub use url::{Url, UrlError};
