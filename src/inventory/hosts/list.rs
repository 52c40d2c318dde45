use std::sync::Arc;

use bytes::Bytes;

use super::Hosts;
use super::document::{decode, host_facets, sort_name, without_comma};
use super::terms::{HostTerms, filters};
use crate::access::Caller;
use crate::inventory::collections::{ChunkedList, CustomFilters, DocumentPages, Documents, PendingDocuments};
use crate::inventory::custom::IndexedKind;
use crate::inventory::natural::natural_key;
use crate::inventory::schema::{HOST, SUBNET_LINK, TAG_LINK, time_sort_key};
use crate::inventory::{Error, Inventory, Problem, custom};
use crate::model::{Host, HostOrderField, OrderDirection, uuids};
use crate::store::{
    Direction, KeyFilter, LinkFilter, Order, Query, Record, Revision, Start, Store, TermRange,
};
use crate::wire::{HostQuery, PageCursor};

/// A page of hosts.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct HostPage {
    /// The hosts as JSON objects of the API, in the requested order.
    ///
    /// They were encoded when stored, and share the store's memory.
    pub documents: Vec<Bytes>,
    /// The number of hosts that match the filters, wherever the page starts and ends.
    pub total: u64,
    /// The position after the page; `None`: no hosts follow.
    pub next: Option<PageCursor>,
}

impl HostPage {
    /// Returns the hosts of the page, decoded.
    ///
    /// # Errors
    /// `Internal` if a host cannot be decoded.
    pub fn hosts(&self) -> Result<Vec<Host>, Error> {
        let hosts = self.documents.iter().map(|document| serde_json::from_slice(document));
        // serde's own message may quote stored data.
        let error = |error: serde_json::Error| {
            Error::internal(format!("a host of a page cannot be decoded: {:?} error", error.classify()))
        };
        hosts.collect::<Result<_, _>>().map_err(error)
    }
}

impl Hosts<'_> {
    /// Lists the hosts visible to a caller.
    ///
    /// These are the organization's hosts on networks in the caller's scope.
    ///
    /// Every level may read.
    ///
    /// ```
    /// # use toposcope::access::Caller;
    /// # use toposcope::inventory::{ChangeQuery, HostQuery, Moment};
    /// # use toposcope::model::{Host, Network};
    /// # use toposcope::{Inventory, MemoryStore};
    /// # #[tokio::main(flavor = "current_thread")]
    /// # async fn main() -> Result<(), toposcope::inventory::Error> {
    /// # let inventory = Inventory::new(MemoryStore::new());
    /// # let organization = inventory.organizations().create("Example").await?;
    /// # let caller = Caller::system(organization.id);
    /// # let network = inventory.networks().create(&caller, Network::new("Office")).await?;
    /// let hosts = inventory.hosts();
    /// let printer = hosts.create(&caller, Host::new(network.id, "printer")).await?;
    /// let position = inventory.changes(&caller, &ChangeQuery::default()).await?.next;
    /// hosts.delete(&caller, printer.id).await?;
    /// let mut query = HostQuery::default();
    /// assert_eq!(hosts.list(&caller, &query).await?.total, 0);
    /// query.at = Some(Moment::Position(position));
    /// assert_eq!(hosts.list(&caller, &query).await?.hosts()?[0].name, "printer");
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// # Errors
    /// `NotFound` when there is no such organization; `Invalid` for a cursor of another list, for a position that is not one of
    /// this organization, and for an order of the past by `virtualized_by`, which depends on other hosts.
    pub async fn list(self, caller: &Caller, query: &HostQuery) -> Result<HostPage, Error> {
        if let Some(at) = &query.at {
            return self.list_at(caller, query, at).await;
        }
        let (store_query, list) = self.inventory.listed(caller, query).await?;
        let page = self.inventory.store.list(&store_query).await?;
        if page.total == 0 {
            self.inventory.require_organization_of(caller).await?;
        }
        let documents = page.records.into_iter().map(|record| without_comma(record.body)).collect();
        let next = page.next.map(|cursor| PageCursor::new(list(), &cursor));
        Ok(HostPage { documents, total: page.total, next })
    }

    /// Lists hosts like [`Hosts::list`](crate::inventory::Hosts::list), in their stored form, chunk by chunk. A query without a limit is
    /// for all hosts from its start on.
    pub(crate) async fn pages(
        self,
        caller: &Caller,
        query: &HostQuery,
    ) -> Result<Box<dyn DocumentPages>, Error> {
        if let Some(at) = &query.at {
            return Ok(Box::new(self.pages_at(caller, query, at).await?));
        }
        let (store_query, list) = self.inventory.listed(caller, query).await?;
        // A cursor costs more than the rest of the page, and most requests ask for none.
        let list = query.cursor.as_ref().map(|_| list());
        let chunks = ChunkedList::new(Arc::clone(&self.inventory.store), store_query);
        Ok(Box::new(HostPages { chunks, list }))
    }

    /// Returns the revision of the organization's hosts; `None` if the store does not support it.
    pub(crate) async fn revision(self, caller: &Caller) -> Result<Option<Revision>, Error> {
        Ok(self.inventory.store.revision(HOST, caller.organization_id().uuid()).await?)
    }
}

impl Inventory {
    /// Returns the store query for a list, and a function that returns the number of the list.
    async fn listed<'q>(
        &self,
        caller: &'q Caller,
        query: &'q HostQuery,
    ) -> Result<(Query, impl Fn() -> u64 + 'q), Error> {
        let order = query.order_by_custom.as_ref();
        self.require_custom_index(CustomFilters::Indexed(IndexedKind::Hosts), &query.custom, order).await?;
        let mut store_query = self.hosts_query(caller, query)?;
        let list = || query.fingerprint(caller.organization_id());
        if let Some(cursor) = &query.cursor {
            let organization = caller.organization_id();
            let facets = |record: Record| {
                let bytes = record.body.len();
                let index = self.custom_index.clone();
                let facets = move || {
                    let host: Host = decode(&record)?;
                    let mut facets = host_facets(organization, &host);
                    index.add_to(&mut facets, &host.custom);
                    Ok(facets)
                };
                let computed = self.state.offload.run(organization, bytes, facets);
                async { computed.await? }
            };
            store_query.start = self.start_of(cursor.position(list())?, &store_query, facets).await?;
        }
        Ok((store_query, list))
    }

    /// Translates a list request to a store query.
    ///
    /// # Errors
    /// `Invalid` for a search that no host can match, and for filters by terms if the inventory has none.
    pub(super) fn hosts_query(&self, caller: &Caller, query: &HostQuery) -> Result<Query, Error> {
        let terms = filters(query)?;
        if self.host_terms == HostTerms::None
            && let Some((field, _)) = terms.first()
        {
            return Err(Error::invalid(*field, Problem::Unsupported));
        }
        let terms = terms.into_iter().map(|(_, filter)| filter).collect();
        Ok(Query { terms, ..store_query(caller, query) })
    }
}

fn store_query(caller: &Caller, query: &HostQuery) -> Query {
    let scope = match query.network_id {
        Some(network) => caller.scope().narrowed_to(network),
        None => caller.scope().clone(),
    };
    let any = query.tag_ids.iter().map(|tags| LinkFilter::new(TAG_LINK, uuids(tags)));
    let all = query.tag_ids_all.iter().flatten().map(|tag| LinkFilter::new(TAG_LINK, [tag.uuid()]));
    let none = query.tag_ids_none.iter().map(|tags| LinkFilter::none(TAG_LINK, uuids(tags)));
    let subnets = query.subnet_ids.iter().map(|subnets| LinkFilter::new(SUBNET_LINK, uuids(subnets)));
    Query {
        organization: Some(caller.organization_id().uuid()),
        networks: scope.network_filter(),
        ids: query.ids.as_deref().map(uuids),
        links: any.chain(all).chain(subnets).chain(none).collect(),
        keys: key_filters(query),
        order: order(query),
        start: Start::Offset(query.offset),
        limit: query.limit,
        ..Query::new(HOST)
    }
}

/// Returns the filters of a query that sort keys answer.
fn key_filters(query: &HostQuery) -> Vec<KeyFilter> {
    let exact = |field, text: &Option<String>| {
        let range = text.as_deref().map(|text| TermRange::exact(natural_key(text)));
        range.map(|range| KeyFilter::new(sort_name(field), range))
    };
    let since = query.updated_since.map(|time| time_sort_key(sort_name(HostOrderField::UpdatedAt), time));
    let since = since.map(|key| KeyFilter::new(key.name, TermRange::new(key.value, None)));
    let names = [
        exact(HostOrderField::NameNatural, &query.name),
        exact(HostOrderField::HostnameNatural, &query.hostname),
    ];
    names.into_iter().flatten().chain(since).collect()
}

fn order(query: &HostQuery) -> Vec<Order> {
    let direction = match query.order_direction {
        OrderDirection::Ascending => Direction::Ascending,
        OrderDirection::Descending => Direction::Descending,
    };
    let group = query.group_by.map(|field| Order::new(sort_name(field), Direction::Ascending));
    let within = match &query.order_by_custom {
        Some(name) => Some(custom::order(name, direction)),
        None => {
            let by = query.order_by.unwrap_or(HostOrderField::CreatedAt);
            // Within a group of one field, ordering by that field has no effect.
            (query.group_by != Some(by)).then(|| Order::new(sort_name(by), direction))
        }
    };
    group.into_iter().chain(within).collect()
}

/// A list of hosts that is read chunk by chunk.
struct HostPages {
    chunks: ChunkedList,
    /// The number of the list; `None`: the cursor of the next page is not asked for.
    list: Option<u64>,
}

impl DocumentPages for HostPages {
    fn is_finished(&self) -> bool {
        self.chunks.is_finished()
    }

    fn unread(&self) -> usize {
        self.chunks.unread()
    }

    fn next(&mut self) -> PendingDocuments<'_> {
        Box::pin(async move {
            let page = self.chunks.next().await?;
            // A separate allocation: collecting in place would hold on to more than twice the memory.
            let mut bodies = Vec::with_capacity(page.records.len());
            bodies.extend(page.records.into_iter().map(|record| record.body));
            let next = page.next.zip(self.list).map(|(cursor, list)| PageCursor::new(list, &cursor));
            Ok(Documents { bodies, total: page.total, next })
        })
    }
}
