use std::error::Error;
use std::sync::mpsc::{Receiver, SendError, Sender};
use std::time::{Duration, Instant};

use super::checkpoint::{Outcome, Work};
use super::journal::Journal;
use super::queue::closed;
use crate::store::StoreError;

/// How long a checkpoint that failed is left alone, if the journal has room.
const RETRY: Duration = Duration::from_secs(1);

/// The checkpointer, as the writing thread sees it.
#[derive(Debug)]
pub(super) struct Checkpoints {
    works: Sender<Work>,
    outcomes: Receiver<Outcome>,
    state: Checkpoint,
    /// Up to where everything is in the records.
    applied: u64,
}

#[derive(Debug)]
enum Checkpoint {
    None,
    UnderWay,
    /// And since when.
    Failed(Work, Instant),
}

impl Checkpoints {
    pub(super) fn new(works: Sender<Work>, outcomes: Receiver<Outcome>) -> Self {
        Self { works, outcomes, state: Checkpoint::None, applied: 0 }
    }

    pub(super) const fn applied(&self) -> u64 {
        self.applied
    }

    pub(super) fn begin(&mut self, work: Work) {
        self.state = match self.works.send(work) {
            Ok(()) => Checkpoint::UnderWay,
            Err(SendError(work)) => Checkpoint::Failed(work, Instant::now()),
        };
    }

    /// Frees what a checkpoint has freed by now, or tries one again that failed a while ago.
    pub(super) fn look(&mut self, journal: &mut Journal) {
        self.state = match std::mem::replace(&mut self.state, Checkpoint::None) {
            Checkpoint::Failed(work, since) if since.elapsed() >= RETRY => return self.begin(work),
            state => state,
        };
        if matches!(self.state, Checkpoint::UnderWay)
            && let Ok(outcome) = self.outcomes.try_recv()
            && let Err(error) = self.settle(outcome, journal)
        {
            tracing::error!(
                error = &error as &dyn Error,
                "what is in the journal cannot be put into the records"
            );
        }
    }

    /// Tries a checkpoint again that failed, and returns whether one is under way then. Does not wait for it.
    pub(super) fn resume(&mut self, journal: &mut Journal) -> bool {
        self.look(journal);
        self.state = match std::mem::replace(&mut self.state, Checkpoint::None) {
            Checkpoint::Failed(work, _) => {
                self.begin(work);
                return self.is_under_way();
            }
            state => state,
        };
        self.is_under_way()
    }

    pub(super) const fn is_under_way(&self) -> bool {
        matches!(self.state, Checkpoint::UnderWay)
    }

    /// Waits for the checkpoint that is under way, and tries one that failed again.
    pub(super) fn finish(&mut self, journal: &mut Journal) -> Result<(), StoreError> {
        match std::mem::replace(&mut self.state, Checkpoint::UnderWay) {
            Checkpoint::None => {
                self.state = Checkpoint::None;
                return Ok(());
            }
            Checkpoint::UnderWay => {}
            Checkpoint::Failed(work, _) => self.begin(work),
        }
        let outcome = self.outcomes.recv();
        outcome.map_err(|_| closed()).and_then(|outcome| self.settle(outcome, journal))
    }

    fn settle(&mut self, outcome: Outcome, journal: &mut Journal) -> Result<(), StoreError> {
        let Outcome { work, result } = outcome;
        if result.is_ok() {
            work.sealed.iter().for_each(|sealed| journal.release(*sealed));
            self.state = Checkpoint::None;
            self.applied = work.applied;
        } else {
            self.state = Checkpoint::Failed(work, Instant::now());
        }
        result
    }
}
