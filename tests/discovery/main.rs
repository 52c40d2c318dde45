//! Parsers of scans, walks and tables, with valid, damaged and hostile input.
//!
//! `TOPOSCOPE_MUTATIONS` (default 1,000) sets the number of damaged inputs for each sample, `TOPOSCOPE_SEED` their
//! seed:
//!
//! ```text
//! TOPOSCOPE_MUTATIONS=1000000 cargo test --release --test discovery mutations
//! ```

#![allow(
    clippy::expect_used,
    clippy::indexing_slicing,
    clippy::panic,
    clippy::print_stdout,
    clippy::unwrap_used,
    reason = "helpers of tests are tests"
)]

mod account;
mod agents;
mod arp;
mod captures;
mod cases;
mod documents;
mod entry_states;
mod hostile;
mod interface_lists;
mod iproute2;
mod labs;
mod lldpctl;
mod mutations;
mod neighbor_cells;
mod neighbor_documents;
mod neighbor_lines;
mod neighbor_tables;
mod nmap;
mod oracle;
mod other_tables;
mod port_numbers;
mod real;
mod reconcile;
mod reports;
mod routes;
mod support;
mod tables;
mod walk_forms;
mod walk_sessions;
mod walk_values;
mod walks;
