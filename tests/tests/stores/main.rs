//! Every store of this repository is one (STORE-010), and so is one that somebody else writes.

mod own;
mod page;
mod sqlite;
