//! The store on real files: equal to the machines, shared by processes, and clear about what is
//! wrong.

mod support;

mod bad_files;
mod checkpoints;
mod clock;
mod copies;
mod damage;
mod failpoints;
mod full_disk;
mod group;
mod index_damage;
#[cfg(target_os = "linux")]
mod locks;
mod log_damage;
mod lost;
mod operator;
mod processes;
mod rebuilds;
mod rights;
mod run;
mod wal;
