//! The rules of state.
