//! The records of the API in their JSON form.

#![allow(
    clippy::expect_used,
    clippy::indexing_slicing,
    clippy::panic,
    clippy::print_stderr,
    clippy::unwrap_used,
    reason = "clippy.toml allows them in tests, but does not count what the tests of this folder share as such"
)]

mod bindings;
mod fields;
mod hosts;
mod if_entries;
mod mac_addresses;
mod order;
mod organizations;
mod ports;
mod real_inventory;
mod sources;
mod support;
mod timestamps;
mod virtualization;
