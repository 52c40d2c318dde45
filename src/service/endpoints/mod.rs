//! The functions behind the routes, grouped by subject.

pub(super) mod accounts;
pub(super) mod collections;
#[cfg(feature = "discovery")]
pub(super) mod daemons;
#[cfg(feature = "discovery")]
pub(super) mod discoveries;
#[cfg(feature = "discovery")]
pub(super) mod discovery_stream;
pub(super) mod event_stream;
pub(super) mod general;
pub(super) mod health;
pub(super) mod history;
pub(super) mod hosts;
pub(super) mod lists;
pub(super) mod many;
pub(super) mod once;
pub(super) mod past;
#[cfg(feature = "discovery")]
pub(super) mod reports;
#[cfg(feature = "topology")]
pub(super) mod topology;
