//! An embeddable network inventory and topology API, as a [`tower` service](service::Api).
//!
//! The host application supplies a [`Store`] and mounts an [`Api`] in axum or hyper, or calls it in process. The API
//! lists, creates, updates and deletes networks, subnets, tags, and hosts with their interfaces, ports, services and
//! SNMP interface entries; users, API keys of users and of discovery daemons, and shares. Many hosts are stored in one
//! request, or imported and exported as JSON Lines or CSV. It also reconciles the reports of scanners, devices and
//! discovery daemons with the hosts (feature `discovery`), and draws networks with the evidence for each link (feature
//! `topology`). [`Inventory`] and `topology::Topologies` offer the same operations as typed methods, without HTTP.
//!
//! ```
//! use http::{Request, header};
//! use toposcope::inventory::Bootstrap;
//! use toposcope::{Api, Inventory, MemoryStore};
//! use tower::ServiceExt;
//!
//! # #[tokio::main(flavor = "current_thread")]
//! # async fn main() -> Result<(), Box<dyn std::error::Error>> {
//! let inventory = Inventory::new(MemoryStore::new());
//! let start = inventory.bootstrap(Bootstrap::new("Example", "me@example.net")).await?;
//! let key = start.issued_key.ok_or("only the first start issues a key")?;
//!
//! let api = Api::builder(inventory).build();
//! let request = Request::get("/api/v1/hosts?limit=10")
//!     .header(header::AUTHORIZATION, format!("Bearer {}", key.plaintext()))
//!     .body(String::new())?;
//! assert_eq!(api.oneshot(request).await?.status(), 200);
//! # Ok(())
//! # }
//! ```
//!
//! # Modules
//! Each module imports only from the rows below its own.
//!
//! ```text
//!         HTTP request                Rust HTTP client
//!              |                             |
//! +------------v--------------+--------------v------------+
//! |          service          |                           |
//! +---------------------------+                           |
//! |    topology::Topologies   |          client           |
//! +---------------------------+                           |
//! |         inventory         | <--- Rust call            |
//! +-----------------+---------+---------------------------+
//! | access, figures |  store  |           wire            |
//! +-----------------+---------+---------------------------+
//! |       topology::{links, graph, layout, render}        |
//! +-------------------------------------------------------+
//! |                       discovery                       | <--- collect
//! +-------------------------------------------------------+
//! |                         model                         |
//! +-------------------------------------------------------+
//! ```
//!
//! * [`model`]: the records, as plain typed values.
//! * [`store`]: the [`Store`] trait, six required methods, and the backends.
//! * [`access`]: callers and the networks they may reach; keys, passwords, clocks.
//! * [`inventory`]: the rules on top of a store, usable without HTTP.
//! * [`wire`]: the response envelope, the error codes, and the inputs, queries and results that a client shares.
//! * [`service`]: the API as a `tower::Service`, and the OpenAPI document that describes its endpoints.
//! * [`figures`]: counts and latencies for monitoring, and their text for Prometheus.
//! * `client` (feature `client`): a typed client for the API, over any tower service that speaks HTTP.
//! * `discovery` (feature `discovery`): parsers that turn SNMP walks, scans and neighbor tables into reports, and functions
//!   that reconcile these with hosts.
//! * `topology` (feature `topology`): the links between hosts, graphs and layouts of networks, and pictures of them in six
//!   formats.
//! * `testing` (feature `testing`): the conformance suite for stores, a naive store to compare with, and one for fault
//!   injection.
//! * `collect` (feature `collect`): devices read over SNMP, from one address to a network, as reports for `discovery`.
//! * [`guide`]: getting started, the API in ten requests, embedding, reverse proxies, the data model, access, stores, performance,
//!   durability, operations, several processes, discovery, topology, sharing, the client, collecting.
//!
//! # Crates of the API
//! [`bytes`], [`http`], [`uuid`] and the attribute [`async_trait`](macro@async_trait) are exported again: the API has
//! their types, and a [`Store`] is written with them. [Embedding](guide::embedding#crates-in-the-api) names the crates
//! of the API that are not at 1.0 yet.
//!
//! # Features
//! * `service`, on by default: the modules `service`, `inventory`, `store` and `access`. Without it, `client`, `discovery`
//!   and `topology` are available for programs that have no inventory of their own.
//! * `csv`, on by default: lists of hosts and parts as CSV, and import of hosts from it. It needs `service` and adds the
//!   crate `csv-core`.
//! * `discovery`, on by default: the `discovery` module and, with `service`, daemons and their work, with endpoints for both
//!   sides. It adds the crate `quick-xml` to those of `service`.
//! * `openapi`, on by default: `openapi()`, the OpenAPI document of the API, and the endpoints that serve it. It needs
//!   `service` and adds the crate `schemars`.
//! * `sled`, on by default: `SledStore`, which keeps all records in a folder. It needs `service`.
//! * `topology`, on by default: the `topology` module and, with `service`, its endpoints and the pages of shares. It needs
//!   `discovery` and adds no crate of its own to those of `service`.
//! * `postgres`: `PostgresStore`, which keeps all records in a PostgreSQL database that several processes share. It needs
//!   `service` and adds the crate `tokio-postgres`.
//! * `axum`: routes for axum 0.8, and an extractor for endpoints of the host application. It needs `service` and adds the
//!   crate `axum`.
//! * `collect`: the `collect` module. It works without `service`, and adds the crate `async-snmp`.
//! * `client`: the `client` module. It adds the crate `futures-core` to those of `service`.
//! * `testing`: the `testing` module for authors of stores. It needs `service`. Any release may add cases to it.
//!
//! [Embedding](guide::embedding#features) has the number of crates of each.

#![cfg_attr(docsrs, feature(doc_cfg))]
#![cfg_attr(
    not(feature = "service"),
    allow(
        dead_code,
        unreachable_pub,
        unused_imports,
        unused_macros,
        reason = "only the service uses all of the modules below it"
    )
)]

#[cfg(feature = "service")]
pub mod access;
#[cfg(feature = "client")]
pub mod client;
#[cfg(feature = "collect")]
pub mod collect;
#[cfg(feature = "csv")]
mod csv;
#[cfg(feature = "discovery")]
pub mod discovery;
#[cfg(feature = "service")]
mod erased_job;
mod fair_threads;
#[cfg(any(feature = "collect", feature = "service"))]
pub mod figures;
pub mod guide;
mod invariant;
#[cfg(feature = "service")]
pub mod inventory;
mod json_objects;
#[cfg(feature = "service")]
mod keyed_lock;
#[cfg(feature = "service")]
mod lines;
pub mod model;
#[cfg(any(feature = "discovery", feature = "service"))]
mod printable;
#[cfg(all(feature = "service", feature = "topology"))]
mod recent_networks;
#[cfg(feature = "service")]
pub mod service;
mod sha256;
#[cfg(feature = "service")]
pub mod store;
#[cfg(feature = "testing")]
pub mod testing;
mod text_enum;
#[cfg(feature = "topology")]
pub mod topology;
#[cfg(feature = "discovery")]
mod union_find;
#[cfg(any(feature = "client", feature = "service"))]
pub mod wire;
#[cfg(feature = "discovery")]
mod without_none;

#[cfg(feature = "service")]
#[doc(no_inline)]
pub use async_trait::async_trait;
#[cfg(feature = "service")]
pub use inventory::Inventory;
#[cfg(feature = "service")]
pub use service::Api;
#[cfg(feature = "openapi")]
pub use service::{openapi, openapi_for};
#[cfg(feature = "postgres")]
pub use store::PostgresStore;
#[cfg(feature = "sled")]
pub use store::SledStore;
#[cfg(feature = "service")]
pub use store::{MemoryStore, Store};
#[doc(no_inline)]
pub use uuid;
#[cfg(any(feature = "client", feature = "service"))]
#[doc(no_inline)]
pub use {bytes, http};

/// Compiles the examples in README.md.
#[cfg(all(doctest, feature = "sled"))]
#[doc = include_str!("../README.md")]
struct Readme;
