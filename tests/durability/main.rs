//! Guarantees of the store in a folder, whatever happens to the process, the disk or the folder.
//!
//! Acknowledged batches are present, and other batches are present completely or not at all. Damage is reported as an
//! error; damaged data is never returned.
//!
//! `TOPOSCOPE_CRASH_ROUNDS` (default 3) and `TOPOSCOPE_DAMAGE_ROUNDS` (default 6) set the number of rounds:
//!
//! ```sh
//! TOPOSCOPE_CRASH_ROUNDS=200 TOPOSCOPE_DAMAGE_ROUNDS=200 cargo test --release --test durability -- --nocapture
//! ```

#![cfg(feature = "sled")]
#![allow(
    clippy::expect_used,
    clippy::indexing_slicing,
    clippy::panic,
    clippy::print_stdout,
    clippy::unwrap_used,
    reason = "helpers of tests are tests"
)]

#[cfg(unix)]
mod crash;
mod damage;
mod faults;
mod large;
mod opening;
#[path = "../support/place.rs"]
mod place;
#[cfg(unix)]
#[allow(dead_code, reason = "only a program has arguments")]
#[path = "../../examples/folder.rs"]
mod program;
mod stage;
mod support;
mod verify;
mod walk;
mod workload;
