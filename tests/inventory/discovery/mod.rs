//! Discovery into a store: what hosts, states and claims it leaves there.

mod canonical;
mod cases;
mod claims;
mod concurrency;
mod consolidation;
mod daemons;
mod edits;
mod generated;
mod input;
mod labs;
mod live;
mod neighbors;
mod outcomes;
mod pieces;
mod staleness;
mod support;
mod tenants;
