//! The guide: from the first request to operations.
//!
//! 1. [Getting started](getting_started): the first inventory, the first host, the first request.
//! 2. [The API in ten requests](ten_requests): create, find, update, many at once, export and import, with curl.
//! 3. [Embedding](embedding): axum, hyper, in process, and your own authentication.
#![cfg_attr(
    feature = "axum",
    doc = "4. [Into an existing application](existing_application): own endpoints, a prefix, an own 404, tenants and users."
)]
//! 5. [Behind a reverse proxy](reverse_proxy): nginx, Caddy, Traefik, prefixes, cookies.
//! 6. [Data model](data_model): organizations, networks, hosts and their parts, lists, changes.
//! 7. [History](history): changes and their actors, records of the past, following changes.
//! 8. [Access and keys](access): levels, scopes, endpoints, API keys, sessions, shares, rate limits.
//! 9. [Writing a store](writing_a_store): the `Store` trait and the conformance suite.
//! 10. [Performance](performance): the cost of each request, with measurements.
//! 11. [Durability](durability): the guarantees of `SledStore`, its files and its limits.
//! 12. [Operations](operations): health, backup, restore, verification, repair, quotas, logs.
//! 13. [Scaling beyond one machine](past_one_machine): several processes on one PostgreSQL database.
#![cfg_attr(
    feature = "discovery",
    doc = "14. [From a scan to an inventory](discovery): reports, recognition, merging."
)]
#![cfg_attr(
    feature = "topology",
    doc = "15. [Why this line is here](why_this_line): links, rules, confidence, blind spots, manual links."
)]
#![cfg_attr(
    feature = "topology",
    doc = "16. [Pictures and themes](pictures): formats, classes for styles, colors, fonts, icons."
)]
#![cfg_attr(
    feature = "topology",
    doc = "17. [Sharing](sharing): pages for people without an account, passwords, redaction, frames."
)]
#![cfg_attr(
    feature = "topology",
    doc = "18. [The page of a network](network_page): looking, moving, linking, printing."
)]
#![cfg_attr(
    feature = "topology",
    doc = "19. [Questions](questions): where a device is, how it is reached, what breaks, what is fragile, VLANs, free addresses."
)]
#![cfg_attr(feature = "client", doc = "20. [The client](client): requests, errors, layers.")]
#![cfg_attr(
    feature = "collect",
    doc = "21. [From one address to a map](from_one_address): SNMP, credentials, limits, missing devices."
)]

#[cfg(any(not(doctest), feature = "sled"))]
#[doc = include_str!("getting_started.md")]
pub mod getting_started {}

#[doc = include_str!("ten_requests.md")]
pub mod ten_requests {}

#[doc = include_str!("embedding.md")]
pub mod embedding {}

#[cfg(feature = "axum")]
#[doc = include_str!("existing_application.md")]
pub mod existing_application {}

#[doc = include_str!("reverse_proxy.md")]
pub mod reverse_proxy {}

#[doc = include_str!("data_model.md")]
pub mod data_model {}

#[doc = include_str!("history.md")]
pub mod history {}

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

#[cfg(any(not(doctest), feature = "postgres"))]
#[doc = include_str!("past_one_machine.md")]
pub mod past_one_machine {}

#[cfg(feature = "collect")]
#[doc = include_str!("from_one_address.md")]
pub mod from_one_address {}

#[cfg(feature = "discovery")]
#[doc = include_str!("discovery.md")]
pub mod discovery {}

#[cfg(feature = "topology")]
#[doc = include_str!("why_this_line.md")]
pub mod why_this_line {}

#[cfg(all(feature = "topology", any(not(doctest), feature = "service")))]
#[doc = include_str!("pictures.md")]
pub mod pictures {}

#[cfg(feature = "topology")]
#[doc = include_str!("sharing.md")]
pub mod sharing {}

#[cfg(feature = "topology")]
#[doc = include_str!("network_page.md")]
pub mod network_page {}

#[cfg(all(feature = "topology", any(not(doctest), feature = "service")))]
#[doc = include_str!("questions.md")]
pub mod questions {}

#[cfg(feature = "client")]
#[doc = include_str!("client.md")]
pub mod client {}
