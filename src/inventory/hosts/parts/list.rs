//! Pages of the parts of one host, or of all hosts that a caller can access.

use std::cmp::Ordering;
use std::collections::{BTreeSet, HashMap};
use std::marker::PhantomData;
use std::sync::Arc;

use bytes::Bytes;
use serde::Serialize;
use uuid::Uuid;

use super::HostParts;
use super::Part;
use super::places::PartPlace;
use crate::access::Caller;
use crate::invariant::Invariant;
use crate::inventory::collections::{
    CursorPosition, CustomFilters, DocumentPages, ListPage, PendingDocuments, fingerprint, invalid_cursor,
};
use crate::inventory::hosts::rewrite::{FIRST_HOSTS, MAX_BYTES, MAX_HOSTS};
use crate::inventory::schema::HOST;
use crate::inventory::{Error, Inventory};
use crate::model::{HostId, OrderDirection, uuids};
use crate::store::{Cursor, Query};
use crate::wire::{ListOrderField, ListQuery, PageCursor};

/// Number of parts that a whole list reads first.
const FIRST_PAGE: usize = 128;

/// Maximum number of parts that a whole list reads at a time.
const MAX_PAGE: usize = 8_192;

/// Maximum length in bytes of the parts that a whole list reads at a time, unless they are [`FIRST_PAGE`] or fewer.
const MAX_PAGE_BYTES: usize = 2 * 1024 * 1024;

/// Number of parts that a whole list decodes for each one it takes. Hosts are decoded whole: with more, it takes more parts
/// of them at a time.
const MAX_DECODED: usize = 4;

impl<P: Part> HostParts<'_, P> {
    /// Lists the parts of a host, or of all hosts that the caller can access. A host that the caller cannot access or
    /// that does not exist has none.
    ///
    /// # Errors
    /// `Invalid` for a cursor of another list, for custom fields, and without a host if the list would have more than a million parts;
    /// `Busy`.
    pub(crate) async fn list(
        self,
        caller: &Caller,
        host: Option<HostId>,
        query: &ListQuery,
    ) -> Result<ListPage<P>, Error> {
        self.inventory
            .require_custom_index(CustomFilters::None, &query.custom, query.order_by_custom.as_ref())
            .await?;
        let list = fingerprint(&(host, query.fingerprint(P::UNIQUE_KEY, caller.organization_id())));
        let order = PartOrder::of(query);
        let Some(host) = host else {
            let places = self.inventory.part_places::<P>(caller, query, order).await?;
            let (start, end) = order.span(&places, query, list)?;
            let page = places.get(start..end).asserted_or_default();
            let PartsAt { parts, .. } = self.inventory.parts_at(caller, page, usize::MAX).await?;
            return Ok(ListPage::new(parts, places.len() as u64, next_page(&places, end, list)));
        };
        let parts = self.of_host(caller, host).await?;
        let parts: Vec<P> = parts.into_iter().filter(|part| is_listed(part, query)).collect();
        let places = order.places(&parts);
        let (start, end) = order.span(&places, query, list)?;
        let mut parts: HashMap<Uuid, P> = parts.into_iter().map(|part| (part.common().id, part)).collect();
        let page = places.get(start..end).asserted_or_default();
        let records = page.iter().filter_map(|place| parts.remove(&place.id)).collect();
        Ok(ListPage::new(records, places.len() as u64, next_page(&places, end, list)))
    }

    /// Pages through the parts of all hosts of a list from its start on, ignoring its limit.
    ///
    /// # Errors
    /// The errors of [`HostParts::list`](crate::inventory::HostParts::list).
    pub(crate) async fn pages(self, caller: &Caller, query: &ListQuery) -> Result<PartPages<P>, Error> {
        self.inventory
            .require_custom_index(CustomFilters::None, &query.custom, query.order_by_custom.as_ref())
            .await?;
        let list = fingerprint(&(None::<HostId>, query.fingerprint(P::UNIQUE_KEY, caller.organization_id())));
        let order = PartOrder::of(query);
        let places = self.inventory.part_places::<P>(caller, query, order).await?;
        let (position, _) = order.span(&places, query, list)?;
        let (inventory, caller) = (self.inventory.clone(), caller.clone());
        Ok(PartPages { inventory, caller, places, position, length: FIRST_PAGE, kind: PhantomData })
    }
}

impl Inventory {
    /// Reads the parts at these places. Parts that were deleted meanwhile are left out.
    ///
    /// Stops once they have more than `max_bytes` bytes as JSON; some are missing then.
    async fn parts_at<P: Part>(
        &self,
        caller: &Caller,
        places: &[PartPlace],
        max_bytes: usize,
    ) -> Result<PartsAt<P>, Error> {
        let organization = caller.organization_id();
        let wanted: BTreeSet<Uuid> = places.iter().map(|place| place.id).collect();
        let hosts: BTreeSet<HostId> = places.iter().map(|place| place.host).collect();
        let mut hosts: Vec<HostId> = hosts.into_iter().collect();
        let mut parts: HashMap<Uuid, P> = HashMap::with_capacity(places.len());
        let (mut max, mut decoded, mut length) = (FIRST_HOSTS, 0, 0_usize);
        while !hosts.is_empty() && length <= max_bytes {
            let query = Query {
                organization: Some(organization.uuid()),
                networks: caller.scope().network_filter(),
                ids: Some(uuids(&hosts.split_off(hosts.len().saturating_sub(max)))),
                max_bytes: Some(MAX_BYTES),
                ..Query::new(HOST)
            };
            let page = self.store.list(&query).await?;
            hosts.extend(page.unread.iter().map(|key| HostId::new(key.id)));
            max = if page.unread.is_empty() { (2 * max).min(MAX_HOSTS) } else { FIRST_HOSTS };
            let records = page.records;
            let bytes = records.iter().map(|record| record.body.len()).sum();
            let parts_of = move || records.iter().map(super::parts_of::<P>).collect();
            let found: Result<Vec<Vec<P>>, Error> = self.offload(organization, bytes, parts_of).await?;
            for part in found?.into_iter().flatten() {
                decoded += 1;
                if length <= max_bytes && wanted.contains(&part.common().id) {
                    if max_bytes < usize::MAX {
                        length = length.saturating_add(json_length(&part)?);
                    }
                    parts.insert(part.common().id, part);
                }
            }
        }
        let parts = places.iter().filter_map(|place| parts.remove(&place.id)).collect();
        Ok(PartsAt { parts, decoded, is_too_long: length > max_bytes })
    }
}

/// The parts at some places.
struct PartsAt<P> {
    parts: Vec<P>,
    /// The number of parts that were decoded.
    decoded: usize,
    /// Whether some are missing, because they would be too long together.
    is_too_long: bool,
}

/// The parts of all hosts of a list, of any number, read page by page.
pub(crate) struct PartPages<P> {
    inventory: Inventory,
    caller: Caller,
    places: Arc<[PartPlace]>,
    /// The place of the next part.
    position: usize,
    /// The number of parts that are read next.
    length: usize,
    kind: PhantomData<fn() -> P>,
}

impl<P: Part> DocumentPages for PartPages<P> {
    fn is_finished(&self) -> bool {
        self.position >= self.places.len()
    }

    // Only pages leave parts unread, and this reads whole lists.
    fn unread(&self) -> usize {
        0
    }

    fn next(&mut self) -> PendingDocuments<'_> {
        Box::pin(async move {
            let (PartsAt { parts, decoded, .. }, end) = loop {
                let end = (self.position + self.length).min(self.places.len());
                let places = self.places.get(self.position..end).asserted_or_default();
                // Parts may be longer than those before them.
                let max_bytes = if self.length > FIRST_PAGE { MAX_PAGE_BYTES } else { usize::MAX };
                let read: PartsAt<P> = self.inventory.parts_at(&self.caller, places, max_bytes).await?;
                if !read.is_too_long {
                    break (read, end);
                }
                self.length = (self.length / 2).max(FIRST_PAGE);
            };
            self.position = end;
            let taken = parts.len();
            let documents = ListPage::new(parts, self.places.len() as u64, None).into_documents()?;
            let bytes: usize = documents.bodies.iter().map(Bytes::len).sum();
            self.length = match self.length {
                length if decoded > taken * MAX_DECODED && 2 * bytes <= MAX_PAGE_BYTES => {
                    (2 * length).min(MAX_PAGE)
                }
                length => length,
            };
            Ok(documents)
        })
    }
}

/// Returns the length of a record as JSON, in bytes.
fn json_length(record: &impl Serialize) -> Result<usize, Error> {
    Ok(serde_json::to_vec(record).map_err(Error::internal)?.len())
}

/// Returns whether the filters of a query match the part.
pub(super) fn is_listed<P: Part>(part: &P, query: &ListQuery) -> bool {
    let ListQuery { network_id, ids, tag_ids, .. } = query;
    let common = part.common();
    network_id.is_none_or(|network| network == common.network_id)
        && ids.as_ref().is_none_or(|ids| ids.contains(&common.id))
        && tag_ids.as_ref().is_none_or(|tags| part.tags().iter().any(|tag| tags.contains(tag)))
}

fn next_page(places: &[PartPlace], end: usize, list: u64) -> Option<PageCursor> {
    let last = if end < places.len() { places.get(end.checked_sub(1)?)? } else { return None };
    Some(PageCursor::new(list, &Cursor::new(vec![last.key.to_vec()], last.id)))
}

/// The order of a list of parts.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct PartOrder {
    by: ListOrderField,
    direction: OrderDirection,
}

impl PartOrder {
    fn of(query: &ListQuery) -> Self {
        Self { by: query.order_by, direction: query.order_direction }
    }

    /// Returns the places of parts, in order.
    fn places<P: Part>(self, parts: &[P]) -> Vec<PartPlace> {
        let mut places: Vec<PartPlace> = parts.iter().map(|part| self.place(part)).collect();
        self.sort(&mut places);
        places
    }

    pub(super) fn place<P: Part>(self, part: &P) -> PartPlace {
        let common = part.common();
        let number = |number: i64| (number ^ i64::MIN).to_be_bytes().to_vec();
        let key = match self.by {
            ListOrderField::CreatedAt => number(common.created_at.unix_micros()),
            ListOrderField::UpdatedAt => number(common.updated_at.unix_micros()),
            ListOrderField::Name => PartPlace::cut(part.sort_name()).to_vec(),
            ListOrderField::IfIndex | ListOrderField::Number => number(part.sort_number()),
        };
        PartPlace { key: key.into(), id: common.id, host: common.host_id }
    }

    pub(super) fn sort(self, places: &mut [PartPlace]) {
        places.sort_unstable_by(|left, right| self.compare((&left.key, left.id), (&right.key, right.id)));
    }

    fn compare(self, (left, left_id): (&[u8], Uuid), (right, right_id): (&[u8], Uuid)) -> Ordering {
        let keys = match self.direction {
            OrderDirection::Ascending => left.cmp(right),
            OrderDirection::Descending => right.cmp(left),
        };
        keys.then(left_id.cmp(&right_id))
    }

    /// Returns where the page of a query begins and ends.
    fn span(self, places: &[PartPlace], query: &ListQuery, list: u64) -> Result<(usize, usize), Error> {
        let start = match &query.cursor {
            Some(cursor) => self.start(places, cursor.position(list)?)?,
            None => usize::try_from(query.offset).unwrap_or(usize::MAX).min(places.len()),
        };
        let end = query.limit.map_or(places.len(), |limit| start.saturating_add(limit).min(places.len()));
        Ok((start, end))
    }

    /// Returns the index of the first part after a position.
    fn start(self, places: &[PartPlace], position: CursorPosition) -> Result<usize, Error> {
        let cursor = match position {
            CursorPosition::Start => return Ok(0),
            CursorPosition::After(cursor) => cursor,
            // The keys of parts always fit.
            CursorPosition::AfterRecord(..) => return Err(invalid_cursor()),
        };
        let [key] = cursor.keys() else { return Err(invalid_cursor()) };
        Ok(places.partition_point(|place| self.compare((&place.key, place.id), (key, cursor.id())).is_le()))
    }
}
