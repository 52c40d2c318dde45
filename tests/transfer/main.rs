//! Exporting and restoring a store: the contents are identical, or the transfer fails.

#![allow(clippy::indexing_slicing, clippy::panic, clippy::unwrap_used, reason = "helpers of tests are tests")]

mod bodies;
mod damage;
mod faults;
#[cfg(feature = "sled")]
mod folder;
mod inventory;
mod lines;
#[cfg(feature = "sled")]
#[path = "../support/place.rs"]
mod place;
mod refusals;
mod round_trip;
mod streams;
mod support;
