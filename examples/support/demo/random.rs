//! Reproducible pseudo-random numbers.

use uuid::{Builder, Uuid};

/// The SplitMix64 generator by Steele, Lea and Flood.
pub(super) struct Random(u64);

const STEP: u64 = 0x9e37_79b9_7f4a_7c15;

impl Random {
    /// Creates a generator. Different seeds give unrelated sequences.
    pub(super) const fn new(seed: u64) -> Self {
        Self(scramble(seed))
    }

    pub(super) const fn draw(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(STEP);
        scramble(self.0)
    }

    /// Returns a number below `bound`.
    pub(super) const fn below(&mut self, bound: u64) -> u64 {
        self.draw() % bound
    }

    /// Returns one of the items, or `None` if there are none.
    pub(super) fn choose<'t, T>(&mut self, from: &'t [T]) -> Option<&'t T> {
        let place = self.draw().checked_rem(from.len() as u64)?;
        from.get(usize::try_from(place).ok()?)
    }

    pub(super) const fn uuid(&mut self) -> Uuid {
        let bits = (self.draw() as u128) << 64 | self.draw() as u128;
        Builder::from_random_bytes(bits.to_be_bytes()).into_uuid()
    }
}

const fn scramble(bits: u64) -> u64 {
    let bits = (bits ^ (bits >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    let bits = (bits ^ (bits >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    bits ^ (bits >> 31)
}
