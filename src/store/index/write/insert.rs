//! Inserting many new rows at once.
//!
//! Each order, the terms of each name and each kind of lookup is a task of its own: several threads do them, and each
//! inserts rows in sorted order, so that consecutive rows read the same memory. Orders in which all rows have one key,
//! such as that by network within a network, are the order by id and share its searches. Batches of 512 hosts hold the
//! lock of the index for about half as long as if they were inserted row by row (`cargo bench --bench import -- bulk`).

#![allow(clippy::indexing_slicing, reason = "what is sorted are the places of a list")]

use std::cmp::Reverse;
use std::collections::BTreeMap;

use uuid::Uuid;

use super::{Task, run_all};
use crate::invariant::Invariant;
use crate::store::index::Index;
use crate::store::index::interner::NameId;
use crate::store::index::rows::{Rows, Slot};
use crate::store::index::run::sort::sorted;
use crate::store::index::run::{RowId, Run, RunPosition};
use crate::store::index::table::{KindTable, RunSet, Runs, length};
use crate::store::index::terms::Sequence;

/// Number of new rows in a batch below which the work is not divided. Dividing it would take longer than it saves.
const MIN_DIVIDED_ROWS: usize = 64;

type Tables = BTreeMap<NameId, KindTable>;

impl Index {
    /// Inserts new rows, which `rows` contains already, into all other structures.
    pub(super) fn insert_rows(&mut self, new: &[RowId]) {
        if new.len() < MIN_DIVIDED_ROWS {
            new.iter().for_each(|id| self.insert_row(*id));
            return;
        }
        let Self { tables, rows, ids, unique_keys, links, expiring, .. } = self;
        let rows = &*rows;
        let expiry = |id: &RowId| Some((rows.get(*id).asserted()?.facets.expires_at()?, *id));
        expiring.extend(new.iter().filter_map(expiry));
        let mut sequences = GrowingSequence::take_all(tables, rows, new);
        let mut runs = GrowingRuns::take_all(tables, rows, new);
        let mut common_targets = Vec::new();
        let mut tasks: Vec<Task<'_>> = sequences.iter_mut().map(|sequence| sequence.task()).collect();
        tasks.extend(runs.iter_mut().flat_map(|runs| runs.tasks(rows)));
        tasks.push(Box::new(|| new.iter().for_each(|id| ids.insert(rows, *id))));
        tasks.push(Box::new(|| new.iter().for_each(|id| links.insert_all(rows, *id, &mut common_targets))));
        tasks.push(Box::new(|| {
            for id in new {
                let facets = rows.get(*id).asserted().map(|row| &row.facets);
                unique_keys.insert_all(facets.into_iter().flat_map(|facets| facets.unique_keys()), *id);
            }
        }));
        run_all(tasks);
        runs.into_iter().for_each(|runs| runs.put_back(tables));
        let common = GrowingSequence::put_back_all(sequences, tables);
        common.iter().for_each(|value| self.rows.add_common_value(value));
        common_targets.iter().for_each(|target| self.rows.add_common_value(target.as_bytes()));
        new.iter().for_each(|id| self.note_insertion(*id));
    }

    /// Inserts the terms of many new rows.
    #[cfg(any(feature = "sled", feature = "postgres"))]
    pub(super) fn insert_terms_of(&mut self, new: &[RowId]) {
        let Self { tables, rows, .. } = self;
        let mut sequences = GrowingSequence::take_all(tables, rows, new);
        run_all(sequences.iter_mut().map(|sequence| sequence.task()).collect());
        let common = GrowingSequence::put_back_all(sequences, tables);
        common.iter().for_each(|value| self.rows.add_common_value(value));
    }
}

/// A sequence taken out of its table, with the postings to be inserted. It is the sequence of one name.
#[derive(Debug)]
struct GrowingSequence<'r> {
    table: NameId,
    organization: Option<Uuid>,
    name: NameId,
    sequence: Sequence,
    postings: Vec<(&'r [u8], RowId)>,
    /// The values that became common.
    common: Vec<Vec<u8>>,
}

impl<'r> GrowingSequence<'r> {
    /// Takes out the sequences of all terms of new rows, longest additions first.
    fn take_all(tables: &mut Tables, rows: &'r Rows, new: &[RowId]) -> Vec<Self> {
        let mut postings: BTreeMap<_, Vec<(&[u8], RowId)>> = BTreeMap::new();
        for id in new {
            let Some(row) = rows.get(*id).asserted() else { continue };
            let Some(partition) = rows.partitions().get(row.partition) else { continue };
            for (name, value) in row.facets.terms(rows.common_values()) {
                postings.entry((row.table, partition.organization, name)).or_default().push((value, *id));
            }
        }
        let mut all: Vec<Self> = Vec::with_capacity(postings.len());
        for ((table, organization, name), postings) in postings {
            let Some(of) = tables.get_mut(&table).asserted() else { continue };
            let sequence = of.postings_mut(organization).take(name);
            all.push(Self { table, organization, name, sequence, postings, common: Vec::new() });
        }
        all.sort_by_key(|growing| Reverse(growing.postings.len()));
        all
    }

    fn task(&mut self) -> Task<'_> {
        Box::new(|| {
            let Self { sequence, postings, common, .. } = self;
            let value = |place: u32| postings[place as usize].0;
            let order = sorted(0..postings.len() as u32, value);
            let in_order: Vec<(&[u8], RowId)> = order.iter().map(|place| postings[*place as usize]).collect();
            sequence.insert_sorted(&in_order, common);
        })
    }

    /// Puts sequences back. Returns the values that became common.
    fn put_back_all(all: Vec<Self>, tables: &mut Tables) -> Vec<Vec<u8>> {
        let mut values = Vec::new();
        for Self { table, organization, name, sequence, common, .. } in all {
            values.extend(common);
            if let Some(table) = tables.get_mut(&table).asserted() {
                table.postings_mut(organization).put(name, sequence);
            }
        }
        values
    }
}

/// Runs taken out of their table, with the rows to be inserted into them. They are the runs of one organization.
#[derive(Debug)]
struct GrowingRuns {
    table: NameId,
    organization: Option<Uuid>,
    /// Sets of runs of the same rows. The rows of an organization are also the rows of its only network.
    sets: Vec<(RunSet, Runs)>,
    /// The rows to be inserted, in the order of their ids.
    new: Vec<RowId>,
}

impl GrowingRuns {
    fn take_all(tables: &mut Tables, rows: &Rows, new: &[RowId]) -> Vec<Self> {
        let mut by_id = new.to_vec();
        by_id.sort_unstable_by_key(|id| rows.id(*id));
        let mut members: BTreeMap<_, Vec<RowId>> = BTreeMap::new();
        for id in by_id {
            let Some(row) = rows.get(id).asserted() else { continue };
            let Some(partition) = rows.partitions().get(row.partition) else { continue };
            for set in [RunSet::Organization, RunSet::Network(partition.network)] {
                members.entry((row.table, partition.organization, set)).or_default().push(id);
            }
        }
        let mut all: Vec<Self> = Vec::with_capacity(members.len());
        // The set of an organization comes before those of its networks.
        for ((table, organization, set), new) in members {
            let Some(of) = tables.get_mut(&table).asserted() else { continue };
            let runs = of.take_runs(organization, set);
            match all.last_mut() {
                Some(last) if last.has_rows_of(table, organization, &runs, &new) => {
                    last.sets.push((set, runs));
                }
                _ => all.push(Self { table, organization, sets: vec![(set, runs)], new }),
            }
        }
        all
    }

    fn has_rows_of(&self, table: NameId, organization: Option<Uuid>, runs: &Runs, new: &[RowId]) -> bool {
        let [(RunSet::Organization, all)] = self.sets.as_slice() else { return false };
        (self.table, self.organization) == (table, organization)
            && length(all) == length(runs)
            && self.new.len() == new.len()
    }

    /// Returns a task for the order by id, and one for each order that differs.
    fn tasks<'t>(&'t mut self, rows: &'t Rows) -> impl Iterator<Item = Task<'t>> {
        let Self { sets, new, .. } = self;
        let new = new.as_slice();
        let mut slots: Vec<Vec<GrowingRun<'t>>> = Vec::new();
        for (_, runs) in sets {
            slots.resize_with(runs.len(), Vec::new);
            for (slot, (growing, run)) in slots.iter_mut().zip(runs).enumerate() {
                growing.push(GrowingRun { slot, run });
            }
        }
        let is_order_by_id =
            |runs: &mut Vec<GrowingRun<'t>>| runs.iter().all(|run| run.has_one_key(rows, new));
        let by_id: Vec<GrowingRun<'t>> = slots.extract_if(.., is_order_by_id).flatten().collect();
        [by_id]
            .into_iter()
            .chain(slots)
            .map(move |mut runs| -> Task<'t> { Box::new(move || insert_all_into_runs(&mut runs, rows, new)) })
    }

    fn put_back(self, tables: &mut Tables) {
        let Some(table) = tables.get_mut(&self.table).asserted() else { return };
        for (set, runs) in self.sets {
            table.put_runs(self.organization, set, runs);
        }
    }
}

/// A run that grows, in the order of a slot.
#[derive(Debug)]
struct GrowingRun<'t> {
    slot: Slot,
    run: &'t mut Run,
}

impl GrowingRun<'_> {
    /// Returns whether all rows have the same key, also after inserting the new ones. Their ids then order them.
    fn has_one_key(&self, rows: &Rows, new: &[RowId]) -> bool {
        let ends = [
            self.run.at(RunPosition::default()),
            self.run.before(self.run.end()).and_then(|last| self.run.at(last)),
        ];
        let mut keys =
            ends.into_iter().flatten().chain(new.iter().copied()).map(|row| rows.sort_key(self.slot, row));
        let first = keys.next();
        keys.all(|key| Some(key) == first)
    }

    fn insert_at(&mut self, place: RunPosition, row: RowId, rows: &Rows) {
        self.run.insert_at(place, row, |row| rows.prefix(self.slot, row));
    }
}

/// Inserts rows into runs of the same rows in the same order. `new` is in the order of the ids.
fn insert_all_into_runs(runs: &mut [GrowingRun<'_>], rows: &Rows, new: &[RowId]) {
    let Some((first, others)) = runs.split_first_mut() else { return };
    let slot = first.slot;
    let row = |place: u32| new[place as usize];
    let places = 0..new.len() as u32;
    let in_order =
        if slot == 0 { places.collect() } else { sorted(places, |place| rows.sort_key(slot, row(place))) };
    for row in in_order.into_iter().map(row) {
        let (key, prefix) = (rows.rank_key(slot, row), rows.prefix(slot, row));
        let place = first.run.partition_place(prefix..=prefix, |other| rows.rank_key(slot, other) < key);
        let rank = first.run.rank(place);
        first.insert_at(place, row, rows);
        for other in &mut *others {
            other.insert_at(other.run.place(rank), row, rows);
        }
    }
}
