//! Row numbers in one order: single runs, several merged runs, and the sorting of numbers.

#![allow(
    clippy::indexing_slicing,
    reason = "blocks and nodes of the tree are counted together, and a merge numbers its own runs"
)]

pub(super) mod groups;
pub(super) mod merge;
pub(super) mod sort;
#[cfg(test)]
mod tests;

use std::ops::RangeInclusive;

use crate::invariant::Invariant;
use crate::store::index::capacity;

/// The number of a row.
pub(crate) type RowId = u32;

/// Maximum number of rows in a block. A block takes 2 KB, so that an insertion moves little and the list of blocks
/// stays short.
const MAX_BLOCK: usize = 512;

/// Rows by which the capacity of a block grows. Doubling would leave a third of it empty on average.
const BLOCK_GROWTH: usize = 32;

/// A sorted run: rows in some order, with selection by rank. It consists of a list of short blocks and a Fenwick tree
/// over their lengths.
///
/// A run knows only the prefix of a row's key, a number that never decreases along the run. Callers search with a
/// predicate that is true up to some row and false after it, and with the range of prefixes in which the change
/// lies.
#[derive(Clone, Debug, Default)]
pub(in crate::store::index) struct Run {
    blocks: Vec<Block>,
    tree: Vec<u32>,
    length: usize,
}

/// Consecutive rows, at least one.
#[derive(Clone, Debug)]
struct Block {
    rows: Vec<RowId>,
    /// The prefix of the last row: blocks are searched by it, without reading rows.
    last: u128,
}

impl Block {
    fn new(rows: Vec<RowId>, mut prefix_of: impl FnMut(RowId) -> u128) -> Self {
        let last = rows.last().map_or(0, |row| prefix_of(*row));
        Self { rows, last }
    }

    fn note_last(&mut self, prefix_of: impl Fn(RowId) -> u128) {
        self.last = self.rows.last().map_or(0, |row| prefix_of(*row));
    }
}

/// A place in a run: block and offset. The end of a run is offset 0 of the block after the last.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub(in crate::store::index) struct RunPosition {
    block: usize,
    offset: usize,
}

impl Run {
    /// Builds a run from rows in order. Its blocks are full, so that it takes no spare memory.
    pub(in crate::store::index) fn of_sorted(
        rows: &[RowId],
        mut prefix_of: impl FnMut(RowId) -> u128,
    ) -> Self {
        let blocks = rows.chunks(MAX_BLOCK).map(|rows| Block::new(rows.to_vec(), &mut prefix_of)).collect();
        let mut run = Self { blocks, tree: Vec::new(), length: rows.len() };
        run.rebuild_tree();
        run
    }

    /// Returns the rows whose prefixes [`of_sorted`](Self::of_sorted) asks for, in the same order.
    pub(in crate::store::index) fn ends_of_blocks(rows: &[RowId]) -> impl Iterator<Item = RowId> + '_ {
        rows.chunks(MAX_BLOCK).filter_map(|rows| rows.last().copied())
    }

    /// Returns a run of the same rows for another order. In that order all rows have this prefix.
    pub(in crate::store::index) fn with_prefix(&self, prefix: u128) -> Self {
        let mut run = self.clone();
        run.blocks.iter_mut().for_each(|block| block.last = prefix);
        run
    }

    pub(in crate::store::index) const fn len(&self) -> usize {
        self.length
    }

    /// Iterates over all rows.
    pub(in crate::store::index) fn rows(&self) -> impl Iterator<Item = RowId> + '_ {
        self.blocks.iter().flat_map(|block| &block.rows).copied()
    }

    /// Returns the rows of a block. There are none behind the last block, where the end of the run is.
    fn block_rows(&self, block: usize) -> &[RowId] {
        self.blocks.get(block).map_or(&[], |block| &block.rows)
    }

    /// Returns the place of a rank, or the end for a rank beyond it.
    pub(in crate::store::index) fn place(&self, rank: usize) -> RunPosition {
        if rank >= self.length {
            return self.end();
        }
        let mut block = 0;
        let mut offset = rank;
        let mut step = self.tree.len().next_power_of_two();
        while step > 0 {
            if let Some(count) = (block + step).checked_sub(1).and_then(|node| self.tree.get(node))
                && *count as usize <= offset
            {
                block += step;
                offset -= *count as usize;
            }
            step /= 2;
        }
        RunPosition { block, offset }
    }

    pub(in crate::store::index) fn rank(&self, place: RunPosition) -> usize {
        let mut rank = place.offset;
        let mut node = place.block;
        while node > 0 {
            rank += self.tree[node - 1] as usize;
            node &= node - 1;
        }
        rank
    }

    pub(in crate::store::index) const fn end(&self) -> RunPosition {
        RunPosition { block: self.blocks.len(), offset: 0 }
    }

    pub(in crate::store::index) fn at(&self, place: RunPosition) -> Option<RowId> {
        self.block_rows(place.block).get(place.offset).copied()
    }

    pub(in crate::store::index) fn next(&self, place: RunPosition) -> RunPosition {
        if place.offset + 1 < self.block_rows(place.block).len() {
            RunPosition { block: place.block, offset: place.offset + 1 }
        } else {
            RunPosition { block: (place.block + 1).min(self.blocks.len()), offset: 0 }
        }
    }

    pub(in crate::store::index) fn before(&self, place: RunPosition) -> Option<RunPosition> {
        if place.offset > 0 {
            return Some(RunPosition { block: place.block, offset: place.offset - 1 });
        }
        let block = place.block.checked_sub(1)?;
        Some(RunPosition { block, offset: self.block_rows(block).len().checked_sub(1)? })
    }

    /// Iterates over the rows from one place to another, which must not be before it.
    pub(in crate::store::index) fn between(
        &self,
        from: RunPosition,
        to: RunPosition,
    ) -> impl Iterator<Item = RowId> + '_ {
        self.slices_between(from, to).flatten().copied()
    }

    /// Iterates over the rows from one place to another, which must not be before it. The rows of a slice are adjacent
    /// in memory.
    pub(in crate::store::index) fn slices_between(
        &self,
        from: RunPosition,
        to: RunPosition,
    ) -> impl Iterator<Item = &[RowId]> {
        debug_assert!(from <= to, "{from:?} is behind {to:?}");
        let last = to.block.min(self.blocks.len().saturating_sub(1));
        (from.block..=last).map(move |block| {
            let rows = self.block_rows(block);
            let start = if block == from.block { from.offset } else { 0 };
            let end = if block == to.block { to.offset } else { rows.len() };
            rows.get(start..end).asserted_or_default()
        })
    }

    /// Returns the first place where `is_before` is false. The predicate must be true for all prefixes below the
    /// range and false for all above it.
    pub(in crate::store::index) fn partition_place(
        &self,
        prefixes: RangeInclusive<u128>,
        is_before: impl Fn(RowId) -> bool,
    ) -> RunPosition {
        self.partition_between(RunPosition::default(), self.end(), prefixes, is_before)
    }

    /// Does the same as [`partition_place`](Self::partition_place) between two places. The predicate must be true
    /// before the first place and false from the second on.
    pub(in crate::store::index) fn partition_between(
        &self,
        from: RunPosition,
        to: RunPosition,
        prefixes: RangeInclusive<u128>,
        is_before: impl Fn(RowId) -> bool,
    ) -> RunPosition {
        let whole = self.blocks.get(from.block..to.block).asserted_or_default();
        let smaller = whole.partition_point(|block| block.last < *prefixes.start());
        let alike = &whole[smaller..];
        let alike = &alike[..alike.partition_point(|block| block.last <= *prefixes.end())];
        let passed =
            smaller + alike.partition_point(|block| block.rows.last().is_some_and(|row| is_before(*row)));
        let block = from.block + passed;
        let begin = if passed == 0 { from.offset } else { 0 };
        let rows = self.block_rows(block);
        let end = if block == to.block { to.offset } else { rows.len() };
        let rows = rows.get(begin..end).asserted_or_default();
        RunPosition { block, offset: begin + rows.partition_point(|row| is_before(*row)) }
    }

    /// Inserts a row after all rows for which `is_before` is true.
    pub(in crate::store::index) fn insert(
        &mut self,
        row: RowId,
        prefix_of: impl Fn(RowId) -> u128,
        is_before: impl Fn(RowId) -> bool,
    ) {
        let prefix = prefix_of(row);
        let place = self.partition_place(prefix..=prefix, is_before);
        self.insert_at(place, row, prefix_of);
    }

    /// Inserts a row at a place.
    pub(in crate::store::index) fn insert_at(
        &mut self,
        mut place: RunPosition,
        row: RowId,
        prefix_of: impl Fn(RowId) -> u128,
    ) {
        let prefix = prefix_of(row);
        if place == self.end()
            && let Some(last) = self.blocks.len().checked_sub(1)
        {
            place = RunPosition { block: last, offset: self.block_rows(last).len() };
        }
        self.length += 1;
        let Some(block) = self.blocks.get_mut(place.block) else {
            return self.insert_block(0, Block { rows: vec![row], last: prefix });
        };
        if block.rows.len() < MAX_BLOCK {
            insert_tightly(&mut block.rows, place.offset, row);
            if place.offset + 1 == block.rows.len() {
                block.last = prefix;
            }
            self.count(place.block, 1);
            return;
        }
        // Appending leaves full blocks behind: rows that arrive in order, such as times, take no spare memory.
        let tail = if place.offset == block.rows.len() {
            vec![row]
        } else {
            let mut tail = block.rows.split_off(MAX_BLOCK / 2);
            capacity::shrink_to_fit(&mut block.rows);
            match place.offset.checked_sub(block.rows.len()) {
                Some(offset) => insert_tightly(&mut tail, offset, row),
                None => insert_tightly(&mut block.rows, place.offset, row),
            }
            tail
        };
        block.note_last(&prefix_of);
        self.insert_block(place.block + 1, Block::new(tail, prefix_of));
    }

    /// Inserts a block. Reserves little capacity, because most runs are short and there are many of them.
    fn insert_block(&mut self, place: usize, block: Block) {
        if self.blocks.len() == self.blocks.capacity() {
            self.blocks.reserve_exact(1 + self.blocks.len() / 8);
        }
        self.blocks.insert(place, block);
        self.rebuild_tree();
    }

    /// Removes a row, which must be at the first place where `is_before` is false. Does nothing if another row is
    /// there. Returns whether the row was there.
    pub(in crate::store::index) fn remove(
        &mut self,
        row: RowId,
        prefix_of: impl Fn(RowId) -> u128,
        is_before: impl Fn(RowId) -> bool,
    ) -> bool {
        let place = self.find(row, prefix_of(row), is_before);
        let follower = self.block_rows(place.block + 1).len();
        let Some(block) = self.blocks.get_mut(place.block) else { return false };
        if block.rows.get(place.offset) != Some(&row) {
            return false;
        }
        block.rows.remove(place.offset);
        self.length -= 1;
        let left = block.rows.len();
        if left == 0 {
            self.blocks.remove(place.block);
            self.rebuild_tree();
            return true;
        }
        if follower == 0 || left + follower > MAX_BLOCK / 2 {
            if place.offset == left {
                block.note_last(prefix_of);
            }
            self.count(place.block, -1);
            return true;
        }
        let follower = self.blocks.remove(place.block + 1);
        let block = &mut self.blocks[place.block];
        block.rows.extend(follower.rows);
        block.last = follower.last;
        self.rebuild_tree();
        true
    }

    /// Returns the place of the row if only one block can hold it. Otherwise returns the first place where
    /// `is_before` is false. Scanning a block for the number is cheaper than reading rows for comparison.
    fn find(&self, row: RowId, prefix: u128, is_before: impl Fn(RowId) -> bool) -> RunPosition {
        let block = self.blocks.partition_point(|block| block.last < prefix);
        let is_alone =
            self.blocks.get(block).is_some_and(|block| prefix < block.last) || block + 1 == self.blocks.len();
        let offset =
            if is_alone { self.block_rows(block).iter().position(|other| *other == row) } else { None };
        offset.map_or_else(
            || self.partition_place(prefix..=prefix, is_before),
            |offset| RunPosition { block, offset },
        )
    }

    fn count(&mut self, block: usize, change: i32) {
        let mut node = block + 1;
        while let Some(count) = self.tree.get_mut(node - 1) {
            *count = count.wrapping_add_signed(change);
            node += node & node.wrapping_neg();
        }
    }

    fn rebuild_tree(&mut self) {
        self.tree.clear();
        self.tree.extend(self.blocks.iter().map(|block| block.rows.len() as u32));
        for node in 1..=self.tree.len() {
            let parent = node + (node & node.wrapping_neg());
            let count = self.tree[node - 1];
            if let Some(total) = self.tree.get_mut(parent - 1) {
                *total += count;
            }
        }
    }
}

fn insert_tightly(rows: &mut Vec<RowId>, offset: usize, row: RowId) {
    if rows.len() == rows.capacity() {
        capacity::reserve_exact(rows, rows.len().clamp(1, BLOCK_GROWTH));
    }
    rows.insert(offset, row);
}
