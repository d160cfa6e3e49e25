//! The world around Everstep's machines: its faults, its explorers, its oracles.
pub mod scenario;
mod cast;
pub mod defect;
pub mod fault;
mod fingerprint;
pub mod oracle;
pub mod outside;
pub mod profile;
pub mod store;
pub mod world;
pub mod explore;
pub mod matrix;
pub mod schedule;
pub mod shrink;
pub mod trace;
