use std::fs;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use super::write::{Orders, open, verify};
use crate::support::{Child, PATIENCE, SplitMix64, start_runtime};
use crate::workload::{Progress, settle};

/// Content written into a file that is destroyed.
const DESTROYED: &[u8] = b"destroyed";

/// When a process is killed: some time after one of its messages.
#[derive(Debug)]
enum Moment {
    /// At any time after its start.
    AtOnce,
    /// While the store replays the log of its predecessor.
    Open,
    /// After this many batches.
    Done(usize),
}

/// A folder, and the processes that write to it one after the other.
#[derive(Debug)]
pub(super) struct Series {
    folder: PathBuf,
    seed: u64,
    progress: Progress,
}

impl Series {
    pub(super) fn new(folder: &Path, seed: u64) -> Self {
        Self { folder: folder.to_owned(), seed, progress: Progress::new() }
    }

    /// Starts a process and kills it. Occasionally destroys one copy of the records too, whichever was being
    /// written.
    pub(super) fn round(&mut self, random: &mut SplitMix64) {
        let orders = self.orders(random);
        let moment = match random.below(5) {
            0 => Moment::AtOnce,
            1 => Moment::Open,
            _ => Moment::Done(1 + random.below(1_000)),
        };
        let pause = Duration::from_micros(match moment {
            Moment::AtOnce => random.next() % 300_000,
            Moment::Open => random.next() % 200_000,
            Moment::Done(_) => random.next() % 5_000,
        });
        let child = Child::start("write", &[serde_json::to_string(&orders).unwrap()]);
        if !matches!(moment, Moment::AtOnce) {
            self.wait(&child, &moment);
        }
        let deadline = Instant::now() + pause;
        while let Some(line) = child.next(deadline.saturating_duration_since(Instant::now())) {
            self.hear(&line);
        }
        let ended = child.kill();
        ended.lines.iter().for_each(|line| self.hear(line));
        assert!(!ended.status.success() && ended.status.code().is_none(), "{moment:?}: {ended:?}");
        if random.once_in(3) {
            destroy_a_copy(&self.folder, random);
        }
    }

    fn wait(&mut self, child: &Child, moment: &Moment) {
        let mut done = 0;
        loop {
            let line =
                child.next(PATIENCE).unwrap_or_else(|| panic!("a child hangs, or ended: {:?}", self.folder));
            done += usize::from(line.starts_with("done "));
            self.hear(&line);
            match moment {
                Moment::AtOnce => return,
                Moment::Open if line == "open" => return,
                Moment::Done(wanted) if done == *wanted => return,
                Moment::Open | Moment::Done(_) => {}
            }
        }
    }

    fn hear(&mut self, line: &str) {
        assert!(!line.starts_with("failed "), "{line}");
        if line != "open" {
            self.progress.hear(line);
        }
    }

    fn orders(&self, random: &mut SplitMix64) -> Orders {
        Orders {
            folder: self.folder.clone(),
            seed: self.seed,
            progress: self.progress.clone(),
            is_durable: !random.once_in(3),
            cache_size: random.choose(&[0, 10_000, 64 << 20]),
            verifies: random.once_in(3),
        }
    }

    /// Opens the folder twice, the second time after an orderly close. Returns the number of acknowledged
    /// batches.
    pub(super) fn finish(mut self, random: &mut SplitMix64) -> u64 {
        for _ in 0..2 {
            let orders = self.orders(random);
            let outcome = start_runtime().block_on(look_through(&orders));
            self.progress.come(&outcome.unwrap_or_else(|problem| panic!("{problem}")));
        }
        self.progress.total()
    }
}

/// Destroys one copy of the records, unless only one is whole because the other was lost recently or is still
/// being built. If one of two is being changed, it destroys that one.
fn destroy_a_copy(folder: &Path, random: &mut SplitMix64) {
    let copies = ["records", "records.second"].map(|copy| folder.join(copy));
    let is_destroyed = |content: Vec<u8>| content.starts_with(DESTROYED);
    let is_whole = |copy: &PathBuf| fs::read(copy.join("db")).is_ok_and(|content| !is_destroyed(content));
    if copies.iter().all(is_whole) {
        let changing = copies.iter().find(|copy| copy.join("changing").exists()).cloned();
        let copy = changing.unwrap_or_else(|| random.choose(&copies));
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
