//! Building an index from existing records.

#![allow(
    clippy::indexing_slicing,
    reason = "ranks and numbers of values are given here, one for each element"
)]

use std::collections::HashMap;
use std::hash::Hash;

use uuid::Uuid;

use super::{Task, run_all};
use crate::invariant::Invariant;
use crate::store::index::Index;
use crate::store::index::interner::{NameId, Partition};
use crate::store::index::rows::{Rows, Slot};
use crate::store::index::run::sort::sorted;
use crate::store::index::run::{RowId, Run};
use crate::store::index::table::{KindTable, RunSet, Runs};
use crate::store::{Facets, Key, StoreError, Version};

/// Below this number of rows, sorting takes less time than starting a thread.
pub(in crate::store::index) const MIN_THREADED_ROWS: usize = 1_024;

/// Minimum and maximum number of postings that are inserted at once. Between them, as many are inserted as there are
/// already.
const BATCH: (usize, usize) = (1 << 12, 1 << 19);

/// Builds an index from existing records. Every order is sorted once, whereas [`apply`](Index::apply) searches the
/// place of each record in each order. Terms are inserted in sorted batches, and not all at once: the values that have
/// become common take less memory in the rows that follow.
#[derive(Debug, Default)]
pub(crate) struct Loader {
    index: Index,
    /// The rows without postings so far, and about the number of their terms.
    waiting: Vec<RowId>,
    waiting_terms: usize,
    inserted_terms: usize,
}

impl Loader {
    /// Adds a record. Rows are numbered from 0 in the order in which they are added.
    ///
    /// # Errors
    /// `Corrupt` when the key or a unique key exists already, or when the index cannot hold the facets. The record
    /// is then left out.
    pub(crate) fn add(&mut self, key: Key, version: Version, facets: &Facets) -> Result<RowId, StoreError> {
        let index = &mut self.index;
        let unfit = || format!("{key} does not fit into the index");
        index.check_record(key, facets).map_err(|error| StoreError::corrupt(unfit()).with_source(error))?;
        if index.find(key).is_some() {
            return Err(StoreError::corrupt(format!("{key} is there twice")));
        }
        let row = index.row(key, version, facets, None).ok_or_else(|| StoreError::corrupt(unfit()))?;
        let is_taken = |(name, value)| index.unique_keys.find(&index.rows, name, value).is_some();
        if row.facets.unique_keys().any(is_taken) {
            return Err(StoreError::corrupt(format!("{key} has a unique key that another record has")));
        }
        index.ids.reserve(&index.rows, 1);
        let id = index.rows.insert(row);
        index.ids.insert(&index.rows, id);
        index.insert_names_and_expiry(id);
        index.version = index.version.max(version.0);
        self.waiting.extend(Some(id).filter(|_| !facets.terms.is_empty()));
        self.waiting_terms += facets.terms.len();
        if self.waiting_terms >= self.inserted_terms.clamp(BATCH.0, BATCH.1) {
            self.insert_terms();
        }
        Ok(id)
    }

    /// Inserts the terms of the rows that wait.
    fn insert_terms(&mut self) {
        self.index.insert_terms_of(&self.waiting);
        self.waiting.clear();
        self.inserted_terms += std::mem::take(&mut self.waiting_terms);
    }

    /// Returns the index of all records added. `version` is the greatest version that the store ever assigned.
    pub(crate) fn finish(mut self, version: Version) -> Index {
        self.insert_terms();
        let mut index = self.index;
        index.version = index.version.max(version.0);
        let mut members: HashMap<NameId, Vec<RowId>> = HashMap::new();
        for (id, row) in index.rows.iter() {
            members.entry(row.table).or_default().push(id);
        }
        for (id, table) in &mut index.tables {
            // A table has no members if none of its records could be added.
            let members = members.remove(id).unwrap_or_default();
            load_table(table, &index.rows, &members);
        }
        index
    }
}

fn load_table(table: &mut KindTable, rows: &Rows, members: &[RowId]) {
    let members = Members::new(rows, members);
    let mut organizations: Vec<Runs> = vec![Runs::new(); members.organizations.values.len()];
    let mut networks: Vec<Runs> = vec![Runs::new(); members.partitions.values.len()];
    for (all, by_network) in members.runs_of_slots(table.slots()) {
        organizations.iter_mut().zip(all).for_each(|(runs, run)| runs.push(run));
        networks.iter_mut().zip(by_network).for_each(|(runs, run)| runs.push(run));
    }
    for (organization, runs) in members.organizations.values.into_iter().zip(organizations) {
        table.put_runs(organization, RunSet::Organization, runs);
    }
    for (partition, runs) in members.partitions.values.into_iter().zip(networks) {
        table.put_runs(partition.organization, RunSet::Network(partition.network), runs);
    }
}

/// The runs of one slot: of each organization, and of each partition.
type SlotRuns = (Vec<Run>, Vec<Run>);

/// The rows of a table, each under its rank in the order by id.
#[derive(Debug)]
struct Members<'a> {
    rows: &'a Rows,
    by_id: Vec<RowId>,
    organizations: Shared<Option<Uuid>>,
    partitions: Shared<Partition>,
}

impl<'a> Members<'a> {
    fn new(rows: &'a Rows, members: &[RowId]) -> Self {
        let member = |place: u32| rows.get(members[place as usize]).asserted();
        let places =
            sorted(0..members.len() as u32, |place| member(place).map_or(&[][..], |row| row.id.as_bytes()));
        let by_id = places.iter().map(|place| members[*place as usize]).collect();
        let partition = |place: &u32| rows.partitions().get(member(*place)?.partition).copied();
        let partitions = Shared::new(places.iter().filter_map(partition));
        let organizations = Shared::new(partitions.iter().map(|partition| partition.organization));
        Self { rows, by_id, organizations, partitions }
    }

    /// Builds the runs of all slots, in parallel when there are many rows.
    fn runs_of_slots(&self, slots: Slot) -> Vec<SlotRuns> {
        let mut runs: Vec<SlotRuns> = Vec::new();
        runs.resize_with(slots, SlotRuns::default);
        let work = |(slot, place): (Slot, &mut SlotRuns)| *place = self.runs_of_slot(slot);
        if self.by_id.len() < MIN_THREADED_ROWS {
            runs.iter_mut().enumerate().for_each(work);
        } else {
            run_all(
                runs.iter_mut()
                    .enumerate()
                    .map(|slot| -> Task<'_> { Box::new(move || work(slot)) })
                    .collect(),
            );
        }
        runs
    }

    fn runs_of_slot(&self, slot: Slot) -> SlotRuns {
        let ranks = 0..self.by_id.len() as u32;
        let ranks = if slot == 0 { ranks.collect() } else { sorted(ranks, |rank| self.key(slot, rank)) };
        let prefix_of = |row| self.rows.prefix(slot, row);
        let by_id = &self.by_id;
        (self.organizations.runs(&ranks, by_id, prefix_of), self.partitions.runs(&ranks, by_id, prefix_of))
    }

    fn key(&self, slot: Slot, rank: u32) -> &'a [u8] {
        self.rows.sort_key(slot, self.by_id[rank as usize])
    }
}

/// Values shared by ranks. Each distinct value is stored once, with the number of its ranks. Each rank refers to its
/// value.
#[derive(Debug)]
struct Shared<T> {
    values: Vec<T>,
    sizes: Vec<usize>,
    of_rank: Vec<u32>,
}

impl<T: Copy + Eq + Hash> Shared<T> {
    fn new(by_rank: impl Iterator<Item = T>) -> Self {
        let mut numbers: HashMap<T, u32> = HashMap::new();
        let mut shared = Self { values: Vec::new(), sizes: Vec::new(), of_rank: Vec::new() };
        for value in by_rank {
            let number = *numbers.entry(value).or_insert_with(|| {
                shared.values.push(value);
                shared.sizes.push(0);
                (shared.values.len() - 1) as u32
            });
            shared.of_rank.push(number);
            shared.sizes[number as usize] += 1;
        }
        shared
    }

    fn iter(&self) -> impl Iterator<Item = &T> {
        self.of_rank.iter().map(|number| &self.values[*number as usize])
    }

    /// Builds the run of each value from the rows of sorted ranks.
    fn runs(&self, ranks: &[u32], by_id: &[RowId], prefix_of: impl Fn(RowId) -> u128) -> Vec<Run> {
        let mut rows: Vec<Vec<RowId>> = self.sizes.iter().map(|size| Vec::with_capacity(*size)).collect();
        for rank in ranks.iter().map(|rank| *rank as usize) {
            rows[self.of_rank[rank] as usize].push(by_id[rank]);
        }
        rows.iter().map(|rows| Run::of_sorted(rows, &prefix_of)).collect()
    }
}
