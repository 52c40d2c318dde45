//! Past states, which follow from the entries.

pub(in crate::inventory::history) mod between;
pub(in crate::inventory::history) mod diff;
pub(in crate::inventory::history) mod diffed_links;
#[cfg(feature = "topology")]
pub(in crate::inventory::history) mod link_times;
pub(in crate::inventory::history) mod merged;
pub(in crate::inventory::history) mod one_record;
pub(in crate::inventory::history) mod past_hosts;
#[cfg(feature = "topology")]
pub(in crate::inventory::history) mod past_network;
pub(in crate::inventory::history) mod past_records;
