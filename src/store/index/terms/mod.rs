//! The terms of records: posting lists, by which term filters find rows, and the packed form in a row.
//!
//! [`Postings`] holds the posting lists of one organization and one kind of record, so that a query never reads those of
//! another organization. They form one sequence, sorted by name, value and row, in [`Block`]s of a B-tree: a range of
//! values is a slice of the sequence, whatever the number of values in it. A block stores each of its values once, without
//! the beginning that it shares with the value before and without a frequent ending, and its rows as differences: an
//! address takes about 10 bytes, a further row of a frequent word one or two.
//!
//! A row holds its terms too, because other filters, snapshots and replacements ask for the terms of a row. There,
//! frequent values are replaced by their numbers in [`CommonValues`], and parts of the row's sort keys by their places.

mod block;
mod common;
mod packed;
mod rows;

use std::collections::BTreeMap;
use std::ops::Bound::{Excluded, Included, Unbounded};

use self::block::Block;
pub(super) use self::common::CommonValues;
pub(super) use self::packed::{pack_terms, terms_of};
use super::interner::NameId;
use super::run::RowId;
use crate::store::TermRange;

/// Below this number of postings for one block, inserting each takes less time than writing the block anew.
const FEW: usize = 4;

/// A place in the sequence of postings.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
struct Position {
    name: NameId,
    value: Box<[u8]>,
    row: RowId,
}

/// A posting: a value, and a row that has it.
pub(super) type Posting = (Box<[u8]>, RowId);

/// Posting lists: for each term, the numbers of the rows that have it, sorted.
#[derive(Debug, Default)]
pub(super) struct Postings {
    /// Each block under a position that is not after its first posting, and after all postings of the block before.
    /// The position of the first block of a name is the first position of the name.
    blocks: BTreeMap<Position, Block>,
}

/// The part of a sequence of postings that is to be read.
#[derive(Clone, Copy, Debug)]
pub(super) struct Section<'s> {
    pub(super) name: NameId,
    pub(super) range: &'s TermRange,
    /// The posting behind which the section begins; `None`: at the first posting of the range.
    pub(super) after: Option<&'s Posting>,
}

impl Postings {
    /// Inserts a posting unless it exists. Returns whether its value has just become common.
    pub(super) fn insert(&mut self, name: NameId, value: &[u8], row: RowId) -> bool {
        let position = Position { name, value: value.into(), row };
        let found = self.blocks.range_mut((Unbounded, Included(&position))).next_back();
        let Some((_, block)) = found.filter(|(start, _)| start.name == name) else {
            self.blocks.insert(Position { name, value: [].into(), row: 0 }, Block::of(value, row));
            return false;
        };
        let rows = block.insert(value, row);
        if block.is_full() {
            let (value, row, rest) = block.split(value, row);
            self.blocks.insert(Position { name, value, row }, rest);
        }
        rows == common::COMMON
    }

    /// Inserts postings of a name, which must be sorted. Values that become common are appended to `common`.
    pub(super) fn insert_sorted(
        &mut self,
        name: NameId,
        mut postings: &[(&[u8], RowId)],
        common: &mut Vec<Vec<u8>>,
    ) {
        while let Some((value, row)) = postings.first() {
            let position = Position { name, value: (*value).into(), row: *row };
            let next = self.blocks.range((Excluded(&position), Unbounded)).next();
            let next = next.filter(|(next, _)| next.name == name).map(|(next, _)| next);
            let is_before = |(value, row): &(&[u8], RowId)| {
                next.is_none_or(|next| (*value, *row) < (&*next.value, next.row))
            };
            let count = postings.partition_point(is_before);
            let (now, later) = postings.split_at_checked(count).unwrap_or_default();
            postings = later;
            if now.len() < FEW {
                let became_common = now.iter().filter(|(value, row)| self.insert(name, value, *row));
                common.extend(became_common.map(|(value, _)| value.to_vec()));
                continue;
            }
            let found = self.blocks.range_mut((Unbounded, Included(&position))).next_back();
            let following = match found.filter(|(start, _)| start.name == name) {
                Some((_, block)) => block.insert_sorted(now, common),
                None => {
                    let first = Position { name, value: [].into(), row: 0 };
                    self.blocks.entry(first).or_default().insert_sorted(now, common)
                }
            };
            let following =
                following.into_iter().map(|((value, row), block)| (Position { name, value, row }, block));
            self.blocks.extend(following);
        }
    }

    pub(super) fn remove(&mut self, name: NameId, value: &[u8], row: RowId) {
        let position = Position { name, value: value.into(), row };
        let found = self.blocks.range_mut((Unbounded, Included(&position))).next_back();
        let Some((start, block)) = found.filter(|(start, _)| start.name == name) else { return };
        block.remove(value, row);
        if block.is_small() {
            let start = start.clone();
            self.merge(&start);
        }
    }

    /// Appends the next block of the name to a small block, if both fit into one, and removes a block that is empty.
    fn merge(&mut self, start: &Position) {
        let Some(block) = self.blocks.get(start) else { return };
        let next = self.blocks.range((Excluded(start), Unbounded)).next();
        let next = next.filter(|(position, next)| position.name == start.name && block.has_room_for(next));
        let next = next.map(|(position, _)| position.clone());
        let is_empty = block.is_empty();
        match next.and_then(|next| self.blocks.remove(&next)) {
            Some(next) => {
                if let Some(block) = self.blocks.get_mut(start) {
                    block.append(&next);
                }
            }
            None if is_empty => {
                self.blocks.remove(start);
            }
            None => {}
        }
    }

    /// Counts the postings in a range, up to about `most`: a row once for each of its values in the range.
    pub(super) fn count(&self, name: NameId, range: &TermRange, most: usize) -> usize {
        let mut blocks = self.blocks_of(Section { name, range, after: None }).peekable();
        let mut is_first = true;
        let mut count = 0;
        while let Some(block) = blocks.next().filter(|_| count < most) {
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
        most: usize,
        mut visit: impl FnMut(&[RowId]),
    ) -> Option<Posting> {
        let mut left = most;
        let mut last = None;
        let mut blocks = self.blocks_of(section).peekable();
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
                let slice = rows.get(..left.min(rows.len())).unwrap_or_default();
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

    /// Iterates over the blocks that may have postings of a section.
    fn blocks_of<'s>(
        &'s self,
        Section { name, range, after }: Section<'s>,
    ) -> impl Iterator<Item = &'s Block> {
        let (value, row) = after.map_or((range.from.as_slice(), 0), |(value, row)| (value, *row));
        let first = Position { name, value: value.into(), row };
        let before = self.blocks.range((Unbounded, Included(&first))).next_back();
        let before = before.filter(|(start, _)| start.name == name);
        let is_inside = move |start: &Position| {
            start.name == name && range.to.as_deref().is_none_or(|to| *start.value < *to)
        };
        let following = self.blocks.range((Excluded(&first), Unbounded));
        let following = following.take_while(move |(start, _)| is_inside(start));
        before.into_iter().chain(following).map(|(_, block)| block)
    }
}

/// Sorts ranges, joins those that overlap, and removes those that contain nothing.
pub(super) fn joined(ranges: &[TermRange]) -> Vec<TermRange> {
    let is_empty = |range: &TermRange| range.to.as_ref().is_some_and(|to| *to <= range.from);
    let mut ranges: Vec<TermRange> = ranges.iter().filter(|range| !is_empty(range)).cloned().collect();
    ranges.sort_unstable();
    ranges.dedup_by(|next, former| {
        let overlaps = former.to.as_ref().is_none_or(|to| next.from <= *to);
        if overlaps && former.to.is_some() && next.to.as_ref().is_none_or(|to| Some(to) > former.to.as_ref())
        {
            former.to = next.to.take();
        }
        overlaps
    });
    ranges
}

/// Returns whether one of the ranges, which must be [`joined`], contains a value.
pub(super) fn contain(ranges: &[TermRange], value: &[u8]) -> bool {
    let before = ranges.partition_point(|range| range.from.as_slice() <= value);
    before.checked_sub(1).and_then(|place| ranges.get(place)).is_some_and(|range| range.contains(value))
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;

    /// Values with shared beginnings, zeros, and all lengths up to 64 bytes.
    fn value(random: &mut fastrand::Rng) -> Vec<u8> {
        let mut value = random.choice([&b""[..], b"a", b"a\0", b"\xff", b"port"]).unwrap().to_vec();
        match random.u8(..4) {
            0 => {}
            1 => value.extend(random.u16(..300).to_be_bytes()),
            2 => {
                value.extend(random.u16(..300).to_be_bytes());
                value.extend_from_slice(random.choice([&b".example.net"[..], b".example.org"]).unwrap());
            }
            _ => value.resize(random.usize(value.len()..=64), random.u8(..4)),
        }
        value
    }

    fn range(random: &mut fastrand::Rng) -> TermRange {
        match random.u8(..4) {
            0 => TermRange::exact(value(random)),
            1 => TermRange::prefix(value(random)),
            2 => TermRange::between(value(random), value(random)),
            _ => TermRange::new(value(random), None),
        }
    }

    type Model = BTreeSet<(NameId, Vec<u8>, RowId)>;

    fn expected(model: &Model, name: NameId, range: &TermRange) -> Vec<RowId> {
        let within = model.iter().filter(|(of, value, _)| *of == name && range.contains(value));
        within.map(|(.., row)| *row).collect()
    }

    /// Reads a range in sections of this many postings.
    fn rows(postings: &Postings, name: NameId, range: &TermRange, most: usize) -> Vec<RowId> {
        let (mut rows, mut after) = (Vec::new(), None);
        loop {
            let before = rows.len();
            let section = Section { name, range, after: after.as_ref() };
            after = postings.read(section, most, |slice| rows.extend_from_slice(slice));
            assert!(rows.len() - before <= most);
            if after.is_none() {
                return rows;
            }
        }
    }

    fn assert_same(postings: &Postings, model: &Model, random: &mut fastrand::Rng) {
        for _ in 0..20 {
            let (name, range, most) = (random.u16(..4), range(random), random.usize(1..900));
            let expected = expected(model, name, &range);
            assert_eq!(rows(postings, name, &range, most), expected, "{name} {range:?}");
            assert_eq!(postings.count(name, &range, usize::MAX), expected.len(), "{name} {range:?}");
            assert!(postings.count(name, &range, most) >= expected.len().min(most));
        }
    }

    #[test]
    fn postings_agree_with_a_sorted_set_through_random_insertions_and_removals() {
        let mut random = fastrand::Rng::with_seed(7);
        let (mut postings, mut model) = (Postings::default(), Model::new());
        for step in 0..24_000 {
            // Grows in the first half and shrinks in the second, so that blocks split and merge.
            let grow = random.u8(..10) < if step < 12_000 { 9 } else { 1 };
            let posting = if grow || model.is_empty() || random.u8(..10) == 0 {
                (random.u16(..3), value(&mut random), random.u32(..4_000))
            } else {
                let from = (random.u16(..3), value(&mut random), random.u32(..4_000));
                model.range(from..).next().or(model.first()).unwrap().clone()
            };
            if grow {
                postings.insert(posting.0, &posting.1, posting.2);
                model.insert(posting);
            } else {
                postings.remove(posting.0, &posting.1, posting.2);
                model.remove(&posting);
            }
            if step % 800 == 7 && step < 12_000 {
                insert_sorted(&mut postings, &mut model, &mut random);
            }
            if step % 1_999 == 0 {
                assert_same(&postings, &model, &mut random);
            }
        }
        for (name, value, row) in model {
            postings.remove(name, &value, row);
        }
        assert!(postings.blocks.is_empty());
    }

    /// Inserts a batch, in which rows of some values are frequent.
    fn insert_sorted(postings: &mut Postings, model: &mut Model, random: &mut fastrand::Rng) {
        let (name, count, frequent) = (random.u16(..4), random.usize(1..4_000), value(random));
        let value = |random: &mut fastrand::Rng| if random.bool() { frequent.clone() } else { value(random) };
        let batch: BTreeSet<_> = (0..count).map(|_| (value(random), random.u32(..40_000))).collect();
        let sorted: Vec<_> = batch.iter().map(|(value, row)| (value.as_slice(), *row)).collect();
        let mut common = Vec::new();
        postings.insert_sorted(name, &sorted, &mut common);
        model.extend(batch.into_iter().map(|(value, row)| (name, value, row)));
        let rows_of = |value| expected(model, name, &TermRange::exact(value)).len();
        assert!(common.into_iter().all(|value| rows_of(value) >= common::COMMON));
    }

    #[test]
    fn sorted_postings_fill_their_blocks_and_number_common_values() {
        let (mut postings, mut common) = (Postings::default(), Vec::new());
        for batch in 0..50 {
            let values: Vec<[u8; 4]> =
                (0..1_000_u32).map(|n| (n.wrapping_mul(2_654_435_761)).to_be_bytes()).collect();
            let rows = |value| (0..20).map(move |row| (value, batch * 20 + row));
            let mut sorted: Vec<(&[u8], RowId)> =
                values.iter().flat_map(|value| rows(value.as_slice())).collect();
            sorted.sort_unstable();
            postings.insert_sorted(1, &sorted, &mut common);
        }
        common.sort_unstable();
        common.dedup();
        assert_eq!(common.len(), 1_000);
        assert!(postings.blocks.len() < 1_000_000 / 600, "{}", postings.blocks.len());
    }

    #[test]
    fn postings_that_arrive_in_order_fill_their_blocks() {
        let mut postings = Postings::default();
        (0..100_000).for_each(|row| _ = postings.insert(1, b"frequent", row));
        let fullest = postings.blocks.values().map(Block::len).max().unwrap();
        assert!(postings.blocks.len() <= 100_000_usize.div_ceil(fullest));
    }

    #[test]
    fn joined_ranges_contain_what_one_of_them_contains() {
        let mut random = fastrand::Rng::with_seed(3);
        for _ in 0..3_000 {
            let ranges: Vec<TermRange> = (0..random.usize(..6)).map(|_| range(&mut random)).collect();
            let joined = joined(&ranges);
            let is_apart = |pair: &[TermRange]| pair[0].to.as_ref().is_some_and(|to| *to < pair[1].from);
            assert!(joined.windows(2).all(is_apart), "{joined:?}");
            for _ in 0..20 {
                let value = value(&mut random);
                let is_in_one = ranges.iter().any(|range| range.contains(&value));
                assert_eq!(contain(&joined, &value), is_in_one, "{value:?} {ranges:?}");
            }
        }
    }
}
