//! Writing the history: the entries of a commit, and security events that no commit makes.

pub(in crate::inventory::history) mod content;
pub(in crate::inventory::history) mod difference;
pub(in crate::inventory::history) mod document;
pub(in crate::inventory::history) mod event;
pub(in crate::inventory::history) mod pending_events;
pub(in crate::inventory::history) mod recorder;
