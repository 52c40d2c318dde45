//! Measures what a running verification costs the slowest commit.

use std::error::Error;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

use tokio::runtime::Runtime;
use tokio::task::JoinSet;
use toposcope::store::{Batch, SledStore, Store, StoreError};

use crate::folder::{Folder, copy_to};
use crate::record::{InMemory, Records, Sort};

const ROUNDS: usize = 3;

/// Number of writers. Each pauses after every commit, so that together they fill the log during a
/// verification of 100,000 hosts without keeping the disk busy all the time.
const WRITERS: u64 = 8;
const WRITE_INTERVAL: Duration = Duration::from_millis(5);

/// Latencies of all commits of a phase, ascending.
type Latencies = Vec<Duration>;

/// Writers that commit new hosts until they are stopped.
struct Writing {
    is_over: Arc<AtomicBool>,
    writers: JoinSet<Result<Latencies, StoreError>>,
}

pub(crate) fn measure(runtime: &Runtime, folder: &Folder, sizes: &[usize]) -> Result<(), Box<dyn Error>> {
    println!(
        "| hosts | round | verified in, s | commits alone | slowest, ms | p99, ms | commits beside a verification | \
         slowest, ms | p99, ms | slowest: difference, ms | ratio |"
    );
    println!("|---|---|---|---|---|---|---|---|---|---|---|");
    for size in sizes {
        let place = folder.place(&format!("verify-{size}"));
        runtime.block_on(async {
            eprintln!("verifying {size} hosts: loading");
            copy_to(&InMemory::load(*size).await?, &place).await?;
            let store = Arc::new(SledStore::open(&place).await?);
            let records = Arc::new(Mutex::new(Records::new().await?));
            measure_size(&store, &records, *size).await?;
            store.close().await?;
            Ok::<(), Box<dyn Error>>(())
        })?;
    }
    println!();
    Ok(())
}

async fn measure_size(
    store: &Arc<SledStore>,
    records: &Arc<Mutex<Records>>,
    size: usize,
) -> Result<(), Box<dyn Error>> {
    // The first round warms the page cache and gives a first estimate of how long a verification takes.
    let mut time = Duration::from_secs(1);
    for round in 0..=ROUNDS {
        eprintln!("verifying {size} hosts: round {round} of {ROUNDS}");
        let writing = Writing::begin(store, records);
        tokio::time::sleep(time).await;
        let alone = writing.end().await?;

        let writing = Writing::begin(store, records);
        let start = Instant::now();
        let found = store.verify().await?;
        time = start.elapsed();
        let beside = writing.end().await?;
        if !found.is_sound() {
            return Err(found.to_string().into());
        }
        if round > 0 {
            print(size, round, time, &alone, &beside);
        }
    }
    Ok(())
}

fn print(size: usize, round: usize, time: Duration, alone: &Latencies, beside: &Latencies) {
    let millis = |time: Option<&Duration>| time.map_or(0.0, Duration::as_secs_f64) * 1e3;
    let figures = |latencies: &Latencies| {
        (latencies.len(), millis(latencies.last()), millis(latencies.get(latencies.len() * 99 / 100)))
    };
    let ((count, slowest, slow), (count_beside, slowest_beside, slow_beside)) =
        (figures(alone), figures(beside));
    println!(
        "| {size} | {round} | {:.2} | {count} | {slowest:.0} | {slow:.0} | {count_beside} | {slowest_beside:.0} | \
         {slow_beside:.0} | {:+.0} | {:.2} |",
        time.as_secs_f64(),
        slowest_beside - slowest,
        slowest_beside / slowest,
    );
}

impl Writing {
    fn begin(store: &Arc<SledStore>, records: &Arc<Mutex<Records>>) -> Self {
        let is_over = Arc::new(AtomicBool::new(false));
        let mut writers = JoinSet::new();
        for number in 0..WRITERS {
            let (store, records, is_over) = (Arc::clone(store), Arc::clone(records), Arc::clone(&is_over));
            writers.spawn(async move {
                let mut latencies = Latencies::new();
                while !is_over.load(Ordering::Relaxed) {
                    let batch: Batch =
                        records.lock().unwrap_or_else(PoisonError::into_inner).batch(Sort::Host, number);
                    let start = Instant::now();
                    store.commit(batch).await?;
                    latencies.push(start.elapsed());
                    tokio::time::sleep(WRITE_INTERVAL).await;
                }
                Ok(latencies)
            });
        }
        Self { is_over, writers }
    }

    async fn end(self) -> Result<Latencies, StoreError> {
        self.is_over.store(true, Ordering::Relaxed);
        let mut all = Latencies::new();
        for latencies in self.writers.join_all().await {
            all.append(&mut latencies?);
        }
        all.sort_unstable();
        Ok(all)
    }
}
