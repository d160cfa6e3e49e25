//! The world around Everstep's machines: its faults, its explorers, its oracles.
mod cast;
pub mod conformance;
pub mod defect;
pub mod explore;
pub mod fault;
mod fingerprint;
pub mod matrix;
pub mod oracle;
pub mod outside;
pub mod profile;
pub mod scenario;
pub mod schedule;
pub mod shrink;
pub mod store;
pub mod trace;
pub mod world;
