use std::collections::{HashSet, VecDeque};
use std::time::Duration;
#[cfg(feature = "postgres")]
use std::time::Instant;

use bytes::Bytes;

use super::batch::AcceptedBatch;
use super::body::{BodyRef, MAX_BODY};
use super::codec::{RecordChange, RecordHeader};
use super::queue::{GROUP_BYTES, Job, Jobs, Responder};
use crate::store::index::{Index, Packs};
use crate::store::{Batch, Facets, Guard, Key, Precondition, StoreError, UniqueKey, Version, Write};

/// Maximum number of jobs in a group.
pub(crate) const GROUP_JOBS: usize = 256;

/// Maximum time for which a task yields to those that it waits for.
#[cfg(feature = "postgres")]
const MAX_YIELDING: Duration = Duration::from_millis(2);

/// Collects the jobs of the next group.
///
/// Writers that are acknowledged with one group submit their next batch while the following group is being written.
/// So that the writers do not stay split into two alternating halves, each group waits a little for as many jobs as
/// may come: one for each writer just acknowledged, and those that were queued meanwhile.
#[derive(Debug)]
pub(crate) struct GroupCollector {
    jobs: Jobs,
    /// Jobs that depend on the last group and had to wait.
    deferred: VecDeque<Job>,
    /// Jobs that were queued after the last group was full.
    overflow: VecDeque<Job>,
    /// How many jobs may come for the next group.
    expected: usize,
    /// Maximum wait for them: half the time that a separate group would take.
    max_wait: Duration,
}

impl GroupCollector {
    pub(crate) fn new(jobs: Jobs) -> Self {
        let (deferred, overflow) = (VecDeque::new(), VecDeque::new());
        Self { jobs, deferred, overflow, expected: 0, max_wait: Duration::ZERO }
    }

    /// Waits for the next group; empty once the queue is closed. A job that closes the store ends the group.
    #[cfg(feature = "sled")]
    pub(crate) fn next(&mut self) -> Vec<Job> {
        let backlog = self.backlog();
        if backlog == 0 {
            self.jobs.wait();
        }
        let expected = self.take_expected();
        if expected > backlog + self.jobs.len() {
            self.jobs.wait_for(expected - backlog, self.max_wait);
        }
        self.take_group()
    }

    /// Like `next`, for a committer that is a task.
    #[cfg(feature = "postgres")]
    pub(crate) async fn next_async(&mut self) -> Vec<Job> {
        let backlog = self.backlog();
        if backlog == 0 {
            self.jobs.wait_async().await;
        }
        let wanted = self.take_expected().saturating_sub(backlog);
        let (begin, max_wait) = (Instant::now(), self.max_wait.min(MAX_YIELDING));
        // The timers of the runtime are too coarse: a group often takes less than their resolution of a millisecond.
        while !self.jobs.has(wanted) && begin.elapsed() < max_wait {
            tokio::task::yield_now().await;
        }
        self.take_group()
    }

    fn take_group(&mut self) -> Vec<Job> {
        let mut waiting = std::mem::take(&mut self.deferred);
        waiting.append(&mut self.overflow);
        waiting.append(&mut self.jobs.take());
        let (mut group, mut size) = (Vec::new(), 0);
        while group.len() < GROUP_JOBS
            && size < GROUP_BYTES
            && let Some(job) = waiting.pop_front()
        {
            size += job.size();
            let is_last = matches!(job, Job::Close(_));
            group.push(job);
            if is_last {
                break;
            }
        }
        self.overflow = waiting;
        group
    }

    /// Takes all waiting jobs, oldest first.
    #[cfg(feature = "postgres")]
    pub(crate) fn take_all(&mut self) -> impl Iterator<Item = Job> + use<> {
        let waiting =
            std::mem::take(&mut self.deferred).into_iter().chain(std::mem::take(&mut self.overflow));
        waiting.chain(self.jobs.take())
    }

    /// Moves a job to the next group.
    pub(crate) fn defer(&mut self, job: Job) {
        self.deferred.push_back(job);
    }

    /// Records how long the last group took to write, and how many callers are now answered.
    ///
    /// Called before they are answered, so that their next jobs are not counted twice.
    pub(crate) fn record_group(&mut self, duration: Duration, answered: usize) {
        self.expected = self.backlog() + self.jobs.len() + answered;
        self.max_wait = duration / 2;
    }

    /// Returns how many jobs to wait for. Reset, so that a group of which nothing was written causes no wait.
    fn take_expected(&mut self) -> usize {
        std::mem::take(&mut self.expected).min(GROUP_JOBS)
    }

    fn backlog(&self) -> usize {
        self.deferred.len() + self.overflow.len()
    }
}

/// Batches that are written together.
///
/// Each batch is checked against the state before the group. Therefore no batch may depend on another: its
/// preconditions must not concern what an earlier one changes. So readers see only what is in the log, and a group whose
/// write fails leaves nothing to undo.
#[derive(Debug)]
pub(crate) struct CommitGroup {
    pub(crate) accepted: Vec<AcceptedBatch>,
    /// For each batch, the batch as it was submitted, and its caller.
    pub(crate) requests: Vec<(Batch, Responder)>,
    keys: HashSet<Key>,
    unique_keys: HashSet<UniqueKey>,
    next_version: Version,
    pub(crate) last_body_id: u64,
    store_body: StoreBody,
}

/// Returns the stored form of a body with this number, and the reference to it.
pub(crate) type StoreBody = fn(u64, &Bytes) -> (BodyRef, Bytes);

/// What became of a batch.
#[derive(Debug)]
pub(crate) enum Admission {
    /// The batch is part of the group.
    Accepted,
    /// The batch depends on another one of the group, and must wait for the next.
    Deferred(Batch, Responder),
    /// Nothing has to be written: a condition is not met, or the batch has no writes.
    Decided(Batch, Responder, Result<(), StoreError>),
}

impl CommitGroup {
    /// Starts a group. `next_version` is for its first batch; `last_body_id` is the highest body number assigned.
    pub(crate) fn new(next_version: Version, last_body_id: u64, store_body: StoreBody) -> Self {
        Self {
            accepted: Vec::new(),
            requests: Vec::new(),
            keys: HashSet::new(),
            unique_keys: HashSet::new(),
            next_version,
            last_body_id,
            store_body,
        }
    }

    /// Adds a batch, if it does not depend on the group and its conditions are met.
    pub(crate) fn admit(&mut self, index: &Index, batch: Batch, responder: Responder) -> Admission {
        if self.depends_on_group(index, &batch) {
            return Admission::Deferred(batch, responder);
        }
        let checked = index
            .check(batch.writes(), &Packs::default(), batch.guards())
            .and_then(|()| check_lengths(batch.writes()));
        if checked.is_err() || batch.writes().is_empty() {
            return Admission::Decided(batch, responder, checked);
        }
        self.accept(batch.writes());
        self.requests.push((batch, responder));
        Admission::Accepted
    }

    #[cfg(feature = "sled")]
    pub(crate) fn is_empty(&self) -> bool {
        self.accepted.is_empty()
    }

    fn depends_on_group(&self, index: &Index, batch: &Batch) -> bool {
        if self.accepted.is_empty() {
            return false;
        }
        let is_changed = |unique_key: &UniqueKey| {
            let holder = index.get_by_unique_key(unique_key).and_then(|row| index.key(row));
            self.unique_keys.contains(unique_key) || holder.is_some_and(|(key, _)| self.keys.contains(&key))
        };
        let by_write = batch.writes().iter().any(|write| {
            self.keys.contains(&write.key())
                || matches!(write, Write::Put { facets, .. } if facets.unique_keys.iter().any(is_changed))
        });
        let by_guard = batch.guards().iter().any(|guard| match guard {
            Guard::Record { key, .. } => self.keys.contains(key),
            Guard::UniqueKey { unique_key, .. } => is_changed(unique_key),
            // Any record that the group puts could have the link, or be in the network.
            Guard::LinkedWithin { .. } | Guard::NetworkEmpty { .. } => true,
        });
        // The index limits the number of distinct names by counting them before the group.
        by_write || by_guard || index.introduces_names(batch.writes())
    }

    fn accept(&mut self, writes: &[Write]) {
        let version = self.next_version;
        self.next_version = Version(version.0 + 1);
        let mut changes = Vec::with_capacity(writes.len());
        for write in writes {
            let key = write.key();
            self.keys.insert(key);
            let change = match write {
                Write::Delete { .. } => RecordChange::Delete,
                Write::Put { facets, body, .. } => {
                    self.unique_keys.extend(facets.unique_keys.iter().cloned());
                    self.put(key, version, facets, body)
                }
            };
            changes.push((key, change));
        }
        self.accepted.push(AcceptedBatch { version, changes });
    }

    fn put(&mut self, key: Key, version: Version, facets: &Facets, body: &Bytes) -> RecordChange {
        self.last_body_id += 1;
        let (body_ref, body) = (self.store_body)(self.last_body_id, body);
        let header = RecordHeader::encode(key, version, body_ref, facets).into();
        RecordChange::Put { header, body_ref, body }
    }
}

/// Returns the batch that deletes these records.
pub(crate) fn deletions(keys: Vec<Key>) -> Batch {
    let mut batch = Batch::new();
    for key in keys {
        batch.delete(key, Precondition::Any);
    }
    batch
}

fn check_lengths(writes: &[Write]) -> Result<(), StoreError> {
    for write in writes {
        if let Write::Put { key, body, .. } = write
            && body.len() > MAX_BODY
        {
            return Err(StoreError::invalid(format!("the body of {key} is longer than {MAX_BODY} bytes")));
        }
    }
    Ok(())
}

#[cfg(all(test, feature = "sled"))]
mod tests {
    use std::pin::pin;
    use std::task::{Context, Waker};
    use std::thread;

    use uuid::Uuid;

    use super::super::queue::{Queue, Responder};
    use super::*;
    use crate::model::Timestamp;
    use crate::store::{Batch, Facets, Key, Name, Precondition};

    /// Longer than any test runs: a test that waited for it would not end.
    const LONG: Duration = Duration::from_secs(3_600);

    /// Submits numbered jobs, and discards their answers.
    #[derive(Debug)]
    struct Fixture {
        queue: Queue,
        collector: GroupCollector,
    }

    impl Fixture {
        fn new() -> Self {
            let (queue, jobs) = Queue::new();
            Self { queue, collector: GroupCollector::new(jobs) }
        }

        fn ask(&self, number: i64) {
            send(&self.queue, |responder| Job::Purge(Timestamp::UNIX_EPOCH.plus_micros(number), responder));
        }

        fn next(&mut self) -> Vec<i64> {
            self.collector.next().iter().map(number).collect()
        }
    }

    fn send(queue: &Queue, job: impl FnOnce(Responder) -> Job) {
        let mut asked = pin!(queue.submit(job));
        assert!(asked.as_mut().poll(&mut Context::from_waker(Waker::noop())).is_pending());
    }

    fn number(job: &Job) -> i64 {
        match job {
            Job::Purge(time, _) => time.unix_micros(),
            _ => -1,
        }
    }

    #[test]
    fn single_writer_never_waits() {
        let mut fixture = Fixture::new();
        for number in 0..3 {
            fixture.ask(number);
            assert_eq!(fixture.next(), [number]);
            fixture.collector.record_group(LONG, 1);
        }
    }

    #[test]
    fn group_waits_for_answered_and_queued_writers() {
        let mut fixture = Fixture::new();
        fixture.ask(0);
        assert_eq!(fixture.next(), [0]);
        fixture.ask(1);
        fixture.collector.record_group(LONG, 1);
        let Fixture { queue, mut collector } = fixture;
        let group = thread::scope(|scope| {
            let group = scope.spawn(|| collector.next().iter().map(number).collect::<Vec<_>>());
            send(&queue, |responder| Job::Purge(Timestamp::UNIX_EPOCH.plus_micros(2), responder));
            group.join().unwrap_or_default()
        });
        assert_eq!(group, [1, 2]);
    }

    #[test]
    fn group_without_writes_causes_no_wait() {
        let mut fixture = Fixture::new();
        fixture.ask(0);
        fixture.next();
        fixture.collector.record_group(LONG, 2);
        fixture.ask(1);
        fixture.ask(2);
        assert_eq!(fixture.next(), [1, 2]);
        fixture.ask(3);
        assert_eq!(fixture.next(), [3]);
    }

    #[test]
    fn missing_writer_is_waited_for_at_most_max_wait() {
        let mut fixture = Fixture::new();
        fixture.collector.record_group(Duration::from_micros(2), 64);
        fixture.ask(0);
        assert_eq!(fixture.next(), [0]);
    }

    #[test]
    fn deferred_jobs_go_first_then_queue_order() {
        let mut fixture = Fixture::new();
        (0..GROUP_JOBS as i64 + 2).for_each(|number| fixture.ask(number));
        let mut group = fixture.collector.next();
        assert_eq!(group.len(), GROUP_JOBS);
        let deferred = group.split_off(GROUP_JOBS - 2);
        deferred.into_iter().for_each(|job| fixture.collector.defer(job));
        fixture.collector.record_group(Duration::ZERO, 0);
        fixture.ask(1_000);
        assert_eq!(fixture.next(), [254, 255, 256, 257, 1_000]);
    }

    #[test]
    fn close_job_ends_its_group() {
        let mut fixture = Fixture::new();
        fixture.ask(0);
        send(&fixture.queue, Job::Close);
        fixture.ask(1);
        fixture.collector.record_group(LONG, 64);
        assert_eq!(fixture.next(), [0, -1]);
        assert_eq!(fixture.next(), [1]);
    }

    #[test]
    fn group_ends_with_the_batch_that_fills_it() {
        let mut fixture = Fixture::new();
        for _ in 0..3 {
            let mut batch = Batch::new();
            let key = Key::new(Name::new("note"), Uuid::nil());
            batch.put(key, Precondition::Any, Facets::default(), vec![0; GROUP_BYTES / 2]);
            send(&fixture.queue, |responder| Job::Commit(batch, responder));
        }
        fixture.collector.record_group(LONG, 3);
        assert_eq!(fixture.next().len(), 2);
    }

    #[test]
    fn closed_queue_yields_empty_group() {
        let Fixture { queue, mut collector } = Fixture::new();
        drop(queue);
        assert!(collector.next().is_empty());
    }
}
