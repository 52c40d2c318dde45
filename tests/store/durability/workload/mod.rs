//! The workload: many writers, each with records of its own.
//!
//! They also share one record, in which each of them has a part. All actions of a writer follow from a seed, so the
//! number of its batches determines the contents that the store must have.

#[cfg(unix)]
mod killed;
mod settle;
mod writer;

use std::path::Path;
use std::sync::Arc;

use serde::{Deserialize, Serialize};
use toposcope::store::{SledStore, StoreError, StoreErrorKind};

#[cfg(unix)]
pub(crate) use self::killed::{kill_sometime, write_until_killed};
pub(crate) use self::settle::{Ledger, commit, settle};
pub(crate) use self::writer::{Writer, truth_of};
use crate::compare::{compare, faults};
use crate::contents::{Fault, chain};
use crate::fixture::assert_sound;

/// Number of writers.
pub(crate) const WRITERS: u64 = 16;

/// Seed of all actions of the writers of a [`Workload`].
const SEED: u64 = 7;

/// The known progress of each writer.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(crate) struct Progress {
    /// The last acknowledged batch.
    pub(crate) done: Vec<u64>,
    /// The last batch begun: either the acknowledged one or its successor.
    pub(crate) begun: Vec<u64>,
    /// The last batch of each writer that a read of the ledger has returned.
    pub(crate) seen: Vec<u64>,
}

impl Progress {
    pub(crate) fn new() -> Self {
        let none = || vec![0; WRITERS as usize];
        Self { done: none(), begun: none(), seen: none() }
    }

    /// Returns the progress of writers without a batch of unknown outcome.
    pub(crate) fn of(writers: &[Writer]) -> Self {
        let mut progress = Self::new();
        progress.come(&writers.iter().map(|writer| writer.done).collect::<Vec<_>>());
        progress
    }

    /// Returns the progress if every writer may have begun and completed its next batch.
    pub(crate) fn with_all_begun(mut self) -> Self {
        self.begun = self.done.iter().map(|done| done + 1).collect();
        self
    }

    /// Updates the progress from a message of a child.
    pub(crate) fn hear(&mut self, line: &str) {
        let (what, numbers) = line.split_once(' ').unwrap_or((line, ""));
        let numbers: Vec<u64> = numbers.split(' ').filter_map(|number| number.parse().ok()).collect();
        match (what, numbers.as_slice()) {
            ("begin", [writer, batch]) => self.begun[*writer as usize] = *batch,
            ("done", [writer, batch]) => self.done[*writer as usize] = *batch,
            ("saw", seen) => self.seen.copy_from_slice(seen),
            ("come", done) => self.come(done),
            _ => panic!("the child says {line:?}"),
        }
    }

    /// Updates the progress with the batches that an opening found.
    pub(crate) fn come(&mut self, done: &[u64]) {
        self.done.copy_from_slice(done);
        self.begun.copy_from_slice(done);
    }

    pub(crate) fn total(&self) -> u64 {
        self.done.iter().sum()
    }
}

/// A store on a disk, and everything written to it.
pub(crate) struct Workload {
    pub(crate) store: Arc<SledStore>,
    writers: Vec<Writer>,
    /// Progress of the writers, including the batch refused last. That batch may be present when the store is opened
    /// again.
    pub(crate) progress: Progress,
}

/// Outcomes of a number of batches.
#[derive(Debug, Default)]
pub(crate) struct Tally {
    pub(crate) done: usize,
    pub(crate) refused: usize,
}

impl Workload {
    pub(crate) async fn new(folder: &Path) -> Self {
        Self::open(folder, Progress::new()).await
    }

    pub(crate) async fn open(folder: &Path, progress: Progress) -> Self {
        Self::try_to_open(folder, progress).await.unwrap_or_else(|error| panic!("{}", chain(&error)))
    }

    /// Opens the store with a cache so small that nearly every read uses the disk.
    pub(crate) async fn try_to_open(folder: &Path, progress: Progress) -> Result<Self, StoreError> {
        let store = Arc::new(SledStore::builder(folder).cache_size(10_000).open().await?);
        let writers = settle(&*store, SEED, &progress).await.unwrap_or_else(|problem| panic!("{problem}"));
        let progress = Progress::of(&writers);
        Ok(Self { store, writers, progress })
    }

    /// Writes this many batches with every writer. A refused batch is tried again in the next round.
    pub(crate) async fn write(&mut self, rounds: usize) -> Tally {
        let mut tally = Tally::default();
        for _ in 0..rounds {
            for writer in &mut self.writers {
                let number = writer.number as usize;
                self.progress.begun[number] = writer.done + 1;
                match commit(&*self.store, writer).await {
                    Ok(()) => {
                        writer.go_on();
                        self.progress.done[number] = writer.done;
                        tally.done += 1;
                    }
                    Err(error) => {
                        assert_eq!(*error.kind(), StoreErrorKind::Unavailable, "{}", chain(&error));
                        tally.refused += 1;
                    }
                }
            }
        }
        tally
    }

    /// Writes like [`write`](Self::write), but every batch must succeed.
    pub(crate) async fn write_all(&mut self, rounds: usize) {
        let tally = self.write(rounds).await;
        assert_eq!(tally.refused, 0, "{tally:?}");
    }

    /// Asserts that the store holds everything acknowledged and nothing that was refused.
    pub(crate) async fn assert_read(&self) {
        compare(&*self.store, &truth_of(&self.writers)).await.unwrap();
    }

    /// Asserts the same as [`assert_read`](Self::assert_read), but records may be unavailable. None may be lost or
    /// wrong.
    pub(crate) async fn assert_read_or_told(&self) {
        let faults = faults(&*self.store, &truth_of(&self.writers)).await;
        let is_told =
            |fault: &&Fault| matches!(fault, Fault::Reported(text) if text.starts_with("Unavailable"));
        let wrong: Vec<&Fault> = faults.iter().filter(|fault| !is_told(fault)).collect();
        assert!(wrong.is_empty(), "{wrong:?}");
    }

    /// Asserts that everything is present, in memory and on the disk.
    pub(crate) async fn assert_sound(&self) {
        assert_sound(&self.store).await;
        self.assert_read().await;
    }

    /// Closes the store, if possible. Returns the progress that must be found when it is opened again.
    pub(crate) async fn close(self) -> Progress {
        if let Err(error) = self.store.close().await {
            assert_eq!(*error.kind(), StoreErrorKind::Unavailable, "{}", chain(&error));
        }
        self.progress
    }
}
