//! Sorting numbers by keys that are byte strings.
//!
//! The beginnings of keys decide most comparisons without reading the keys.

use std::cmp::Ordering;

/// Bytes of a key that are kept beside its number.
const PREFIX: usize = 16;

/// Depth at which whole keys are compared, in bytes. It keeps long equal keys from deepening the recursion.
const MAX_DEPTH: usize = 16 * PREFIX;

/// A number to be sorted, with a part of its key. The part decides nearly every comparison without reading the key.
#[derive(Clone, Copy, Debug)]
struct Sorting {
    high: u64,
    low: u64,
    /// Length of the rest of the key, at most one more than [`PREFIX`].
    length: u32,
    number: u32,
}

impl Sorting {
    /// Creates the entry of a number. `rest` is the part of the key that was not compared yet.
    fn new(number: u32, rest: &[u8]) -> Self {
        let prefix = prefix(rest);
        let length = rest.len().min(PREFIX + 1) as u32;
        Self { high: (prefix >> 64) as u64, low: prefix as u64, length, number }
    }

    /// Returns values that order a key before its continuations. The length is needed because a key that ends reads
    /// as if zeros followed.
    const fn order(&self) -> (u64, u64, u32, u32) {
        (self.high, self.low, self.length, self.number)
    }

    /// Returns whether only later bytes of the keys can order the two.
    const fn goes_on_like(&self, other: &Self) -> bool {
        let long = PREFIX as u32 + 1;
        self.length == long && other.length == long && self.high == other.high && self.low == other.low
    }
}

/// Sorts numbers by their keys, and by number among equal keys.
pub(in crate::store::index) fn sorted<'k>(
    numbers: impl Iterator<Item = u32>,
    key_of: impl Fn(u32) -> &'k [u8],
) -> Vec<u32> {
    let mut all: Vec<Sorting> = numbers.map(|number| Sorting::new(number, key_of(number))).collect();
    sort_from(&mut all, 0, &key_of);
    all.iter().map(|sorting| sorting.number).collect()
}

/// Sorts numbers whose keys are equal up to `offset` by the bytes from there on.
fn sort_from<'k>(all: &mut [Sorting], offset: usize, key_of: &impl Fn(u32) -> &'k [u8]) {
    all.sort_unstable_by_key(Sorting::order);
    let offset = offset + PREFIX;
    let alike = all.chunk_by_mut(Sorting::goes_on_like).filter(|alike| alike.len() > 1);
    for alike in alike {
        if offset >= MAX_DEPTH {
            alike.sort_unstable_by(|left, right| compare(left.number, right.number, key_of));
            continue;
        }
        for sorting in alike.iter_mut() {
            let rest = &key_of(sorting.number)[offset..];
            *sorting = Sorting::new(sorting.number, rest);
        }
        sort_from(alike, offset, key_of);
    }
}

fn compare<'k>(left: u32, right: u32, key_of: &impl Fn(u32) -> &'k [u8]) -> Ordering {
    key_of(left).cmp(key_of(right)).then(left.cmp(&right))
}

/// Returns the beginning of a key as a number in the same order. A short key reads as if zeros followed.
pub(in crate::store::index) fn prefix(key: &[u8]) -> u128 {
    match key.first_chunk() {
        Some(bytes) => u128::from_be_bytes(*bytes),
        None => key.iter().rev().fold(0, |prefix, byte| prefix >> 8 | u128::from(*byte) << 120),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn assert_sorted(keys: &[Vec<u8>]) {
        let mut expected: Vec<u32> = (0..keys.len() as u32).collect();
        expected.sort_by_key(|number| &keys[*number as usize]);
        let numbers = (0..keys.len() as u32).rev();
        assert_eq!(sorted(numbers, |number| &keys[number as usize]), expected);
    }

    #[test]
    fn prefix_sorts_before_the_keys_that_extend_it_even_with_zeros() {
        let longest = [0; 3 * PREFIX];
        let zeros = (0..longest.len()).map(|length| longest[..length].to_vec());
        let ones = (0..longest.len()).map(|length| [&longest[..length], &[1]].concat());
        assert_sorted(&zeros.chain(ones).rev().collect::<Vec<_>>());
    }

    #[test]
    fn keys_that_differ_late_or_not_at_all_are_sorted() {
        let mut keys = Vec::new();
        for length in [0, 1, 15, 16, 17, 31, 32, 33, 255, 256, 257, 300, 1_000] {
            let beginning = vec![7; length];
            for end in [&[][..], &[0], &[1], &[0, 0], &[255; 20], &[]] {
                keys.push([&beginning, end].concat());
            }
        }
        keys.reverse();
        assert_sorted(&keys);
    }

    /// Unlimited recursion over equal keys would overflow the stack.
    #[test]
    fn long_equal_keys_are_sorted_without_deep_recursion() {
        let mut greatest = vec![7; 4_000_000];
        let key = greatest.clone();
        greatest.push(0);
        assert_sorted(&[greatest, key.clone(), key]);
    }

    #[test]
    fn empty_list_and_single_key_are_sorted() {
        assert_sorted(&[]);
        assert_sorted(&[b"alone".to_vec()]);
    }
}
