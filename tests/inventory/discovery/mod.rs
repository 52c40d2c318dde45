//! Discovery into a store: what hosts, states and claims it leaves there.

mod age;
mod claims;
mod concurrency;
mod consolidation;
mod daemons;
mod edits;
mod input;
mod labs;
mod neighbors;
mod outcomes;
mod staleness;
mod subnets;
mod support;
mod tenants;
