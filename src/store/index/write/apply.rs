use bytes::Bytes;

use super::check::term_names;
use super::pack::{Packed, Packs, pack};
use crate::invariant::Invariant;
use crate::model::Timestamp;
use crate::store::index::Index;
use crate::store::index::interner::{NameId, Partition};
use crate::store::index::list::{OrderingCache, RowChange};
use crate::store::index::rows::packed::PackedFacets;
use crate::store::index::rows::{Row, Rows, Slot};
use crate::store::index::run::RowId;
use crate::store::index::table::Table;
use crate::store::{Facets, Key, Version, Write};

/// A write, resolved to rows.
#[derive(Debug)]
enum Change {
    Delete(RowId),
    /// An existing row keeps its number.
    Put {
        there: Option<RowId>,
        row: Row,
        body: Bytes,
    },
}

impl Index {
    /// Applies writes that passed [`check`](Self::check), and gives them this version. Calls back with every row that
    /// was written and its body, `None` for a deleted one.
    ///
    /// The writes are borrowed, so that their memory is freed without holding a lock.
    pub(crate) fn apply(
        &mut self,
        version: Version,
        writes: &[Write],
        mut packs: Packs,
        mut body_of: impl FnMut(RowId, Option<Bytes>),
    ) {
        self.version = version.0;
        let writes = writes.iter().enumerate();
        let changes: Vec<Change> =
            writes.filter_map(|(place, write)| self.change(write, packs.take(place))).collect();
        let is_new = |change: &&Change| matches!(change, Change::Put { there: None, .. });
        self.ids.reserve(&self.rows, changes.iter().filter(is_new).count());
        // A unique key may pass between any two records of the batch, so all are released before any is taken.
        for change in &changes {
            self.release_unique_keys(change);
        }
        let mut new = Vec::new();
        for change in changes {
            match change {
                Change::Delete(id) => {
                    self.remove(id);
                    body_of(id, None);
                }
                Change::Put { there: Some(id), row, body } => {
                    self.replace(id, row);
                    body_of(id, Some(body));
                }
                Change::Put { there: None, row, body } => {
                    let id = self.rows.insert(row);
                    new.push(id);
                    body_of(id, Some(body));
                }
            }
        }
        // A batch writes each record once, so nothing else of it concerns the new rows.
        self.insert_rows(&new);
    }

    /// Returns the keys of the expired rows.
    pub(crate) fn expired(&self, now: Timestamp) -> Vec<Key> {
        let rows = self.expiring.range(..=(now, RowId::MAX)).map(|(_, row)| *row);
        rows.filter_map(|row| self.key(row)).map(|(key, _)| key).collect()
    }

    /// Resolves a write. Returns `None` for the deletion of a record that does not exist.
    fn change(&mut self, write: &Write, packed: Option<Packed>) -> Option<Change> {
        let there = self.find(write.key());
        match write {
            Write::Delete { .. } => there.map(Change::Delete),
            Write::Put { key, facets, body, .. } => {
                let row = self.row(*key, Version(self.version), facets, packed).asserted()?;
                Some(Change::Put { there, row, body: body.clone() })
            }
        }
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
        let Packed { network_slot, facets } = match packed {
            Some(packed) => packed,
            None => {
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
        let (id, new) = match change {
            Change::Delete(id) => (*id, None),
            Change::Put { there: Some(id), row, .. } => (*id, Some(row)),
            Change::Put { there: None, .. } => return,
        };
        let Some(old) = self.rows.get(id).asserted() else { return };
        match new {
            None => self.unique_keys.remove_all(old.facets.unique_keys(), id),
            Some(new) => self.unique_keys.remove_all(old.facets.unique_keys_beside(&new.facets), id),
        }
    }

    /// Inserts a new row, which `rows` contains already, into everything else.
    pub(super) fn insert_row(&mut self, id: RowId) {
        let table = self.rows.get(id).and_then(|row| self.tables.get(&row.table));
        let slots = table.asserted().map_or(0, Table::slots);
        self.ids.insert(&self.rows, id);
        self.insert_into_runs(id, 0..slots);
        self.insert_names_and_expiry(id);
        self.insert_terms(id, None);
        self.note_insertion(id);
    }

    /// Counts the insertion of a row, and inserts it into the materialized lists.
    pub(super) fn note_insertion(&mut self, id: RowId) {
        self.change_orderings(id, |orderings, rows| orderings.insert_row(rows, id, RowChange::All));
        self.count_change(id);
    }

    /// Counts a change for the organization of a row. A move is counted both before it and after it.
    fn count_change(&mut self, id: RowId) {
        self.with_table(id, |table, _, partition| table.count_change(partition.organization));
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
    fn with_table(&mut self, id: RowId, change: impl FnOnce(&mut Table, &Rows, Partition)) {
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
        self.insert_links(id);
    }

    fn insert_links(&mut self, id: RowId) {
        let mut common = Vec::new();
        self.links.insert_all(&self.rows, id, &mut common);
        common.iter().for_each(|target| self.rows.add_common_value(target.as_bytes()));
    }

    /// Inserts the terms of a row that it did not have before.
    fn insert_terms(&mut self, id: RowId, before: Option<&PackedFacets>) {
        let mut common = Vec::new();
        self.with_table(id, |table, rows, partition| {
            let Some(row) = rows.get(id).asserted() else { return };
            let postings = table.postings_mut(partition.organization);
            for (name, value) in row.facets.terms_beside(before, rows.common_values()) {
                if postings.insert(name, value, id) {
                    common.push(value.to_vec());
                }
            }
        });
        common.iter().for_each(|value| self.rows.add_common_value(value));
    }

    /// Removes the terms of a row that it is about to lose.
    fn remove_terms(&mut self, id: RowId, after: Option<&PackedFacets>) {
        self.with_table(id, |table, rows, partition| {
            let Some(row) = rows.get(id).asserted() else { return };
            let postings = table.postings_mut(partition.organization);
            for (name, value) in row.facets.terms_beside(after, rows.common_values()) {
                let existed = postings.remove(name, value, id);
                debug_assert!(existed, "a term of row {id} has no posting");
            }
        });
    }

    /// Replaces a row whose unique keys were released. Orders in which it keeps its place, and equal links, terms and
    /// unique keys, stay untouched.
    fn replace(&mut self, id: RowId, new: Row) {
        let Some(old) = self.rows.get(id).asserted() else { return };
        let Some(table) = self.tables.get(&new.table).asserted() else { return };
        let moved = old.partition != new.partition;
        let partitions = self.rows.partitions();
        let has_moved =
            |slot: &Slot| moved || old.sort_key(*slot, partitions) != new.sort_key(*slot, partitions);
        let changed: Vec<Slot> = (0..table.slots()).filter(has_moved).collect();
        let (old_facets, new_facets) = (old.facets.clone(), new.facets.clone());
        let keeps_links = old_facets.has_links_of(&new_facets, self.rows.common_values());
        let keeps_terms = old_facets.has_terms_of(&new_facets, self.rows.common_values());
        if !keeps_links {
            self.links.remove_all(&self.rows, old, id);
        }
        if let Some(time) = old.facets.expires_at() {
            let was_there = self.expiring.remove(&(time, id));
            debug_assert!(was_there, "the expiry of row {id} is not noted");
        }
        self.expiring.extend(new.facets.expires_at().map(|time| (time, id)));
        let change = RowChange::Some { slots: &changed, links: !keeps_links, terms: !keeps_terms };
        self.count_change(id);
        self.change_orderings(id, |orderings, rows| orderings.remove_row(rows, id, change));
        // Another organization has other postings. A move may also leave the organization without records for a moment,
        // which drops its postings.
        let is_changed = moved || !keeps_terms;
        if is_changed {
            self.remove_terms(id, Some(&new_facets).filter(|_| !moved));
        }
        self.remove_from_runs(id, changed.iter().copied());
        if let Some(row) = self.rows.get_mut(id).asserted() {
            *row = new;
        }
        self.insert_into_runs(id, changed.iter().copied());
        self.change_orderings(id, |orderings, rows| orderings.insert_row(rows, id, change));
        self.count_change(id);
        if is_changed {
            self.insert_terms(id, Some(&old_facets).filter(|_| !moved));
        }
        let Some(row) = self.rows.get(id).asserted() else { return };
        self.unique_keys.insert_all(row.facets.unique_keys_beside(&old_facets), id);
        if !keeps_links {
            self.insert_links(id);
        }
    }

    /// Removes a row whose unique keys were released.
    fn remove(&mut self, id: RowId) {
        let Some(row) = self.rows.get(id).asserted() else { return };
        self.ids.remove(row.table, row.id, id);
        self.links.remove_all(&self.rows, row, id);
        if let Some(time) = row.facets.expires_at() {
            let was_there = self.expiring.remove(&(time, id));
            debug_assert!(was_there, "the expiry of row {id} is not noted");
        }
        let slots = self.tables.get(&row.table).asserted().map_or(0, Table::slots);
        self.count_change(id);
        self.change_orderings(id, |orderings, rows| orderings.remove_row(rows, id, RowChange::All));
        self.remove_terms(id, None);
        self.remove_from_runs(id, 0..slots);
        self.rows.remove(id);
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
