use bytes::Bytes;
use uuid::Uuid;

use super::names::NameId;
use super::ordering_cache::RowChange;
use super::packed::PackedFacets;
use super::partitions::Partition;
use super::rows::{Row, Rows, Slot};
use super::table::Table;
use super::{Index, RowId};
use crate::model::Timestamp;
use crate::store::{Facets, Key, Name, Version, Write};

/// A write as the index carries it out.
#[derive(Debug)]
enum Change {
    Delete(RowId),
    /// The row that is there already keeps its number.
    Put {
        there: Option<RowId>,
        row: Row,
        body: Bytes,
    },
}

impl Index {
    /// Carries out writes that [`check`](Self::check) has let pass, as the writing of this version. Tells of every row what
    /// its body is now, `None` where it is deleted.
    pub(crate) fn apply(
        &mut self,
        version: Version,
        writes: Vec<Write>,
        mut body_of: impl FnMut(RowId, Option<Bytes>),
    ) {
        self.version = version.0;
        let changes: Vec<Change> = writes.into_iter().filter_map(|write| self.change(write)).collect();
        let is_new = |change: &&Change| matches!(change, Change::Put { there: None, .. });
        self.ids.reserve(&self.rows, changes.iter().filter(is_new).count());
        // A unique key may pass from any record of the batch to any other, so all are let go before one is taken.
        for change in &changes {
            self.release_unique_keys(change);
        }
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
                Change::Put { there: None, row, body } => body_of(self.insert(row), Some(body)),
            }
        }
    }

    /// The keys of the rows whose time is over.
    pub(crate) fn expired(&self, now: Timestamp) -> Vec<Key> {
        let rows = self.expiring.range(..=(now, RowId::MAX)).map(|(_, row)| *row);
        rows.filter_map(|row| self.key(row)).map(|(key, _)| key).collect()
    }

    /// `None` for the deletion of what is not there.
    fn change(&mut self, write: Write) -> Option<Change> {
        let there = self.find(write.key());
        match write {
            Write::Delete { .. } => there.map(Change::Delete),
            Write::Put { key, facets, body, .. } => {
                Some(Change::Put { there, row: self.row(key, Version(self.version), &facets)?, body })
            }
        }
    }

    pub(super) fn row(&mut self, key: Key, version: Version, facets: &Facets) -> Option<Row> {
        let table = self.names.intern(key.kind)?;
        let Facets { network, organization, .. } = *facets;
        let partition = self.rows.partitions_mut().number(Partition { network, organization });
        let (network_slot, facets) = self.pack(table, facets);
        Some(Row { id: key.id, version: version.0, table, partition, network_slot, facets })
    }

    fn release_unique_keys(&mut self, change: &Change) {
        let (id, new) = match change {
            Change::Delete(id) => (*id, None),
            Change::Put { there: Some(id), row, .. } => (*id, Some(row)),
            Change::Put { there: None, .. } => return,
        };
        if let Some(old) = self.rows.get(id)
            && new.is_none_or(|new| !old.facets.has_unique_keys_of(&new.facets))
        {
            self.unique_keys.remove_all(old, id);
        }
    }

    fn insert(&mut self, row: Row) -> RowId {
        let slots = self.tables.get(&row.table).map_or(0, Table::slots);
        let id = self.rows.insert(row);
        self.ids.insert(&self.rows, id);
        self.insert_into_runs(id, 0..slots);
        self.insert_into_orderings(id, RowChange::All);
        self.count_change(id);
        self.insert_names_and_expiry(id);
        id
    }

    /// Counts a change of the organization of a row, both where the row leaves and where it arrives.
    fn count_change(&mut self, id: RowId) {
        self.with_table(id, |table, _, partition| table.count_change(partition.organization));
    }

    fn remove_from_orderings(&mut self, id: RowId, change: RowChange<'_>) {
        self.with_table(id, |table, rows, partition| {
            table.remove_from_orderings(rows, partition, id, change);
        });
    }

    fn insert_into_orderings(&mut self, id: RowId, change: RowChange<'_>) {
        self.with_table(id, |table, rows, partition| {
            table.insert_into_orderings(rows, partition, id, change);
        });
    }

    /// Changes the table of a row.
    fn with_table(&mut self, id: RowId, change: impl FnOnce(&mut Table, &Rows, Partition)) {
        let Some(row) = self.rows.get(id) else { return };
        let Some(partition) = self.rows.partitions().get(row.partition) else { return };
        if let Some(table) = self.tables.get_mut(&row.table) {
            change(table, &self.rows, *partition);
        }
    }

    /// Inserts unique keys, links and expiry of a row.
    pub(super) fn insert_names_and_expiry(&mut self, id: RowId) {
        if let Some(row) = self.rows.get(id) {
            self.unique_keys.insert_all(row, id);
            self.links.insert_all(row, id);
            self.expiring.extend(row.facets.expires_at().map(|time| (time, id)));
        }
    }

    /// Puts a row in the place of another whose unique keys were released. What is the same in both is left alone: an order
    /// in which the row keeps its place, links, unique keys.
    fn replace(&mut self, id: RowId, new: Row) {
        let Some(old) = self.rows.get(id) else { return };
        let Some(table) = self.tables.get(&new.table) else { return };
        let moved = old.partition != new.partition;
        let partitions = self.rows.partitions();
        let has_moved =
            |slot: &Slot| moved || old.sort_key(*slot, partitions) != new.sort_key(*slot, partitions);
        let changed: Vec<Slot> = (0..table.slots()).filter(has_moved).collect();
        let keeps_unique_keys = old.facets.has_unique_keys_of(&new.facets);
        let keeps_links = old.facets.has_links_of(&new.facets);
        if !keeps_links {
            self.links.remove_all(old, id);
        }
        if let Some(time) = old.facets.expires_at() {
            self.expiring.remove(&(time, id));
        }
        self.expiring.extend(new.facets.expires_at().map(|time| (time, id)));
        let change = RowChange::Some { slots: &changed, links: !keeps_links };
        self.count_change(id);
        self.remove_from_orderings(id, change);
        self.remove_from_runs(id, changed.iter().copied());
        if let Some(row) = self.rows.get_mut(id) {
            *row = new;
        }
        self.insert_into_runs(id, changed.iter().copied());
        self.insert_into_orderings(id, change);
        self.count_change(id);
        let Some(row) = self.rows.get(id) else { return };
        if !keeps_unique_keys {
            self.unique_keys.insert_all(row, id);
        }
        if !keeps_links {
            self.links.insert_all(row, id);
        }
    }

    /// Removes a row whose unique keys were let go before.
    fn remove(&mut self, id: RowId) {
        let Some(row) = self.rows.get(id) else { return };
        self.ids.remove(row.table, row.id, id);
        self.links.remove_all(row, id);
        if let Some(time) = row.facets.expires_at() {
            self.expiring.remove(&(time, id));
        }
        let slots = self.tables.get(&row.table).map_or(0, Table::slots);
        self.count_change(id);
        self.remove_from_orderings(id, RowChange::All);
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

    /// Packs facets without the sort key that the network gives a row. Tells its slot.
    fn pack(&mut self, table_id: NameId, facets: &Facets) -> (u16, PackedFacets) {
        let table = self.tables.entry(table_id).or_default();
        for key in &facets.sort_keys {
            // Numbered with the others, so that their number has one bound.
            self.names.intern(key.name);
            table.add_sort_name(key.name);
        }
        let mut sort_keys: Vec<&[u8]> =
            table.sort_names().iter().map(|name| sort_key(facets, *name)).collect();
        let network_slot = take_network_key(&mut sort_keys, facets.network);
        let mut links: Vec<(NameId, Uuid)> = Vec::with_capacity(facets.links.len());
        for link in &facets.links {
            links.extend(self.names.intern(link.relation).map(|relation| (relation, link.target)));
        }
        links.sort_unstable();
        links.dedup();
        let mut unique_keys: Vec<(NameId, &[u8])> = Vec::with_capacity(facets.unique_keys.len());
        for unique_key in &facets.unique_keys {
            unique_keys
                .extend(self.names.intern(unique_key.name).map(|name| (name, unique_key.value.as_slice())));
        }
        unique_keys.sort_unstable_by_key(|(name, value)| (*name, value.len(), *value));
        unique_keys.dedup();
        (network_slot, PackedFacets::pack(facets.expires_at, &sort_keys, &links, &unique_keys))
    }
}

fn sort_key(facets: &Facets, name: Name) -> &[u8] {
    facets.sort_keys.iter().find(|key| key.name == name).map_or(&[], |key| &key.value)
}

/// Empties the first key that is the id of the network. Tells its slot, 0 if there is none.
fn take_network_key(sort_keys: &mut [&[u8]], network: Option<Uuid>) -> u16 {
    let is_network = |key: &[u8]| network.is_some_and(|network| network.as_bytes() == key);
    let found = (1..=u16::MAX).zip(sort_keys).find(|(_, key)| is_network(key));
    found.map_or(0, |(slot, key)| {
        *key = &[];
        slot
    })
}
