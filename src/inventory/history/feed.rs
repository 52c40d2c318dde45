//! Pages of the history, in its order.

use std::collections::BTreeMap;

use serde_json::Value;
use serde_json::value::RawValue;

use super::audience::Audience;
use super::mark::CurrentMark;
use super::position::Place;
use super::record::{CommitChanges, Entry};
use crate::access::Caller;
use crate::inventory::schema::{CHANGE, CHANGED_LINK, CREATED_AT, WRITTEN, decode, time_sort_key};
use crate::inventory::{ChangePage, ChangeQuery, Error, ErrorKind, Inventory, Moment, Problem};
use crate::model::{
    Change, ChangeAction, ChangePosition, FieldChange, NetworkId, OrderDirection, Permission, Timestamp,
};
use crate::store::{Direction, KeyFilter, LinkFilter, Order, Query, Record, Start, TermRange, Version};

/// The largest number of entries on a page.
pub(crate) const MAX_PAGE: usize = 1_000;

/// The number of records of changes that one page reads at most. It then ends early, and its position goes on from there.
const MAX_RECORDS: usize = 2_000;

/// The number of records by which the order of commits and that of their times may differ.
const MAX_DISORDER: usize = 1_000;

/// The size, in bytes of stored fields, at which a page ends early.
const MAX_BYTES: usize = 1024 * 1024;

/// The number of records that are read at a time. They have about 64 KiB each at most, but for those of one large entry.
const RECORDS_AT_ONCE: usize = 64;

/// A part of the history: the entries after one place, up to another one.
#[derive(Clone, Copy, Debug, Default)]
struct Span {
    after: Option<Place>,
    until: Option<Place>,
}

impl Span {
    fn contains(&self, place: Place) -> bool {
        self.after.is_none_or(|after| place > after) && self.until.is_none_or(|until| place <= until)
    }

    /// Returns the filter of the records that have its entries.
    fn filter(&self) -> KeyFilter {
        let from = self.after.map(Place::key).unwrap_or_default();
        let to = self.until.map(|until| TermRange::exact(until.key())).and_then(|range| range.to);
        KeyFilter::new(WRITTEN, TermRange::new(from, to))
    }
}

/// An entry where it is.
#[derive(Debug)]
struct PlacedEntry<'c> {
    place: Place,
    commit: &'c CommitChanges,
    entry: &'c Entry,
}

impl ChangeQuery {
    fn matches(&self, PlacedEntry { commit, entry, .. }: &PlacedEntry<'_>) -> bool {
        self.entity.is_none_or(|entity| entry.entity == entity)
            && self.id.is_none_or(|id| entry.id == id)
            && self.action.is_none_or(|action| entry.action == action)
            && self.network_id.is_none_or(|network| commit.audience.network() == Some(network))
            && self.actor.as_ref().is_none_or(|actor| actor.matches(&commit.actor))
    }
}

/// The entries of a page while it is read.
#[derive(Debug)]
struct Reading<'q> {
    query: &'q ChangeQuery,
    span: Span,
    limit: usize,
    has_fields: bool,
    changes: Vec<Change>,
    /// The size of their fields.
    bytes: usize,
    /// The place of the last entry that was looked at.
    last: Option<Place>,
}

impl Inventory {
    /// Returns a page of the history of the caller's organization.
    ///
    /// # Errors
    /// `Invalid` for a position that is not one of this organization; `PositionGone` for one whose entry is no longer there.
    pub async fn changes(&self, caller: &Caller, query: &ChangeQuery) -> Result<ChangePage, Error> {
        self.changes_with(caller, query, true).await
    }

    /// Returns a page like [`changes`](Self::changes). Without the fields of its entries, it is for those who only count them.
    pub(super) async fn changes_with(
        &self,
        caller: &Caller,
        query: &ChangeQuery,
        has_fields: bool,
    ) -> Result<ChangePage, Error> {
        let mark = self.history_mark().await?;
        let records = self.records_for(caller, query).await?;
        // Read first: an entry that is committed meanwhile comes after the position of the page.
        let newest = self.newest_place(&self.records_for(caller, &ChangeQuery::default()).await?).await?;
        let span = self.span_of(&mark, caller, query).await?;
        let limit = query.limit.unwrap_or(MAX_PAGE).min(MAX_PAGE);
        let mut reading =
            Reading { query, span, limit, has_fields, changes: Vec::new(), bytes: 0, last: None };
        let is_complete = limit == 0 || self.read_page(&mark, caller, records, &mut reading).await?;
        let Reading { changes, last, .. } = reading;
        let end = match query.order_direction {
            _ if limit == 0 => newest.max(span.after),
            // Entries that were committed since are on the page, too. Those after its upper bound are still to come.
            OrderDirection::Ascending if is_complete && span.until.is_none() => {
                newest.max(span.after).max(last)
            }
            OrderDirection::Ascending => last.or(span.after),
            OrderDirection::Descending => last,
        };
        let next = match (end, &query.before) {
            // Nothing is before it, and so nothing precedes the next page either.
            (None, Some(before)) if query.order_direction == OrderDirection::Descending => before.clone(),
            (end, _) => mark.mark.key.seal(caller.organization_id(), end.unwrap_or(Place::BEGINNING)),
        };
        Ok(ChangePage::new(changes, next, !is_complete))
    }

    /// Returns the query of the records that have what a caller may see.
    async fn records_for(&self, caller: &Caller, query: &ChangeQuery) -> Result<Query, Error> {
        let networks = self.networks_in_history(caller).await?;
        let links = query.id.map(|id| LinkFilter::new(CHANGED_LINK, [id]));
        let on_network = query.network_id.map(|network| Audience::Network(network).only());
        Ok(Query {
            organization: Some(caller.organization_id().uuid()),
            links: links.into_iter().collect(),
            terms: Audience::filter(caller, &networks).into_iter().chain(on_network).collect(),
            ..Query::new(CHANGE)
        })
    }

    /// Returns the networks whose history a caller may see, as far as they need to be named.
    async fn networks_in_history(&self, caller: &Caller) -> Result<Vec<NetworkId>, Error> {
        if caller.permission() >= Permission::Admin {
            return Ok(caller.scope().networks().unwrap_or_default().to_vec());
        }
        let networks = self.networks().all(caller).await?;
        Ok(networks.into_iter().map(|network| network.id).collect())
    }

    /// Reads entries until the page is full or the records end. Returns whether they have ended.
    async fn read_page(
        &self,
        mark: &CurrentMark,
        caller: &Caller,
        records: Query,
        reading: &mut Reading<'_>,
    ) -> Result<bool, Error> {
        let direction = match reading.query.order_direction {
            OrderDirection::Ascending => Direction::Ascending,
            OrderDirection::Descending => Direction::Descending,
        };
        let mut records = Query {
            keys: vec![reading.span.filter()],
            order: vec![Order::new(WRITTEN, direction)],
            // Most pages are short, and records may be long.
            limit: Some(reading.limit.clamp(1, RECORDS_AT_ONCE)),
            ..records
        };
        let mut commit: Vec<CommitChanges> = Vec::new();
        let mut version = None;
        let mut left = MAX_RECORDS;
        loop {
            let page = self.store.list(&records).await?;
            left = left.saturating_sub(page.records.len());
            for record in &page.records {
                if version.is_some_and(|version| version != record.version)
                    && reading.take_commit(mark, caller, version, &std::mem::take(&mut commit))?
                {
                    return Ok(false);
                }
                version = Some(record.version);
                commit.push(decode(record)?);
            }
            match page.next {
                // At least one commit is taken, so that every page goes on.
                Some(next) if left > 0 || reading.last.is_none() => {
                    records.start = Start::After(next);
                    records.limit = Some(RECORDS_AT_ONCE);
                }
                Some(_) => return Ok(false),
                None => return Ok(!reading.take_commit(mark, caller, version, &commit)?),
            }
        }
    }
}

impl Reading<'_> {
    /// Takes the entries of a commit. Returns whether the page is full.
    fn take_commit(
        &mut self,
        mark: &CurrentMark,
        caller: &Caller,
        version: Option<Version>,
        records: &[CommitChanges],
    ) -> Result<bool, Error> {
        let Some(version) = version else { return Ok(false) };
        let mut entries: Vec<PlacedEntry<'_>> =
            records.iter().flat_map(|commit| placed(commit, version)).collect();
        entries.sort_unstable_by_key(|entry| entry.place);
        if self.query.order_direction == OrderDirection::Descending {
            entries.reverse();
        }
        for entry in entries.into_iter().filter(|entry| self.span.contains(entry.place)) {
            self.last = Some(entry.place);
            if self.query.matches(&entry) {
                self.changes.push(entry.to_change(mark, caller, self.has_fields)?);
                self.bytes += if self.has_fields { entry.entry.size() } else { 0 };
            }
            if self.changes.len() >= self.limit || self.bytes >= MAX_BYTES {
                return Ok(true);
            }
        }
        Ok(false)
    }
}

/// Returns the entries of a record, each where it is.
fn placed(commit: &CommitChanges, version: Version) -> impl Iterator<Item = PlacedEntry<'_>> {
    commit.entries.iter().map(move |entry| {
        let place = Place { era: commit.era, version, number: entry.number, commit: commit.commit };
        PlacedEntry { place, commit, entry }
    })
}

impl PlacedEntry<'_> {
    /// Returns the entry as this caller sees it.
    fn to_change(&self, mark: &CurrentMark, caller: &Caller, has_fields: bool) -> Result<Change, Error> {
        let Self { place, commit, entry } = self;
        let organization = caller.organization_id();
        Ok(Change {
            position: mark.mark.key.seal(organization, *place),
            at: commit.at,
            actor: commit.actor.as_seen_by(caller.user_id(), caller.permission() >= Permission::Admin),
            action: entry.action,
            entity: entry.entity,
            id: entry.id,
            network_id: commit.audience.network(),
            name: entry.name.clone(),
            fields: if has_fields { entry.changed_fields()? } else { BTreeMap::new() },
            cause: None,
            request_id: commit.request_id.clone(),
        })
    }
}

impl Entry {
    /// Returns the size of its document and its fields.
    fn size(&self) -> usize {
        let length = |value: &Option<Box<RawValue>>| value.as_ref().map_or(0, |text| text.get().len());
        let fields =
            self.fields.iter().map(|(path, field)| path.len() + length(&field.before) + length(&field.after));
        length(&self.document) + fields.sum::<usize>()
    }

    /// Returns the fields that have changed: all of a record that is new or gone.
    fn changed_fields(&self) -> Result<BTreeMap<String, FieldChange>, Error> {
        let value = |text: &RawValue| serde_json::from_str::<Value>(text.get()).map_err(Error::internal);
        let Some(document) = &self.document else {
            let fields = self.fields.iter().map(|(path, field)| {
                let before = field.before.as_deref().map(value).transpose()?;
                let after = field.after.as_deref().map(value).transpose()?;
                Ok((path.clone(), FieldChange { before, after }))
            });
            return fields.collect();
        };
        let members: BTreeMap<String, Value> =
            serde_json::from_str(document.get()).map_err(Error::internal)?;
        let is_new = self.action == ChangeAction::Created;
        let field = |value| match is_new {
            true => FieldChange { before: None, after: Some(value) },
            false => FieldChange { before: Some(value), after: None },
        };
        let present = members.into_iter().filter(|(_, value)| !value.is_null());
        Ok(present.map(|(name, value)| (name, field(value))).collect())
    }
}

impl Inventory {
    /// Returns the place of the newest of these records' entries.
    async fn newest_place(&self, records: &Query) -> Result<Option<Place>, Error> {
        Ok(self.places_of_first_commit(records, Direction::Descending).await?.into_iter().max())
    }

    /// Returns the place of the oldest of these records' entries.
    async fn oldest_place(&self, records: &Query) -> Result<Option<Place>, Error> {
        Ok(self.places_of_first_commit(records, Direction::Ascending).await?.into_iter().min())
    }

    /// Returns the places of these records' entries that are of the first commit in a direction.
    async fn places_of_first_commit(
        &self,
        records: &Query,
        direction: Direction,
    ) -> Result<Vec<Place>, Error> {
        let order = vec![Order::new(WRITTEN, direction)];
        let first = Query { order, limit: Some(1), ..records.clone() };
        let Some(record) = self.store.list(&first).await?.records.pop() else { return Ok(Vec::new()) };
        let changes: CommitChanges = decode(&record)?;
        let place = Place { era: changes.era, version: record.version, number: 0, commit: changes.commit };
        let commit = self.records_of_commit(records, place).await?;
        let places = commit.iter().flat_map(|(record, changes)| placed(changes, record.version));
        Ok(places.map(|entry| entry.place).collect())
    }

    /// Returns the records of the commit of a place, of those that a query finds.
    async fn records_of_commit(
        &self,
        records: &Query,
        place: Place,
    ) -> Result<Vec<(Record, CommitChanges)>, Error> {
        let keys = vec![KeyFilter::new(WRITTEN, TermRange::exact(place.key()))];
        let found = self.store.list(&Query { keys, ..records.clone() }).await?.records;
        found.into_iter().map(|record| decode(&record).map(|changes| (record, changes))).collect()
    }

    /// Returns the part of the history that a query names.
    async fn span_of(&self, mark: &CurrentMark, caller: &Caller, query: &ChangeQuery) -> Result<Span, Error> {
        let mut span = Span::default();
        if let Some(position) = &query.after {
            span.after = Some(self.place_of(mark, caller, "after", position).await?);
        }
        if let Some(position) = &query.before {
            let place = self.place_of(mark, caller, "before", position).await?;
            span.until = Some(place.predecessor().unwrap_or(Place::BEGINNING));
        }
        if let Some(moment) = &query.since {
            span.after = span.after.max(self.place_of_moment(mark, caller, "since", moment).await?);
        }
        if let Some(moment) = &query.until {
            let last = self.place_of_moment(mark, caller, "until", moment).await?;
            let last = last.unwrap_or(Place::BEGINNING);
            span.until = Some(span.until.map_or(last, |until| until.min(last)));
        }
        Ok(span)
    }

    /// Returns the position of the last entry that is not later than a moment, which the parameter `field` names.
    ///
    /// # Errors
    /// `PositionGone` for a time before the history began, and for a position whose entry is no longer there.
    pub(super) async fn position_at(
        &self,
        caller: &Caller,
        field: &str,
        moment: &Moment,
    ) -> Result<ChangePosition, Error> {
        let mark = self.history_mark().await?;
        let place = self.place_of_moment(&mark, caller, field, moment).await?;
        match (place, moment) {
            (None, Moment::Time(time)) if *time < mark.mark.began_at => {
                Err(self.position_gone(&mark, caller).await?)
            }
            (place, _) => Ok(mark.mark.key.seal(caller.organization_id(), place.unwrap_or(Place::BEGINNING))),
        }
    }

    /// Returns the place of the last entry that is not later than a moment. `None`: all are later.
    pub(super) async fn place_of_moment(
        &self,
        mark: &CurrentMark,
        caller: &Caller,
        field: &str,
        moment: &Moment,
    ) -> Result<Option<Place>, Error> {
        match moment {
            Moment::Time(time) => self.place_at(caller, *time).await,
            Moment::Position(position) => self.place_of(mark, caller, field, position).await.map(Some),
        }
    }

    /// Returns the place of a position that a caller has sent.
    async fn place_of(
        &self,
        mark: &CurrentMark,
        caller: &Caller,
        field: &str,
        position: &ChangePosition,
    ) -> Result<Place, Error> {
        let organization = caller.organization_id();
        let invalid = || Error::invalid(field, Problem::InvalidFormat);
        let place = mark.mark.key.open(organization, position).ok_or_else(invalid)?;
        if place == Place::BEGINNING {
            return Ok(place);
        }
        // Any record of the commit tells which one it is, and it may have many.
        let any = Query {
            organization: Some(organization.uuid()),
            keys: vec![KeyFilter::new(WRITTEN, TermRange::exact(place.key()))],
            limit: Some(1),
            ..Query::new(CHANGE)
        };
        let record = self.store.list(&any).await?.records.pop();
        let changes: Option<CommitChanges> = record.as_ref().map(decode).transpose()?;
        if changes.is_some_and(|changes| changes.commit == place.commit) {
            return Ok(place);
        }
        Err(self.position_gone(mark, caller).await?)
    }

    /// Returns the error for a position of an entry that the history has no longer.
    async fn position_gone(&self, mark: &CurrentMark, caller: &Caller) -> Result<Error, Error> {
        let records = self.records_for(caller, &ChangeQuery::default()).await?;
        let sealed = |place: Option<Place>| {
            mark.mark.key.seal(caller.organization_id(), place.unwrap_or(Place::BEGINNING))
        };
        let oldest = sealed(self.oldest_place(&records).await?);
        let newest = sealed(self.newest_place(&records).await?);
        Ok(ErrorKind::PositionGone { oldest, newest }.into())
    }

    /// Returns the place of the last entry that the caller may see and that was made no later than a time.
    ///
    /// Entries that the caller may not see do not count: positions that follow from the place would depend on them.
    ///
    /// The clocks of instances differ, so that the entries are only almost in the order of their times.
    async fn place_at(&self, caller: &Caller, time: Timestamp) -> Result<Option<Place>, Error> {
        let end = time_sort_key(CREATED_AT, time.plus_micros(1)).value;
        let seen = self.records_for(caller, &ChangeQuery::default()).await?;
        let latest = Query {
            keys: vec![KeyFilter::new(CREATED_AT, TermRange::new([], Some(end)))],
            order: vec![Order::new(CREATED_AT, Direction::Descending)],
            limit: Some(1),
            ..seen.clone()
        };
        let Some(record) = self.store.list(&latest).await?.records.pop() else { return Ok(None) };
        let changes: CommitChanges = decode(&record)?;
        let from = Place { era: changes.era, version: record.version, number: 0, commit: changes.commit };
        let following = Query {
            keys: vec![Span { after: Some(from), until: None }.filter()],
            order: vec![Order::new(WRITTEN, Direction::Ascending)],
            limit: Some(MAX_DISORDER),
            ..seen
        };
        let mut last = None;
        for record in self.store.list(&following).await?.records {
            let changes: CommitChanges = decode(&record)?;
            if changes.at <= time {
                last = last.max(placed(&changes, record.version).map(|entry| entry.place).max());
            }
        }
        Ok(last)
    }
}
