//! Entries that were written in another store, in a store that was restored as a whole.
//!
//! They keep their order, and get places of this store. So do the places that they name as causes: a cause is earlier than its
//! consequences, so that its new place is known when these are written. Until all are written, the store keeps the new places of
//! causes: if the work is interrupted, another instance goes on with it.

use std::collections::{BTreeMap, BTreeSet};

use serde::{Deserialize, Serialize};

use crate::inventory::history::log::position::Place;
use crate::inventory::history::log::record::{ChangeEntry, CommitChanges};
use crate::inventory::history::mark::{CurrentMark, mark_key};
use crate::inventory::schema::{CHANGE, HISTORY, WRITTEN, decode, encode};
use crate::inventory::{Error, Inventory};
use crate::store::{
    Batch, Direction, Facets, Key, KeyFilter, Order, Precondition, Query, Record, Start, TermRange, Version,
};

/// The numbers of records and of bytes that are written again in one commit at most, but for one large commit. A reader reads all
/// records of a commit together.
const RENEWED_TOGETHER: usize = 200;
const BYTES_TOGETHER: usize = 1024 * 1024;

/// An entry in any store: the random number of its commit, and its number within that.
type EntryName = (u64, u32);

const fn name_of(place: Place) -> EntryName {
    (place.commit, place.number)
}

/// The entries that led to others, by their former names.
#[derive(Debug, Default)]
struct Causes {
    named: BTreeSet<EntryName>,
    /// The new places, as far as the entries are written.
    places: BTreeMap<EntryName, Place>,
}

/// The new places of entries of one commit that led to others. The record has the version of that commit.
#[derive(Debug, Serialize, Deserialize)]
struct RenewedCauses {
    era: u32,
    /// The random number of the commit.
    commit: u64,
    /// The former names, each with the number of the entry in the commit.
    numbers: Vec<(EntryName, u32)>,
}

impl RenewedCauses {
    fn places(self, version: Version) -> impl Iterator<Item = (EntryName, Place)> {
        let Self { era, commit, numbers } = self;
        let place = move |number| Place { era, version: version.0, number, commit };
        numbers.into_iter().map(move |(name, number)| (name, place(number)))
    }
}

/// A record of entries, and its content.
type FormerRecord = (Record, CommitChanges);

/// Former commits that become one commit.
#[derive(Debug, Default)]
struct RenewedCommit {
    records: Vec<FormerRecord>,
    /// The number of entries so far.
    count: u32,
    /// The new numbers of entries that led to others.
    causes: BTreeMap<EntryName, u32>,
}

impl RenewedCommit {
    /// Adds the records of a former commit, whose entries get the next numbers in their order.
    fn add(&mut self, records: &mut Vec<FormerRecord>, causes: &Causes) {
        let mut entries: Vec<(u64, &mut ChangeEntry)> = Vec::new();
        for (_, changes) in records.iter_mut() {
            let commit = changes.commit;
            entries.extend(changes.entries.iter_mut().map(|entry| (commit, entry)));
        }
        entries.sort_by_key(|(_, entry)| entry.number);
        for (commit, entry) in entries {
            let name = (commit, entry.number);
            if causes.named.contains(&name) {
                self.causes.insert(name, self.count);
            }
            entry.number = self.count;
            self.count += 1;
            // Entries in runs keep their places.
            entry.cause =
                entry.cause.map(|cause| causes.places.get(&name_of(cause)).copied().unwrap_or(cause));
        }
        self.records.append(records);
    }

    /// Returns whether records have to be in a later commit: they name an entry of this one, whose version is not known yet.
    fn has_cause_of(&self, records: &[FormerRecord]) -> bool {
        records
            .iter()
            .flat_map(|(_, changes)| &changes.entries)
            .filter_map(|entry| entry.cause)
            .any(|cause| self.causes.contains_key(&name_of(cause)))
    }
}

impl Inventory {
    /// Writes the entries of former eras again, in their order, in the era of the mark.
    pub(in crate::inventory::history) async fn renew_entries(&self, mark: &CurrentMark) -> Result<(), Error> {
        let end = mark.mark.era.to_be_bytes().to_vec();
        let former = Query {
            keys: vec![KeyFilter::new(WRITTEN, TermRange::new([], Some(end)))],
            order: vec![Order::new(WRITTEN, Direction::Ascending)],
            limit: Some(RENEWED_TOGETHER),
            ..Query::new(CHANGE)
        };
        let mut causes = Causes {
            named: self.named_causes(&former).await?,
            places: self.places_of_causes(mark.mark.era).await?,
        };
        loop {
            // Renewed ones are no longer found.
            let mut records = self.oldest_commits(&former).await?.into_iter().peekable();
            if records.peek().is_none() {
                return self.delete_places_of_causes(mark).await;
            }
            let mut renewed = RenewedCommit::default();
            let mut commit: Vec<FormerRecord> = Vec::new();
            while let Some(record) = records.next() {
                let number = record.1.commit;
                commit.push(record);
                if records.peek().is_some_and(|(_, next)| next.commit == number) {
                    continue;
                }
                if renewed.has_cause_of(&commit) {
                    self.write_renewed(mark, std::mem::take(&mut renewed), &mut causes).await?;
                }
                renewed.add(&mut commit, &causes);
            }
            self.write_renewed(mark, renewed, &mut causes).await?;
        }
    }

    /// Reads the first records of a query, with all records of their commits. The keys of the records are those of another store.
    async fn oldest_commits(&self, former: &Query) -> Result<Vec<FormerRecord>, Error> {
        let mut query = Query { max_bytes: Some(BYTES_TOGETHER), ..former.clone() };
        loop {
            let page = self.store.list(&query).await?;
            let is_cut = page.next.is_some() || !page.unread.is_empty();
            let read = |record: Record| CommitChanges::read(&record).map(|changes| (record, changes));
            let mut found = page.records.into_iter().map(read).collect::<Result<Vec<_>, Error>>()?;
            // Of the last commit, there may be further records.
            let Some(last) = found.last().map(|(_, changes)| changes.commit).filter(|_| is_cut) else {
                return Ok(found);
            };
            if found.iter().any(|(_, changes)| changes.commit != last) {
                found.retain(|(_, changes)| changes.commit != last);
                return Ok(found);
            }
            query.limit = query.limit.map(|limit| limit.saturating_mul(2));
            query.max_bytes = None;
        }
    }

    /// Returns the entries that led to others.
    async fn named_causes(&self, former: &Query) -> Result<BTreeSet<EntryName>, Error> {
        let mut named = BTreeSet::new();
        let mut query = former.clone();
        loop {
            let page = self.store.list(&query).await?;
            for record in &page.records {
                let changes = CommitChanges::read(record)?;
                named.extend(changes.entries.iter().filter_map(|entry| entry.cause).map(name_of));
            }
            match page.next {
                Some(next) => query.start = Start::After(next),
                None => return Ok(named),
            }
        }
    }

    /// Returns the new places of causes, as far as an earlier attempt has come in this era.
    async fn places_of_causes(&self, era: u32) -> Result<BTreeMap<EntryName, Place>, Error> {
        let mut places = BTreeMap::new();
        let mut query = Query { limit: Some(RENEWED_TOGETHER), ..Query::new(HISTORY) };
        loop {
            let page = self.store.list(&query).await?;
            for record in page.records.iter().filter(|record| record.key != mark_key()) {
                let causes: RenewedCauses = decode(record)?;
                if causes.era == era {
                    places.extend(causes.places(record.version));
                }
            }
            match page.next {
                Some(next) => query.start = Start::After(next),
                None => return Ok(places),
            }
        }
    }

    /// Deletes the new places of causes, when all entries are written.
    async fn delete_places_of_causes(&self, mark: &CurrentMark) -> Result<(), Error> {
        // The mark may be on the page, too.
        let query = Query { limit: Some(RENEWED_TOGETHER), ..Query::new(HISTORY) };
        loop {
            let mut batch = Batch::new();
            batch.guard(mark.guard());
            let found = self.store.list(&query).await?.records;
            for record in found.into_iter().filter(|record| record.key != mark_key()) {
                batch.delete(record.key, Precondition::Version(record.version));
            }
            if batch.writes().is_empty() {
                return Ok(());
            }
            self.store.commit(batch).await?;
        }
    }

    /// Writes the entries of a commit, and notes the places of those that led to others.
    async fn write_renewed(
        &self,
        mark: &CurrentMark,
        renewed: RenewedCommit,
        causes: &mut Causes,
    ) -> Result<(), Error> {
        let mut batch = Batch::new();
        batch.guard(mark.guard());
        // Readers take the records of one commit together, and know it by this number.
        let (era, commit) = (mark.mark.era, self.new_commit_number()?);
        for (record, mut changes) in renewed.records {
            (changes.era, changes.version, changes.commit) = (era, None, commit);
            changes.count = renewed.count;
            changes.put(record.key, Precondition::Version(record.version), &mut batch)?;
        }
        if renewed.causes.is_empty() {
            return Ok(self.store.commit(batch).await?);
        }
        let key = Key::new(HISTORY, self.new_id()?);
        let new = RenewedCauses { era, commit, numbers: renewed.causes.into_iter().collect() };
        batch.put(key, Precondition::Absent, Facets::default(), encode(&new)?);
        self.store.commit(batch).await?;
        let record =
            self.get(key).await?.ok_or_else(|| Error::internal("the places of causes are missing"))?;
        causes.places.extend(new.places(record.version));
        Ok(())
    }
}
