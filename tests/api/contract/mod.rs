//! The contract as tables: one row per rule, with the exact answer.

mod access;
mod clients;
mod dropped;
mod endpoints;
mod envelope;
mod errors;
mod formats;
mod hosts_query;
mod port_types;
mod precedence;
mod rate_limit;
mod row;
mod scene;
mod store;
mod values;
