//! Topology: links, graphs, layouts, pictures and pages, each through its public API.

#![allow(
    clippy::expect_used,
    clippy::indexing_slicing,
    clippy::panic,
    clippy::print_stdout,
    clippy::unwrap_used,
    reason = "helpers of tests are tests"
)]

mod graph;
mod layout;
mod links;
mod memory;
mod page;
mod paths;
mod render;
