//! The keys of lists, and the ordering cache. A list is identified by its filters and its order, and the cache holds
//! lists that no run holds.

mod filter;
mod ordering_cache;

pub(crate) use self::filter::ListKey;
pub(super) use self::filter::{Filters, FoundBy, InRange, InRanges, Linked, sorted};
pub(super) use self::ordering_cache::{ChangedRows, Evicted, OrderingCache, RowChange};
