//! Joins, deletes, erases and restores entries.

pub(in crate::inventory::history) mod erasure;
pub(in crate::inventory::history) mod packing;
pub(in crate::inventory::history) mod renewal;
pub(in crate::inventory::history) mod restored;
pub(in crate::inventory::history) mod retention;
