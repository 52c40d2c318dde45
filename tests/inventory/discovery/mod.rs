//! Discovery into a store: the hosts, states and claims that it stores.

mod age;
mod canonical;
mod cases;
mod claims;
mod concurrency;
mod consolidation;
mod daemons;
mod duplicates;
mod edits;
mod generated;
mod input;
mod labs;
mod live;
mod neighbor_caches;
mod neighbors;
mod outcomes;
mod pieces;
mod port_names;
mod splitting;
mod staleness;
mod subnets;
pub(crate) mod support;
mod tenants;
