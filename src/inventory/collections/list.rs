use std::future::ready;
use std::marker::PhantomData;
use std::pin::Pin;
use std::sync::Arc;

use bytes::Bytes;
use serde::Serialize;
use sha2::{Digest, Sha256};
use uuid::Uuid;

use super::chunked_list::ChunkedList;
use super::cursor::{CursorPosition, fingerprint, invalid_cursor};
use super::{Collection, CollectionRecord, Resource, network_denied, not_found};
use crate::access::Caller;
use crate::inventory::schema::{CREATED_AT, NAME, TAG_LINK, UPDATED_AT, decode, name_unique_key};
use crate::inventory::{Error, Inventory, custom};
use crate::model::{NetworkId, OrderDirection, OrganizationId, uuids};
use crate::store::{
    Cursor, Direction, Facets, LinkFilter, Name, Order, Page, Query, Record, Revision, Start,
};
use crate::wire::{ListOrderField, ListQuery, PageCursor};

impl ListQuery {
    /// Returns a number that identifies the list, the same for all its pages.
    pub(in crate::inventory) fn fingerprint(&self, kind: Name, organization: OrganizationId) -> u64 {
        let filters = (self.network_id, &self.ids, &self.tag_ids, self.contains, &self.custom);
        let filters = (filters, self.cidr, &self.name);
        let order = (self.order_by, &self.order_by_custom, self.order_direction);
        fingerprint(&(kind, organization, filters, order))
    }
}

/// A page of records.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct ListPage<T> {
    /// The records, in the requested order.
    pub records: Vec<T>,
    /// The number of records that match the filters, wherever the page starts and ends.
    pub total: u64,
    /// The position after the page; `None`: no records follow.
    pub next: Option<PageCursor>,
}

impl<T> ListPage<T> {
    pub(in crate::inventory) const fn new(records: Vec<T>, total: u64, next: Option<PageCursor>) -> Self {
        Self { records, total, next }
    }
}

/// A page of records as JSON documents, each preceded by a comma.
#[derive(Debug, Default)]
pub(crate) struct Documents {
    pub(crate) bodies: Vec<Bytes>,
    pub(crate) total: u64,
    pub(crate) next: Option<PageCursor>,
}

impl<T: Resource> Collection<'_, T> {
    /// Lists the records of a kind that are visible to a caller.
    ///
    /// These are records of the caller's organization. Those on networks must be in the caller's scope; Viewers and
    /// Members see only themselves among the users, and everyone sees only their own API keys.
    ///
    /// ```
    /// # use toposcope::access::{Caller, Scope};
    /// # use toposcope::inventory::ListQuery;
    /// # use toposcope::model::{Permission, Tag, UserId};
    /// # use toposcope::{Inventory, MemoryStore};
    /// # #[tokio::main(flavor = "current_thread")]
    /// # async fn main() -> Result<(), toposcope::inventory::Error> {
    /// # let inventory = Inventory::new(MemoryStore::new());
    /// # let organization = inventory.organizations().create("Example").await?;
    /// # let caller = Caller::new(organization.id, UserId::nil(), Permission::Member, Scope::all());
    /// let tag = inventory.records().create(&caller, Tag::new("critical")).await?;
    /// let page = inventory.tags().list(&caller, &ListQuery::default()).await?;
    /// assert_eq!((page.records, page.total), (vec![tag], 1));
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// # Errors
    /// `NotFound` when there is no such organization; `PermissionDenied`; `Invalid` for a cursor of another list, and for custom fields that are not indexed;
    /// `IndexIncomplete` until they are.
    pub async fn list(self, caller: &Caller, query: &ListQuery) -> Result<ListPage<T>, Error> {
        let (store_query, list) = self.inventory.listed_records::<T>(caller, query).await?;
        let page = self.inventory.store.list(&store_query).await?;
        if page.total == 0 {
            self.inventory.require_organization_of(caller).await?;
        }
        self.inventory.complete_page(page, list).await
    }

    /// Returns all records that are visible to a caller, oldest first.
    ///
    /// # Errors
    /// `PermissionDenied`.
    pub async fn all(self, caller: &Caller) -> Result<Vec<T>, Error> {
        let (mut all, mut query) = (Vec::new(), ListQuery::default());
        loop {
            let page = self.list(caller, &query).await?;
            all.extend(page.records);
            query.cursor = page.next;
            if query.cursor.is_none() {
                return Ok(all);
            }
        }
    }

    /// Returns a record that is visible to a caller.
    ///
    /// # Errors
    /// `PermissionDenied`; `NotFound`, also for records of other organizations; `AccessDenied` for a record on a network
    /// outside of the caller's scope.
    pub async fn get(self, caller: &Caller, id: T::Id) -> Result<T, Error> {
        T::REQUIREMENTS.read.check(caller)?;
        let (_, record) = self.inventory.own_record::<T>(caller, id).await.map_err(T::named)?;
        Ok(record)
    }

    /// Returns the revision of the records of a kind in the caller's organization. `None` if the store does not support
    /// revisions.
    pub(crate) async fn revision(self, caller: &Caller) -> Result<Option<Revision>, Error> {
        let organization = caller.organization_id();
        let Some(own) = self.inventory.store.revision(T::KIND, organization.uuid()).await? else {
            return Ok(None);
        };
        let mut digest = Sha256::new().chain_update(own.number().to_be_bytes());
        for kind in T::SHOWN_KINDS {
            let Some(other) = self.inventory.store.revision(*kind, organization.uuid()).await? else {
                return Ok(None);
            };
            digest.update(other.number().to_be_bytes());
        }
        let number = digest.finalize().first_chunk().copied().map_or(own.number(), u128::from_be_bytes);
        Ok(Some(if T::SHOWN_KINDS.is_empty() { own } else { Revision::new(number) }))
    }

    /// Lists records like [`Collection::list`](crate::inventory::Collection::list), chunk by chunk. A query without a limit is for all records from its
    /// start on.
    pub(crate) async fn pages(self, caller: &Caller, query: &ListQuery) -> Result<Pages<T>, Error> {
        let (store_query, list) = self.inventory.listed_records::<T>(caller, query).await?;
        let chunks = ChunkedList::new(Arc::clone(&self.inventory.store), store_query);
        Ok(Pages { inventory: self.inventory.clone(), chunks, list, kind: PhantomData })
    }
}

impl Inventory {
    /// Returns the store query for a list, and the number of the list.
    async fn listed_records<T: Resource>(
        &self,
        caller: &Caller,
        query: &ListQuery,
    ) -> Result<(Query, u64), Error> {
        T::REQUIREMENTS.read.check(caller)?;
        let order = query.order_by_custom.as_ref();
        self.require_custom_index(T::CUSTOM_FILTERS, &query.custom, order).await?;
        let list = query.fingerprint(T::KIND, caller.organization_id());
        let mut store_query = store_query::<T>(caller, query);
        if let (Some(name), Some(key)) = (&query.name, T::NAME_KEY) {
            let key = name_unique_key(key, caller.organization_id(), name.trim());
            let holder = self.store.get_by_unique_key(&key).await?.map(|holder| holder.key.id);
            let is_listed = |id: &Uuid| store_query.ids.as_ref().is_none_or(|ids| ids.contains(id));
            store_query.ids = Some(holder.filter(is_listed).into_iter().collect());
        }
        if let Some(max) = T::MAX_PAGE {
            store_query.limit = Some(query.limit.unwrap_or(max).min(max));
        }
        if let Some(cursor) = &query.cursor {
            let organization = caller.organization_id();
            let facets = |record: Record| {
                ready(decode::<T>(&record).map(|record| self.facets_of(organization, &record)))
            };
            store_query.start = self.start_of(cursor.position(list)?, &store_query, facets).await?;
        }
        Ok((store_query, list))
    }

    async fn complete_page<T: Resource>(&self, page: Page, list: u64) -> Result<ListPage<T>, Error> {
        let mut records: Vec<T> = match T::LISTS_WITHOUT_UNREADABLE {
            true => self.readable_records(&page.records),
            false => page.records.iter().map(decode).collect::<Result<_, _>>()?,
        };
        T::complete(self, &mut records).await?;
        let next = page.next.map(|cursor| PageCursor::new(list, &cursor));
        Ok(ListPage { records, total: page.total, next })
    }

    /// Decodes the records of a page that can be decoded. Counts the others, and reports them to the log.
    fn readable_records<T: CollectionRecord>(&self, records: &[Record]) -> Vec<T> {
        let mut first_error = None;
        let decoded = records.iter().filter_map(|record| match decode(record) {
            Ok(value) => Some(value),
            Err(error) => {
                first_error.get_or_insert(error);
                None
            }
        });
        let readable: Vec<T> = decoded.collect();
        if let Some(error) = first_error {
            let count = (records.len() - readable.len()) as u64;
            self.state.unreadable_records.add(count);
            // One line a page, so that a list of many does not fill the log.
            tracing::warn!(count, first = error.with_causes(), "unreadable records were left out of a list");
        }
        readable
    }

    /// Returns the start of the page after a position. `facets` computes the facets of the record that the
    /// position names.
    pub(in crate::inventory) async fn start_of<F>(
        &self,
        position: CursorPosition,
        query: &Query,
        facets: impl FnOnce(Record) -> F,
    ) -> Result<Start, Error>
    where
        F: Future<Output = Result<Facets, Error>>,
    {
        let (id, digest) = match position {
            CursorPosition::Start => return Ok(Start::Offset(0)),
            CursorPosition::After(cursor) if cursor.keys().len() == query.order.len() => {
                return Ok(Start::After(cursor));
            }
            CursorPosition::After(_) => return Err(invalid_cursor()),
            CursorPosition::AfterRecord(id, digest) => (id, digest),
        };
        let record = self.record_of_cursor(query, id).await?;
        position_of(id, &facets(record).await?, query, digest)
    }

    /// Returns the record that a cursor names.
    ///
    /// Only a record of the list itself is found, so that a cursor reveals nothing about others. Filters by terms do
    /// not apply: they do not decide visibility, and the record's terms may have changed since the page was read.
    ///
    /// # Errors
    /// `Invalid` if the list does not have the record.
    async fn record_of_cursor(&self, query: &Query, id: Uuid) -> Result<Record, Error> {
        if query.ids.as_ref().is_some_and(|ids| !ids.contains(&id)) {
            return Err(invalid_cursor());
        }
        let named = Query {
            organization: query.organization,
            networks: query.networks.clone(),
            ids: Some(vec![id]),
            links: query.links.clone(),
            ..Query::new(query.kind)
        };
        self.store.list(&named).await?.records.pop().ok_or_else(invalid_cursor)
    }

    /// Reads a complete record of the caller's organization that is visible to the caller.
    pub(in crate::inventory) async fn own_record<T: CollectionRecord>(
        &self,
        caller: &Caller,
        id: T::Id,
    ) -> Result<(Record, T), Error> {
        // The index filters by organization, so records of others are never read.
        let own = Query {
            organization: Some(caller.organization_id().uuid()),
            ids: Some(vec![id.into()]),
            ..Query::new(T::KIND)
        };
        let record = self.store.list(&own).await?.records.pop().ok_or_else(|| not_found::<T>(id))?;
        let mut values = [decode::<T>(&record)?];
        T::complete(self, &mut values).await?;
        let [value] = values;
        if value.is_hidden_from(caller) {
            return Err(not_found::<T>(id));
        }
        match value.network().filter(|network| !caller.scope().allows(*network)) {
            Some(network) => Err(network_denied(network)),
            None => Ok((record, value)),
        }
    }
}

/// Returns the position after a record with these facets.
///
/// Fails if its sort keys no longer have this digest, because the record has then moved within the list.
pub(in crate::inventory) fn position_of(
    id: Uuid,
    facets: &Facets,
    query: &Query,
    digest: u64,
) -> Result<Start, Error> {
    let key = |order: &Order| facets.sort_keys.iter().find(|key| key.name == order.name);
    let value = |order| key(order).map_or_else(Vec::new, |key| key.value.clone());
    let keys: Vec<Vec<u8>> = query.order.iter().map(value).collect();
    if fingerprint(&keys.as_slice()) == digest {
        Ok(Start::After(Cursor::new(keys, id)))
    } else {
        Err(invalid_cursor())
    }
}

fn store_query<T: CollectionRecord>(caller: &Caller, query: &ListQuery) -> Query {
    let direction = match query.order_direction {
        OrderDirection::Ascending => Direction::Ascending,
        OrderDirection::Descending => Direction::Descending,
    };
    let name = match query.order_by {
        ListOrderField::CreatedAt => Some(CREATED_AT),
        ListOrderField::UpdatedAt => Some(UPDATED_AT),
        ListOrderField::Name => Some(NAME),
        ListOrderField::IfIndex | ListOrderField::Number => None,
    };
    let order = match &query.order_by_custom {
        Some(field) => Some(custom::order(field, direction)),
        None => name.map(|name| Order::new(name, direction)),
    };
    let links = query.tag_ids.iter().map(|tags| LinkFilter::new(TAG_LINK, uuids(tags)));
    let all = Query {
        organization: Some(caller.organization_id().uuid()),
        ids: query.ids.clone(),
        links: links.collect(),
        terms: query.custom.iter().map(|(name, text)| custom::filter(name, text)).collect(),
        order: order.into_iter().collect(),
        start: Start::Offset(query.offset),
        limit: query.limit,
        ..Query::new(T::KIND)
    };
    let visible = T::filter(T::restrict(all, caller), query);
    match query.network_id {
        Some(network) => Query { networks: Some(visible_among(&visible, network)), ..visible },
        None => visible,
    }
}

/// Returns the network, or nothing if the query excludes it.
fn visible_among(query: &Query, network: NetworkId) -> Vec<Uuid> {
    let is_visible = query.networks.as_ref().is_none_or(|networks| networks.contains(&network.uuid()));
    is_visible.then_some(network.uuid()).into_iter().collect()
}

/// A list of records that is read chunk by chunk.
pub(crate) struct Pages<T> {
    inventory: Inventory,
    chunks: ChunkedList,
    /// The number of the list.
    list: u64,
    kind: PhantomData<fn() -> T>,
}

/// A list, or a page of one, that is read chunk by chunk.
pub(crate) trait DocumentPages: Send + Sync + 'static {
    /// Returns whether the last chunk was returned.
    fn is_finished(&self) -> bool;

    /// Returns the number of records of the current page that were not read yet.
    fn unread(&self) -> usize;

    /// Returns the next chunk; empty after the last one.
    fn next(&mut self) -> PendingDocuments<'_>;
}

/// The future of the next chunk of a list. It is boxed, so that the code that sends lists is compiled once for all
/// kinds.
pub(crate) type PendingDocuments<'p> = Pin<Box<dyn Future<Output = Result<Documents, Error>> + Send + 'p>>;

impl<T: Resource> DocumentPages for Pages<T> {
    fn is_finished(&self) -> bool {
        self.chunks.is_finished()
    }

    fn unread(&self) -> usize {
        self.chunks.unread()
    }

    fn next(&mut self) -> PendingDocuments<'_> {
        Box::pin(async move {
            let page = self.chunks.next().await?;
            self.inventory.complete_page::<T>(page, self.list).await?.into_documents()
        })
    }
}

impl<T: Serialize> ListPage<T> {
    /// Encodes the records as documents of a response.
    pub(crate) fn into_documents(self) -> Result<Documents, Error> {
        let bodies = self.records.iter().map(document).collect::<Result<_, _>>()?;
        Ok(Documents { bodies, total: self.total, next: self.next })
    }
}

/// Encodes a record as JSON preceded by a comma.
pub(in crate::inventory) fn document(record: &impl Serialize) -> Result<Bytes, Error> {
    let mut body = vec![b','];
    serde_json::to_writer(&mut body, record).map_err(Error::internal)?;
    Ok(body.into())
}
