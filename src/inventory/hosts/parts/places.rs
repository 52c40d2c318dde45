//! The places of parts in lists of all hosts.
//!
//! Parts are stored in their hosts, so such a list reads all hosts that the caller can access. The order is kept for the
//! next pages until a host of the organization changes.

use std::collections::BTreeSet;
use std::sync::{Arc, Mutex, PoisonError};

use uuid::Uuid;

use super::Part;
use super::list::{PartOrder, is_listed};
use super::parts_of;
use crate::access::{Caller, Scope};
use crate::figures::{CacheCounters, CacheFigures};
use crate::inventory::hosts::rewrite::{FIRST_HOSTS, MAX_BYTES, MAX_HOSTS};
use crate::inventory::schema::{HOST, SERVICE_TAG_LINK, organization_key, part_unique_key};
use crate::inventory::{Error, ErrorKind, Inventory, Problem};
use crate::model::{HostId, NetworkId, OrganizationId, TagId, uuids};
use crate::store::{LinkFilter, Name, Query, Record, Revision, Start};
use crate::wire::ListQuery;

/// The place of a part in a list.
#[derive(Debug)]
pub(in crate::inventory) struct PartPlace {
    pub(super) key: Box<[u8]>,
    pub(super) id: Uuid,
    pub(super) host: HostId,
}

impl PartPlace {
    /// Maximum length of a sort key, in bytes. Names are compared by their beginnings of this length.
    const MAX_KEY: usize = 256;

    /// Returns the sort key of a name.
    pub(super) fn cut(name: &str) -> &[u8] {
        name.as_bytes().get(..Self::MAX_KEY).unwrap_or(name.as_bytes())
    }
}

/// Maximum number of parts of a list of all hosts, and of all lists that are kept. A part takes about 80 bytes.
const MAX_PLACES: usize = 1_000_000;

/// Maximum number of lists that are kept.
const MAX_LISTS: usize = 16;

/// The values that determine a list: the key of its cache entry.
#[derive(Clone, Debug, PartialEq)]
struct ListOfParts {
    kind: Name,
    organization: OrganizationId,
    scope: Scope,
    filters: (Option<NetworkId>, Option<Vec<Uuid>>, Option<Vec<TagId>>),
    order: PartOrder,
}

/// A list, the revision of the hosts of its organization, and its places.
type KeptList = (ListOfParts, Revision, Arc<[PartPlace]>);

/// The lists that were read last, the latest at the end.
#[derive(Debug, Default)]
pub(in crate::inventory) struct PartLists {
    lists: Mutex<Vec<KeptList>>,
    counters: CacheCounters,
}

impl PartLists {
    /// Returns a list, if no host has changed since it was read.
    fn get(&self, list: &ListOfParts, revision: Revision) -> Option<Arc<[PartPlace]>> {
        let places = self.find(list, revision);
        self.counters.count(places.is_some());
        places
    }

    pub(in crate::inventory) fn figures(&self) -> CacheFigures {
        let entries = self.lists.lock().unwrap_or_else(PoisonError::into_inner).len();
        CacheFigures::new("part_lists", &self.counters, entries)
    }

    fn find(&self, list: &ListOfParts, revision: Revision) -> Option<Arc<[PartPlace]>> {
        let mut lists = self.lists.lock().unwrap_or_else(PoisonError::into_inner);
        let place = lists.iter().position(|(known, at, _)| known == list && *at == revision)?;
        let found = lists.remove(place);
        let places = Arc::clone(&found.2);
        lists.push(found);
        Some(places)
    }

    fn insert(&self, list: ListOfParts, revision: Revision, places: &Arc<[PartPlace]>) {
        let mut lists = self.lists.lock().unwrap_or_else(PoisonError::into_inner);
        // Other lists of an earlier revision are of no use either.
        lists.retain(|(known, at, _)| known.organization != list.organization || *at == revision);
        lists.retain(|(known, ..)| *known != list);
        let length = |lists: &[KeptList]| lists.iter().map(|(.., places)| places.len()).sum::<usize>();
        while !lists.is_empty() && (lists.len() >= MAX_LISTS || length(&lists) + places.len() > MAX_PLACES) {
            lists.remove(0);
        }
        lists.push((list, revision, Arc::clone(places)));
    }
}

impl Inventory {
    /// Returns the places of the parts of all hosts that a list has, in its order.
    pub(super) async fn part_places<P: Part>(
        &self,
        caller: &Caller,
        query: &ListQuery,
        order: PartOrder,
    ) -> Result<Arc<[PartPlace]>, Error> {
        let organization = caller.organization_id();
        let list = ListOfParts {
            kind: P::UNIQUE_KEY,
            organization,
            scope: caller.scope().clone(),
            filters: (query.network_id, query.ids.clone(), query.tag_ids.clone()),
            order,
        };
        // Requests for the same list at once read it once, and one organization reads one list at a time.
        let turn = self.state.part_readers.enter(BTreeSet::from([organization_key(organization)])).await;
        let _turn = turn.map_err(|_| ErrorKind::Busy)?;
        // The revision is read before the hosts: a list that is older than its revision would miss changes.
        let revision = self.hosts().revision(caller).await?;
        if let Some(places) = revision.and_then(|revision| self.state.part_lists.get(&list, revision)) {
            return Ok(places);
        }
        let mut places = match &query.ids {
            Some(ids) => self.places_of_ids::<P>(caller, query, ids, order).await?,
            None => self.places_of_hosts::<P>(caller, query, order).await?,
        };
        let bytes = places.len() * size_of::<PartPlace>();
        let sort = move || {
            order.sort(&mut places);
            Arc::from(places)
        };
        let places: Arc<[PartPlace]> = self.offload(organization, bytes, sort).await?;
        if let Some(revision) = revision {
            self.state.part_lists.insert(list, revision, &places);
        }
        Ok(places)
    }

    /// Finds parts by their ids, through the hosts that have them.
    async fn places_of_ids<P: Part>(
        &self,
        caller: &Caller,
        query: &ListQuery,
        ids: &[Uuid],
        order: PartOrder,
    ) -> Result<Vec<PartPlace>, Error> {
        let organization = caller.organization_id();
        let mut places = Vec::new();
        let mut missing: BTreeSet<Uuid> = ids.iter().copied().collect();
        while let Some(id) = missing.pop_first() {
            let key = part_unique_key(P::UNIQUE_KEY, organization, id);
            let Some(record) = self.store.get_by_unique_key(&key).await? else { continue };
            let bytes = record.body.len();
            let parts: Vec<P> = self.offload(organization, bytes, move || parts_of(&record)).await??;
            // A host is decoded once, even if many of its parts are asked for.
            let found =
                parts.iter().filter(|part| part.common().id == id || missing.remove(&part.common().id));
            let is_visible =
                |part: &&P| caller.scope().allows(part.common().network_id) && is_listed(*part, query);
            places.extend(found.filter(is_visible).map(|part| order.place(part)));
        }
        Ok(places)
    }

    /// Finds the parts of all hosts that the caller can access.
    async fn places_of_hosts<P: Part>(
        &self,
        caller: &Caller,
        query: &ListQuery,
        order: PartOrder,
    ) -> Result<Vec<PartPlace>, Error> {
        let organization = caller.organization_id();
        let scope = match query.network_id {
            Some(network) => caller.scope().narrowed_to(network),
            None => caller.scope().clone(),
        };
        let tags = query.tag_ids.iter().map(|tags| LinkFilter::new(SERVICE_TAG_LINK, uuids(tags)));
        let mut hosts = Query {
            organization: Some(organization.uuid()),
            networks: scope.network_filter(),
            links: tags.collect(),
            limit: Some(FIRST_HOSTS),
            max_bytes: Some(MAX_BYTES),
            ..Query::new(HOST)
        };
        let mut places = Vec::new();
        loop {
            let page = self.store.list(&hosts).await?;
            let (mut records, mut unread) = (page.records, page.unread);
            let count = records.len();
            loop {
                places.extend(self.places_in::<P>(organization, records, query, order).await?);
                if places.len() > MAX_PLACES {
                    return Err(Error::invalid("host_id", Problem::Required));
                }
                if unread.is_empty() {
                    break;
                }
                let ids = Some(unread.iter().map(|key| key.id).collect());
                let rest = Query { ids, limit: None, start: Start::Offset(0), ..hosts.clone() };
                let rest = self.store.list(&rest).await?;
                (records, unread) = (rest.records, rest.unread);
            }
            let Some(cursor) = page.next else { return Ok(places) };
            hosts.start = Start::After(cursor);
            hosts.limit = Some((2 * count).clamp(FIRST_HOSTS, MAX_HOSTS));
        }
    }

    async fn places_in<P: Part>(
        &self,
        organization: OrganizationId,
        records: Vec<Record>,
        query: &ListQuery,
        order: PartOrder,
    ) -> Result<Vec<PartPlace>, Error> {
        let (bytes, query) = (records.iter().map(|record| record.body.len()).sum(), query.clone());
        let places = move || {
            let mut places = Vec::new();
            for record in &records {
                let parts = parts_of::<P>(record)?;
                let listed = parts.iter().filter(|part| is_listed(*part, &query));
                places.extend(listed.map(|part| order.place(part)));
            }
            Ok(places)
        };
        self.offload(organization, bytes, places).await?
    }
}
