//! The log of an organization, read in its order: older entries from runs, later ones from the records of their commits.
//!
//! Entries are moved from the latter to the former while others read, oldest first, all up to some place in one commit. A reader
//! therefore reads records of commits before it finds that there are no further runs.

use uuid::Uuid;

use super::audience::Audience;
use super::class::Class;
use super::frame::Selection;
use super::position::Place;
use super::record::CommitChanges;
use super::run::{ChangeRun, id_ending};
use crate::access::Caller;
use crate::inventory::schema::{CHANGE, CHANGE_RUN, CHANGED_LINK, CHANGED_TERM, WRITTEN};
use crate::inventory::{Error, Inventory};
use crate::model::{NetworkId, OrganizationId};
use crate::store::{Direction, KeyFilter, LinkFilter, Name, Order, Query, Record, TermFilter, TermRange};

/// The number of records that are read at a time, of commits and of runs.
const COMMITS_AT_ONCE: usize = 200;
const RUNS_AT_ONCE: usize = 16;

/// The size of bodies, in bytes, from which on no further record is read.
const BYTES_AT_ONCE: usize = 96 * 1024;

/// The numbers of records, and the size, with which the entries of one record are read. Little of each is decoded.
const COMMITS_OF_RECORD: usize = 500;
const RUNS_OF_RECORD: usize = 64;
const BYTES_OF_RECORD: usize = 2 * 1024 * 1024;

/// Which entries of an organization are read.
#[derive(Clone, Debug)]
pub(in crate::inventory::history) struct LogFilter {
    pub(in crate::inventory::history) organization: OrganizationId,
    /// The audiences whose entries are read; `None`: all.
    pub(in crate::inventory::history) audiences: Option<TermFilter>,
    pub(in crate::inventory::history) class: Option<Class>,
    /// Only entries on this network.
    pub(in crate::inventory::history) network: Option<NetworkId>,
    /// Only entries of this record.
    pub(in crate::inventory::history) id: Option<Uuid>,
}

impl LogFilter {
    /// Returns the filter of all entries of an organization.
    pub(in crate::inventory::history) const fn all(organization: OrganizationId) -> Self {
        Self { organization, audiences: None, class: None, network: None, id: None }
    }

    /// Returns the filter of the entries that a caller may see, on these networks.
    pub(in crate::inventory::history) fn seen_by(caller: &Caller, networks: &[NetworkId]) -> Self {
        let audiences = Audience::filter(caller, networks);
        Self { audiences, ..Self::all(caller.organization_id()) }
    }

    /// Returns whether it finds entries with this audience.
    pub(in crate::inventory::history) fn has(&self, audience: Audience) -> bool {
        self.audiences.as_ref().is_none_or(|seen| audience.is_found_by(seen))
            && self.network.is_none_or(|network| audience == Audience::Network(network))
    }

    /// Returns the query of the records of commits.
    pub(in crate::inventory::history) fn commits(&self) -> Query {
        let links = self.id.map(|id| LinkFilter::new(CHANGED_LINK, [id])).into_iter().collect();
        Query { links, ..self.query(CHANGE) }
    }

    /// Returns the query of runs.
    pub(in crate::inventory::history) fn runs(&self) -> Query {
        let ending = |id| TermFilter::new(CHANGED_TERM, [TermRange::exact(id_ending(id))]);
        let mut query = self.query(CHANGE_RUN);
        query.terms.extend(self.id.map(ending));
        query
    }

    fn query(&self, kind: Name) -> Query {
        let class = self.class.map(Class::filter);
        let network = self.network.map(|network| Audience::Network(network).only());
        Query {
            organization: Some(self.organization.uuid()),
            terms: self.audiences.iter().cloned().chain(class).chain(network).collect(),
            ..Query::new(kind)
        }
    }
}

/// A part of the log: the entries after one place, up to another one.
#[derive(Clone, Copy, Debug, Default)]
pub(in crate::inventory::history) struct Span {
    pub(in crate::inventory::history) after: Option<Place>,
    pub(in crate::inventory::history) until: Option<Place>,
}

impl Span {
    pub(in crate::inventory::history) fn contains(&self, place: Place) -> bool {
        self.after.is_none_or(|after| place > after) && self.until.is_none_or(|until| place <= until)
    }

    /// Returns the range of the keys of the commits in it.
    fn of_commits(&self) -> TermRange {
        let from = self.after.map(|after| match after.number {
            // Of this commit, nothing is after it.
            u32::MAX => [after.commit_key().as_slice(), &[0]].concat(),
            _ => after.commit_key(),
        });
        let from = from.unwrap_or_default();
        let to = self.until.map(|until| TermRange::exact(until.commit_key())).and_then(|range| range.to);
        TermRange::new(from, to)
    }
}

/// Reads a part of the log, some commits at a time.
#[derive(Debug)]
pub(in crate::inventory::history) struct LogReader<'i> {
    inventory: &'i Inventory,
    filter: LogFilter,
    direction: Direction,
    /// The part of the log that is still to be read.
    span: Span,
    stage: Stage,
    /// The numbers of records that are read at a time, of commits and of runs, and their size in bytes.
    at_once: (usize, usize, usize),
    /// The number of records read so far.
    pub(in crate::inventory::history) records: usize,
}

/// The progress of a reader that begins with the newest entries.
#[derive(Clone, Debug)]
enum Stage {
    /// It reads the records of commits.
    Commits,
    /// It is to read the slab that has the end of its span.
    Within,
    /// It reads the slabs that end before this key; `None`: all.
    Below(Option<Vec<u8>>),
}

impl<'i> LogReader<'i> {
    pub(in crate::inventory::history) const fn new(
        inventory: &'i Inventory,
        filter: LogFilter,
        span: Span,
        direction: Direction,
    ) -> Self {
        let at_once = match filter.id {
            Some(_) => (COMMITS_OF_RECORD, RUNS_OF_RECORD, BYTES_OF_RECORD),
            None => (COMMITS_AT_ONCE, RUNS_AT_ONCE, BYTES_AT_ONCE),
        };
        Self { inventory, filter, direction, span, stage: Stage::Commits, at_once, records: 0 }
    }

    /// Reads at most about this number of records at a time.
    pub(in crate::inventory::history) fn some_at_a_time(self, records: usize) -> Self {
        let (commits, runs, bytes) = self.at_once;
        let at_once = (records.clamp(1, commits), records.clamp(1, runs), bytes);
        Self { at_once, ..self }
    }

    /// Returns the entries of the next commits, in the order of the log. None: the span has ended.
    pub(in crate::inventory::history) async fn next(&mut self) -> Result<Vec<CommitChanges>, Error> {
        // Records may have no entry of the record or of the span that is read.
        loop {
            let found = match self.direction {
                Direction::Ascending => self.next_ascending().await?,
                Direction::Descending => self.next_descending().await?,
            };
            let Some(mut found) = found else { return Ok(Vec::new()) };
            found.retain(|commit| !commit.entries.is_empty());
            if !found.is_empty() {
                return Ok(found);
            }
        }
    }

    /// Returns the entries of the next records that go forward. `None`: there are no further ones.
    async fn next_ascending(&mut self) -> Result<Option<Vec<CommitChanges>>, Error> {
        let Span { after, until } = self.span;
        if until.is_some_and(|until| after >= Some(until)) {
            return Ok(None);
        }
        if let Some(runs) = self.runs_after().await? {
            return Ok(Some(runs));
        }
        let commits = self.commits().await?;
        // They may have become runs since, together with earlier ones.
        if let Some(runs) = self.runs_after().await? {
            return Ok(Some(runs));
        }
        let Some(last) = commits.iter().map(|commit| commit.place(u32::MAX)).max() else { return Ok(None) };
        self.span.after = Some(last).max(self.span.after);
        Ok(Some(commits))
    }

    /// Returns the entries of the next runs. `None`: there are no further ones.
    async fn runs_after(&mut self) -> Result<Option<Vec<CommitChanges>>, Error> {
        let from = self.span.after.map(|after| [after.entry_key().as_slice(), &[0]].concat());
        let from = TermRange::new(from.unwrap_or_default(), None);
        let runs = self.slabs(from, Direction::Ascending).await?;
        let Some(end) = runs.iter().map(|run| run.end).max() else { return Ok(None) };
        // The last entries of a slab may not be among the entries that are read.
        self.span.after = self.span.after.max(Some(end));
        Ok(Some(commits_of(runs)))
    }

    /// Returns the entries of the next records that go back. `None`: there are no further ones.
    async fn next_descending(&mut self) -> Result<Option<Vec<CommitChanges>>, Error> {
        if matches!(self.stage, Stage::Commits) {
            let commits = self.commits().await?;
            if let Some(first) = commits.iter().map(|commit| commit.place(0)).min() {
                self.span.until = Some(first.predecessor().unwrap_or(Place::BEGINNING));
                return Ok(Some(commits));
            }
            self.stage = if self.span.until.is_some() { Stage::Within } else { Stage::Below(None) };
        }
        if let (Stage::Within, Some(until)) = (&self.stage, self.span.until) {
            let end = until.entry_key();
            self.stage = Stage::Below(Some(end.clone()));
            let slabs = self.slabs(TermRange::new(end, None), Direction::Ascending).await?;
            return Ok(Some(commits_of(slabs)));
        }
        let Stage::Below(end) = &self.stage else { return Ok(None) };
        let after = self.span.after.map(|after| [after.entry_key().as_slice(), &[0]].concat());
        let ends = TermRange::new(after.unwrap_or_default(), end.clone());
        let slabs = self.slabs(ends, Direction::Descending).await?;
        let Some(first) = slabs.iter().map(|run| run.end).min() else { return Ok(None) };
        self.stage = Stage::Below(Some(first.entry_key()));
        Ok(Some(commits_of(slabs)))
    }

    /// Reads records of the next commits.
    async fn commits(&mut self) -> Result<Vec<CommitChanges>, Error> {
        let (limit, _, bytes) = self.at_once;
        let query = ordered(&self.filter.commits(), self.direction);
        let query = Query { limit: Some(limit), max_bytes: Some(bytes), ..query };
        let (range, selection) = (self.span.of_commits(), self.selection());
        let found = self.inventory.selected_commits(&query, range, &selection).await?;
        self.records += found.len();
        Ok(found.into_iter().map(|(_, changes)| changes).collect())
    }

    /// Reads the runs of the next slabs whose ends are in a range, with the entries of the span.
    async fn slabs(&mut self, ends: TermRange, direction: Direction) -> Result<Vec<ChangeRun>, Error> {
        let (_, limit, bytes) = self.at_once;
        let query = ordered(&self.filter.runs(), direction);
        let query = Query { limit: Some(limit), max_bytes: Some(bytes), ..query };
        let selection = self.selection();
        let read = |records: &[Record]| -> Result<Vec<ChangeRun>, Error> {
            records.iter().map(|record| ChangeRun::read_selected(record, &selection)).collect()
        };
        let (records, is_cut) = self.inventory.records_within(&query, ends).await?;
        let mut found = read(&records)?;
        if let Some(end) = found.last().map(|run| run.end).filter(|_| is_cut) {
            // Of the last slab, there may be further runs.
            if found.iter().any(|run| run.end != end) {
                found.retain(|run| run.end != end);
            } else {
                let exact = TermRange::exact(end.entry_key());
                let (records, _) = self.inventory.records_within(&unlimited(query), exact).await?;
                found = read(&records)?;
            }
        }
        self.records += found.len();
        Ok(found)
    }

    const fn selection(&self) -> Selection {
        Selection { id: self.filter.id, span: self.span }
    }
}

impl Inventory {
    /// Reads records of whole commits whose keys are in a range, with their entries.
    pub(in crate::inventory::history) async fn whole_commits(
        &self,
        query: &Query,
        range: TermRange,
    ) -> Result<Vec<(Record, CommitChanges)>, Error> {
        self.selected_commits(query, range, &Selection::ALL).await
    }

    /// Reads records of whole commits like [`whole_commits`](Self::whole_commits), with the selected entries only.
    async fn selected_commits(
        &self,
        query: &Query,
        range: TermRange,
        selection: &Selection,
    ) -> Result<Vec<(Record, CommitChanges)>, Error> {
        let (records, is_cut) = self.records_within(query, range).await?;
        let read = |record: Record| {
            CommitChanges::read_selected(&record, selection).map(|changes| (record, changes))
        };
        let mut found = records.into_iter().map(read).collect::<Result<Vec<_>, Error>>()?;
        let Some((_, last)) = found.last().filter(|_| is_cut) else { return Ok(found) };
        // Of the last commit, there may be further records.
        let place = last.place(0);
        if found.iter().any(|(_, changes)| changes.place(0) != place) {
            found.retain(|(_, changes)| changes.place(0) != place);
            return Ok(found);
        }
        let exact = TermRange::exact(place.commit_key());
        let (records, _) = self.records_within(&unlimited(query.clone()), exact).await?;
        records.into_iter().map(read).collect()
    }

    /// Reads records whose places are in a range. Returns whether there may be further ones.
    pub(in crate::inventory::history) async fn records_within(
        &self,
        query: &Query,
        range: TermRange,
    ) -> Result<(Vec<Record>, bool), Error> {
        let query = Query { keys: vec![KeyFilter::new(WRITTEN, range)], ..query.clone() };
        let page = self.store.list(&query).await?;
        let is_cut = page.next.is_some() || !page.unread.is_empty();
        Ok((page.records, is_cut))
    }
}

/// Returns a query of records in the order of the log, for a part of them at a time.
pub(in crate::inventory::history) fn ordered(query: &Query, direction: Direction) -> Query {
    let order = vec![Order::new(WRITTEN, direction)];
    Query { order, max_bytes: Some(BYTES_AT_ONCE), ..query.clone() }
}

fn unlimited(query: Query) -> Query {
    Query { limit: None, max_bytes: None, ..query }
}

fn commits_of(runs: Vec<ChangeRun>) -> Vec<CommitChanges> {
    runs.into_iter().flat_map(|run| run.commits).collect()
}

/// Returns the commits of a record, whether it is one of a commit or a run.
pub(in crate::inventory::history) fn commits_in(record: &Record) -> Result<Vec<CommitChanges>, Error> {
    match record.key.kind {
        CHANGE_RUN => Ok(ChangeRun::read(record)?.commits),
        _ => Ok(vec![CommitChanges::read(record)?]),
    }
}
