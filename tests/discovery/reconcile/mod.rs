//! Reconciliation of reports with hosts.

pub(crate) mod world;
