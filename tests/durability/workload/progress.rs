use serde::{Deserialize, Serialize};

use super::{WRITERS, Writer};

/// What is known from outside of how far each writer has come.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(crate) struct Progress {
    /// The last batch that was acknowledged.
    pub(crate) done: Vec<u64>,
    /// The last that was begun: this one, or the next.
    pub(crate) begun: Vec<u64>,
    /// What somebody has read in the ledger.
    pub(crate) seen: Vec<u64>,
}

impl Progress {
    pub(crate) fn new() -> Self {
        let none = || vec![0; WRITERS as usize];
        Self { done: none(), begun: none(), seen: none() }
    }

    /// Of writers of which none has begun anything that it does not know the end of.
    pub(crate) fn of(writers: &[Writer]) -> Self {
        let mut progress = Self::new();
        progress.come(&writers.iter().map(|writer| writer.done).collect::<Vec<_>>());
        progress
    }

    /// The same where all may have begun their next batch, and ended it.
    pub(crate) fn with_all_begun(mut self) -> Self {
        self.begun = self.done.iter().map(|done| done + 1).collect();
        self
    }

    /// Learns from what a child says.
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

    /// What was found when the folder was opened.
    pub(crate) fn come(&mut self, done: &[u64]) {
        self.done.copy_from_slice(done);
        self.begun.copy_from_slice(done);
    }

    pub(crate) fn total(&self) -> u64 {
        self.done.iter().sum()
    }
}
