//! The HTTP contract: the answers to all kinds of requests. All of them go through [`common::Server::send`],
//! which checks what every response must satisfy.

#![allow(
    clippy::expect_used,
    clippy::indexing_slicing,
    clippy::panic,
    clippy::print_stdout,
    clippy::unwrap_used,
    reason = "helpers of tests are tests"
)]

mod access;
mod backend;
mod caller;
mod client_address;
mod client_prefixes;
mod common;
mod concurrency;
mod conditional;
mod contract;
mod credentials;
mod embedding;
mod envelope;
mod failing_store;
mod filters;
mod foreign_records;
mod head;
mod isolation;
mod oracle;
mod order;
mod page_bytes;
mod page_cache;
mod pages;
#[cfg(feature = "sled")]
#[path = "../support/place.rs"]
mod place;
mod precedence;
mod query_names;
mod query_values;
mod quotas;
mod rate_limit;
mod rate_limit_addresses;
mod rate_limit_governor;
mod rate_limit_model;
mod refusal_log;
mod robustness;
mod routing;
mod whole_list;
mod whole_lists_at_once;
