//! Reproducible pseudo-random numbers: SplitMix64.

use std::hash::{BuildHasher, Hasher, RandomState};

use uuid::Uuid;

#[derive(Clone, Debug)]
pub(super) struct Random(u64);

impl Random {
    pub(super) const fn new(seed: u64) -> Self {
        Self(seed)
    }

    /// Returns a new seed for every run, so that runs on a persistent store use different records.
    pub(super) fn fresh_seed() -> u64 {
        RandomState::new().build_hasher().finish()
    }

    pub(super) const fn draw(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let first = (self.0 ^ (self.0 >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        let second = (first ^ (first >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        second ^ (second >> 31)
    }

    /// Returns a number from 0 to `bound - 1`.
    pub(super) fn below(&mut self, bound: u64) -> u64 {
        self.draw().checked_rem(bound).unwrap_or(0)
    }

    pub(super) fn chance(&mut self, percent: u64) -> bool {
        self.below(100) < percent
    }

    pub(super) fn pick<T: Copy>(&mut self, from: &[T]) -> Option<T> {
        let place = self.below(from.len() as u64);
        from.iter().copied().nth(usize::try_from(place).unwrap_or_default())
    }

    /// Returns 16 random bytes, not a versioned UUID: a store must order ids that begin with any byte.
    pub(super) const fn uuid(&mut self) -> Uuid {
        Uuid::from_u64_pair(self.draw(), self.draw())
    }

    pub(super) fn bytes(&mut self, length: usize) -> Vec<u8> {
        let mut bytes: Vec<u8> = Vec::with_capacity(length.next_multiple_of(8));
        while bytes.len() < length {
            bytes.extend_from_slice(&self.draw().to_le_bytes());
        }
        bytes.truncate(length);
        bytes
    }

    pub(super) fn shuffle<T>(&mut self, items: &mut [T]) {
        for end in (1..items.len()).rev() {
            let other = usize::try_from(self.below(end as u64 + 1)).unwrap_or(end);
            items.swap(end, other);
        }
    }
}
