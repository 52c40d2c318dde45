//! What the store in a folder promises: whatever happens to the process, the disk or the folder, what was acknowledged is
//! there, what was not is there whole or not at all, and what is damaged is told and never served.
//!
//! `TOPOSCOPE_CRASH_ROUNDS` (3 unless set) and `TOPOSCOPE_DAMAGE_ROUNDS` (6) make it longer:
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
