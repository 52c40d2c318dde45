use std::collections::HashMap;
use std::sync::Arc;

use super::Index;
use super::interner::{Interner, NameId, Partition, Partitions};
use super::rows::Row;
use super::rows::common_values::CommonValues;
use super::run::RowId;
use crate::store::{Facets, Key, Link, Name, SortKey, Term, UniqueKey, Version};

/// The rows of an index at one moment. Later changes of the index do not affect them; their facets are shared with
/// it, not copied.
#[derive(Debug)]
pub(crate) struct IndexSnapshot {
    rows: Vec<(RowId, Row)>,
    names: Interner,
    partitions: Partitions,
    sort_names: HashMap<NameId, Vec<Name>>,
    common: Arc<CommonValues>,
}

impl Index {
    pub(crate) fn index_snapshot(&self) -> IndexSnapshot {
        let sort_names = self.tables.iter().map(|(id, table)| (*id, table.sort_names().to_vec()));
        IndexSnapshot {
            rows: self.rows.iter().map(|(id, row)| (id, row.clone())).collect(),
            names: self.names.clone(),
            partitions: self.rows.partitions().clone(),
            sort_names: sort_names.collect(),
            common: Arc::clone(self.rows.common_values()),
        }
    }
}

#[cfg(feature = "sled")]
impl Index {
    /// Iterates over all rows, in the order of [`IndexSnapshot::entry`].
    pub(crate) fn rows(&self) -> impl Iterator<Item = RowId> + '_ {
        self.rows.iter().map(|(id, _)| id)
    }

    /// Returns the facets of a row. Links, terms and unique keys are sorted and without duplicates, and no sort key
    /// is empty.
    pub(crate) fn facets(&self, row: RowId) -> Option<Facets> {
        let row = self.rows.get(row)?;
        let sort_names = self.tables.get(&row.table)?.sort_names();
        unpack(row, &self.names, self.rows.partitions(), sort_names, self.rows.common_values())
    }
}

impl IndexSnapshot {
    pub(crate) fn len(&self) -> usize {
        self.rows.len()
    }

    /// Returns the record at a place below [`len`](Self::len). Links, terms and unique keys are sorted and without
    /// duplicates, and no sort key is empty.
    pub(crate) fn entry(&self, place: usize) -> Option<(RowId, Key, Version, Facets)> {
        let (id, row) = self.rows.get(place)?;
        let key = Key::new(self.names.name(row.table)?, row.id);
        let sort_names = self.sort_names.get(&row.table)?;
        let facets = unpack(row, &self.names, &self.partitions, sort_names, &self.common)?;
        Some((*id, key, Version(row.version), facets))
    }
}

/// Unpacks the facets of a row. `None` when the row contains an unknown number.
fn unpack(
    row: &Row,
    names: &Interner,
    partitions: &Partitions,
    sort_names: &[Name],
    common: &CommonValues,
) -> Option<Facets> {
    let Partition { network, organization } = *partitions.get(row.partition)?;
    let packed = &row.facets;
    let links = packed.links(common).map(|(relation, target)| Some(Link::new(names.name(relation)?, target)));
    let unique_keys =
        packed.unique_keys().map(|(name, value)| Some(UniqueKey::new(names.name(name)?, value)));
    let terms = packed.terms(common).map(|(name, value)| Some(Term::new(names.name(name)?, value)));
    let sort_keys = (1..).zip(sort_names).map(|(slot, name)| (name, row.sort_key(slot, partitions)));
    let sort_keys = sort_keys.filter(|(_, value)| !value.is_empty());
    Some(Facets {
        organization,
        network,
        expires_at: packed.expires_at(),
        links: links.collect::<Option<_>>()?,
        terms: terms.collect::<Option<_>>()?,
        sort_keys: sort_keys.map(|(name, value)| SortKey::new(*name, value)).collect(),
        unique_keys: unique_keys.collect::<Option<_>>()?,
    })
}
