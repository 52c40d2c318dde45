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
#[allow(dead_code, reason = "shared with the tests of the API")]
#[path = "../api/backend.rs"]
mod backend;
mod bulk;
mod collections;
mod faults;
mod hosts;
mod import;
mod keys;
mod logins;
mod model;
mod organizations;
#[cfg(feature = "sled")]
#[path = "../support/place.rs"]
mod place;
mod ports;
mod real;
mod secrets;
mod shares;
mod support;
mod users;
