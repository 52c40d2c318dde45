//! The parts of a write-ahead log that do not depend on its medium.
//!
//! A backend with a log collects waiting commits into a [group](group_commit), checks them against the in-memory index,
//! writes the group to its medium as one entry, applies it to the index and to the [body cache](body_cache), and
//! acknowledges it. [`codec`] encodes records, and [`batch`] the batches of an entry.

pub(crate) mod batch;
pub(crate) mod body_cache;
pub(crate) mod codec;
pub(crate) mod group_commit;
pub(crate) mod queue;
