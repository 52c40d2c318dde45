//! A sorted set of addresses that counts and finds gaps without looking at every element.

use std::ops::RangeInclusive;

/// The number of elements at which a chunk is split. A change moves at most this many.
const MAX_CHUNK: usize = 512;

/// A sorted set of numbers.
///
/// It consists of sorted chunks that do not overlap and are never empty. A change costs time in proportion to the length of a chunk,
/// a question in proportion to the number of chunks.
#[derive(Debug, Default)]
pub(super) struct RankedSet {
    chunks: Vec<Vec<u128>>,
}

impl RankedSet {
    /// Adds a number. Returns whether it was missing.
    pub(super) fn insert(&mut self, number: u128) -> bool {
        let place = self.chunk_of(number).min(self.chunks.len().saturating_sub(1));
        let Some(chunk) = self.chunks.get_mut(place) else {
            self.chunks.push(vec![number]);
            return true;
        };
        let Err(at) = chunk.binary_search(&number) else { return false };
        chunk.insert(at, number);
        if chunk.len() >= MAX_CHUNK {
            let upper = chunk.split_off(MAX_CHUNK / 2);
            self.chunks.insert(place + 1, upper);
        }
        true
    }

    /// Removes a number. Returns whether it was there.
    pub(super) fn remove(&mut self, number: u128) -> bool {
        let place = self.chunk_of(number);
        let Some(chunk) = self.chunks.get_mut(place) else { return false };
        let Ok(at) = chunk.binary_search(&number) else { return false };
        chunk.remove(at);
        if chunk.is_empty() {
            self.chunks.remove(place);
        }
        true
    }

    /// Counts the numbers in a range.
    pub(super) fn count(&self, range: &RangeInclusive<u128>) -> u64 {
        let (first, last) = (self.chunk_of(*range.start()), self.chunk_of(*range.end()));
        let within = |place: usize| self.chunks.get(place).map_or(0, |chunk| between(chunk, range).len());
        if first >= last {
            return within(first) as u64;
        }
        // The chunks between the first and the last one are within the range.
        let whole = self.chunks.get(first + 1..last).unwrap_or_default();
        (within(first) + whole.iter().map(Vec::len).sum::<usize>() + within(last)) as u64
    }

    /// Returns the numbers in a range, the lowest first.
    pub(super) fn range(&self, range: RangeInclusive<u128>) -> impl Iterator<Item = u128> + '_ {
        let chunks = self.chunks.get(self.chunk_of(*range.start())..).unwrap_or_default();
        let end = *range.end();
        let within = chunks.iter().take_while(move |chunk| chunk.first() <= Some(&end));
        within.flat_map(move |chunk| between(chunk, &range)).copied()
    }

    /// Returns the numbers in a range that are not in the set, the lowest first.
    pub(super) fn gaps(&self, range: RangeInclusive<u128>) -> Gaps<'_> {
        let place = self.chunk_of(*range.start());
        Gaps { set: self, range, place }
    }

    /// Returns the place of the first chunk whose last number is this one or a greater one.
    fn chunk_of(&self, number: u128) -> usize {
        self.chunks.partition_point(|chunk| chunk.last() < Some(&number))
    }
}

/// Returns the part of a sorted list that is in a range.
fn between<'l>(list: &'l [u128], range: &RangeInclusive<u128>) -> &'l [u128] {
    let from = list.partition_point(|number| number < range.start());
    let to = list.partition_point(|number| number <= range.end());
    list.get(from..to).unwrap_or_default()
}

/// The numbers of a range that are not in a set, the lowest first.
#[derive(Debug)]
pub(super) struct Gaps<'s> {
    set: &'s RankedSet,
    /// The numbers that were not looked at.
    range: RangeInclusive<u128>,
    /// The place of the first chunk that may have a number of the range.
    place: usize,
}

impl Iterator for Gaps<'_> {
    type Item = u128;

    fn next(&mut self) -> Option<u128> {
        while !self.range.is_empty() {
            let first = *self.range.start();
            let present = self.set.chunks.get(self.place).map_or(&[][..], |chunk| {
                let is_whole = chunk.first().is_some_and(|number| *number >= first);
                let from = if is_whole { 0 } else { chunk.partition_point(|number| *number < first) };
                chunk.get(from..).unwrap_or_default()
            });
            if present.first() != Some(&first) {
                return self.range.next();
            }
            // The present numbers have no gap as far as their distance is that of their places.
            let is_dense = |places: usize| {
                let last = places.checked_sub(1).and_then(|last| present.get(last));
                last.is_some_and(|last| last - first == places as u128 - 1)
            };
            let all = present.len();
            let run = if is_dense(all) { all } else { longest(all, is_dense) };
            if run == all {
                self.place += 1;
            }
            match first.checked_add(run as u128) {
                Some(next) => self.range = next..=*self.range.end(),
                None => return None,
            }
        }
        None
    }
}

/// Returns the greatest number up to `max` that is allowed. One is allowed, and so is each below one that is.
fn longest(max: usize, is_allowed: impl Fn(usize) -> bool) -> usize {
    let (mut allowed, mut refused) = (1, max + 1);
    while refused - allowed > 1 {
        let middle = usize::midpoint(allowed, refused);
        if is_allowed(middle) {
            allowed = middle;
        } else {
            refused = middle;
        }
    }
    allowed
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;

    /// A small generator of numbers (SplitMix64), so that the test is the same everywhere.
    struct Numbers(u64);

    impl Numbers {
        fn below(&mut self, end: u128) -> u128 {
            self.0 = self.0.wrapping_add(0x9E37_79B9_7F4A_7C15);
            let mut mixed = self.0;
            mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
            mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
            u128::from(mixed ^ (mixed >> 31)) % end
        }
    }

    fn check(set: &RankedSet, model: &BTreeSet<u128>, range: RangeInclusive<u128>) {
        let expected: Vec<u128> = model.range(range.clone()).copied().collect();
        assert_eq!(set.count(&range), expected.len() as u64);
        assert!(set.range(range.clone()).eq(expected));
        let gaps = range.clone().filter(|number| !model.contains(number)).take(20);
        assert!(set.gaps(range).take(20).eq(gaps));
    }

    #[test]
    fn set_equals_a_sorted_set_under_random_operations() {
        let asked = std::env::var("TOPOSCOPE_ADDRESS_OPERATIONS");
        let operations = asked.map_or(20_000, |number| number.parse().unwrap());
        for (seed, start, size) in [(1, 0, 3_000_u128), (2, u128::MAX - 2_999, 3_000), (3, 1 << 64, 100_000)]
        {
            let (mut numbers, mut set, mut model) = (Numbers(seed), RankedSet::default(), BTreeSet::new());
            for operation in 0..operations {
                // The set grows and shrinks in turn.
                let adds = numbers.below(10) < if operation % 8_000 < 4_000 { 8 } else { 3 };
                let number = start + numbers.below(size);
                if adds {
                    assert_eq!(set.insert(number), model.insert(number));
                } else {
                    assert_eq!(set.remove(number), model.remove(&number));
                }
                if operation % 250 == 0 {
                    let (from, to) = (start + numbers.below(size), start + numbers.below(size));
                    check(&set, &model, from.min(to)..=from.max(to));
                    check(&set, &model, start..=start + (size - 1));
                }
            }
        }
    }

    #[test]
    fn full_range_has_no_gap() {
        let mut set = RankedSet::default();
        (0..2_000).rev().for_each(|number| assert!(set.insert(u128::MAX - number)));
        assert_eq!(set.gaps(u128::MAX - 1_999..=u128::MAX).next(), None);
        assert!(set.remove(u128::MAX - 700));
        assert_eq!(set.gaps(u128::MAX - 1_999..=u128::MAX).next(), Some(u128::MAX - 700));
    }
}
