//! Measures acknowledged commits per second, with one writer and with many at once.
//!
//! They are compared with a plain loop that writes the same number of bytes to a file and syncs it after each write.

use std::error::Error;
use std::fs;
use std::path::Path;
use std::sync::Arc;
use std::time::{Duration, Instant};

use tokio::runtime::Runtime;
use toposcope::store::{Batch, Durability, SledStore, Store, StoreError, Write};

use crate::folder::Folder;
use crate::plain::{PlainFile, Way};
use crate::record::{Records, Sort, deletion};

const ROUNDS: usize = 15;
const WRITERS: usize = 64;

/// Load on one store: the number of writers, and each writer's commits per round.
#[derive(Clone, Copy, Debug)]
struct Load {
    durability: Durability,
    writers: usize,
    commits: usize,
}

/// Returns the loads, each durable and buffered. These are one writer, many writers for less than a log file holds, and
/// many writers for longer, so that checkpoints have to run.
fn loads(sort: Sort) -> Vec<Load> {
    let commits = match sort {
        Sort::Small => [300, 100, 2_000],
        Sort::Host => [300, 50, 300],
    };
    let durabilities = [Durability::Durable, Durability::Buffered];
    let loads = |durability| {
        [1, WRITERS, WRITERS].into_iter().zip(commits).map(move |(writers, commits)| Load {
            durability,
            writers,
            commits,
        })
    };
    durabilities.into_iter().flat_map(loads).collect()
}

/// One contestant. They run in turns, so that drift in the speed of the disk affects all of them alike.
#[derive(Debug)]
struct Contender {
    load: Load,
    store: Arc<SledStore>,
    rates: Vec<f64>,
    latencies: Vec<Duration>,
}

pub(crate) fn measure(runtime: &Runtime, folder: &Folder) -> Result<(), Box<dyn Error>> {
    let mut records = runtime.block_on(Records::new())?;
    let mut plain = Vec::new();
    println!(
        "| record | durability | writers | commits of each | commits a second | to one writer | p50, µs | p99, µs |"
    );
    println!("|---|---|---|---|---|---|---|---|");
    for sort in Sort::ALL {
        plain.push(runtime.block_on(measure_sort(folder, &mut records, sort))?);
    }
    println!(
        "\n| record | bytes in the WAL | one writer, commits a second | appended by a plain loop | ratio | \
         written over by a plain loop | ratio | {WRITERS} times as many bytes at once, records a second |"
    );
    println!("|---|---|---|---|---|---|---|---|");
    plain.iter().for_each(|row| println!("{row}"));
    println!();
    Ok(())
}

async fn measure_sort(folder: &Folder, records: &mut Records, sort: Sort) -> Result<String, Box<dyn Error>> {
    let place = |name: &str| folder.place(&format!("commit-{sort:?}-{name}"));
    let size = wal_size(&place("size"), records.batches(sort, 0, WRITERS)).await?;
    let mut contenders = Vec::new();
    for (number, load) in loads(sort).into_iter().enumerate() {
        let store = SledStore::builder(place(&number.to_string())).durability(load.durability).open().await?;
        contenders.push(Contender { load, store: Arc::new(store), rates: Vec::new(), latencies: Vec::new() });
    }
    let count = contenders.first().map_or(0, |alone| alone.load.commits);
    let mut appended = PlainFile::new(place("appended"), Way::Append, size, count);
    let mut overwritten = PlainFile::new(place("overwritten"), Way::Overwrite, size, count);
    let mut at_once = PlainFile::new(place("at-once"), Way::Overwrite, size * WRITERS, count);
    // The first round preallocates the log and does not count.
    for round in 0..=ROUNDS {
        eprintln!("commits of a {}: round {round} of {ROUNDS}", sort.name());
        for contender in &mut contenders {
            contender.take_turn(records, sort, round > 0).await?;
        }
        for file in [&mut appended, &mut overwritten, &mut at_once] {
            file.take_turn(round > 0)?;
        }
    }
    print(sort, &mut contenders);
    let alone = contenders.first_mut().map_or(0.0, |alone| median(&mut alone.rates));
    for contender in contenders {
        contender.store.close().await?;
    }
    let [appended, overwritten, at_once] =
        [appended, overwritten, at_once].map(|mut file| median(&mut file.rates));
    Ok(format!(
        "| {} | {size} | {alone:.0} | {appended:.0} | {:.2} | {overwritten:.0} | {:.2} | {:.0} |",
        sort.name(),
        alone / appended,
        alone / overwritten,
        at_once * WRITERS as f64,
    ))
}

impl Contender {
    async fn take_turn(
        &mut self,
        records: &mut Records,
        sort: Sort,
        counts: bool,
    ) -> Result<(), Box<dyn Error>> {
        let Load { writers, commits, .. } = self.load;
        let batches: Vec<Vec<Batch>> =
            (0..writers as u64).map(|writer| records.batches(sort, writer, commits)).collect();
        let keys = batches.iter().flatten().flat_map(Batch::writes).map(Write::key).collect();
        let (rate, latencies) = write(&self.store, batches).await?;
        self.store.commit(deletion(keys)).await?;
        // Completes the checkpoint, so that no background work remains during the next turn.
        let verification = self.store.verify().await?;
        if !verification.is_sound() {
            return Err(verification.to_string().into());
        }
        if counts {
            self.rates.push(rate);
            self.latencies.extend(latencies);
        }
        Ok(())
    }
}

fn print(sort: Sort, contenders: &mut [Contender]) {
    let mut alone = 1.0;
    for Contender { load, rates, latencies, .. } in contenders {
        let Load { durability, writers, commits } = load;
        let rate = median(rates);
        if *writers == 1 {
            alone = rate;
        }
        latencies.sort_unstable();
        let [middle, slow] = [50, 99].map(|percent| latencies[latencies.len() * percent / 100].as_micros());
        println!(
            "| {} | {durability:?} | {writers} | {commits} | {rate:.0} | {:.1} | {middle} | {slow} |",
            sort.name(),
            rate / alone,
        );
    }
}

/// Commits the batches of every writer in sequence. Returns the commits per second and the latency of each.
async fn write(
    store: &Arc<SledStore>,
    writers: Vec<Vec<Batch>>,
) -> Result<(f64, Vec<Duration>), Box<dyn Error>> {
    let start = Instant::now();
    let mut tasks = Vec::new();
    for batches in writers {
        let store = Arc::clone(store);
        tasks.push(tokio::spawn(async move {
            let mut latencies = Vec::with_capacity(batches.len());
            for batch in batches {
                let start = Instant::now();
                store.commit(batch).await?;
                latencies.push(start.elapsed());
            }
            Ok::<_, StoreError>(latencies)
        }));
    }
    let mut latencies = Vec::new();
    for task in tasks {
        latencies.extend(task.await??);
    }
    Ok((latencies.len() as f64 / start.elapsed().as_secs_f64(), latencies))
}

/// Returns the bytes that each commit takes in the WAL. Only zeros follow the last commit.
async fn wal_size(folder: &Path, batches: Vec<Batch>) -> Result<usize, Box<dyn Error>> {
    let (store, count) = (SledStore::open(folder).await?, batches.len());
    for batch in batches {
        store.commit(batch).await?;
    }
    let wal = fs::read(folder.join("journal.0"))?;
    store.close().await?;
    let last = wal.iter().rposition(|byte| *byte != 0).ok_or("nothing is in the WAL")?;
    Ok(last / count)
}

fn median(rates: &mut [f64]) -> f64 {
    rates.sort_by(f64::total_cmp);
    rates[rates.len() / 2]
}
