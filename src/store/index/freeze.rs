use std::collections::HashMap;

use super::names::{NameId, Names};
use super::partitions::{Partition, Partitions};
use super::rows::Row;
use super::{Index, RowId};
use crate::store::{Facets, Key, Link, Name, SortKey, UniqueKey, Version};

/// The rows of an index as they were at one moment, whatever becomes of the index. Their facets are shared with it, not
/// copied.
#[derive(Debug)]
pub(crate) struct Frozen {
    rows: Vec<(RowId, Row)>,
    names: Names,
    partitions: Partitions,
    sort_names: HashMap<NameId, Vec<Name>>,
}

impl Index {
    pub(crate) fn freeze(&self) -> Frozen {
        let sort_names = self.tables.iter().map(|(id, table)| (*id, table.sort_names().to_vec()));
        Frozen {
            rows: self.rows.iter().map(|(id, row)| (id, row.clone())).collect(),
            names: self.names.clone(),
            partitions: self.rows.partitions().clone(),
            sort_names: sort_names.collect(),
        }
    }

    /// The facets of a row: links and unique keys each once and sorted, and no empty sort keys.
    pub(crate) fn facets(&self, row: RowId) -> Option<Facets> {
        let row = self.rows.get(row)?;
        unpack(row, &self.names, self.rows.partitions(), self.tables.get(&row.table)?.sort_names())
    }
}

impl Frozen {
    pub(crate) fn len(&self) -> usize {
        self.rows.len()
    }

    /// The rows, in the order of their places.
    pub(crate) fn rows(&self) -> impl Iterator<Item = RowId> + '_ {
        self.rows.iter().map(|(id, _)| *id)
    }

    /// The record in a place below [`len`](Self::len), with its facets as [`Index::facets`] gives them.
    pub(crate) fn entry(&self, place: usize) -> Option<(RowId, Key, Version, Facets)> {
        let (id, row) = self.rows.get(place)?;
        let key = Key::new(self.names.name(row.table)?, row.id);
        let facets = unpack(row, &self.names, &self.partitions, self.sort_names.get(&row.table)?)?;
        Some((*id, key, Version(row.version), facets))
    }
}

/// `None` when a number in the row stands for nothing.
fn unpack(row: &Row, names: &Names, partitions: &Partitions, sort_names: &[Name]) -> Option<Facets> {
    let Partition { network, organization } = *partitions.get(row.partition)?;
    let packed = &row.facets;
    let links = packed.links().map(|(relation, target)| Some(Link::new(names.name(relation)?, target)));
    let unique_keys =
        packed.unique_keys().map(|(name, value)| Some(UniqueKey::new(names.name(name)?, value)));
    let sort_keys = (1..).zip(sort_names).map(|(slot, name)| (name, row.sort_key(slot, partitions)));
    let sort_keys = sort_keys.filter(|(_, value)| !value.is_empty());
    Some(Facets {
        organization,
        network,
        expires_at: packed.expires_at(),
        links: links.collect::<Option<_>>()?,
        sort_keys: sort_keys.map(|(name, value)| SortKey::new(*name, value)).collect(),
        unique_keys: unique_keys.collect::<Option<_>>()?,
    })
}
