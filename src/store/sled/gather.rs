use std::collections::VecDeque;
use std::sync::mpsc::Receiver;
use std::time::{Duration, Instant};

use super::queue::Job;
use crate::store::Write;

/// How much is written in one go: more would keep the first waiting for long.
const GROUP: usize = 256;
const GROUP_BYTES: usize = 4 << 20;

/// So few writers are as quick when each goes by itself.
const FEW: usize = 3;

/// Picks what is written in one go.
///
/// Writers that were told of the last group come back with their next batch while the other half is being written. So that the
/// halves do not alternate for ever, each group waits a little for as many as were in the last two.
#[derive(Debug)]
pub(super) struct Gatherer {
    jobs: Receiver<Job>,
    /// What had to wait for the next group.
    deferred: VecDeque<Job>,
    /// How many were in the last group, and in the one before.
    last: [usize; 2],
    /// Less than what a group of its own would take those who come late.
    patience: Duration,
}

impl Gatherer {
    pub(super) fn new(jobs: Receiver<Job>) -> Self {
        Self { jobs, deferred: VecDeque::new(), last: [0; 2], patience: Duration::ZERO }
    }

    /// Waits for the next group; none when nobody can ask for anything any more. A wish to close the store ends the group.
    pub(super) fn next(&mut self) -> Vec<Job> {
        let Some(first) = self.deferred.pop_front().or_else(|| self.jobs.recv().ok()) else {
            return Vec::new();
        };
        let begin = Instant::now();
        let expected = self.last.iter().sum();
        let (mut group, mut size) = (Vec::new(), 0);
        let mut next = Some(first);
        while let Some(job) = next.take() {
            size += job_size(&job);
            let is_last = matches!(job, Job::Close(_));
            group.push(job);
            if group.len() < GROUP && size < GROUP_BYTES && !is_last {
                let waits = group.len() < expected && expected > FEW;
                let patience =
                    if waits { self.patience.saturating_sub(begin.elapsed()) } else { Duration::ZERO };
                next = self.take(patience);
            }
        }
        self.last = [group.len(), self.last[0]];
        group
    }

    /// Has a job wait for the next group.
    pub(super) fn defer(&mut self, job: Job) {
        self.deferred.push_back(job);
    }

    /// Tells how long the last group took to be written.
    pub(super) fn learn(&mut self, writing: Duration) {
        self.patience = writing / 2;
    }

    fn take(&mut self, patience: Duration) -> Option<Job> {
        let there = self.deferred.pop_front().or_else(|| self.jobs.try_recv().ok());
        if there.is_some() || patience.is_zero() { there } else { self.jobs.recv_timeout(patience).ok() }
    }
}

fn job_size(job: &Job) -> usize {
    let size = |write: &Write| match write {
        Write::Put { body, .. } => body.len(),
        Write::Delete { .. } => 0,
    };
    match job {
        Job::Commit(batch, _) => batch.writes().iter().map(size).sum(),
        Job::Purge(..) | Job::Settle(_) | Job::Close(_) => 0,
    }
}
