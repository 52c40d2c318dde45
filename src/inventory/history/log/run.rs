//! Runs: older entries of several commits, joined.
//!
//! All entries of an organization up to some place are in runs, and all later ones in the records of their commits. The former
//! are cut into slabs that follow one another, and a slab has a run for each audience and class, or several.

use std::collections::{BTreeMap, BTreeSet};

use uuid::Uuid;

use super::audience::Audience;
use super::class::Class;
use super::frame::{Frame, Selection, decode, encode};
use super::position::Place;
use super::record::{ChangeEntry, CommitChanges};
use crate::inventory::Error;
use crate::inventory::schema::{CHANGE_RUN, CHANGED_TERM, CREATED_AT, WRITTEN, time_sort_key};
use crate::model::{OrganizationId, Timestamp};
use crate::store::{Batch, Facets, Key, Precondition, Record, SortKey, Term};

/// The content of a run.
#[derive(Clone, Debug)]
pub(in crate::inventory::history) struct ChangeRun {
    pub(in crate::inventory::history) organization_id: OrganizationId,
    pub(in crate::inventory::history) audience: Audience,
    pub(in crate::inventory::history) class: Class,
    /// The place of the last entry of the slab.
    pub(in crate::inventory::history) end: Place,
    /// The commits with their entries in the run.
    pub(in crate::inventory::history) commits: Vec<CommitChanges>,
}

impl ChangeRun {
    pub(in crate::inventory::history) fn read(record: &Record) -> Result<Self, Error> {
        Self::read_selected(record, &Selection::ALL)
    }

    /// Reads a run with the selected entries only.
    pub(in crate::inventory::history) fn read_selected(
        record: &Record,
        selection: &Selection,
    ) -> Result<Self, Error> {
        let frame = decode(&record.body, record.version.0, selection);
        let run = frame.and_then(|Frame { organization_id, audience, class, end, commits }| {
            Some(Self { organization_id, audience, class, end: end?, commits })
        });
        run.ok_or_else(|| Frame::damaged(record.key))
    }

    /// Adds the run to a batch.
    pub(in crate::inventory::history) fn put(
        &self,
        key: Key,
        precondition: Precondition,
        batch: &mut Batch,
    ) -> Result<(), Error> {
        let ids: BTreeSet<[u8; 6]> = self.entries().map(|entry| id_ending(entry.id)).collect();
        let ids = ids.into_iter().map(|ending| Term::new(CHANGED_TERM, ending));
        let written = SortKey::new(WRITTEN, self.end.entry_key());
        let last = self.last_time().map(|time| time_sort_key(CREATED_AT, time));
        let facets = Facets::default()
            .with_organization(self.organization_id.uuid())
            .with_terms([self.audience.term(self.class)].into_iter().chain(ids))
            .with_sort_keys([written].into_iter().chain(last));
        let readers = (self.organization_id, self.audience, self.class);
        batch.put(key, precondition, facets, encode(readers, Some(self.end), &self.commits)?);
        Ok(())
    }

    pub(in crate::inventory::history) fn entries(&self) -> impl Iterator<Item = &ChangeEntry> {
        self.commits.iter().flat_map(|commit| &commit.entries)
    }
}

/// Returns the term of an id in runs. Other ids may end alike.
pub(in crate::inventory::history) const fn id_ending(id: Uuid) -> [u8; 6] {
    let [.., a, b, c, d, e, f] = *id.as_bytes();
    [a, b, c, d, e, f]
}

/// Runs while they are filled with the entries of commits in their order.
#[derive(Debug)]
pub(in crate::inventory::history) struct Joining {
    organization: OrganizationId,
    finished: Vec<ChangeRun>,
    /// The runs of the slab that is not full, by their audiences, each with its size in bytes.
    open: BTreeMap<(Audience, Class), (ChangeRun, usize)>,
    /// The runs of that slab that are full themselves.
    full: Vec<ChangeRun>,
    /// The size of the slab that is not full, in bytes.
    size: usize,
}

/// The size at which a slab is full, and a run, in bytes.
const MAX_SLAB: usize = 64 * 1024;
const MAX_RUN: usize = 32 * 1024;

impl Joining {
    pub(in crate::inventory::history) const fn new(organization: OrganizationId) -> Self {
        Self { organization, finished: Vec::new(), open: BTreeMap::new(), full: Vec::new(), size: 0 }
    }

    /// Adds the records of one commit.
    pub(in crate::inventory::history) fn add(&mut self, records: Vec<CommitChanges>) {
        let mut entries: Vec<(u32, usize, ChangeEntry)> = Vec::new();
        let mut commits = Vec::new();
        for (index, mut changes) in records.into_iter().enumerate() {
            let taken = std::mem::take(&mut changes.entries);
            entries.extend(taken.into_iter().map(|entry| (entry.number, index, entry)));
            commits.push(changes);
        }
        entries.sort_by_key(|(number, ..)| *number);
        for (_, index, entry) in entries {
            let Some(commit) = commits.get(index) else { continue };
            self.add_entry(commit, entry);
        }
    }

    fn add_entry(&mut self, commit: &CommitChanges, entry: ChangeEntry) {
        let size = entry.size();
        if self.size > 0 && self.size + size > MAX_SLAB {
            self.end_slab();
        }
        self.size += size;
        let new = || (empty_run(self.organization, commit), 0);
        let (run, filled) = self.open.entry((commit.audience, commit.class)).or_insert_with(new);
        if *filled > 0 && *filled + size > MAX_RUN {
            self.full.push(std::mem::replace(run, empty_run(self.organization, commit)));
            *filled = 0;
        }
        *filled += size;
        match run.commits.last_mut().filter(|known| known.is_of(commit)) {
            Some(known) => known.entries.push(entry),
            None => run.commits.push(CommitChanges { count: 0, entries: vec![entry], ..commit.clone() }),
        }
    }

    fn end_slab(&mut self) {
        self.size = 0;
        let open = std::mem::take(&mut self.open).into_values().map(|(run, _)| run);
        let runs: Vec<ChangeRun> = self.full.drain(..).chain(open).collect();
        let end = runs.iter().filter_map(ChangeRun::last_place).max();
        self.finished.extend(runs.into_iter().filter_map(|run| Some(ChangeRun { end: end?, ..run })));
    }

    /// Returns the runs, in the order of their slabs.
    pub(in crate::inventory::history) fn finish(mut self) -> Vec<ChangeRun> {
        self.end_slab();
        self.finished
    }
}

fn empty_run(organization_id: OrganizationId, commit: &CommitChanges) -> ChangeRun {
    let CommitChanges { audience, class, .. } = *commit;
    ChangeRun { organization_id, audience, class, end: Place::BEGINNING, commits: Vec::new() }
}

impl CommitChanges {
    /// Returns whether entries have the same commit and author. Commits of another store may have been written again in one commit.
    fn is_of(&self, commit: &Self) -> bool {
        self.place(0) == commit.place(0)
            && self.at == commit.at
            && self.actor == commit.actor
            && self.request_id == commit.request_id
    }
}

impl ChangeRun {
    /// Returns the time of the last entry.
    pub(in crate::inventory::history) fn last_time(&self) -> Option<Timestamp> {
        self.commits.last().map(|commit| commit.at)
    }

    fn last_place(&self) -> Option<Place> {
        self.commits.last()?.places().last()
    }

    /// Returns a new key for a run.
    pub(in crate::inventory::history) const fn key(id: Uuid) -> Key {
        Key::new(CHANGE_RUN, id)
    }
}
