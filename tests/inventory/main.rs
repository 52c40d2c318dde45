//! The inventory over a store in memory, used as a host application uses it.

#![allow(
    clippy::expect_used,
    clippy::indexing_slicing,
    clippy::panic,
    clippy::print_stderr,
    clippy::unwrap_used,
    reason = "helpers of tests are tests"
)]

mod authentication;
mod bootstrap;
mod daemon_keys;
mod faults;
mod hosts;
mod import;
mod key_uses;
mod logins;
mod names;
mod networks;
mod organizations;
mod ports;
mod real;
mod referrals;
mod secrets;
mod shares;
mod support;
mod tags;
mod user_keys;
mod users;
