//! The parts of a write-ahead log that do not depend on its medium.
//!
//! A backend with a log collects waiting commits into a [group](commit_group), checks them against the in-memory index,
//! writes the group to its medium as one entry, applies it to the index and to the [body cache](body_cache), and
//! acknowledges it. [`codec`] encodes the facets of records, [`body`] their
//! bodies, and [`batch`] the batches of an entry.
//!
//! Where several instances share a log, each has a replica, which follows the entries of the others.

pub(crate) mod batch;
pub(crate) mod body;
pub(crate) mod body_cache;
pub(crate) mod codec;
pub(crate) mod commit_group;
#[cfg(feature = "postgres")]
pub(crate) mod entry;
pub(crate) mod group_collector;
pub(crate) mod queue;
#[cfg(feature = "postgres")]
pub(crate) mod replica;
