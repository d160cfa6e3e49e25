//! Every store of this repository is one (STORE-010), and so is one that somebody else writes.

mod beside;
mod own;
mod page;
mod sqlite;
