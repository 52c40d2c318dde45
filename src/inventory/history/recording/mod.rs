//! Writing the history: the entries of a commit, and security events that no commit makes.

mod abandoned;
mod cause;
pub(in crate::inventory::history) mod content;
pub(in crate::inventory::history) mod difference;
pub(in crate::inventory::history) mod document;
pub(in crate::inventory::history) mod event;
#[cfg(feature = "topology")]
pub(in crate::inventory::history) mod layouts;
#[cfg(not(feature = "topology"))]
#[path = "no_layouts.rs"]
mod layouts;
pub(in crate::inventory::history) mod pending_events;
pub(in crate::inventory::history) mod recorder;
#[cfg(feature = "topology")]
pub(in crate::inventory::history) mod waiting_layouts;
