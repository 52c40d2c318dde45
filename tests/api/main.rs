//! The HTTP contract: the answers to all kinds of requests. All of them go through [`common::Server::send`],
//! which checks the conditions that every response must satisfy.

#![allow(
    clippy::expect_used,
    clippy::indexing_slicing,
    clippy::panic,
    clippy::print_stdout,
    clippy::unwrap_used,
    reason = "helpers of tests are tests"
)]
#![cfg_attr(
    not(all(feature = "discovery", feature = "openapi", feature = "topology")),
    allow(dead_code, reason = "some helpers serve the tests of features alone")
)]

mod backend;
#[cfg(all(feature = "topology", target_os = "linux"))]
mod budget;
#[cfg(feature = "client")]
mod client;
#[cfg(all(feature = "postgres", unix))]
#[allow(dead_code, reason = "other tests and benchmarks use the rest")]
#[path = "../support/postgres.rs"]
mod cluster;
mod common;
mod concurrency;
#[cfg(feature = "discovery")]
mod daemons;
mod history;
#[cfg(any(feature = "discovery", all(feature = "postgres", unix)))]
#[allow(dead_code, reason = "the tests on PostgreSQL use the rest")]
#[path = "../support/in_turn.rs"]
mod in_turn;
mod isolation;
mod management;
#[cfg(feature = "sled")]
#[path = "../support/place.rs"]
mod place;
mod policy;
#[cfg(all(feature = "postgres", unix))]
mod postgres;
#[cfg(feature = "discovery")]
mod reports;
mod requests;
mod robustness;
#[cfg(feature = "topology")]
mod topology;

mod access {
    mod credentials;
    mod cross_site;
    mod endpoints;
    mod keys;
    mod levels;
    mod logins;
    mod sessions;

    pub(crate) use credentials::rows;
}

mod endpoints {
    mod collections;
    mod others;
    mod ports;
    mod user_keys;
}

mod errors {
    mod arrays;
    mod faults;
    mod fields;
    mod json;
    mod records;
    mod requests;
    mod sentences;
}

mod limits {
    mod client_address;
    mod quotas;
    mod rate_limit;
    mod rate_limit_model;
    mod refusal_log;
    mod unread;
}

mod lists {
    mod accept;
    mod conditional;
    #[cfg(feature = "csv")]
    mod csv_slot;
    mod oracle;
    mod order;
    mod pages;
    mod query;
    pub(super) mod whole_list;
    mod whole_lists_at_once;
}

mod observation {
    mod audit;
    mod figures;
    mod openmetrics;
    mod secrets;
    mod security;
    mod served;
    mod spans;
}

mod service {
    #[cfg(feature = "openapi")]
    mod description;
    mod embedding;
    mod envelope;
    mod expiry;
    #[cfg(feature = "axum")]
    mod extracted;
    mod health;
    mod locations;
    #[cfg(feature = "openapi")]
    mod merged_description;
    #[cfg(feature = "axum")]
    mod own_endpoints;
    #[cfg(feature = "axum")]
    mod own_shutdown;
    mod precedence;
    mod revocation;
    mod shutdown;
    mod tenants;
    mod unread_bodies;
    #[cfg(feature = "openapi")]
    mod whole_numbers;
}

mod values {
    mod formats;
    mod records;
}
