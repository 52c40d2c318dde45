//! The terms of records: posting lists, and the packed form in a row. Term filters find rows by posting lists.
//!
//! [`Postings`] holds the posting lists of one organization and one kind of record, so that a query never reads the
//! postings of another organization. The postings of one name form a [`Sequence`], sorted by value and row, in blocks
//! of a B-tree: a range of values is a slice of the sequence, whatever the number of values in it. A block stores
//! each of its values once, without the beginning that it shares with the value before and without a frequent ending,
//! and its rows as differences: an address takes about 10 bytes, a further row of a frequent word one or two.
//!
//! A row holds its terms too, because other filters, snapshots and replacements ask for the terms of a row. There,
//! frequent values are replaced by their numbers in [`CommonValues`](super::rows::common_values::CommonValues), and
//! parts of the row's sort keys by their places.

#![allow(
    clippy::indexing_slicing,
    reason = "places in a sequence or a block are found by searching it, and lengths are those that were written"
)]

mod awaited;
mod block;
mod packed;
mod rows;
mod sequence;

pub(super) use self::awaited::AwaitedRanges;
pub(super) use self::packed::{pack_terms, terms_of};
pub(super) use self::sequence::Sequence;
use super::interner::NameId;
use super::run::RowId;
use crate::store::TermRange;

/// A posting: a value, and a row that has it.
pub(super) type Posting = (Box<[u8]>, RowId);

/// Posting lists: for each term, the numbers of the rows that have it, sorted.
#[derive(Debug, Default)]
pub(super) struct Postings {
    /// A sequence for each name that any row has, sorted by name.
    sequences: Vec<(NameId, Sequence)>,
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
        self.sequence_mut(name).insert(value, row)
    }

    /// Removes a posting. Returns whether it existed.
    pub(super) fn remove(&mut self, name: NameId, value: &[u8], row: RowId) -> bool {
        let Ok(place) = self.place(name) else { return false };
        let (_, sequence) = &mut self.sequences[place];
        let existed = sequence.remove(value, row);
        if sequence.is_empty() {
            self.sequences.remove(place);
        }
        existed
    }

    /// Estimates the memory of the postings, in bytes.
    pub(super) fn bytes(&self) -> usize {
        self.sequences.iter().map(|(_, sequence)| sequence.bytes()).sum()
    }

    /// Counts the postings in a range, up to about `max`. A row counts once for each of its values in the range.
    pub(super) fn count(&self, name: NameId, range: &TermRange, max: usize) -> usize {
        self.sequence(name).map_or(0, |sequence| sequence.count(range, max))
    }

    /// Visits the rows of a section, at most this many, in slices. Returns the last posting if others may follow.
    pub(super) fn read(
        &self,
        section: Section<'_>,
        max: usize,
        visit: impl FnMut(&[RowId]),
    ) -> Option<Posting> {
        self.sequence(section.name)?.read(section, max, visit)
    }

    /// Takes out the sequence of a name, empty if there is none yet.
    pub(super) fn take(&mut self, name: NameId) -> Sequence {
        std::mem::take(self.sequence_mut(name))
    }

    /// Puts a sequence back that was taken out.
    pub(super) fn put(&mut self, name: NameId, sequence: Sequence) {
        *self.sequence_mut(name) = sequence;
    }

    fn place(&self, name: NameId) -> Result<usize, usize> {
        self.sequences.binary_search_by_key(&name, |(name, _)| *name)
    }

    fn sequence(&self, name: NameId) -> Option<&Sequence> {
        self.place(name).ok().map(|place| &self.sequences[place].1)
    }

    /// Returns the sequence of a name, which is created if there is none.
    fn sequence_mut(&mut self, name: NameId) -> &mut Sequence {
        let place = self.place(name).unwrap_or_else(|place| {
            self.sequences.insert(place, (name, Sequence::default()));
            place
        });
        &mut self.sequences[place].1
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

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;
    use crate::store::index::rows::common_values::COMMON_FROM;

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
    fn rows(postings: &Postings, name: NameId, range: &TermRange, max: usize) -> Vec<RowId> {
        let (mut rows, mut after) = (Vec::new(), None);
        loop {
            let before = rows.len();
            let section = Section { name, range, after: after.as_ref() };
            after = postings.read(section, max, |slice| rows.extend_from_slice(slice));
            assert!(rows.len() - before <= max);
            if after.is_none() {
                return rows;
            }
        }
    }

    fn assert_same(postings: &Postings, model: &Model, random: &mut fastrand::Rng) {
        for _ in 0..20 {
            let (name, range, max) = (random.u16(..4), range(random), random.usize(1..900));
            let expected = expected(model, name, &range);
            assert_eq!(rows(postings, name, &range, max), expected, "{name} {range:?}");
            assert_eq!(postings.count(name, &range, usize::MAX), expected.len(), "{name} {range:?}");
            assert!(postings.count(name, &range, max) >= expected.len().min(max));
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
                let existed = postings.remove(posting.0, &posting.1, posting.2);
                assert_eq!(existed, model.remove(&posting));
            }
            if step % 800 == 7 && step < 12_000 {
                insert_sorted(&mut postings, &mut model, &mut random);
            }
            if step % 1_999 == 0 {
                assert_same(&postings, &model, &mut random);
            }
        }
        for (name, value, row) in model {
            assert!(postings.remove(name, &value, row));
        }
        assert!(postings.sequences.is_empty());
    }

    /// Inserts a batch, in which rows of some values are frequent.
    fn insert_sorted(postings: &mut Postings, model: &mut Model, random: &mut fastrand::Rng) {
        let (name, count, frequent) = (random.u16(..4), random.usize(1..4_000), value(random));
        let value = |random: &mut fastrand::Rng| if random.bool() { frequent.clone() } else { value(random) };
        let batch: BTreeSet<_> = (0..count).map(|_| (value(random), random.u32(..40_000))).collect();
        let sorted: Vec<_> = batch.iter().map(|(value, row)| (value.as_slice(), *row)).collect();
        let mut common = Vec::new();
        let mut sequence = postings.take(name);
        sequence.insert_sorted(&sorted, &mut common);
        postings.put(name, sequence);
        model.extend(batch.into_iter().map(|(value, row)| (name, value, row)));
        let rows_of = |value| expected(model, name, &TermRange::exact(value)).len();
        assert!(common.into_iter().all(|value| rows_of(value) >= COMMON_FROM));
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
                let count = joined.iter().filter(|range| range.contains(&value)).count();
                let is_in_one = ranges.iter().any(|range| range.contains(&value));
                assert_eq!(count, usize::from(is_in_one), "{value:?} {ranges:?}");
            }
        }
    }

    #[test]
    fn filters_are_met_if_each_has_a_term_in_one_of_its_ranges() {
        let mut random = fastrand::Rng::with_seed(5);
        let mut met = 0;
        for _ in 0..20_000 {
            let terms: BTreeSet<(NameId, Vec<u8>)> =
                (0..random.usize(..40)).map(|_| (random.u16(..3), value(&mut random))).collect();
            let filters: Vec<(NameId, Vec<TermRange>)> = (0..random.usize(..6))
                .map(|_| {
                    let ranges: Vec<_> = (0..random.usize(..4)).map(|_| range(&mut random)).collect();
                    (random.u16(..3), joined(&ranges))
                })
                .collect();
            let has_term = |(name, ranges): &(NameId, Vec<TermRange>)| {
                let mut values = terms.iter().filter(|(of, _)| of == name).map(|(_, value)| value);
                values.any(|value| ranges.iter().any(|range| range.contains(value)))
            };
            let expected = filters.iter().all(has_term);
            let awaited = AwaitedRanges::new(filters.iter().map(|(name, ranges)| (*name, ranges.as_slice())));
            let sorted = terms.iter().map(|(name, value)| (*name, value.as_slice()));
            assert_eq!(awaited.are_met_by(sorted), expected, "{filters:?} {terms:?}");
            met += usize::from(expected && !filters.is_empty());
        }
        assert!(met > 1_000, "{met}");
    }
}
