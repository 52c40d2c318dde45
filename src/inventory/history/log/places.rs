//! The places that queries name by positions and times.

use super::position::Place;
use super::reader::{LogFilter, LogReader, Span, commits_in, ordered};
use super::record::CommitChanges;
use crate::access::Caller;
use crate::inventory::history::mark::CurrentMark;
use crate::inventory::schema::{CREATED_AT, time_sort_key};
use crate::inventory::{ChangeQuery, Error, ErrorKind, Inventory, Moment, Problem};
use crate::model::{ChangePosition, OrganizationId, Timestamp};
use crate::store::{Direction, KeyFilter, Order, Query, TermRange};

/// The number of commits by which the order of commits and that of their times may differ.
const MAX_DISORDER: usize = 500;

impl Inventory {
    /// Returns the place of the newest entry.
    pub(in crate::inventory::history) async fn newest_place(
        &self,
        filter: &LogFilter,
        mark: &CurrentMark,
    ) -> Result<Option<Place>, Error> {
        let last = Query { limit: Some(1), ..ordered(&filter.commits(), Direction::Descending) };
        let (found, _) = self.records_within(&last, TermRange::new([], None)).await?;
        // Of a large commit, one record is enough.
        if let Some(record) = found.first() {
            return Ok(Some(CommitChanges::read(record)?.end()));
        }
        Ok(self.outermost_places(filter, mark, Direction::Descending).await?.into_iter().max())
    }

    /// Returns the place of the oldest entry.
    async fn oldest_place(&self, filter: &LogFilter, mark: &CurrentMark) -> Result<Option<Place>, Error> {
        Ok(self.outermost_places(filter, mark, Direction::Ascending).await?.into_iter().min())
    }

    /// Returns the places of the entries at the end of the log from which this direction goes.
    async fn outermost_places(
        &self,
        filter: &LogFilter,
        mark: &CurrentMark,
        direction: Direction,
    ) -> Result<Vec<Place>, Error> {
        let span = Span { after: mark.mark.beginning(), until: None };
        let mut log = LogReader::new(self, filter.clone(), span, direction).some_at_a_time(1);
        Ok(log.next().await?.iter().flat_map(CommitChanges::places).collect())
    }

    /// Returns the part of the history that a query names.
    pub(in crate::inventory::history) async fn span_of(
        &self,
        mark: &CurrentMark,
        caller: &Caller,
        query: &ChangeQuery,
    ) -> Result<Span, Error> {
        let mut span = Span { after: mark.mark.beginning(), until: None };
        if let Some(position) = &query.after {
            span.after = span.after.max(Some(self.place_of(mark, caller, "after", position).await?));
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
    /// `BeforeHistory` for a time before the history began; `PositionGone` for a position whose entry is no longer there.
    pub(in crate::inventory::history) async fn position_at(
        &self,
        caller: &Caller,
        field: &str,
        moment: &Moment,
    ) -> Result<ChangePosition, Error> {
        let mark = self.history_mark().await?;
        let place = self.place_of_moment(&mark, caller, field, moment).await?;
        match (place, moment) {
            (None, Moment::Time(time)) if *time < mark.mark.began_at => {
                let (oldest, newest) = self.ends(&mark, caller).await?;
                Err(ErrorKind::BeforeHistory { began_at: mark.mark.began_at, oldest, newest }.into())
            }
            (place, _) => Ok(mark.mark.key.seal(caller.organization_id(), place.unwrap_or(Place::BEGINNING))),
        }
    }

    /// Returns the place of the last entry that is not later than a moment. `None`: all are later.
    pub(in crate::inventory::history) async fn place_of_moment(
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
        if !position.has_form() {
            return Err(Error::invalid(field, Problem::InvalidFormat));
        }
        let organization = caller.organization_id();
        // One that cannot be opened is from the history of another store, or of another organization.
        let Some(place) = mark.mark.key.open(organization, position) else {
            return Err(self.position_gone(mark, caller).await?);
        };
        let beginning = mark.mark.beginning().unwrap_or(Place::BEGINNING);
        let is_there = place == beginning || place > beginning && self.is_in_log(organization, place).await?;
        if is_there { Ok(place) } else { Err(self.position_gone(mark, caller).await?) }
    }

    /// Returns the error for a position of an entry that the history has no longer.
    async fn position_gone(&self, mark: &CurrentMark, caller: &Caller) -> Result<Error, Error> {
        let (oldest, newest) = self.ends(mark, caller).await?;
        Ok(ErrorKind::PositionGone { oldest, newest }.into())
    }

    /// Returns the positions of the oldest and the newest entry that the caller may see.
    async fn ends(
        &self,
        mark: &CurrentMark,
        caller: &Caller,
    ) -> Result<(ChangePosition, ChangePosition), Error> {
        let seen = self.seen_in_log(caller).await?;
        let sealed = |place: Option<Place>| {
            mark.mark.key.seal(caller.organization_id(), place.unwrap_or(Place::BEGINNING))
        };
        let oldest = sealed(self.oldest_place(&seen, mark).await?);
        let newest = sealed(self.newest_place(&seen, mark).await?);
        Ok((oldest, newest))
    }

    /// Returns the place of the last entry that the caller may see and that was made no later than a time.
    ///
    /// Entries that the caller may not see do not count: positions that follow from the place would depend on them.
    ///
    /// The clocks of instances differ, so that the entries are only almost in the order of their times.
    async fn place_at(&self, caller: &Caller, time: Timestamp) -> Result<Option<Place>, Error> {
        let filter = self.seen_in_log(caller).await?;
        let end = time_sort_key(CREATED_AT, time.plus_micros(1)).value;
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
            commits.sort_by_key(|commit| commit.places().min());
            for commit in &commits {
                later = if commit.at <= time { 0 } else { later + 1 };
                last = last.max(commit.places().max().filter(|_| commit.at <= time));
            }
        }
        Ok(last)
    }

    /// Returns whether the log has the commit of a place, whichever of its entries the caller sees.
    async fn is_in_log(&self, organization: OrganizationId, place: Place) -> Result<bool, Error> {
        let all = LogFilter::all(organization);
        let one = Query { limit: Some(1), ..all.commits() };
        let (found, _) = self.records_within(&one, TermRange::exact(place.commit_key())).await?;
        if let Some(record) = found.first() {
            return Ok(CommitChanges::read(record)?.commit == place.commit);
        }
        let span = Span { after: place.predecessor(), until: Some(place) };
        let mut log = LogReader::new(self, all, span, Direction::Ascending);
        let is_of = |commit: &CommitChanges| commit.place(place.number) == place;
        Ok(log.next().await?.iter().any(is_of))
    }
}
