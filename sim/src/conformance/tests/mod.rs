//! The kit on the store in memory, and on stores that are broken on purpose.

mod beside;
mod broken;
mod desk;
mod found;
mod sound;
