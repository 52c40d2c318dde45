//! The inventory over a store in memory, used as a host application uses it.

#![allow(
    clippy::expect_used,
    clippy::indexing_slicing,
    clippy::panic,
    clippy::print_stderr,
    clippy::unwrap_used,
    reason = "helpers of tests are tests"
)]

mod bootstrap;
mod faults;
mod hosts;
mod import;
mod keys;
mod logins;
mod model;
mod organizations;
mod ports;
mod real;
mod references;
mod referrals;
mod secrets;
mod shares;
mod support;
mod users;
