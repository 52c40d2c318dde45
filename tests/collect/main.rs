//! Reading agents over SNMP: walks, faults, limits, and crawls of whole networks.
//!
//! The agents are in memory and in virtual time: no packet leaves the process.

#![allow(
    clippy::expect_used,
    clippy::indexing_slicing,
    clippy::panic,
    clippy::print_stdout,
    clippy::unwrap_used,
    reason = "helpers of tests are tests"
)]

mod allow_list;
mod crawl;
mod farm;
mod faults;
mod pace;
mod support;
mod tables;
mod v3;
mod walks;
