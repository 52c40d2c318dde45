//! Processes killed while they write: everything acknowledged is present, and no batch is present in part.

mod round;
mod write;

use tempfile::TempDir;

use self::round::Series;
pub(crate) use self::write::write;
use crate::support::{SplitMix64, rounds, seed};

#[test]
fn what_was_acknowledged_is_there_whole_and_nothing_in_part_whenever_the_process_is_killed() {
    let (rounds, mut random) = (rounds("TOPOSCOPE_CRASH_ROUNDS", 3), SplitMix64(seed()));
    let (mut round, mut total) = (0, 0);
    while round < rounds {
        let folder = TempDir::new().unwrap();
        let mut series = Series::new(folder.path(), random.next());
        // Killed repeatedly, so that recovery starts from the result of an earlier recovery.
        for _ in 0..(1 + random.below(8)).min(rounds - round) {
            series.round(&mut random);
            round += 1;
        }
        total += series.finish(&mut random);
        println!("killed {round} times, {total} batches acknowledged");
    }
}
