use std::time::{SystemTime, UNIX_EPOCH};

/// The SplitMix64 generator by Steele, Lea and Flood: the same numbers for a seed on every machine.
#[derive(Clone, Debug)]
pub(crate) struct SplitMix64(pub(crate) u64);

impl SplitMix64 {
    pub(crate) const fn next(&mut self) -> u64 {
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

    /// Returns true once in `times` calls on average.
    pub(crate) fn once_in(&mut self, times: usize) -> bool {
        self.below(times) == 0
    }

    pub(crate) fn choose<T: Clone>(&mut self, from: &[T]) -> T {
        from[self.below(from.len())].clone()
    }

    /// Returns a subset that contains each value with a probability of one half.
    pub(crate) fn some_of<T: Clone>(&mut self, from: &[T]) -> Vec<T> {
        from.iter().filter(|_| self.once_in(2)).cloned().collect()
    }
}

/// Returns a generator that is independent for each list of numbers.
pub(crate) fn numbered(seed: u64, numbers: &[u64]) -> SplitMix64 {
    numbers.iter().fold(SplitMix64(seed), |mut random, number| SplitMix64(random.next() ^ number))
}

/// Returns the seed in `TOPOSCOPE_SEED`, or a new one; prints it, so that a run can be repeated.
pub(crate) fn seed() -> u64 {
    let seed = match std::env::var("TOPOSCOPE_SEED") {
        Ok(seed) => seed.parse().expect("TOPOSCOPE_SEED is no number"),
        Err(_) => u64::from(SystemTime::now().duration_since(UNIX_EPOCH).unwrap().subsec_nanos()),
    };
    println!("TOPOSCOPE_SEED={seed}");
    seed
}

/// Returns the number of rounds set in the environment, or the usual one.
pub(crate) fn rounds(variable: &str, usual: usize) -> usize {
    std::env::var(variable)
        .map_or(usual, |rounds| rounds.parse().unwrap_or_else(|_| panic!("{variable} is no number")))
}
