//! The postings of one name.

use std::collections::BTreeMap;
use std::ops::Bound::{Excluded, Included, Unbounded};

use super::block::PostingBlock;
use super::{Posting, Section};
use crate::invariant::Invariant;
use crate::store::TermRange;
use crate::store::index::rows::common_values::COMMON_FROM;
use crate::store::index::run::RowId;
use crate::store::index::run::sort::prefix;

/// Number of postings below which they are inserted into a block one by one. For so few, this takes less time than
/// writing the block anew.
const MAX_SINGLE_INSERTS: usize = 4;

/// A place in a sequence of postings, in the order of values and rows.
///
/// The prefix decides most comparisons, and most values end with it, so that nothing is read elsewhere in memory.
#[derive(Clone, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
struct Position {
    prefix: u128,
    /// The bytes of the value after the prefix.
    rest: Box<[u8]>,
    /// Length of the value. It distinguishes a short value from one that continues with zeros.
    length: u8,
    row: RowId,
}

impl Position {
    fn of(value: &[u8], row: RowId) -> Self {
        Self { prefix: prefix(value), rest: rest(value).into(), length: value.len() as u8, row }
    }

    /// Returns whether the position is after a posting. It compares without an allocation for a long value.
    fn is_after(&self, value: &[u8], row: RowId) -> bool {
        let other = (prefix(value), rest(value), value.len() as u8, row);
        other < (self.prefix, &*self.rest, self.length, self.row)
    }
}

/// Returns the bytes of a value after its prefix. A short value has none.
fn rest(value: &[u8]) -> &[u8] {
    value.get(size_of::<u128>()..).unwrap_or(&[])
}

/// The postings of one name, sorted by value and row.
#[derive(Debug, Default)]
pub(in crate::store::index) struct Sequence {
    /// The blocks by position. The position of a block is not after its first posting, but after all postings of the
    /// block before. The position of the first block is the smallest possible one.
    blocks: BTreeMap<Position, PostingBlock>,
}

impl Sequence {
    pub(super) fn is_empty(&self) -> bool {
        self.blocks.is_empty()
    }

    /// Estimates the memory of the postings, in bytes. Of a single block, which may have any length, it is exact.
    pub(super) fn bytes(&self) -> usize {
        let each = size_of::<Position>() + size_of::<PostingBlock>();
        match self.blocks.len() {
            1 => self.blocks.values().map(PostingBlock::bytes).sum::<usize>() + each,
            blocks => blocks * (each + PostingBlock::USUAL_BYTES),
        }
    }

    /// Inserts a posting unless it exists. Returns whether its value has just become common.
    pub(super) fn insert(&mut self, value: &[u8], row: RowId) -> bool {
        let position = Position::of(value, row);
        let Some((_, block)) = self.blocks.range_mut((Unbounded, Included(&position))).next_back() else {
            self.blocks.insert(Position::default(), PostingBlock::of(value, row));
            return false;
        };
        let rows = block.insert(value, row);
        if block.is_full() {
            let (value, row, rest) = block.split(value, row);
            self.blocks.insert(Position::of(&value, row), rest);
        }
        rows == COMMON_FROM
    }

    /// Inserts postings, which must be sorted. Values that become common are appended to `common`.
    pub(in crate::store::index) fn insert_sorted(
        &mut self,
        mut postings: &[(&[u8], RowId)],
        common: &mut Vec<Vec<u8>>,
    ) {
        debug_assert!(postings.is_sorted(), "postings are inserted by value and row");
        while let Some((value, row)) = postings.first() {
            let position = Position::of(value, *row);
            let next = self.blocks.range((Excluded(&position), Unbounded)).next().map(|(next, _)| next);
            let is_before =
                |(value, row): &(&[u8], RowId)| next.is_none_or(|next| next.is_after(value, *row));
            let count = postings.partition_point(is_before);
            let (now, later) = postings.split_at(count);
            postings = later;
            if now.len() < MAX_SINGLE_INSERTS {
                let became_common = now.iter().filter(|(value, row)| self.insert(value, *row));
                common.extend(became_common.map(|(value, _)| value.to_vec()));
                continue;
            }
            let following = match self.blocks.range_mut((Unbounded, Included(&position))).next_back() {
                Some((_, block)) => block.insert_sorted(now, common),
                None => self.blocks.entry(Position::default()).or_default().insert_sorted(now, common),
            };
            let following =
                following.into_iter().map(|((value, row), block)| (Position::of(&value, row), block));
            self.blocks.extend(following);
        }
    }

    /// Removes a posting. Returns whether it existed.
    pub(super) fn remove(&mut self, value: &[u8], row: RowId) -> bool {
        let position = Position::of(value, row);
        let found = self.blocks.range_mut((Unbounded, Included(&position))).next_back();
        let Some((start, block)) = found else { return false };
        let existed = block.remove(value, row);
        if block.is_small() {
            let start = start.clone();
            self.merge(&start);
        }
        existed
    }

    /// Appends the next block to a small block, if both fit into one. Otherwise removes the block if it is empty.
    fn merge(&mut self, start: &Position) {
        let Some(block) = self.blocks.get(start).asserted() else { return };
        let next = self.blocks.range((Excluded(start), Unbounded)).next();
        let next = next.filter(|(_, next)| block.has_room_for(next)).map(|(position, _)| position.clone());
        let is_empty = block.is_empty();
        match next.and_then(|next| self.blocks.remove(&next)) {
            Some(next) => {
                if let Some(block) = self.blocks.get_mut(start).asserted() {
                    block.append(&next);
                }
            }
            None if is_empty => {
                self.blocks.remove(start);
            }
            None => {}
        }
    }

    /// Counts the postings in a range, up to about `max`. A row counts once for each of its values in the range.
    pub(super) fn count(&self, range: &TermRange, max: usize) -> usize {
        let mut blocks = self.blocks_of(range, None).peekable();
        let mut is_first = true;
        let mut count = 0;
        while let Some(block) = blocks.next().filter(|_| count < max) {
            // Only the first and the last block have postings outside the range.
            let is_inside = !is_first && blocks.peek().is_some();
            count += if is_inside { block.len() } else { block.count(range) };
            is_first = false;
        }
        count
    }

    /// Visits the rows of a section, at most this many, in slices. Returns the last posting if others may follow.
    pub(super) fn read(
        &self,
        section: Section<'_>,
        max: usize,
        mut visit: impl FnMut(&[RowId]),
    ) -> Option<Posting> {
        let mut left = max;
        let mut last = None;
        let mut blocks = self.blocks_of(section.range, section.after).peekable();
        let mut is_first = true;
        while let Some(block) = blocks.next() {
            // Only the first and the last block have postings outside the section.
            let is_inside = !std::mem::take(&mut is_first) && blocks.peek().is_some();
            if is_inside && block.len() < left {
                block.visit_all(&mut visit);
                left -= block.len();
                continue;
            }
            let goes_on = block.visit(section.range, section.after, |value, rows| {
                let slice = &rows[..left.min(rows.len())];
                visit(slice);
                left -= slice.len();
                if left == 0 {
                    last = slice.last().map(|row| (value.into(), *row));
                }
                left > 0
            });
            if !goes_on {
                break;
            }
        }
        last
    }

    /// Iterates over the blocks that may have postings of a range behind a posting.
    fn blocks_of<'s>(
        &'s self,
        range: &'s TermRange,
        after: Option<&Posting>,
    ) -> impl Iterator<Item = &'s PostingBlock> {
        let (value, row) = after.map_or((range.from.as_slice(), 0), |(value, row)| (value, *row));
        let first = Position::of(value, row);
        let before = self.blocks.range((Unbounded, Included(&first))).next_back();
        let following = self.blocks.range((Excluded(&first), Unbounded));
        let end = range.to.as_deref().map(|to| Position::of(to, 0));
        let is_inside = move |start: &Position| end.as_ref().is_none_or(|end| start < end);
        let following = following.take_while(move |(start, _)| is_inside(start));
        before.into_iter().chain(following).map(|(_, block)| block)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sorted_postings_fill_their_blocks_and_number_common_values() {
        let (mut sequence, mut common) = (Sequence::default(), Vec::new());
        for batch in 0..50 {
            let values: Vec<[u8; 4]> =
                (0..1_000_u32).map(|n| (n.wrapping_mul(2_654_435_761)).to_be_bytes()).collect();
            let rows = |value| (0..20).map(move |row| (value, batch * 20 + row));
            let mut sorted: Vec<(&[u8], RowId)> =
                values.iter().flat_map(|value| rows(value.as_slice())).collect();
            sorted.sort_unstable();
            sequence.insert_sorted(&sorted, &mut common);
        }
        common.sort_unstable();
        common.dedup();
        assert_eq!(common.len(), 1_000);
        assert!(sequence.blocks.len() < 1_000_000 / 600, "{}", sequence.blocks.len());
    }

    #[test]
    fn postings_that_arrive_in_order_fill_their_blocks() {
        let mut sequence = Sequence::default();
        (0..100_000).for_each(|row| _ = sequence.insert(b"frequent", row));
        let fullest = sequence.blocks.values().map(PostingBlock::len).max().unwrap();
        assert!(sequence.blocks.len() <= 100_000_usize.div_ceil(fullest));
    }

    #[test]
    fn rows_of_one_value_in_many_blocks_agree_with_a_set_through_random_changes() {
        let mut random = fastrand::Rng::with_seed(17);
        for value in [&[0_u8][..], &[], b"a longer value"] {
            let (mut sequence, mut model) = (Sequence::default(), std::collections::BTreeSet::new());
            for step in 0..60_000_u32 {
                let grows = step / 10_000 % 2 == 0;
                let row = random.u32(..12_000);
                if random.u8(..10) < if grows { 8 } else { 2 } {
                    if model.insert(row) {
                        sequence.insert(value, row);
                    }
                } else {
                    assert_eq!(sequence.remove(value, row), model.remove(&row));
                }
            }
        }
    }

    #[test]
    fn few_values_with_common_endings_agree_with_a_set_through_random_changes() {
        let mut random = fastrand::Rng::with_seed(19);
        let values: [&[u8]; 5] = [b"a.0000", b"b.0000", &[0], b"everyone", b"network.0000000000000000"];
        let (mut sequence, mut model) = (Sequence::default(), std::collections::BTreeSet::new());
        for step in 0..200_000_u32 {
            let grows = step / 25_000 % 2 == 0;
            let (value, row) = (values[random.usize(..5)], random.u32(..8_000));
            if random.u8(..10) < if grows { 8 } else { 2 } {
                sequence.insert(value, row);
                model.insert((value, row));
            } else {
                assert_eq!(sequence.remove(value, row), model.remove(&(value, row)));
            }
        }
    }
}
