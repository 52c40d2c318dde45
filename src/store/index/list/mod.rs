//! Lists: the filters and the order that identify one, and the cache of those that no run holds.

mod filter;
mod ordering_cache;

pub(crate) use self::filter::ListKey;
pub(super) use self::filter::{Filters, FoundBy, InRanges, Linked, sorted};
pub(super) use self::ordering_cache::{ChangedRows, Evicted, OrderingCache, RowChange};
