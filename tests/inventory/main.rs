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
#[cfg(feature = "topology")]
mod addresses;
mod application_records;
#[allow(dead_code, reason = "shared with the tests of the API")]
#[path = "../api/backend.rs"]
mod backend;
mod bulk;
#[cfg(all(feature = "postgres", unix))]
#[allow(dead_code, reason = "other tests and benchmarks use the rest")]
#[path = "../support/postgres.rs"]
mod cluster;
mod collections;
#[cfg(feature = "discovery")]
mod discovery;
mod faults;
mod history;
mod hosts;
mod import;
#[cfg(all(feature = "postgres", unix))]
#[path = "../support/in_turn.rs"]
mod in_turn;
mod keys;
mod logins;
mod model;
mod organizations;
#[cfg(feature = "sled")]
#[path = "../support/place.rs"]
mod place;
mod ports;
#[cfg(all(feature = "postgres", unix))]
#[path = "../api/postgres.rs"]
mod postgres;
mod real;
mod secrets;
mod shares;
mod support;
#[cfg(feature = "topology")]
mod topology;
mod users;
