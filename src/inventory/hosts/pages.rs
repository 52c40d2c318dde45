use std::collections::BTreeSet;
use std::fmt;
use std::sync::Arc;

use uuid::Uuid;

use super::list::{HostQuery, ListedHosts, store_query};
use crate::access::Caller;
use crate::inventory::{Error, Inventory};
use crate::store::{Query, Start, Store};

/// How many hosts are read at once: so many cost little more each than a page of any length does.
const PAGE: usize = 128;

/// A list of hosts of any length, read page by page, so that it never is in memory as a whole and nobody waits for whoever
/// reads it.
///
/// It is of no single moment. A host that does not change meanwhile is in it exactly once. One whose place in the order
/// changes may be missed, and is never in it twice: the ids of those that were given are remembered.
pub(crate) struct HostPages {
    store: Arc<dyn Store>,
    query: Option<Query>,
    given: BTreeSet<Uuid>,
}

impl Inventory {
    /// All hosts of a list from its offset on, whatever its limit is.
    pub(crate) fn host_pages(&self, caller: &Caller, query: &HostQuery) -> HostPages {
        let query = Query { limit: Some(PAGE), ..store_query(caller, query) };
        HostPages { store: Arc::clone(&self.store), query: Some(query), given: BTreeSet::new() }
    }
}

impl HostPages {
    /// Whether the last page was given.
    pub(crate) const fn are_over(&self) -> bool {
        self.query.is_none()
    }

    /// The next page, an empty one behind the last.
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
