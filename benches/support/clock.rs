//! Measuring the time of calls.

use std::time::{Duration, Instant};

/// Returns the median time per call of each of two functions.
///
/// They are measured in alternating turns of several calls, so that a drift in the machine's speed affects both.
pub(crate) fn compare(
    turns: usize,
    calls: [u32; 2],
    mut left: impl FnMut(),
    mut right: impl FnMut(),
) -> (Duration, Duration) {
    let mut lefts = Vec::with_capacity(turns);
    let mut rights = Vec::with_capacity(turns);
    for _ in 0..turns {
        lefts.push(time(calls[0], &mut left));
        rights.push(time(calls[1], &mut right));
    }
    (median(lefts), median(rights))
}

/// Returns the average time of this number of calls.
pub(crate) fn time(calls: u32, mut call: impl FnMut()) -> Duration {
    let start = Instant::now();
    for _ in 0..calls {
        call();
    }
    start.elapsed() / calls
}

pub(crate) fn median(mut times: Vec<Duration>) -> Duration {
    times.sort_unstable();
    times[times.len() / 2]
}
