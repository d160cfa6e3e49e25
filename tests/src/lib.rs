//! What no single crate can test of itself: the house around them, and later the binary, killed
//! processes and the conformance of stores.
//!
//! The library holds what several of those tests share: the files of the repository
//! ([`repository`]), Rust sources as tokens ([`source`]), documents that are generated
//! ([`generated`]) and the table of requirements ([`requirements`]).

pub mod generated;
pub mod repository;
pub mod requirements;
pub mod source;
