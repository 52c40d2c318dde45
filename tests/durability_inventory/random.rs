use std::time::{SystemTime, UNIX_EPOCH};

/// The SplitMix64 generator by Steele, Lea and Flood.
pub(crate) struct Random(u64);

impl Random {
    /// Creates a generator with a new seed in every run; the seed is printed.
    pub(crate) fn fresh() -> Self {
        let since = SystemTime::now().duration_since(UNIX_EPOCH).unwrap();
        let seed = u64::from(since.subsec_nanos());
        println!("seed {seed}");
        Self(seed)
    }

    const fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut mixed = self.0;
        mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        mixed ^ (mixed >> 31)
    }

    /// Returns a number below `end`.
    pub(crate) fn below(&mut self, end: usize) -> usize {
        usize::try_from(self.next() % u64::try_from(end).unwrap()).unwrap()
    }
}
