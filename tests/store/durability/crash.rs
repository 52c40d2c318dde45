//! Processes killed while they write.
//!
//! Everything acknowledged must be present, and no batch may be present in part.

use std::fs;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use fastrand::Rng;
use serde::{Deserialize, Serialize};
use tempfile::TempDir;
use toposcope::store::{Durability, SledStore, Store};

use super::workload::{Ledger, Progress, WRITERS, kill_sometime, settle, write_until_killed};
use super::{fresh_generator, once_in, rounds, start_runtime};
use crate::child::{Child, say};

/// Content written into a file that is destroyed.
const DESTROYED: &[u8] = b"destroyed";

#[test]
fn store_of_a_killed_process_holds_every_acknowledged_batch_and_none_in_part() {
    let (rounds, mut random) = (rounds("TOPOSCOPE_CRASH_ROUNDS", 3), fresh_generator());
    let (mut round, mut total) = (0, 0);
    while round < rounds {
        let folder = TempDir::new().unwrap();
        let mut series = Series::new(folder.path(), random.u64(..));
        // Processes are killed repeatedly, so that recovery starts from the result of an earlier recovery.
        for _ in 0..random.usize(1..=8).min(rounds - round) {
            series.round(&mut random);
            round += 1;
        }
        total += series.finish(&mut random);
        println!("killed {round} times, {total} batches acknowledged");
    }
}

/// A folder, and the processes that write to it one after the other.
#[derive(Debug)]
struct Series {
    folder: PathBuf,
    seed: u64,
    progress: Progress,
}

impl Series {
    fn new(folder: &Path, seed: u64) -> Self {
        Self { folder: folder.to_owned(), seed, progress: Progress::new() }
    }

    /// Starts a process and kills it. Occasionally destroys one copy of the records too, the one being written if
    /// there is one.
    fn round(&mut self, random: &mut Rng) {
        let orders = self.orders(random);
        let child = Child::start("write", &[&serde_json::to_string(&orders).unwrap()]);
        kill_sometime(child, 1_000, random, &mut |line| self.hear(line));
        if once_in(random, 3) {
            destroy_a_copy(&self.folder, random);
        }
    }

    fn hear(&mut self, line: &str) {
        assert!(!line.starts_with("failed "), "{line}");
        if line != "open" {
            self.progress.hear(line);
        }
    }

    fn orders(&self, random: &mut Rng) -> Orders {
        Orders {
            folder: self.folder.clone(),
            seed: self.seed,
            progress: self.progress.clone(),
            is_durable: !once_in(random, 3),
            cache_size: random.choice([0, 10_000, 64 << 20]).unwrap(),
            verifies: once_in(random, 3),
        }
    }

    /// Opens the folder twice, the second time after an orderly close. Returns the number of acknowledged
    /// batches.
    fn finish(mut self, random: &mut Rng) -> u64 {
        for _ in 0..2 {
            let orders = self.orders(random);
            let outcome = start_runtime().block_on(look_through(&orders));
            self.progress.come(&outcome.unwrap_or_else(|problem| panic!("{problem}")));
        }
        self.progress.total()
    }
}

/// Destroys one copy of the records if both are whole.
///
/// Otherwise one copy was lost recently or is still being built, and the other must stay. If a copy is being changed,
/// that one is destroyed.
fn destroy_a_copy(folder: &Path, random: &mut Rng) {
    let copies = ["records", "records.second"].map(|copy| folder.join(copy));
    let is_destroyed = |content: Vec<u8>| content.starts_with(DESTROYED);
    let is_whole = |copy: &PathBuf| fs::read(copy.join("db")).is_ok_and(|content| !is_destroyed(content));
    if copies.iter().all(is_whole) {
        let changing = copies.iter().find(|copy| copy.join("changing").exists());
        let copy = changing.unwrap_or_else(|| random.choice(&copies).unwrap());
        fs::write(copy.join("db"), DESTROYED.repeat(100_000)).unwrap();
    }
}

async fn look_through(orders: &Orders) -> Result<Vec<u64>, String> {
    let store = open(orders).await?;
    let writers = settle(&store, orders.seed, &orders.progress).await?;
    verify(&store).await?;
    store.close().await.map_err(|error| format!("close: {error}"))?;
    Ok(writers.iter().map(|writer| writer.done).collect())
}

/// Options of a child that writes.
#[derive(Debug, Serialize, Deserialize)]
struct Orders {
    folder: PathBuf,
    seed: u64,
    progress: Progress,
    is_durable: bool,
    cache_size: usize,
    /// Whether the child verifies the store before it begins, which waits for background work.
    verifies: bool,
}

/// Runs in the child and writes until it is killed. It opens the folder, determines the progress of the writers, and
/// lets all of them continue.
pub(super) async fn write(arguments: &[&str]) {
    let orders: Orders = serde_json::from_str(arguments[0]).unwrap();
    if let Err(problem) = try_to_write(&orders).await {
        say(&format!("failed {problem}"));
    }
}

async fn try_to_write(orders: &Orders) -> Result<(), String> {
    let store = Arc::new(open(orders).await?);
    say("open");
    let writers = settle(&*store, orders.seed, &orders.progress).await?;
    if orders.verifies {
        verify(&store).await?;
    }
    say(&numbers("come", writers.iter().map(|writer| writer.done)));
    let mut tasks = tokio::task::JoinSet::new();
    for writer in writers {
        tasks.spawn(write_until_killed(Arc::clone(&store), writer));
    }
    tasks.spawn(look(Arc::clone(&store)));
    tasks.join_next().await.unwrap().map_err(|error| error.to_string())?
}

fn numbers(word: &str, numbers: impl IntoIterator<Item = u64>) -> String {
    let numbers: Vec<String> = numbers.into_iter().map(|number| number.to_string()).collect();
    format!("{word} {}", numbers.join(" "))
}

async fn open(orders: &Orders) -> Result<SledStore, String> {
    let durability = if orders.is_durable { Durability::Durable } else { Durability::Buffered };
    let builder = SledStore::builder(&orders.folder).cache_size(orders.cache_size).durability(durability);
    builder.open().await.map_err(|error| format!("to open: {error} ({error:?})"))
}

async fn verify(store: &SledStore) -> Result<(), String> {
    let found = store.verify().await.map_err(|error| format!("verify: {error}"))?;
    if found.is_sound() { Ok(()) } else { Err(format!("not sound: {found}")) }
}

/// Reads from the store during the writes. Every value read must be present later too.
async fn look(store: Arc<SledStore>) -> Result<(), String> {
    let mut last = Ledger(vec![0; WRITERS as usize]);
    loop {
        let record = store.get(&[Ledger::KEY]).await.map_err(|error| error.to_string())?.pop().flatten();
        let ledger = Ledger::read(record.as_ref());
        if ledger != last {
            say(&numbers("saw", ledger.0.iter().copied()));
            last = ledger;
        }
        tokio::task::yield_now().await;
    }
}
