//! Packing facets. For a record with thousands of unique keys, this takes longer than the lock may be held.

use std::collections::HashMap;
use std::sync::Arc;

use uuid::Uuid;

use super::check::check_facets;
use super::difference::FacetDifference;
use crate::fair_threads::yield_turn;
use crate::store::index::Index;
use crate::store::index::interner::{Interner, NameId, Partition};
use crate::store::index::rows::Row;
use crate::store::index::rows::common_values::CommonValues;
use crate::store::index::rows::packed::PackedFacets;
use crate::store::index::run::sort::prefix;
use crate::store::{Facets, Key, Name, Write};

/// Unique keys and terms that a deleted record is expected to have. Only the index knows their number.
const VALUES_OF_DELETED: usize = 32;

/// Returns whether processing a batch takes more than about 2 ms. That is too long for an async thread, for example.
pub(crate) fn is_large(writes: &[Write]) -> bool {
    let sizes = writes.iter().map(|write| match write {
        Write::Put { facets, body, .. } => (facets.unique_keys.len() + facets.terms.len(), body.len()),
        Write::Delete { .. } => (VALUES_OF_DELETED, 0),
    });
    let (values, bytes) = sizes.fold((0, 0), |sum, size| (sum.0 + size.0, sum.1 + size.1));
    values > 2_048 || bytes > 1024 * 1024
}

/// The interned ids of an index, by which facets are packed outside the lock. An id is never reused, so that packed
/// facets stay valid.
#[derive(Debug)]
pub(crate) struct Packer {
    names: Interner,
    sort_names: HashMap<NameId, Vec<Name>>,
    common: Arc<CommonValues>,
    /// The rows that puts will replace, each with its partition, unless they change before.
    rows: HashMap<Key, (Row, Partition)>,
}

/// The facets of a put, packed.
#[derive(Debug)]
pub(super) struct Packed {
    /// The slot whose key is the id of the network; 0 if there is none. This key is not stored with the others.
    pub(super) network_slot: u16,
    pub(super) facets: PackedFacets,
    /// The version of the record that the packer has seen, and the difference from it; `None`: it has seen none.
    difference: Option<(u64, FacetDifference)>,
}

impl Packed {
    /// Returns the difference from this row, if it is known.
    pub(super) fn difference(&self, row: &Row) -> Option<&FacetDifference> {
        let (version, difference) = self.difference.as_ref()?;
        Some(difference).filter(|_| *version == row.version)
    }

    /// Takes out the difference from this row, if it is known.
    pub(super) fn take_difference(&mut self, row: &Row) -> Option<FacetDifference> {
        self.difference.take_if(|(version, _)| *version == row.version).map(|(_, difference)| difference)
    }
}

/// The facets of the puts of a batch that were packed outside the lock. The index packs the others.
#[derive(Debug, Default)]
pub(crate) struct Packs {
    /// One element for each write.
    facets: Vec<Option<Packed>>,
    /// Whether all puts are packed and no two of them share a unique key.
    pub(super) have_distinct_keys: bool,
}

impl Packs {
    fn new(writes: &[Write], facets: Vec<Option<Packed>>) -> Self {
        let is_packed = |(write, packed): (&Write, &Option<Packed>)| match write {
            Write::Put { facets, .. } => packed.is_some() || facets.unique_keys.is_empty(),
            Write::Delete { .. } => true,
        };
        let puts = facets.iter().flatten();
        // A single put may have thousands of unique keys, and they cannot conflict with each other.
        let is_alone = puts.clone().nth(1).is_none();
        let have_distinct_keys =
            writes.iter().zip(&facets).all(is_packed) && (is_alone || have_distinct_prefixes(puts));
        Self { facets, have_distinct_keys }
    }

    /// Returns the facets of a write, by its place in the batch.
    pub(super) fn get(&self, place: usize) -> Option<&Packed> {
        self.facets.get(place)?.as_ref()
    }

    pub(super) fn take(&mut self, place: usize) -> Option<Packed> {
        self.facets.get_mut(place)?.take()
    }
}

/// Returns whether the prefixes of all unique keys differ. Unique keys with the same prefix may be equal.
fn have_distinct_prefixes<'p>(facets: impl Iterator<Item = &'p Packed>) -> bool {
    let unique_keys = facets.flat_map(|packed| packed.facets.unique_keys());
    let mut prefixes: Vec<(u128, NameId)> = unique_keys.map(|(name, value)| (prefix(value), name)).collect();
    prefixes.sort_unstable();
    prefixes.windows(2).all(|pair| pair.first() != pair.last())
}

impl Index {
    /// Returns a packer for these writes.
    pub(crate) fn packer<'w>(&self, writes: impl IntoIterator<Item = &'w Write>) -> Packer {
        let sort_names = self.tables.iter().map(|(id, table)| (*id, table.sort_names().to_vec()));
        let common = Arc::clone(self.rows.common_values());
        let puts = writes.into_iter().filter(|write| matches!(write, Write::Put { .. }));
        let rows = puts.filter_map(|put| {
            let row = self.rows.get(self.find(put.key())?)?;
            Some((put.key(), (row.clone(), *self.rows.partitions().get(row.partition)?)))
        });
        Packer { names: self.names.clone(), sort_names: sort_names.collect(), common, rows: rows.collect() }
    }
}

impl Packer {
    /// Packs the facets of puts, and compares them with the rows that they replace. Puts with a name that the index
    /// does not know are left out. Facets that the index refuses are not packed.
    pub(crate) fn pack(&self, writes: &[Write]) -> Packs {
        Packs::new(writes, writes.iter().map(|write| self.pack_write(write)).collect())
    }

    fn pack_write(&self, write: &Write) -> Option<Packed> {
        yield_turn();
        let Write::Put { key, facets, .. } = write else { return None };
        // Only the commit knows the version.
        if facets.have_version() {
            return None;
        }
        let sort_names = self.sort_names.get(&self.names.find(key.kind)?)?;
        let is_known = facets.sort_keys.iter().all(|key| sort_names.contains(&key.name));
        if !is_known || check_facets(*key, facets).is_err() {
            return None;
        }
        let mut packed = pack(&self.names, sort_names, &self.common, facets)?;
        yield_turn();
        packed.difference = self.rows.get(key).map(|(row, partition)| {
            let Facets { network, organization, .. } = *facets;
            let moves = *partition != Partition { network, organization };
            (row.version, FacetDifference::new(&row.facets, &packed.facets, moves, &self.common))
        });
        Some(packed)
    }
}

/// Packs facets. Returns `None` when a name has no number.
pub(super) fn pack(
    names: &Interner,
    sort_names: &[Name],
    common: &CommonValues,
    facets: &Facets,
) -> Option<Packed> {
    let mut sort_keys: Vec<&[u8]> = sort_names.iter().map(|name| sort_key(facets, *name)).collect();
    let network_slot = take_network_key(&mut sort_keys, facets.network);
    let mut links = numbered(names, &facets.links, |link| (link.relation, link.target))?;
    links.sort_unstable();
    links.dedup();
    let mut unique_keys = numbered(names, &facets.unique_keys, |key| (key.name, key.value.as_slice()))?;
    unique_keys.sort_unstable_by_key(|(name, value)| (*name, value.len(), *value));
    unique_keys.dedup();
    let mut terms = numbered(names, &facets.terms, |term| (term.name, term.value.as_slice()))?;
    terms.sort_unstable();
    terms.dedup();
    let facets = PackedFacets::pack(facets.expires_at, &sort_keys, &links, &unique_keys, &terms, common);
    Some(Packed { network_slot, facets, difference: None })
}

/// Returns values with the numbers of their names. Returns `None` when a name has no number.
fn numbered<'v, V, T>(
    names: &Interner,
    values: &'v [V],
    named: impl Fn(&'v V) -> (Name, T),
) -> Option<Vec<(NameId, T)>> {
    let mut numbered = Vec::with_capacity(values.len());
    let mut last = None;
    for value in values {
        let (name, value) = named(value);
        let number = match last {
            // Values of one name follow each other.
            Some((known, number)) if known == name => number,
            _ => names.find(name)?,
        };
        last = Some((name, number));
        numbered.push((number, value));
    }
    Some(numbered)
}

fn sort_key(facets: &Facets, name: Name) -> &[u8] {
    facets.sort_keys.iter().find(|key| key.name == name).map_or(&[], |key| &key.value)
}

/// Empties the first key that is the id of the network. Returns its slot, or 0 if there is none.
fn take_network_key(sort_keys: &mut [&[u8]], network: Option<Uuid>) -> u16 {
    let is_network = |key: &[u8]| network.is_some_and(|network| network.as_bytes() == key);
    let found = (1..=u16::MAX).zip(sort_keys).find(|(_, key)| is_network(key));
    found.map_or(0, |(slot, key)| {
        *key = &[];
        slot
    })
}
