use serde::{Deserialize, Serialize};

use super::{WRITERS, Writer};

/// What is known about the progress of each writer.
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

    /// Updates the progress from what an opening found.
    pub(crate) fn come(&mut self, done: &[u64]) {
        self.done.copy_from_slice(done);
        self.begun.copy_from_slice(done);
    }

    pub(crate) fn total(&self) -> u64 {
        self.done.iter().sum()
    }
}
