//! Stores: their contract, transfers between them, and the guarantees of those in a folder and on PostgreSQL.

#![allow(
    clippy::expect_used,
    clippy::indexing_slicing,
    clippy::panic,
    clippy::print_stdout,
    clippy::unwrap_used,
    reason = "helpers of tests are tests"
)]

#[cfg(feature = "sled")]
mod child;
#[cfg(all(feature = "postgres", unix))]
#[allow(dead_code, reason = "other tests and benchmarks use the rest")]
#[path = "../support/postgres.rs"]
mod cluster;
#[cfg(feature = "sled")]
mod compare;
#[cfg(feature = "testing")]
mod conformance;
#[cfg(any(feature = "sled", feature = "testing"))]
mod contents;
#[cfg(feature = "sled")]
mod durability;
#[cfg(feature = "sled")]
mod fixture;
#[cfg(all(feature = "postgres", feature = "testing", unix))]
#[path = "../support/in_turn.rs"]
mod in_turn;
mod long_lists;
#[cfg(all(feature = "sled", unix))]
mod one_thread;
#[cfg(feature = "sled")]
#[path = "../support/place.rs"]
mod place;
#[cfg(all(feature = "postgres", unix))]
mod postgres;
#[cfg(feature = "testing")]
mod transfer;
#[cfg(feature = "testing")]
mod wrapper;
