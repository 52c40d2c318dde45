//! The HTTP contract on a store in a folder: the tests of `tests/api`, with identical results.

#![cfg(feature = "sled")]
#![allow(
    clippy::expect_used,
    clippy::indexing_slicing,
    clippy::panic,
    clippy::print_stdout,
    clippy::unwrap_used,
    reason = "helpers of tests are tests"
)]

mod backend;

#[path = "../api/access.rs"]
mod access;
#[path = "../api/caller.rs"]
mod caller;
#[path = "../api/common/mod.rs"]
mod common;
#[path = "../api/concurrency/mod.rs"]
mod concurrency;
#[path = "../api/conditional.rs"]
mod conditional;
#[path = "../api/contract/mod.rs"]
mod contract;
#[path = "../api/credentials.rs"]
mod credentials;
#[path = "../api/embedding.rs"]
mod embedding;
#[path = "../api/envelope.rs"]
mod envelope;
#[path = "../api/failing_store.rs"]
mod failing_store;
#[path = "../api/filters.rs"]
mod filters;
#[path = "../api/foreign_records.rs"]
mod foreign_records;
#[path = "../api/head.rs"]
mod head;
#[path = "../api/isolation/mod.rs"]
mod isolation;
#[path = "../api/oracle.rs"]
mod oracle;
#[path = "../api/order.rs"]
mod order;
#[path = "../api/page_bytes.rs"]
mod page_bytes;
#[path = "../api/page_cache.rs"]
mod page_cache;
#[path = "../api/pages.rs"]
mod pages;
#[path = "../support/place.rs"]
mod place;
#[path = "../api/precedence.rs"]
mod precedence;
#[path = "../api/query_names.rs"]
mod query_names;
#[path = "../api/query_values.rs"]
mod query_values;
#[path = "../api/quotas.rs"]
mod quotas;
#[path = "../api/robustness/mod.rs"]
mod robustness;
#[path = "../api/routing.rs"]
mod routing;
#[path = "../api/whole_list.rs"]
mod whole_list;
