//! Reading agents over SNMP: walks, faults, limits, and crawls of whole networks.
//!
//! The agents are in memory and in virtual time, but for that of net-snmp, which listens on a loopback address.

#![allow(
    clippy::duplicate_mod,
    clippy::expect_used,
    clippy::indexing_slicing,
    clippy::panic,
    clippy::print_stdout,
    clippy::unwrap_used,
    reason = "helpers of tests are tests"
)]

mod again;
mod allow_list;
#[cfg(all(feature = "service", feature = "topology"))]
mod cancelled;
mod changed;
mod crawl;
#[cfg(all(feature = "client", feature = "service"))]
mod daemon;
#[cfg(all(feature = "client", feature = "service"))]
#[allow(dead_code, reason = "only a program opens sockets and has a function `main`")]
#[path = "../../examples/daemon/main.rs"]
mod daemon_program;
#[cfg(all(feature = "client", feature = "service", feature = "topology"))]
mod delivered;
#[cfg(all(feature = "service", feature = "topology"))]
mod example;
#[allow(dead_code, reason = "programs serve farms on sockets, too")]
#[path = "../../benches/support/farm/mod.rs"]
mod farm;
mod faults;
mod figures;
mod hostile;
mod laboratory;
#[cfg(all(feature = "service", feature = "topology"))]
mod named_faults;
#[cfg(all(feature = "service", feature = "topology"))]
mod networks;
mod others;
mod pace;
mod polite;
#[cfg(all(feature = "service", feature = "topology"))]
#[allow(dead_code, reason = "only a program opens sockets and has a function `main`")]
#[path = "../../examples/collect/main.rs"]
mod program;
mod read_on;
mod real;
mod recording;
mod routes;
mod secrets;
#[cfg(all(feature = "client", feature = "service"))]
mod service;
mod support;
mod sweep;
mod tables;
mod transport;
mod v3;
mod vlans;
mod walks;
