//! Lists of hosts as they were.
//!
//! Most hosts have not changed since the moment: their order is that of the present list. The changed hosts are put
//! with their former facets into a store in memory, which filters them by the same query as the present list. A second
//! store in memory then orders the page: it has the changed hosts that match and the unchanged ones that may come
//! between them. Filters and orders thus have one definition, and the work grows with the number of changes since the
//! moment.

use std::collections::{BTreeSet, VecDeque};

use super::document::sort_name;
use super::{HostPage, Hosts};
use crate::access::Caller;
use crate::inventory::collections::{
    CursorPosition, CustomFilters, DocumentPages, Documents, PendingDocuments, document, invalid_cursor,
    position_of,
};
use crate::inventory::custom::IndexedKind;
use crate::inventory::history::PastHosts;
use crate::inventory::schema::{CHANGE, CHANGE_RUN, host_key};
use crate::inventory::{Error, Inventory, Moment, Problem};
use crate::model::{Host, HostId, HostOrderField};
use crate::store::{Batch, Facets, MemoryStore, Precondition, Query, Revision, Start, Store};
use crate::wire::{HostQuery, PageCursor};

/// The number of hosts that are read at a time. They are in memory as documents and as hosts.
const HOSTS_AT_ONCE: usize = 32;

impl Hosts<'_> {
    /// Returns the revisions of the history, of which every change, every erasure and every removal of entries moves one; `None` if
    /// the store does not support it.
    pub(crate) async fn past_revisions(self, caller: &Caller) -> Result<Option<[Revision; 2]>, Error> {
        let organization = caller.organization_id().uuid();
        let changes = self.inventory.store.revision(CHANGE, organization).await?;
        let runs = self.inventory.store.revision(CHANGE_RUN, organization).await?;
        Ok(changes.zip(runs).map(|(changes, runs)| [changes, runs]))
    }

    /// Lists hosts like [`list`](Self::list), as they were at a moment.
    pub(super) async fn list_at(
        self,
        caller: &Caller,
        query: &HostQuery,
        at: &Moment,
    ) -> Result<HostPage, Error> {
        self.inventory.require_organization_of(caller).await?;
        let mut list = self.pages_at(caller, query, at).await?;
        let mut documents = Vec::new();
        while !list.is_finished() {
            documents.extend(list.next_hosts().await?.iter().map(encoded).collect::<Result<Vec<_>, _>>()?);
        }
        Ok(HostPage { documents, total: list.total, next: list.next })
    }

    /// Lists hosts like [`list_at`](Self::list_at), chunk by chunk.
    pub(super) async fn pages_at(
        self,
        caller: &Caller,
        query: &HostQuery,
        at: &Moment,
    ) -> Result<PastPages, Error> {
        check_order(query)?;
        let order = query.order_by_custom.as_ref();
        let possible = CustomFilters::Indexed(IndexedKind::Hosts);
        self.inventory.require_custom_index(possible, &query.custom, order).await?;
        let whole =
            Query { limit: None, start: Start::Offset(0), ..self.inventory.hosts_query(caller, query)? };
        let mut past = PastHosts::at(self.inventory, caller, at).await?;
        let list = query.fingerprint(caller.organization_id());
        let start = match &query.cursor {
            Some(cursor) => self.inventory.past_start(&mut past, &whole, cursor.position(list)?).await?,
            None => Start::Offset(query.offset),
        };
        let arranged = self.inventory.arrange(&mut past, &whole, start, query.limit).await?;
        let Arranged { ids, total, next } = arranged;
        let next = next.map(|cursor| PageCursor::new(list, &cursor));
        Ok(PastPages { past, ids: ids.into(), total, next })
    }
}

/// Refuses orders that depend on other hosts, which may have changed although the host has not.
fn check_order(query: &HostQuery) -> Result<(), Error> {
    let is_of_others = |field: Option<HostOrderField>| field == Some(HostOrderField::VirtualizedBy);
    if is_of_others(query.order_by) {
        return Err(Error::invalid("order_by", Problem::Exclusive { other: "at" }));
    }
    if is_of_others(query.group_by) {
        return Err(Error::invalid("group_by", Problem::Exclusive { other: "at" }));
    }
    Ok(())
}

/// The hosts of a page in their order.
struct Arranged {
    ids: Vec<HostId>,
    total: u64,
    next: Option<crate::store::Cursor>,
}

impl Inventory {
    /// Returns where the page of a cursor starts.
    async fn past_start(
        &self,
        past: &mut PastHosts,
        whole: &Query,
        position: CursorPosition,
    ) -> Result<Start, Error> {
        match position {
            CursorPosition::Start => Ok(Start::Offset(0)),
            CursorPosition::After(cursor) if cursor.keys().len() == whole.order.len() => {
                Ok(Start::After(cursor))
            }
            CursorPosition::After(_) => Err(invalid_cursor()),
            CursorPosition::AfterRecord(id, digest) => {
                let host = past.get(&[HostId::new(id)], has_times(whole)).await?.pop();
                let facets = self.past_facets(whole, &host.ok_or_else(invalid_cursor)?);
                position_of(id, &facets, whole, digest)
            }
        }
    }

    /// Returns the facets of a host as it was.
    fn past_facets(&self, whole: &Query, host: &Host) -> Facets {
        let organization = whole.organization.map(Into::into).unwrap_or_default();
        let mut facets = self.host_encoder(organization).facets(host);
        self.custom_index.add_to(&mut facets, &host.custom);
        // Unique keys are looked up in the inventory's own store only.
        facets.unique_keys = Vec::new();
        facets
    }

    /// Finds the hosts of a page.
    async fn arrange(
        &self,
        past: &mut PastHosts,
        whole: &Query,
        start: Start,
        limit: Option<usize>,
    ) -> Result<Arranged, Error> {
        let present = self.present_ids(whole).await?;
        let following = match &start {
            Start::Offset(_) => None,
            after => Some(self.present_ids(&Query { start: after.clone(), ..whole.clone() }).await?),
        };
        // Caught up after the lists were read, so that every host that changed before or while they were read
        // counts as changed.
        past.catch_up().await?;
        let unchanged = |ids: Vec<HostId>| ids.into_iter().filter(|id| !past.has_changed(*id));
        let present: Vec<HostId> = unchanged(present).collect();
        let following: Option<Vec<HostId>> = following.map(|ids| unchanged(ids).collect());
        let changed = past.changed();
        let changed: Vec<HostId> = match &whole.ids {
            Some(ids) => {
                let ids: BTreeSet<HostId> = ids.iter().copied().map(HostId::new).collect();
                changed.into_iter().filter(|id| ids.contains(id)).collect()
            }
            None => changed,
        };
        let page = MemoryStore::new();
        let matching = self.add_matching(past, whole, &changed, &page).await?;
        let total = (present.len() + matching) as u64;
        // At most `matching` hosts of the former list are not among the unchanged ones, so this many
        // unchanged hosts are certainly before the page.
        let (candidates, skipped) = match (&following, &start) {
            (Some(following), _) => (following.as_slice(), 0),
            (None, Start::Offset(offset)) => {
                let offset = usize::try_from(*offset).unwrap_or(usize::MAX);
                let skipped = offset.saturating_sub(matching).min(present.len());
                (present.get(skipped..).unwrap_or_default(), skipped)
            }
            (None, Start::After(_)) => (present.as_slice(), 0),
        };
        let wanted = limit.map_or(usize::MAX, |limit| limit.saturating_add(matching).saturating_add(1));
        let candidates = candidates.get(..wanted.min(candidates.len())).unwrap_or_default();
        self.add_unchanged(past, whole, candidates, &page).await?;
        let start = match start {
            Start::Offset(offset) => Start::Offset(offset.saturating_sub(skipped as u64)),
            after => after,
        };
        let ordered = Query { order: whole.order.clone(), start, limit, ..Query::new(whole.kind) };
        let found = page.list(&ordered).await?;
        let ids = found.records.iter().map(|record| HostId::new(record.key.id)).collect();
        Ok(Arranged { ids, total, next: found.next })
    }

    /// Returns the ids of the present hosts that a query finds, in its order.
    async fn present_ids(&self, query: &Query) -> Result<Vec<HostId>, Error> {
        // The bodies are not needed: the page ends with the first one.
        let page = self.store.list(&Query { max_bytes: Some(1), ..query.clone() }).await?;
        let read = page.records.iter().map(|record| record.key);
        Ok(read.chain(page.unread).map(|key| HostId::new(key.id)).collect())
    }

    /// Adds the hosts that match a query as they were to a store. Returns their number.
    async fn add_matching(
        &self,
        past: &mut PastHosts,
        whole: &Query,
        changed: &[HostId],
        page: &MemoryStore,
    ) -> Result<usize, Error> {
        let mut matching = 0;
        for ids in changed.chunks(HOSTS_AT_ONCE) {
            let store = MemoryStore::new();
            let mut batch = Batch::new();
            let mut keys = Vec::new();
            for host in past.get(ids, has_times(whole)).await? {
                let facets = self.past_facets(whole, &host);
                keys.push((host.id, order_facets(whole, &facets)));
                batch.put(host_key(host.id), Precondition::Absent, facets, Vec::new());
            }
            store.commit(batch).await?;
            let found = store.list(whole).await?.records;
            let found: BTreeSet<HostId> = found.iter().map(|record| HostId::new(record.key.id)).collect();
            matching += found.len();
            keys.retain(|(id, _)| found.contains(id));
            add_to(page, keys).await?;
        }
        Ok(matching)
    }

    /// Adds hosts to a store that have not changed.
    async fn add_unchanged(
        &self,
        past: &mut PastHosts,
        whole: &Query,
        ids: &[HostId],
        page: &MemoryStore,
    ) -> Result<(), Error> {
        for ids in ids.chunks(HOSTS_AT_ONCE) {
            let hosts = past.get(ids, false).await?;
            let keys =
                hosts.iter().map(|host| (host.id, order_facets(whole, &self.past_facets(whole, host))));
            add_to(page, keys.collect()).await?;
        }
        Ok(())
    }
}

/// Returns whether a query filters or orders by the times of the last changes.
fn has_times(query: &Query) -> bool {
    let time = sort_name(HostOrderField::UpdatedAt);
    query.order.iter().any(|order| order.name == time) || query.keys.iter().any(|filter| filter.name == time)
}

/// Returns the facets by which a query orders.
fn order_facets(query: &Query, facets: &Facets) -> Facets {
    let is_ordering = |name| query.order.iter().any(|order| order.name == name);
    Facets::default().with_sort_keys(facets.sort_keys.iter().filter(|key| is_ordering(key.name)).cloned())
}

async fn add_to(store: &MemoryStore, hosts: Vec<(HostId, Facets)>) -> Result<(), Error> {
    let mut batch = Batch::new();
    for (id, facets) in hosts {
        batch.put(host_key(id), Precondition::Absent, facets, Vec::new());
    }
    Ok(store.commit(batch).await?)
}

/// A list of hosts as they were, which is read chunk by chunk.
pub(super) struct PastPages {
    past: PastHosts,
    /// The hosts of the page that were not read.
    ids: VecDeque<HostId>,
    total: u64,
    next: Option<PageCursor>,
}

impl PastPages {
    async fn next_hosts(&mut self) -> Result<Vec<Host>, Error> {
        let ids: Vec<HostId> = self.ids.drain(..self.ids.len().min(HOSTS_AT_ONCE)).collect();
        self.past.get(&ids, true).await
    }
}

impl DocumentPages for PastPages {
    fn is_finished(&self) -> bool {
        self.ids.is_empty()
    }

    fn unread(&self) -> usize {
        self.ids.len()
    }

    fn next(&mut self) -> PendingDocuments<'_> {
        Box::pin(async move {
            let bodies = self.next_hosts().await?.iter().map(document).collect::<Result<_, _>>()?;
            Ok(Documents { bodies, total: self.total, next: self.next.clone() })
        })
    }
}

fn encoded(host: &Host) -> Result<bytes::Bytes, Error> {
    Ok(super::without_comma(document(host)?))
}
