//! What handlers see of their steps.
