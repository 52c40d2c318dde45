//! The index over facets that the backends share: finds, checks and lists records without reading a body.
//!
//! Every kind of record has, for each organization and for each of its networks, one sorted [`run`] of row numbers for
//! each order. A page is found by rank: in O(log n) where one run covers the query, and by selection over several runs
//! where it takes more. What is sorted for a query is what a filter has picked, and a group that is a part of a network.

mod aliases;
mod filter;
mod groups;
mod ids;
mod links;
mod list;
mod merge;
mod names;
mod packed;
mod rows;
mod run;
mod table;
mod verify;
mod walk;
mod window;

use std::collections::{BTreeSet, HashMap};

use bytes::Bytes;
use uuid::Uuid;

use self::aliases::Aliases;
use self::ids::Ids;
use self::links::Links;
use self::names::{NameId, Names};
use self::packed::PackedFacets;
use self::rows::{PartitionId, Row, Rows, Slot};
pub(crate) use self::run::RowId;
use self::table::{Partition, Table};
use super::{Alias, Facets, Key, Name, Version, Write};
use crate::model::Timestamp;

/// Where the records of a store are, by every way there is to ask for them.
#[derive(Debug, Default)]
pub(crate) struct Index {
    version: u64,
    names: Names,
    tables: HashMap<NameId, Table>,
    rows: Rows,
    partitions: Vec<Partition>,
    partition_ids: HashMap<Partition, PartitionId>,
    ids: Ids,
    aliases: Aliases,
    links: Links,
    expiring: BTreeSet<(Timestamp, RowId)>,
}

impl Index {
    pub(crate) fn find(&self, key: Key) -> Option<RowId> {
        self.ids.find(&self.rows, self.names.find(key.kind)?, key.id)
    }

    pub(crate) fn resolve(&self, alias: &Alias) -> Option<RowId> {
        self.aliases.find(&self.rows, self.names.find(alias.name)?, &alias.value)
    }

    /// What names a row, and which writing of it is there.
    pub(crate) fn key(&self, row: RowId) -> Option<(Key, Version)> {
        let row = self.rows.get(row)?;
        Some((Key::new(self.names.name(row.table)?, row.id), Version(row.version)))
    }

    /// Carries out writes that [`check`](Self::check) has let pass. Tells of every row what its body is now, `None` where
    /// it is deleted.
    pub(crate) fn apply(&mut self, writes: Vec<Write>, mut body_of: impl FnMut(RowId, Option<Bytes>)) {
        self.version += 1;
        // An alias may pass from any record of the batch to any other, so all are let go before one is taken.
        for write in &writes {
            if let Some(id) = self.find(write.key())
                && let Some(row) = self.rows.get(id)
            {
                self.aliases.remove_all(row, id);
            }
        }
        for write in writes {
            match write {
                Write::Delete { key, .. } => {
                    if let Some(row) = self.find(key) {
                        self.remove(row);
                        body_of(row, None);
                    }
                }
                Write::Put { key, facets, body, .. } => {
                    if let Some(row) = self.put(key, &facets) {
                        body_of(row, Some(body));
                    }
                }
            }
        }
    }

    /// Deletes the rows whose time is over, and names them.
    pub(crate) fn purge_expired(&mut self, now: Timestamp) -> Vec<RowId> {
        let expired: Vec<RowId> = self.expiring.range(..=(now, RowId::MAX)).map(|(_, row)| *row).collect();
        for id in &expired {
            if let Some(row) = self.rows.get(*id) {
                self.aliases.remove_all(row, *id);
            }
            self.remove(*id);
        }
        expired
    }

    fn put(&mut self, key: Key, facets: &Facets) -> Option<RowId> {
        let table = self.names.intern(key.kind)?;
        let partition = self.partition_id(facets);
        let packed = self.pack(table, facets);
        let version = self.version;
        let id = match self.ids.find(&self.rows, table, key.id) {
            Some(id) => {
                self.replace(id, Row { id: key.id, version, table, partition, facets: packed });
                id
            }
            None => {
                let id = self.rows.insert(Row { id: key.id, version, table, partition, facets: packed });
                self.ids.insert(&self.rows, id);
                let slots = self.tables.get(&table).map_or(0, Table::slots);
                self.insert_into_runs(id, 0..slots);
                id
            }
        };
        self.aliases.insert_all(&self.rows, id);
        let row = self.rows.get(id)?;
        self.links.insert_all(row, id);
        if let Some(time) = row.facets.expires_at() {
            self.expiring.insert((time, id));
        }
        Some(id)
    }

    /// A row that keeps its partition and a key keeps its place in that order, and the order is left alone.
    fn replace(&mut self, id: RowId, new: Row) {
        let Some(old) = self.rows.get(id) else { return };
        let Some(table) = self.tables.get(&new.table) else { return };
        let moved = old.partition != new.partition;
        let slots = 0..table.slots();
        let changed: Vec<Slot> = slots.filter(|slot| moved || key_differs(old, &new, *slot)).collect();
        self.links.remove_all(old, id);
        if let Some(time) = old.facets.expires_at() {
            self.expiring.remove(&(time, id));
        }
        self.remove_from_runs(id, changed.iter().copied());
        if let Some(row) = self.rows.get_mut(id) {
            *row = new;
        }
        self.insert_into_runs(id, changed.into_iter());
    }

    /// Removes a row whose aliases were let go before.
    fn remove(&mut self, id: RowId) {
        let Some(row) = self.rows.get(id) else { return };
        self.ids.remove(row.table, row.id, id);
        self.links.remove_all(row, id);
        if let Some(time) = row.facets.expires_at() {
            self.expiring.remove(&(time, id));
        }
        let slots = self.tables.get(&row.table).map_or(0, Table::slots);
        self.remove_from_runs(id, 0..slots);
        self.rows.remove(id);
    }

    fn insert_into_runs(&mut self, id: RowId, slots: impl Iterator<Item = Slot>) {
        let Some(row) = self.rows.get(id) else { return };
        let Some(partition) = self.partitions.get(row.partition as usize) else { return };
        let Some(table) = self.tables.get_mut(&row.table) else { return };
        for slot in slots {
            table.insert(&self.rows, *partition, slot, id);
        }
    }

    fn remove_from_runs(&mut self, id: RowId, slots: impl Iterator<Item = Slot>) {
        let Some(row) = self.rows.get(id) else { return };
        let Some(partition) = self.partitions.get(row.partition as usize) else { return };
        let Some(table) = self.tables.get_mut(&row.table) else { return };
        for slot in slots {
            table.remove(&self.rows, *partition, slot, id);
        }
        table.forget_if_empty(*partition);
    }

    fn partition_id(&mut self, facets: &Facets) -> PartitionId {
        let partition = Partition { organization: facets.organization, network: facets.network };
        *self.partition_ids.entry(partition).or_insert_with(|| {
            self.partitions.push(partition);
            (self.partitions.len() - 1) as PartitionId
        })
    }

    fn pack(&mut self, table_id: NameId, facets: &Facets) -> PackedFacets {
        let table = self.tables.entry(table_id).or_default();
        for key in &facets.sort_keys {
            // Numbered with the others, so that their number has one bound.
            self.names.intern(key.name);
            table.add_sort_name(key.name);
        }
        let sort_keys: Vec<&[u8]> = table.sort_names().iter().map(|name| sort_key(facets, *name)).collect();
        let mut links: Vec<(NameId, Uuid)> = Vec::with_capacity(facets.links.len());
        for link in &facets.links {
            links.extend(self.names.intern(link.relation).map(|relation| (relation, link.target)));
        }
        links.sort_unstable();
        links.dedup();
        let mut aliases: Vec<(NameId, &[u8])> = Vec::with_capacity(facets.aliases.len());
        for alias in &facets.aliases {
            aliases.extend(self.names.intern(alias.name).map(|name| (name, alias.value.as_slice())));
        }
        aliases.sort_unstable();
        aliases.dedup();
        PackedFacets::pack(facets.expires_at, &sort_keys, &links, aliases.into_iter())
    }
}

fn sort_key(facets: &Facets, name: Name) -> &[u8] {
    facets.sort_keys.iter().find(|key| key.name == name).map_or(&[], |key| &key.value)
}

fn key_differs(old: &Row, new: &Row, slot: Slot) -> bool {
    slot.checked_sub(1).is_some_and(|slot| old.facets.sort_key(slot) != new.facets.sort_key(slot))
}
