//! The guide: from the first request to operations.
//!
//! 1. [Getting started](getting_started): the first inventory, the first host, the first request.
//! 2. [Embedding](embedding): axum, hyper, in process, and your own authentication.
//! 3. [Data model](data_model): organizations, networks, hosts and their parts, pagination.
//! 4. [Access and keys](access): levels, scopes, API keys, sessions, rate limits.
//! 5. [Writing a store](writing_a_store): the `Store` trait and the conformance suite.
//! 6. [Performance](performance): the cost of each request, with measurements.
//! 7. [Durability](durability): the guarantees of `SledStore`, its files and its limits.
//! 8. [Operations](operations): backup, restore, verification, repair, quotas, logs.

#[cfg(any(not(doctest), feature = "sled"))]
#[doc = include_str!("getting_started.md")]
pub mod getting_started {}

#[doc = include_str!("embedding.md")]
pub mod embedding {}

#[doc = include_str!("data_model.md")]
pub mod data_model {}

#[doc = include_str!("access.md")]
pub mod access {}

#[doc = include_str!("writing_a_store.md")]
pub mod writing_a_store {}

#[doc = include_str!("performance.md")]
pub mod performance {}

#[cfg(any(not(doctest), feature = "sled"))]
#[doc = include_str!("durability.md")]
pub mod durability {}

#[cfg(any(not(doctest), feature = "sled"))]
#[doc = include_str!("operations.md")]
pub mod operations {}
