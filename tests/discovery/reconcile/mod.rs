//! Reconciliation of reports with hosts.

mod identities;
mod merging;
mod neighbors;
mod properties;
mod recognition;
mod support;
pub(crate) mod world;
