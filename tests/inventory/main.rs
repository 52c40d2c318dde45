//! The inventory over a store in memory, used as a host application uses it.

#![allow(
    clippy::expect_used,
    clippy::indexing_slicing,
    clippy::panic,
    clippy::print_stderr,
    clippy::unwrap_used,
    reason = "helpers of tests are tests"
)]

mod access;
mod faults;
mod hosts;
mod import;
mod keys;
mod logins;
mod model;
mod organizations;
mod ports;
mod real;
mod secrets;
mod support;
mod users;
