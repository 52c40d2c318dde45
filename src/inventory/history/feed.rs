//! Pages of the history, in its order.

use std::collections::BTreeMap;

use serde_json::Value;
use serde_json::value::RawValue;
use uuid::Uuid;

use super::log::{LogFilter, LogReader, Span, commits_in};
use super::mark::CurrentMark;
use super::position::Place;
use super::record::{CommitChanges, Entry};
use crate::access::Caller;
use crate::inventory::schema::{CREATED_AT, time_sort_key};
use crate::inventory::{Error, Inventory, Problem};
use crate::model::{
    Change, ChangeAction, ChangePosition, ChangedEntity, FieldChange, NetworkId, OrderDirection,
    OrganizationId, Permission, Timestamp, UserId,
};
use crate::store::{Direction, KeyFilter, Order, Query, TermRange};

/// The largest number of entries on a page.
pub(crate) const MAX_PAGE: usize = 1_000;

/// The number of records of changes that one page reads at most. It then ends early, and its position goes on from there.
const MAX_RECORDS: usize = 2_000;

/// The number of commits by which the order of commits and that of their times may differ.
const MAX_DISORDER: usize = 500;

/// Which entries of the history to read, and from where.
///
/// Filters are combined with AND. The default is the oldest entries that the caller may see.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct ChangeQuery {
    /// Only entries after this position.
    pub after: Option<ChangePosition>,
    /// Only entries before this position.
    pub before: Option<ChangePosition>,
    /// Only entries up to this position, with its own.
    pub until_position: Option<ChangePosition>,
    /// Only entries after the last one that was made before this time.
    pub since: Option<Timestamp>,
    /// Only entries up to the last one that was made no later than this time.
    pub until: Option<Timestamp>,
    /// Only changes of this kind of records.
    pub entity: Option<ChangedEntity>,
    /// Only changes of this record.
    pub id: Option<Uuid>,
    /// Only changes on this network.
    pub network_id: Option<NetworkId>,
    /// Only changes by this user.
    pub user_id: Option<UserId>,
    /// Only changes that do this.
    pub action: Option<ChangeAction>,
    /// Whether the oldest or the newest entries come first.
    pub order_direction: OrderDirection,
    /// The maximum number of entries, at most 1,000. With 0, the page has the newest position alone.
    pub limit: Option<usize>,
}

/// A page of the history.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct ChangePage {
    /// The entries, in the order that was asked for.
    pub changes: Vec<Change>,
    /// The position to go on from. Entries that the filters left out are before it, too.
    pub next: ChangePosition,
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
        let is_by = |user: UserId| commit.actor.user_id() == Some(user);
        self.entity.is_none_or(|entity| entry.entity == entity)
            && self.id.is_none_or(|id| entry.id == id)
            && self.action.is_none_or(|action| entry.action == action)
            && self.network_id.is_none_or(|network| commit.audience.network() == Some(network))
            && self.user_id.is_none_or(is_by)
    }
}

/// The entries of a page while it is read.
#[derive(Debug)]
struct Reading<'q> {
    query: &'q ChangeQuery,
    span: Span,
    limit: usize,
    changes: Vec<Change>,
    /// The place of the last entry that was looked at.
    last: Option<Place>,
}

impl Inventory {
    /// Returns a page of the history of the caller's organization.
    ///
    /// # Errors
    /// `Invalid` for a position that is not one of this organization.
    pub async fn changes(&self, caller: &Caller, query: &ChangeQuery) -> Result<ChangePage, Error> {
        let mark = self.history_mark().await?;
        if !self.has_history {
            let next = mark.mark.key.seal(caller.organization_id(), Place::BEGINNING);
            return Ok(ChangePage { changes: Vec::new(), next });
        }
        let seen = LogFilter::seen_by(caller, &self.networks_in_history(caller).await?);
        // Read first: an entry that is committed meanwhile comes after the position of the page.
        let newest = self.newest_place(seen.clone(), &mark).await?;
        let span = self.span_of(&mark, caller, query).await?;
        let limit = query.limit.unwrap_or(MAX_PAGE).min(MAX_PAGE);
        let mut reading = Reading { query, span, limit, changes: Vec::new(), last: None };
        let filter = LogFilter { id: query.id, ..seen };
        let is_complete = limit == 0 || self.read_page(&mark, caller, filter, &mut reading).await?;
        let Reading { changes, last, .. } = reading;
        let end = match query.order_direction {
            // Entries that were committed since are on the page, too.
            OrderDirection::Ascending => newest.max(span.after).max(last).filter(|_| is_complete),
            OrderDirection::Descending => None,
        };
        let next = end.or(last).or(span.after).unwrap_or(Place::BEGINNING);
        Ok(ChangePage { changes, next: mark.mark.key.seal(caller.organization_id(), next) })
    }

    /// Returns the networks whose history a caller may see, as far as they need to be named.
    pub(super) async fn networks_in_history(&self, caller: &Caller) -> Result<Vec<NetworkId>, Error> {
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
        filter: LogFilter,
        reading: &mut Reading<'_>,
    ) -> Result<bool, Error> {
        let direction = match reading.query.order_direction {
            OrderDirection::Ascending => Direction::Ascending,
            OrderDirection::Descending => Direction::Descending,
        };
        let mut log = LogReader::new(self, filter, reading.span, direction);
        // At least some commits are taken, so that every page goes on.
        while log.records < MAX_RECORDS || reading.last.is_none() {
            let commits = log.next().await?;
            if commits.is_empty() {
                return Ok(true);
            }
            if reading.take(mark, caller, &commits)? {
                return Ok(false);
            }
        }
        Ok(false)
    }
}

impl Reading<'_> {
    /// Takes the entries of some commits. Returns whether the page is full.
    fn take(
        &mut self,
        mark: &CurrentMark,
        caller: &Caller,
        commits: &[CommitChanges],
    ) -> Result<bool, Error> {
        let mut entries: Vec<PlacedEntry<'_>> = commits.iter().flat_map(placed).collect();
        entries.retain(|entry| self.span.contains(entry.place));
        entries.sort_unstable_by_key(|entry| entry.place);
        if self.query.order_direction == OrderDirection::Descending {
            entries.reverse();
        }
        for entry in entries {
            self.last = Some(entry.place);
            if self.query.matches(&entry) {
                self.changes.push(entry.to_change(mark, caller)?);
            }
            if self.changes.len() >= self.limit {
                return Ok(true);
            }
        }
        Ok(false)
    }
}

/// Returns the entries of a commit, each where it is.
fn placed(commit: &CommitChanges) -> impl Iterator<Item = PlacedEntry<'_>> {
    commit.entries.iter().map(move |entry| PlacedEntry { place: commit.place(entry.number), commit, entry })
}

impl PlacedEntry<'_> {
    /// Returns the entry as this caller sees it.
    fn to_change(&self, mark: &CurrentMark, caller: &Caller) -> Result<Change, Error> {
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
            fields: entry.changed_fields()?,
            is_erased: entry.is_erased,
            cause: None,
            request_id: commit.request_id.clone(),
        })
    }
}

impl Entry {
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
    /// Returns the place of the newest entry.
    pub(super) async fn newest_place(
        &self,
        filter: LogFilter,
        mark: &CurrentMark,
    ) -> Result<Option<Place>, Error> {
        let span = Span { after: mark.mark.beginning(), until: None };
        let mut log = LogReader::new(self, filter, span, Direction::Descending).one_at_a_time();
        Ok(log.next().await?.iter().flat_map(CommitChanges::places).max())
    }

    /// Returns the part of the history that a query names.
    async fn span_of(&self, mark: &CurrentMark, caller: &Caller, query: &ChangeQuery) -> Result<Span, Error> {
        let ChangeQuery { after, before, until_position, since, until, .. } = query;
        let mut span = Span { after: mark.mark.beginning(), until: None };
        if let Some(position) = after {
            span.after = span.after.max(Some(self.place_of(mark, caller, "after", position).await?));
        }
        if let Some(position) = before {
            span.until = self.place_of(mark, caller, "before", position).await?.predecessor();
        }
        if let Some(position) = until_position {
            let last = self.place_of(mark, caller, "until", position).await?;
            span.until = Some(span.until.map_or(last, |until| until.min(last)));
        }
        if let Some(time) = since {
            span.after = span.after.max(self.place_at(caller, *time).await?);
        }
        if let Some(time) = until {
            let last = self.place_at(caller, *time).await?.unwrap_or(Place::BEGINNING);
            span.until = Some(span.until.map_or(last, |until| until.min(last)));
        }
        Ok(span)
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
        let is_there = mark.mark.beginning().is_none_or(|beginning| place > beginning)
            && self.is_in_log(organization, place).await?;
        if is_there { Ok(place) } else { Err(invalid()) }
    }

    /// Returns the place of the last entry that was made no later than a time.
    ///
    /// The clocks of instances differ, so that the entries are only almost in the order of their times.
    async fn place_at(&self, caller: &Caller, time: Timestamp) -> Result<Option<Place>, Error> {
        let end = time_sort_key(CREATED_AT, time.plus_micros(1)).value;
        let filter = LogFilter::all(caller.organization_id());
        // Read in this order: a record of a commit may become a run meanwhile.
        let mut from = None;
        for query in [filter.commits(), filter.runs()] {
            let latest = Query {
                keys: vec![KeyFilter::new(CREATED_AT, TermRange::new([], Some(end.clone())))],
                order: vec![Order::new(CREATED_AT, Direction::Descending)],
                limit: Some(1),
                ..query
            };
            let found = self.store.list(&latest).await?.records;
            let commits = found.first().map(commits_in).transpose()?.unwrap_or_default();
            from = from.max(commits.iter().map(|commit| commit.place(0)).max());
        }
        let span = Span { after: from.and_then(Place::predecessor), until: None };
        let mut log = LogReader::new(self, filter, span, Direction::Ascending);
        let (mut last, mut later) = (None, 0);
        while later < MAX_DISORDER {
            let mut commits = log.next().await?;
            if commits.is_empty() {
                break;
            }
            commits.sort_by_key(|commit| commit.place(0));
            for commit in &commits {
                later = if commit.at <= time { 0 } else { later + 1 };
                last = last.max(commit.places().max().filter(|_| commit.at <= time));
            }
        }
        Ok(last)
    }

    /// Returns whether the log has the entry of a place, whoever may see it.
    async fn is_in_log(&self, organization: OrganizationId, place: Place) -> Result<bool, Error> {
        let span = Span { after: place.predecessor(), until: Some(place) };
        let mut log = LogReader::new(self, LogFilter::all(organization), span, Direction::Ascending);
        let is_of = |commit: &CommitChanges| commit.place(place.number) == place;
        Ok(log.next().await?.iter().any(is_of))
    }
}
