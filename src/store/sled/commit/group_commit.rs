use std::collections::{HashSet, VecDeque};
use std::time::Duration;

use bytes::Bytes;

use super::super::codec::{BodyRef, RecordChange, RecordHeader};
use super::super::wal::AcceptedBatch;
use super::queue::{GROUP_BYTES, Job, Jobs, Responder};
use crate::store::index::{Index, Packs};
use crate::store::{Batch, Facets, Guard, Key, StoreError, UniqueKey, Version, Write};

/// Maximum number of jobs in a group.
const GROUP_JOBS: usize = 256;

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
    pub(crate) fn next(&mut self) -> Vec<Job> {
        self.wait();
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

    /// Waits for the first job, and then briefly for the expected ones.
    fn wait(&mut self) {
        let backlog = self.backlog();
        if backlog == 0 {
            self.jobs.wait();
        }
        // Reset, so that a group of which nothing was written causes no wait.
        let expected = std::mem::take(&mut self.expected).min(GROUP_JOBS);
        if expected > backlog + self.jobs.len() {
            self.jobs.wait_for(expected - backlog, self.max_wait);
        }
    }

    fn backlog(&self) -> usize {
        self.deferred.len() + self.overflow.len()
    }
}

/// Batches that are written together.
///
/// Each batch is checked against the state before the group. Therefore no batch may depend on another: its
/// preconditions must not concern what an earlier one changes. So readers see only what is on disk, and a group whose
/// write fails leaves nothing to undo.
#[derive(Debug)]
pub(crate) struct CommitGroup {
    pub(crate) accepted: Vec<AcceptedBatch>,
    /// For each batch, the facets of each record it puts.
    pub(crate) facets: Vec<Vec<Facets>>,
    pub(crate) responders: Vec<Responder>,
    keys: HashSet<Key>,
    unique_keys: HashSet<UniqueKey>,
    next_version: Version,
    pub(crate) last_body_id: u64,
}

impl CommitGroup {
    /// Starts a group. `next_version` is for its first batch; `last_body_id` is the highest body number assigned.
    pub(crate) fn new(next_version: Version, last_body_id: u64) -> Self {
        Self {
            accepted: Vec::new(),
            facets: Vec::new(),
            responders: Vec::new(),
            keys: HashSet::new(),
            unique_keys: HashSet::new(),
            next_version,
            last_body_id,
        }
    }

    /// Adds a batch, or answers its caller with an error. Returns a batch that depends on the group as a job.
    pub(crate) fn admit(&mut self, index: &Index, batch: Batch, responder: Responder) -> Option<Job> {
        if self.depends_on_group(index, &batch) {
            return Some(Job::Commit(batch, responder));
        }
        let checked = index
            .check(batch.writes(), &Packs::default(), batch.guards())
            .and_then(|()| check_lengths(batch.writes()));
        if checked.is_err() || batch.writes().is_empty() {
            responder.send(checked);
            return None;
        }
        let (writes, _) = batch.into_parts();
        self.accept(writes);
        self.responders.push(responder);
        None
    }

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

    fn accept(&mut self, writes: Vec<Write>) {
        let version = self.next_version;
        self.next_version = Version(version.0 + 1);
        let (mut changes, mut all_facets) =
            (Vec::with_capacity(writes.len()), Vec::with_capacity(writes.len()));
        for write in writes {
            self.keys.insert(write.key());
            match write {
                Write::Delete { key, .. } => changes.push((key, RecordChange::Delete)),
                Write::Put { key, facets, body, .. } => {
                    self.unique_keys.extend(facets.unique_keys.iter().cloned());
                    let (change, facets) = self.put(key, version, facets, body);
                    changes.push((key, change));
                    all_facets.push(facets);
                }
            }
        }
        self.accepted.push(AcceptedBatch { version, changes });
        self.facets.push(all_facets);
    }

    fn put(&mut self, key: Key, version: Version, facets: Facets, body: Bytes) -> (RecordChange, Facets) {
        self.last_body_id += 1;
        let length = body.len() as u32;
        let body_ref = BodyRef { id: self.last_body_id, length, checksum: crc32fast::hash(&body) };
        let header = RecordHeader { version, body: body_ref, facets };
        let encoded = header.encode(key).into();
        (RecordChange::Put { header: encoded, body_ref, body }, header.facets)
    }
}

fn check_lengths(writes: &[Write]) -> Result<(), StoreError> {
    for write in writes {
        if let Write::Put { key, body, .. } = write
            && u32::try_from(body.len()).is_err()
        {
            return Err(StoreError::invalid(format!("the body of {key} is longer than {} bytes", u32::MAX)));
        }
    }
    Ok(())
}

#[cfg(test)]
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
