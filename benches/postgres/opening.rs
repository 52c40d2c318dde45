//! Time to open a store.

use std::error::Error;
use std::time::Instant;

use toposcope::store::PostgresStore;

use crate::median;

const ROUNDS: usize = 5;

pub(crate) async fn measure(database: &str, size: usize) -> Result<(), Box<dyn Error>> {
    let mut times = Vec::new();
    for round in 0..ROUNDS {
        eprintln!("opening {size} hosts: round {} of {ROUNDS}", round + 1);
        let start = Instant::now();
        let store = PostgresStore::open(database).await?;
        times.push(start.elapsed());
        store.close().await?;
    }
    println!("| hosts | opened in, s: median | worst |\n|---|---|---|");
    let middle = median(&mut times);
    println!("| {size} | {:.2} | {:.2} |\n", middle.as_secs_f64(), times[ROUNDS - 1].as_secs_f64());
    Ok(())
}
