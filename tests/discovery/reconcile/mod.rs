//! Reconciliation of reports with hosts.

mod edits;
mod evidence;
mod identities;
mod merging;
mod neighbors;
mod port_names;
mod properties;
mod recognition;
mod support;
pub(crate) mod world;
