//! The rows of the index, and the orders in which they are compared.

pub(super) mod common_values;
pub(super) mod packed;

use std::cmp::Ordering;
use std::hint::black_box;
use std::sync::Arc;

use uuid::Uuid;

use self::common_values::CommonValues;
use self::packed::PackedFacets;
use crate::invariant::Invariant;
use crate::store::Direction;
use crate::store::index::interner::{NameId, PartitionId, Partitions};
use crate::store::index::run::RowId;
use crate::store::index::run::sort::prefix;

/// One record, as the index holds it.
#[derive(Clone, Debug)]
pub(in crate::store::index) struct Row {
    pub(in crate::store::index) id: Uuid,
    pub(in crate::store::index) version: u64,
    pub(in crate::store::index) table: NameId,
    pub(in crate::store::index) partition: PartitionId,
    /// The slot whose key is the id of the network; 0 if there is none. The id is not stored again in that slot.
    pub(in crate::store::index) network_slot: u16,
    pub(in crate::store::index) facets: PackedFacets,
}

impl Row {
    pub(in crate::store::index) fn sort_key<'r>(
        &'r self,
        slot: Slot,
        partitions: &'r Partitions,
    ) -> &'r [u8] {
        match slot.checked_sub(1) {
            None => &[],
            Some(_) if slot == Slot::from(self.network_slot) => partitions.network_sort_key(self.partition),
            Some(place) => self.facets.sort_key(place),
        }
    }
}

/// The number of an order. 0 is the order by id; the numbers from 1 are the table's sort names.
pub(in crate::store::index) type Slot = usize;

/// The rows of all kinds of records. A row keeps its number until its record is deleted.
#[derive(Debug, Default)]
pub(in crate::store::index) struct Rows {
    rows: Vec<Option<Row>>,
    free: Vec<RowId>,
    partitions: Partitions,
    common: Arc<CommonValues>,
}

impl Rows {
    pub(in crate::store::index) fn get(&self, row: RowId) -> Option<&Row> {
        self.rows.get(row as usize)?.as_ref()
    }

    /// Returns a row that must exist: a run, a posting list, a lookup or the caller refers to it.
    fn row(&self, row: RowId) -> Option<&Row> {
        self.get(row).asserted()
    }

    pub(in crate::store::index) fn get_mut(&mut self, row: RowId) -> Option<&mut Row> {
        self.rows.get_mut(row as usize)?.as_mut()
    }

    /// Brings rows, and their facets if needed, into the cache of the processor.
    ///
    /// The processor reads many rows at a time here, because no read depends on the contents of another. A loop that
    /// branches on each row waits for the memory once per row.
    pub(in crate::store::index) fn read_ahead(&self, rows: &[RowId], with_facets: bool) {
        let found = rows.iter().filter_map(|row| self.get(*row));
        if with_facets {
            black_box(found.map(|row| row.facets.read_ahead()).fold(0, u8::wrapping_add));
        } else {
            black_box(found.map(|row| row.partition).fold(0, PartitionId::wrapping_add));
        }
    }

    pub(in crate::store::index) fn iter(&self) -> impl Iterator<Item = (RowId, &Row)> {
        (0..).zip(&self.rows).filter_map(|(id, row)| Some((id, row.as_ref()?)))
    }

    /// Returns the number of rows.
    pub(in crate::store::index) fn count(&self) -> usize {
        self.rows.len() - self.free.len()
    }

    /// Returns the number of places for rows, which are numbered from 0.
    pub(in crate::store::index) fn numbers(&self) -> usize {
        self.rows.len()
    }

    pub(in crate::store::index) fn insert(&mut self, row: Row) -> RowId {
        match self.free.pop() {
            Some(id) => {
                if let Some(place) = self.rows.get_mut(id as usize).asserted() {
                    debug_assert!(place.is_none(), "row {id} is not free");
                    *place = Some(row);
                }
                id
            }
            None => {
                self.rows.push(Some(row));
                (self.rows.len() - 1) as RowId
            }
        }
    }

    pub(in crate::store::index) fn remove(&mut self, id: RowId) -> Option<Row> {
        let row = self.rows.get_mut(id as usize)?.take().asserted()?;
        self.free.push(id);
        Some(row)
    }

    /// Returns whether this many more rows can be numbered.
    pub(in crate::store::index) fn has_room_for(&self, more: usize) -> bool {
        self.rows.len().saturating_add(more) <= RowId::MAX as usize
    }

    pub(in crate::store::index) const fn partitions(&self) -> &Partitions {
        &self.partitions
    }

    pub(in crate::store::index) const fn partitions_mut(&mut self) -> &mut Partitions {
        &mut self.partitions
    }

    pub(in crate::store::index) const fn common_values(&self) -> &Arc<CommonValues> {
        &self.common
    }

    /// Numbers a value of terms, or a target of links, that many rows have.
    ///
    /// Snapshots keep the values that were numbered when they were taken.
    pub(in crate::store::index) fn add_common_value(&mut self, value: &[u8]) {
        if self.common.takes(value) {
            Arc::make_mut(&mut self.common).insert(value);
        }
    }

    pub(in crate::store::index) fn id(&self, row: RowId) -> Uuid {
        self.row(row).map_or(Uuid::nil(), |row| row.id)
    }

    pub(in crate::store::index) fn sort_key(&self, slot: Slot, row: RowId) -> &[u8] {
        self.row(row).map_or(&[], |row| row.sort_key(slot, &self.partitions))
    }

    /// Returns the key and the id, by which the runs of this slot are ordered.
    pub(in crate::store::index) fn rank_key(&self, slot: Slot, row: RowId) -> (&[u8], Uuid) {
        match self.row(row) {
            None => (&[], Uuid::nil()),
            Some(row) => (row.sort_key(slot, &self.partitions), row.id),
        }
    }

    /// Returns the prefix of a row by which a run of this slot is searched. A search compares prefixes before it
    /// reads rows.
    pub(in crate::store::index) fn prefix(&self, slot: Slot, row: RowId) -> u128 {
        let (key, id) = self.rank_key(slot, row);
        if slot == 0 { id.as_u128() } else { prefix(key) }
    }

    pub(in crate::store::index) fn compare(&self, slot: Slot, left: RowId, right: RowId) -> Ordering {
        self.rank_key(slot, left).cmp(&self.rank_key(slot, right))
    }
}

/// A sort field of an order, by slot.
pub(in crate::store::index) type SortField = (Slot, Direction);

impl Rows {
    pub(in crate::store::index) fn compare_by(
        &self,
        order: &[SortField],
        left: RowId,
        right: RowId,
    ) -> Ordering {
        match (self.row(left), self.row(right)) {
            (Some(left), Some(right)) => self.compare_rows_by(order, left, right),
            (left, right) => left.is_some().cmp(&right.is_some()),
        }
    }

    /// Compares two rows, in their present or an earlier state.
    pub(in crate::store::index) fn compare_rows_by(
        &self,
        order: &[SortField],
        left: &Row,
        right: &Row,
    ) -> Ordering {
        let by_key = order.iter().map(|(slot, direction)| {
            let key = left.sort_key(*slot, self.partitions());
            directed(key.cmp(right.sort_key(*slot, self.partitions())), *direction)
        });
        first_difference(by_key).then_with(|| left.id.cmp(&right.id))
    }

    pub(in crate::store::index) fn compare_with_place(
        &self,
        order: &[SortField],
        row: RowId,
        keys: &[Vec<u8>],
        id: Uuid,
    ) -> Ordering {
        let by_key = order.iter().zip(keys).map(|((slot, direction), key)| {
            directed(self.sort_key(*slot, row).cmp(key.as_slice()), *direction)
        });
        first_difference(by_key).then_with(|| self.id(row).cmp(&id))
    }

    /// Returns the prefix of a row by which a run in this order is searched. A search compares this number before it
    /// reads rows.
    pub(in crate::store::index) fn prefix_by(&self, order: &[SortField], row: RowId) -> u128 {
        self.row(row).map_or(0, |row| self.prefix_of_row(order, row))
    }

    /// Returns the prefix of a row in its present or an earlier state.
    pub(in crate::store::index) fn prefix_of_row(&self, order: &[SortField], row: &Row) -> u128 {
        match order {
            [] => 0,
            // The order by id alone uses the id as prefix, like the runs of that order.
            [(0, Direction::Ascending)] => row.id.as_u128(),
            [(slot, direction), ..] => prefix_of_key(*direction, row.sort_key(*slot, self.partitions())),
        }
    }
}

/// Returns the prefix of a key of the first sort field.
pub(in crate::store::index) fn prefix_of_key(direction: Direction, key: &[u8]) -> u128 {
    match direction {
        Direction::Ascending => prefix(key),
        Direction::Descending => !prefix(key),
    }
}

fn directed(ordering: Ordering, direction: Direction) -> Ordering {
    match direction {
        Direction::Ascending => ordering,
        Direction::Descending => ordering.reverse(),
    }
}

fn first_difference(mut orderings: impl Iterator<Item = Ordering>) -> Ordering {
    orderings.find(|ordering| ordering.is_ne()).unwrap_or(Ordering::Equal)
}
