//! Pages of the history, in its order.

use std::collections::BTreeMap;

use crate::access::Caller;
use crate::inventory::history::log::position::Place;
use crate::inventory::history::log::reader::{LogFilter, LogReader, Span};
use crate::inventory::history::log::record::{ChangeEntry, CommitChanges};
use crate::inventory::history::mark::CurrentMark;
use crate::inventory::{ChangePage, ChangeQuery, Error, Inventory};
use crate::model::{Change, NetworkId, OrderDirection, Permission};
use crate::store::Direction;

/// The largest number of entries on a page.
pub(crate) const MAX_PAGE: usize = 1_000;

/// The number of records of changes that one page reads at most. It then ends early, and its position goes on from there.
const MAX_RECORDS: usize = 2_000;

/// The size, in bytes of stored fields, at which a page ends early.
const MAX_BYTES: usize = 1024 * 1024;

/// An entry where it is.
#[derive(Debug)]
struct PlacedEntry<'c> {
    place: Place,
    commit: &'c CommitChanges,
    entry: &'c ChangeEntry,
}

impl ChangeQuery {
    /// Returns whether the query asks for an entry, wherever it is.
    pub(in crate::inventory::history) fn matches(&self, commit: &CommitChanges, entry: &ChangeEntry) -> bool {
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
    /// `NotFound` when there is no such organization; `Invalid` for text that is no position; `PositionGone` for a position whose entry is no longer there, or is one of another
    /// organization.
    pub async fn changes(&self, caller: &Caller, query: &ChangeQuery) -> Result<ChangePage, Error> {
        self.require_organization_of(caller).await?;
        self.changes_with(caller, query, true).await
    }

    /// Returns a page like [`changes`](Self::changes). Without the fields of its entries, it is for callers that only count them.
    pub(in crate::inventory::history) async fn changes_with(
        &self,
        caller: &Caller,
        query: &ChangeQuery,
        has_fields: bool,
    ) -> Result<ChangePage, Error> {
        let mark = self.history_mark().await?;
        if !self.recording.is_on() {
            let next = mark.mark.key.seal(caller.organization_id(), Place::BEGINNING);
            return Ok(ChangePage::new(Vec::new(), next, false));
        }
        self.begin_following();
        let seen = self.seen_in_log(caller).await?;
        // Read first: an entry that is committed meanwhile comes after the position of the page.
        let newest = self.newest_place(&seen, &mark).await?;
        let span = self.span_of(&mark, caller, query).await?;
        let limit = query.limit.unwrap_or(MAX_PAGE).min(MAX_PAGE);
        let mut reading =
            Reading { query, span, limit, has_fields, changes: Vec::new(), bytes: 0, last: None };
        let filter = LogFilter { id: query.id, network: query.network_id, ..seen };
        let is_complete = limit == 0 || self.read_page(&mark, caller, filter, &mut reading).await?;
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

    /// Returns the filter of the entries that a caller may see.
    pub(in crate::inventory::history) async fn seen_in_log(
        &self,
        caller: &Caller,
    ) -> Result<LogFilter, Error> {
        Ok(LogFilter::seen_by(caller, &self.networks_in_history(caller).await?))
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
        filter: LogFilter,
        reading: &mut Reading<'_>,
    ) -> Result<bool, Error> {
        let direction = match reading.query.order_direction {
            OrderDirection::Ascending => Direction::Ascending,
            OrderDirection::Descending => Direction::Descending,
        };
        // Most pages are short, and records may be long.
        let mut log = LogReader::new(self, filter, reading.span, direction).some_at_a_time(reading.limit);
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
            if self.query.matches(entry.commit, entry.entry) {
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

/// Returns the entries of a commit, each where it is.
fn placed(commit: &CommitChanges) -> impl Iterator<Item = PlacedEntry<'_>> {
    commit.entries.iter().map(move |entry| PlacedEntry { place: commit.place(entry.number), commit, entry })
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
            fields: if has_fields { entry.fields()? } else { BTreeMap::new() },
            is_erased: entry.is_erased,
            cause: entry.cause.map(|cause| mark.mark.key.seal(organization, cause)),
            request_id: commit.request_id.clone(),
        })
    }
}
