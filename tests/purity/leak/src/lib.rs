//! An ordinary crate, hence one that links `std`: the purity gate must refuse it.
