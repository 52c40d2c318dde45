//! Two copies of all records in sled databases: the primary and its mirror.
//!
//! Only this module calls sled, and uses little of it: ordered keys and values, and atomic batches. sled panics on
//! most kinds of damage, so every call is wrapped to catch a panic. No call is made on an async thread.

mod database;
mod layout;
mod mirror;
mod scan;
mod tree_copy;

pub(super) use self::layout::{Manifest, ScanPosition, place_of_body};
pub(super) use self::mirror::{ScrubProgress, Side, TreePair, closed_during_scrub};
pub(super) use self::scan::HeaderBatch;
pub(super) use self::tree_copy::{TreeCopy, TreeWriter};
