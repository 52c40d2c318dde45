use std::collections::BTreeSet;
use std::sync::Arc;

use bytes::Bytes;
use uuid::Uuid;

use super::document::{sort_name, without_comma};
use crate::access::Caller;
use crate::inventory::schema::{HOST, TAG_LINK};
use crate::inventory::{Error, Inventory};
use crate::model::{HostOrderField, OrderDirection};
use crate::store::{Direction, LinkFilter, Order, Query, Revision, Start, Store};

/// Filters, order and page of a list of hosts.
///
/// Filters are combined with AND. The default is every host visible to the caller, by `created_at`.
///
/// ```
/// use toposcope::inventory::HostQuery;
/// use toposcope::model::HostOrderField;
///
/// let mut query = HostQuery::default();
/// query.order_by = Some(HostOrderField::Name);
/// query.limit = Some(50);
/// ```
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct HostQuery {
    /// Only hosts of this network. A network invisible to the caller gives an empty list.
    pub network_id: Option<Uuid>,
    /// Only these hosts.
    pub ids: Option<Vec<Uuid>>,
    /// Only hosts with any of these tags.
    pub tag_ids: Option<Vec<Uuid>>,
    /// The primary order field, always ascending, so that hosts of a group are adjacent.
    pub group_by: Option<HostOrderField>,
    /// The order within groups, or of the whole list; default: `created_at`.
    pub order_by: Option<HostOrderField>,
    /// The direction of `order_by`.
    pub order_direction: OrderDirection,
    /// The maximum number of hosts; `None`: all.
    pub limit: Option<usize>,
    /// The number of hosts to skip.
    pub offset: u64,
}

/// A page of hosts.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct HostPage {
    /// The hosts as JSON objects of the API, in the requested order.
    ///
    /// They were encoded when stored, and share the store's memory.
    pub documents: Vec<Bytes>,
    /// The number of hosts that match the filters, regardless of `limit` and `offset`.
    pub total: u64,
}

/// A page of hosts as stored, each preceded by a comma.
#[derive(Debug, Default)]
pub(crate) struct ListedHosts {
    pub(crate) bodies: Vec<Bytes>,
    pub(crate) total: u64,
}

impl Inventory {
    /// Lists the hosts visible to a caller.
    ///
    /// These are the organization's hosts on networks in the caller's scope.
    ///
    /// Every level may read.
    pub async fn list_hosts(&self, caller: &Caller, query: &HostQuery) -> Result<HostPage, Error> {
        let ListedHosts { bodies, total } = self.listed_hosts(caller, query).await?;
        Ok(HostPage { documents: bodies.into_iter().map(without_comma).collect(), total })
    }

    /// Lists hosts like [`list_hosts`](Self::list_hosts), in their stored form.
    pub(crate) async fn listed_hosts(
        &self,
        caller: &Caller,
        query: &HostQuery,
    ) -> Result<ListedHosts, Error> {
        let page = self.store.list(&store_query(caller, query)).await?;
        // A separate allocation: collecting in place would hold on to more than twice the memory.
        let mut bodies = Vec::with_capacity(page.records.len());
        bodies.extend(page.records.into_iter().map(|record| record.body));
        Ok(ListedHosts { bodies, total: page.total })
    }

    /// Returns the revision of the organization's hosts; `None` if the store does not support it.
    pub(crate) async fn hosts_revision(&self, caller: &Caller) -> Result<Option<Revision>, Error> {
        Ok(self.store.revision(HOST, caller.organization_id()).await?)
    }
}

/// Translates a list request to a store query.
pub(super) fn store_query(caller: &Caller, query: &HostQuery) -> Query {
    let scope = match query.network_id {
        Some(network) => caller.scope().narrowed_to(network),
        None => caller.scope().clone(),
    };
    let links = query.tag_ids.iter().map(|tags| LinkFilter { relation: TAG_LINK, targets: tags.clone() });
    Query {
        organization: Some(caller.organization_id()),
        networks: scope.networks().map(<[Uuid]>::to_vec),
        ids: query.ids.clone(),
        links: links.collect(),
        order: order(query),
        start: Start::Offset(query.offset),
        limit: query.limit,
        ..Query::new(HOST)
    }
}

fn order(query: &HostQuery) -> Vec<Order> {
    let direction = match query.order_direction {
        OrderDirection::Ascending => Direction::Ascending,
        OrderDirection::Descending => Direction::Descending,
    };
    let by = query.order_by.unwrap_or(HostOrderField::CreatedAt);
    let group = query.group_by.map(|field| Order::new(sort_name(field), Direction::Ascending));
    // Within a group of one field, ordering by that field has no effect.
    let within = (query.group_by != Some(by)).then(|| Order::new(sort_name(by), direction));
    group.into_iter().chain(within).collect()
}

/// The number of hosts read at a time.
///
/// At this size, the cost per host is close to that of any larger page.
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
    pub(crate) const fn is_finished(&self) -> bool {
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
