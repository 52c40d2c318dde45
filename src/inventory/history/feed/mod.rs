//! Reading the history as it was written: pages, one record, counts, and following.

pub(in crate::inventory::history) mod of_record;
pub(in crate::inventory::history) mod page;
pub(in crate::inventory::history) mod summary;
pub(in crate::inventory::history) mod watch;
