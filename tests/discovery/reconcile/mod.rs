//! Reconciliation of reports with hosts.

mod edits;
mod identities;
mod merging;
mod neighbors;
mod properties;
mod recognition;
mod support;
pub(crate) mod world;
