use std::cmp::Ordering;

/// How many bytes of a key stand beside its number.
const PREFIX: usize = 16;

/// Keys that are equal so far are compared as a whole, so that no key of any length makes the sort go deep.
const DEEP: usize = 16 * PREFIX;

/// A number on its way to its place, with as much of its key as decides nearly every comparison without a look at the key.
#[derive(Clone, Copy, Debug)]
struct Sorting {
    high: u64,
    low: u64,
    /// Of what is left of the key, one more than [`PREFIX`] for all that is longer.
    length: u32,
    number: u32,
}

impl Sorting {
    /// `rest` is what is left of the key.
    fn new(number: u32, rest: &[u8]) -> Self {
        let prefix = prefix(rest);
        let length = rest.len().min(PREFIX + 1) as u32;
        Self { high: (prefix >> 64) as u64, low: prefix as u64, length, number }
    }

    /// What ends goes before what goes on: a key that ends reads as if zeros followed.
    const fn order(&self) -> (u64, u64, u32, u32) {
        (self.high, self.low, self.length, self.number)
    }

    /// Whether the two can only be told apart by what follows in their keys.
    const fn goes_on_like(&self, other: &Self) -> bool {
        let long = PREFIX as u32 + 1;
        self.length == long && other.length == long && self.high == other.high && self.low == other.low
    }
}

/// The beginning of a key, as a number that is in order with those of other keys: what ends reads as if zeros followed.
pub(super) fn prefix(key: &[u8]) -> u128 {
    match key.first_chunk() {
        Some(bytes) => u128::from_be_bytes(*bytes),
        None => key.iter().rev().fold(0, |prefix, byte| prefix >> 8 | u128::from(*byte) << 120),
    }
}

/// Puts numbers into the order of their keys, what has one key by number.
pub(super) fn sorted<'k>(numbers: impl Iterator<Item = u32>, key_of: impl Fn(u32) -> &'k [u8]) -> Vec<u32> {
    let mut all: Vec<Sorting> = numbers.map(|number| Sorting::new(number, key_of(number))).collect();
    sort_from(&mut all, 0, &key_of);
    all.iter().map(|sorting| sorting.number).collect()
}

/// Sorts what has equal keys up to `offset` by what follows there.
fn sort_from<'k>(all: &mut [Sorting], offset: usize, key_of: &impl Fn(u32) -> &'k [u8]) {
    all.sort_unstable_by_key(Sorting::order);
    let offset = offset + PREFIX;
    let alike = all.chunk_by_mut(Sorting::goes_on_like).filter(|alike| alike.len() > 1);
    for alike in alike {
        if offset >= DEEP {
            alike.sort_unstable_by(|left, right| compare(left.number, right.number, key_of));
            continue;
        }
        for sorting in alike.iter_mut() {
            let rest = key_of(sorting.number).get(offset..).unwrap_or_default();
            *sorting = Sorting::new(sorting.number, rest);
        }
        sort_from(alike, offset, key_of);
    }
}

fn compare<'k>(left: u32, right: u32, key_of: &impl Fn(u32) -> &'k [u8]) -> Ordering {
    key_of(left).cmp(key_of(right)).then(left.cmp(&right))
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
    fn a_key_goes_before_all_that_it_begins_also_where_zeros_follow() {
        let longest = [0; 3 * PREFIX];
        let zeros = (0..longest.len()).map(|length| longest[..length].to_vec());
        let ones = (0..longest.len()).map(|length| [&longest[..length], &[1]].concat());
        assert_sorted(&zeros.chain(ones).rev().collect::<Vec<_>>());
    }

    #[test]
    fn keys_that_differ_late_or_never_are_in_order() {
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

    /// A sort that went on by itself for as long as keys are alike would run out of stack.
    #[test]
    fn long_keys_that_are_alike_are_in_order() {
        let mut greatest = vec![7; 4_000_000];
        let key = greatest.clone();
        greatest.push(0);
        assert_sorted(&[greatest, key.clone(), key]);
    }

    #[test]
    fn nothing_and_a_single_number_are_in_order() {
        assert_sorted(&[]);
        assert_sorted(&[b"alone".to_vec()]);
    }
}
