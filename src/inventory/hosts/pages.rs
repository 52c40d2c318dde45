use std::collections::BTreeSet;
use std::fmt;
use std::sync::Arc;

use uuid::Uuid;

use super::list::{HostQuery, ListedHosts, store_query};
use crate::access::Caller;
use crate::inventory::{Error, Inventory};
use crate::store::{Query, Start, Store};

/// The page size of a stream, at which the cost per host is close to that of any larger page.
const PAGE: usize = 128;

/// A list of hosts of any length, read page by page.
///
/// It is never in memory as a whole, and a slow reader holds up no other request.
///
/// The list is not a snapshot. A host that does not change in the meantime occurs exactly once. A host whose position
/// changes may be missed but never occurs twice, because the ids already returned are remembered.
pub(crate) struct HostPages {
    store: Arc<dyn Store>,
    query: Option<Query>,
    given: BTreeSet<Uuid>,
}

impl Inventory {
    /// Pages through all hosts of a list from its offset on, ignoring its limit.
    pub(crate) fn host_pages(&self, caller: &Caller, query: &HostQuery) -> HostPages {
        let query = Query { limit: Some(PAGE), ..store_query(caller, query) };
        HostPages { store: Arc::clone(&self.store), query: Some(query), given: BTreeSet::new() }
    }
}

impl HostPages {
    /// Returns whether the last page was returned.
    pub(crate) const fn are_over(&self) -> bool {
        self.query.is_none()
    }

    /// Returns the next page; empty after the last one.
    pub(crate) async fn next(&mut self) -> Result<ListedHosts, Error> {
        let Some(query) = self.query.take() else { return Ok(ListedHosts::default()) };
        let page = self.store.list(&query).await?;
        let records = page.records.into_iter().filter(|record| self.given.insert(record.key.id));
        let bodies = records.map(|record| record.body).collect();
        self.query = page.next.map(|cursor| Query { start: Start::After(cursor), ..query });
        Ok(ListedHosts { bodies, total: page.total })
    }
}

impl fmt::Debug for HostPages {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.debug_struct("HostPages").field("given", &self.given.len()).finish_non_exhaustive()
    }
}
