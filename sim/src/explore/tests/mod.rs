mod enumeration;
mod search;
pub(crate) mod toy;
mod world;
