use bytes::Bytes;
use uuid::Uuid;

use super::document::without_comma;
use super::facets::sort_name;
use crate::access::Caller;
use crate::inventory::records::{HOST, TAG_LINK};
use crate::inventory::{Error, Inventory};
use crate::model::{HostOrderField, OrderDirection};
use crate::store::{Direction, LinkFilter, Order, Query, Revision, Start};

/// Which hosts are wanted, in which order, and which part of the list.
///
/// The filters combine with AND. The default is every host that the caller may see, by `created_at`.
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
    /// Only hosts of this network. Of one that the caller may not see there are none.
    pub network_id: Option<Uuid>,
    /// Only these hosts.
    pub ids: Option<Vec<Uuid>>,
    /// Only hosts that have any of these tags.
    pub tag_ids: Option<Vec<Uuid>>,
    /// What comes first in the order, always ascending, so that what is equal in it stays together.
    pub group_by: Option<HostOrderField>,
    /// What orders within the groups, or everything; `created_at` when absent.
    pub order_by: Option<HostOrderField>,
    /// The direction of `order_by`.
    pub order_direction: OrderDirection,
    /// How many hosts at most; `None`: all.
    pub limit: Option<usize>,
    /// After how many hosts of the list the page begins.
    pub offset: u64,
}

/// A page of hosts.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct HostPage {
    /// Each host as the JSON object of the API, in the order asked for. They were encoded when they were stored, and are
    /// shared with the store, not copied.
    pub documents: Vec<Bytes>,
    /// How many hosts match the filters, wherever the page begins and ends.
    pub total: u64,
}

/// A page of hosts as they are stored, each behind a comma.
#[derive(Debug, Default)]
pub(crate) struct ListedHosts {
    pub(crate) bodies: Vec<Bytes>,
    pub(crate) total: u64,
}

impl Inventory {
    /// The hosts that a caller may see: those of its organization, on the networks of its scope.
    ///
    /// Takes any caller: whoever is known may read.
    ///
    /// # Errors
    /// None of its own.
    pub async fn list_hosts(&self, caller: &Caller, query: &HostQuery) -> Result<HostPage, Error> {
        let ListedHosts { bodies, total } = self.listed_hosts(caller, query).await?;
        Ok(HostPage { documents: bodies.into_iter().map(without_comma).collect(), total })
    }

    /// The same as they are stored.
    pub(crate) async fn listed_hosts(
        &self,
        caller: &Caller,
        query: &HostQuery,
    ) -> Result<ListedHosts, Error> {
        let page = self.store.list(&store_query(caller, query)).await?;
        // Collected by themselves: in the place of the records they would hold on to more than twice the memory.
        let mut bodies = Vec::with_capacity(page.records.len());
        bodies.extend(page.records.into_iter().map(|record| record.body));
        Ok(ListedHosts { bodies, total: page.total })
    }

    /// In which state the hosts of a caller's organization are; `None` where the store cannot tell.
    pub(crate) async fn hosts_revision(&self, caller: &Caller) -> Result<Option<Revision>, Error> {
        Ok(self.store.revision(HOST, caller.organization_id()).await?)
    }
}

/// What the store is asked for.
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
    // Within a group of one field, that field orders nothing any more.
    let within = (query.group_by != Some(by)).then(|| Order::new(sort_name(by), direction));
    group.into_iter().chain(within).collect()
}
