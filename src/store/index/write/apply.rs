use bytes::Bytes;

use super::check::term_names;
use super::difference::{FacetDifference, ReplacedRows, borrowed};
use super::pack::{Packed, Packs, pack};
use crate::invariant::Invariant;
use crate::model::Timestamp;
use crate::store::index::Index;
use crate::store::index::interner::{NameId, Partition};
use crate::store::index::list::{OrderingCache, RowChange};
use crate::store::index::recent_changes::RecentChange;
use crate::store::index::rows::{Row, Rows, Slot};
use crate::store::index::run::RowId;
use crate::store::index::table::KindTable;
use crate::store::index::terms::Postings;
use crate::store::{Facets, Key, Version, Write};

/// A write, resolved to rows.
#[derive(Debug)]
enum Change {
    Delete(RowId),
    /// The row keeps its number.
    Replace {
        id: RowId,
        row: Row,
        difference: FacetDifference,
        body: Bytes,
    },
    Insert {
        row: Row,
        body: Bytes,
    },
}

impl Index {
    /// Applies writes that passed [`check`](Self::check), and gives them this version. Calls back with every row that
    /// was written and its body, `None` for a deleted one.
    ///
    /// The writes are borrowed, and what they replace is returned, so that memory is freed without holding a lock.
    pub(crate) fn apply(
        &mut self,
        version: Version,
        writes: &[Write],
        mut packs: Packs,
        mut body_of: impl FnMut(RowId, Option<Bytes>),
    ) -> ReplacedRows {
        self.version = version.0;
        let writes = writes.iter().enumerate();
        let changes: Vec<Change> =
            writes.filter_map(|(place, write)| self.change(write, packs.take(place))).collect();
        let is_new = |change: &&Change| matches!(change, Change::Insert { .. });
        self.ids.reserve(&self.rows, changes.iter().filter(is_new).count());
        // A unique key may pass between any two records of the batch, so all are released before any is taken.
        for change in &changes {
            self.release_unique_keys(change);
        }
        let (mut new, mut replaced) = (Vec::new(), ReplacedRows::default());
        for change in changes {
            match change {
                Change::Delete(id) => {
                    replaced.add(self.remove(id), FacetDifference::default());
                    body_of(id, None);
                }
                Change::Replace { id, row, difference, body } => {
                    replaced.add(self.replace(id, row, &difference), difference);
                    body_of(id, Some(body));
                }
                Change::Insert { row, body } => {
                    let id = self.rows.insert(row);
                    new.push(id);
                    body_of(id, Some(body));
                }
            }
        }
        // The numbers of deleted rows are given to new ones in any order, but postings are inserted by row.
        new.sort_unstable();
        // A batch writes each record once, so no other write of it concerns the new rows.
        self.insert_rows(&new);
        self.bound_emptied();
        replaced
    }

    /// Returns the keys of the expired rows.
    pub(crate) fn expired(&self, now: Timestamp) -> Vec<Key> {
        let rows = self.expiring.range(..=(now, RowId::MAX)).map(|(_, row)| *row);
        rows.filter_map(|row| self.key(row)).map(|(key, _)| key).collect()
    }

    /// Resolves a write. Returns `None` for the deletion of a record that does not exist.
    fn change(&mut self, write: &Write, mut packed: Option<Packed>) -> Option<Change> {
        let there = self.find(write.key());
        let Write::Put { key, facets, body, .. } = write else { return there.map(Change::Delete) };
        let before = there.and_then(|id| self.rows.get(id));
        let found = before.and_then(|before| packed.as_mut()?.take_difference(before));
        let row = self.row(*key, Version(self.version), facets, packed).asserted()?;
        let body = body.clone();
        let Some(id) = there else { return Some(Change::Insert { row, body }) };
        let difference = match found {
            Some(difference) => difference,
            None => self.difference(id, &row)?,
        };
        Some(Change::Replace { id, row, difference, body })
    }

    /// Compares a row with the one that replaces it.
    fn difference(&self, id: RowId, new: &Row) -> Option<FacetDifference> {
        let old = self.rows.get(id).asserted()?;
        let moves = old.partition != new.partition;
        Some(FacetDifference::new(&old.facets, &new.facets, moves, self.rows.common_values()))
    }

    pub(super) fn row(
        &mut self,
        key: Key,
        version: Version,
        facets: &Facets,
        packed: Option<Packed>,
    ) -> Option<Row> {
        let table = self.names.intern(key.kind)?;
        let Facets { network, organization, .. } = *facets;
        let partition = self.rows.partitions_mut().number(Partition { network, organization });
        let Packed { network_slot, facets, .. } = match packed {
            Some(packed) => packed,
            None => {
                let facets = &*facets.completed(version);
                self.number_names(table, facets);
                let sort_names = self.tables.get(&table)?.sort_names();
                pack(&self.names, sort_names, self.rows.common_values(), facets)?
            }
        };
        Some(Row { id: key.id, version: version.0, table, partition, network_slot, facets })
    }

    /// Numbers the names in facets. Adds an order to the table for each new sort key.
    fn number_names(&mut self, table: NameId, facets: &Facets) {
        let table = self.tables.entry(table).or_default();
        for key in &facets.sort_keys {
            // Sort names count as names, so that one bound holds for all.
            self.names.intern(key.name);
            table.add_sort_name(key.name);
        }
        let relations = facets.links.iter().map(|link| link.relation);
        let unique_keys = facets.unique_keys.iter().map(|key| key.name);
        for name in relations.chain(unique_keys).chain(term_names(facets)) {
            self.names.intern(name);
        }
    }

    fn release_unique_keys(&mut self, change: &Change) {
        match change {
            Change::Delete(id) => {
                let Some(row) = self.rows.get(*id).asserted() else { return };
                self.unique_keys.remove_all(row.facets.unique_keys(), *id);
            }
            Change::Replace { id, difference, .. } => {
                self.unique_keys.remove_all(borrowed(&difference.unique_keys.lost), *id);
            }
            Change::Insert { .. } => {}
        }
    }

    /// Inserts a new row, which `rows` contains already, into all other structures.
    pub(super) fn insert_row(&mut self, id: RowId) {
        let table = self.rows.get(id).and_then(|row| self.tables.get(&row.table));
        let slots = table.asserted().map_or(0, KindTable::slots);
        self.ids.insert(&self.rows, id);
        self.insert_into_runs(id, 0..slots);
        self.insert_names_and_expiry(id);
        self.insert_all_terms(id);
        self.note_insertion(id);
    }

    /// Counts the insertion of a row, and inserts it into the materialized lists.
    pub(super) fn note_insertion(&mut self, id: RowId) {
        self.change_orderings(id, |orderings, rows| orderings.insert_row(rows, id, RowChange::All));
        self.count_change(id);
    }

    /// Counts and notes a change for the organization of a row. A move is counted both before it and after it.
    fn count_change(&mut self, id: RowId) {
        let Some(row) = self.rows.get(id).asserted() else { return };
        let Some(Partition { organization, .. }) = self.rows.partitions().get(row.partition).copied() else {
            return;
        };
        let change = RecentChange { table: row.table, organization, id: row.id };
        if let Some(table) = self.tables.get_mut(&change.table).asserted() {
            table.count_change(organization);
            self.recent.note(change);
        }
    }

    /// Changes the materialized lists of the organization of a row.
    fn change_orderings(&mut self, id: RowId, change: impl FnOnce(&mut OrderingCache, &Rows)) {
        self.with_table(id, |table, rows, partition| {
            if let Some(orderings) = table.orderings_mut(partition.organization).asserted() {
                change(orderings, rows);
            }
        });
    }

    /// Calls a function with the table and partition of a row.
    fn with_table(&mut self, id: RowId, change: impl FnOnce(&mut KindTable, &Rows, Partition)) {
        let Some(row) = self.rows.get(id).asserted() else { return };
        let Some(partition) = self.rows.partitions().get(row.partition) else { return };
        if let Some(table) = self.tables.get_mut(&row.table).asserted() {
            change(table, &self.rows, *partition);
        }
    }

    /// Inserts unique keys, links and expiry of a row.
    pub(super) fn insert_names_and_expiry(&mut self, id: RowId) {
        if let Some(row) = self.rows.get(id).asserted() {
            self.unique_keys.insert_all(row.facets.unique_keys(), id);
            self.expiring.extend(row.facets.expires_at().map(|time| (time, id)));
        }
        let mut common = Vec::new();
        self.links.insert_all(&self.rows, id, &mut common);
        common.iter().for_each(|target| self.rows.add_common_value(target.as_bytes()));
    }

    /// Inserts the terms of a new row.
    fn insert_all_terms(&mut self, id: RowId) {
        let mut common = Vec::new();
        self.with_table(id, |table, rows, partition| {
            let Some(row) = rows.get(id).asserted() else { return };
            let terms = row.facets.terms(rows.common_values());
            common = insert_terms(table.postings_mut(partition.organization), terms, id);
        });
        common.iter().for_each(|value| self.rows.add_common_value(value));
    }

    /// Replaces a row whose unique keys were released, and returns it. Orders in which it keeps its place, and equal
    /// links, terms and unique keys, stay untouched.
    fn replace(&mut self, id: RowId, new: Row, difference: &FacetDifference) -> Option<Row> {
        let FacetDifference { links, terms, unique_keys } = difference;
        let old = self.rows.get(id).asserted()?;
        let table = self.tables.get(&new.table).asserted()?;
        let moved = old.partition != new.partition;
        let partitions = self.rows.partitions();
        let has_moved =
            |slot: &Slot| moved || old.sort_key(*slot, partitions) != new.sort_key(*slot, partitions);
        let changed: Vec<Slot> = (0..table.slots()).filter(has_moved).collect();
        if let Some(time) = old.facets.expires_at() {
            let was_there = self.expiring.remove(&(time, id));
            debug_assert!(was_there, "the expiry of row {id} is not noted");
        }
        self.expiring.extend(new.facets.expires_at().map(|time| (time, id)));
        self.links.remove_all(links.lost.iter().copied(), id);
        let change = RowChange::Some { slots: &changed, links: !links.is_empty(), terms: !terms.is_empty() };
        self.count_change(id);
        self.change_orderings(id, |orderings, rows| orderings.remove_row(rows, id, change));
        if !terms.lost.is_empty() {
            self.with_table(id, |table, _, partition| {
                remove_terms(table.postings_mut(partition.organization), borrowed(&terms.lost), id);
            });
        }
        // A move may leave the organization without records for a moment, which drops its postings.
        self.remove_from_runs(id, changed.iter().copied());
        let old = self.rows.get_mut(id).asserted().map(|row| std::mem::replace(row, new));
        self.insert_into_runs(id, changed.iter().copied());
        self.change_orderings(id, |orderings, rows| orderings.insert_row(rows, id, change));
        self.count_change(id);
        let mut common = Vec::new();
        if !terms.gained.is_empty() {
            self.with_table(id, |table, _, partition| {
                common =
                    insert_terms(table.postings_mut(partition.organization), borrowed(&terms.gained), id);
            });
        }
        self.unique_keys.insert_all(borrowed(&unique_keys.gained), id);
        for link in &links.gained {
            common.extend(self.links.insert(&self.rows, id, *link).map(|target| target.as_bytes().to_vec()));
        }
        common.iter().for_each(|value| self.rows.add_common_value(value));
        old
    }

    /// Removes a row whose unique keys were released, and returns it.
    fn remove(&mut self, id: RowId) -> Option<Row> {
        let row = self.rows.get(id).asserted()?;
        self.ids.remove(row.table, row.id, id);
        self.links.remove_all(row.facets.links(self.rows.common_values()), id);
        if let Some(time) = row.facets.expires_at() {
            let was_there = self.expiring.remove(&(time, id));
            debug_assert!(was_there, "the expiry of row {id} is not noted");
        }
        let slots = self.tables.get(&row.table).asserted().map_or(0, KindTable::slots);
        self.count_change(id);
        self.change_orderings(id, |orderings, rows| orderings.remove_row(rows, id, RowChange::All));
        self.with_table(id, |table, rows, partition| {
            let Some(row) = rows.get(id).asserted() else { return };
            let terms = row.facets.terms(rows.common_values());
            remove_terms(table.postings_mut(partition.organization), terms, id);
        });
        self.remove_from_runs(id, 0..slots);
        self.rows.remove(id)
    }

    fn insert_into_runs(&mut self, id: RowId, slots: impl Iterator<Item = Slot>) {
        self.with_table(id, |table, rows, partition| {
            slots.for_each(|slot| table.insert(rows, partition, slot, id));
        });
    }

    fn remove_from_runs(&mut self, id: RowId, slots: impl Iterator<Item = Slot>) {
        self.with_table(id, |table, rows, partition| {
            slots.for_each(|slot| table.remove(rows, partition, slot, id));
            table.forget_if_empty(partition);
        });
    }
}

/// Inserts terms that a row has gained. Returns the values that have just become common.
fn insert_terms<'v>(
    postings: &mut Postings,
    terms: impl Iterator<Item = (NameId, &'v [u8])>,
    id: RowId,
) -> Vec<Vec<u8>> {
    let common = terms.filter(|(name, value)| postings.insert(*name, value, id));
    common.map(|(_, value)| value.to_vec()).collect()
}

/// Removes terms that a row loses.
fn remove_terms<'v>(postings: &mut Postings, terms: impl Iterator<Item = (NameId, &'v [u8])>, id: RowId) {
    for (name, value) in terms {
        let existed = postings.remove(name, value, id);
        debug_assert!(existed, "a term of row {id} has no posting");
    }
}
