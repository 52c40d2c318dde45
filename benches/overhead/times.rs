//! The time per request.

use std::error::Error;
use std::time::{Duration, Instant};

use crate::count::{can_count, instructions};
use crate::paths::{Path, paths};

const ROUNDS: usize = 501;
const CALLS: u32 = 200;

pub(crate) fn measure() -> Result<(), Box<dyn Error>> {
    let paths = paths()?;
    let counts = can_count();
    println!("| request | fastest tenth, ns | median, ns | slowest tenth, ns | at most, ns | instructions |");
    println!("|---|---|---|---|---|---|");
    for path in &paths {
        let [fast, median, slow] = times(path).map(|time| time.as_nanos());
        let bar = path.bar.map_or_else(String::new, |bar| bar.as_nanos().to_string());
        let instructions = if counts { instructions(path)?.to_string() } else { "-".to_owned() };
        println!("| {} | {fast} | {median} | {slow} | {bar} | {instructions} |", path.name);
    }
    println!();
    if !counts {
        println!("Instructions are not counted: valgrind is not installed.");
    }
    if !paths.iter().any(|path| path.name == "304") {
        println!("The 304 is skipped: pages have no ETag.");
    }
    Ok(())
}

/// Returns the 10th percentile, the median and the 90th percentile. Requests are built before the clock starts.
fn times(path: &Path) -> [Duration; 3] {
    let mut times = Vec::new();
    for round in 0..ROUNDS as u32 {
        let requests: Vec<_> = (0..CALLS).map(|number| path.request(round * CALLS + number)).collect();
        let start = Instant::now();
        for request in requests {
            path.serve(request);
        }
        times.push(start.elapsed() / CALLS);
    }
    times.sort_unstable();
    [10, 50, 90].map(|percent| times[times.len() * percent / 100])
}
