use std::sync::atomic::{AtomicU64, Ordering};

use toposcope::access::{RandomError, RandomSource};

/// A deterministic generator, random enough for tests.
pub(crate) struct SplitMix64(pub(crate) u64);

impl SplitMix64 {
    pub(crate) fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mixed = (self.0 ^ (self.0 >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        let mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        mixed ^ (mixed >> 31)
    }

    pub(crate) fn below(&mut self, bound: usize) -> usize {
        usize::try_from(self.next() % bound as u64).unwrap()
    }
}

/// The generator as a source of ids and secrets.
#[derive(Debug, Default)]
pub(crate) struct Seeded(AtomicU64);

impl RandomSource for Seeded {
    fn fill(&self, bytes: &mut [u8]) -> Result<(), RandomError> {
        let mut random = SplitMix64(self.0.fetch_add(1, Ordering::Relaxed) << 32);
        for byte in bytes {
            *byte = random.next().to_le_bytes()[0];
        }
        Ok(())
    }
}
