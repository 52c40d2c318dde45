use std::collections::{HashMap, VecDeque};
use std::time::Duration;
#[cfg(feature = "postgres")]
use std::time::Instant;

use uuid::Uuid;

use super::queue::{GROUP_BYTES, Job, Jobs};

/// Maximum number of jobs in a group.
pub(crate) const GROUP_JOBS: usize = 256;

/// Size in bytes of the batches with which one turn of an organization ends.
const TURN_BYTES: usize = GROUP_BYTES / 4;

/// Maximum time for which a task yields to those that it waits for.
#[cfg(feature = "postgres")]
const MAX_YIELDING: Duration = Duration::from_millis(2);

/// Collects the jobs of the next group.
///
/// Writers that are acknowledged with one group submit their next batch while the following group is being written.
/// So that the writers do not stay split into two alternating halves, each group waits a little for as many jobs as
/// may come: one for each writer just acknowledged, and those that were queued meanwhile.
///
/// If more batches wait than a group takes, organizations take turns: a batch waits for one group of large ones at most,
/// however many another organization has queued.
#[derive(Debug)]
pub(crate) struct GroupCollector {
    jobs: Jobs,
    /// Jobs that depend on the last group and had to wait.
    deferred: VecDeque<Job>,
    /// Jobs for which the last group had no room, in the order of their arrival.
    overflow: VecDeque<Job>,
    /// Whether the oldest of them was passed by later ones. It then comes first.
    is_oldest_due: bool,
    /// How many jobs may come for the next group.
    expected: usize,
    /// Maximum wait for them: half the time that a separate group would take.
    max_wait: Duration,
}

impl GroupCollector {
    pub(crate) fn new(jobs: Jobs) -> Self {
        let (deferred, overflow) = (VecDeque::new(), VecDeque::new());
        Self { jobs, deferred, overflow, is_oldest_due: false, expected: 0, max_wait: Duration::ZERO }
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
        let first = waiting.len() + usize::from(self.is_oldest_due);
        waiting.append(&mut self.overflow);
        waiting.append(&mut self.jobs.take());
        let mut waiting = in_turns(waiting, first);
        let (mut group, mut size, mut latest) = (Vec::new(), 0, 0);
        while group.len() < GROUP_JOBS
            && size < GROUP_BYTES
            && let Some((place, job)) = waiting.pop_front()
        {
            if !group.is_empty() && size + job.size() > GROUP_BYTES {
                waiting.push_front((place, job));
                break;
            }
            size += job.size();
            latest = latest.max(place);
            let is_last = matches!(job, Job::Close(_));
            group.push(job);
            if is_last {
                break;
            }
        }
        let mut left = Vec::from(waiting);
        left.sort_unstable_by_key(|(place, _)| *place);
        self.is_oldest_due = left.first().is_some_and(|(place, _)| *place < latest);
        self.overflow = left.into_iter().map(|(_, job)| job).collect();
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

    /// Records the duration of the last group and the number of callers now answered.
    ///
    /// Must be called before they are answered, so that their next jobs are not counted twice.
    pub(crate) fn record_group(&mut self, duration: Duration, answered: usize) {
        self.expected = self.backlog() + self.jobs.len() + answered;
        self.max_wait = duration / 2;
    }

    /// Returns the number of jobs to wait for, and resets it. A group without writes therefore causes no wait.
    fn take_expected(&mut self) -> usize {
        std::mem::take(&mut self.expected).min(GROUP_JOBS)
    }

    fn backlog(&self) -> usize {
        self.deferred.len() + self.overflow.len()
    }
}

/// Returns the jobs with their places in the order of arrival. If they do not fit into one group, the batches behind
/// the first jobs are sorted by the turns of their organizations. Other jobs keep their places.
fn in_turns(waiting: VecDeque<Job>, first: usize) -> VecDeque<(usize, Job)> {
    let is_backlog = waiting.iter().map(Job::size).sum::<usize>() > GROUP_BYTES;
    let mut jobs: VecDeque<(usize, Job)> = waiting.into_iter().enumerate().collect();
    if !is_backlog {
        return jobs;
    }
    let is_batch = |(_, job): &&(usize, Job)| matches!(job, Job::Commit(..));
    let batches = jobs.iter().skip(first).take_while(is_batch).count();
    let mut bytes: HashMap<Option<Uuid>, usize> = HashMap::new();
    let turn = |(_, job): &(usize, Job)| {
        let bytes = bytes.entry(job.organization()).or_default();
        *bytes += job.size();
        *bytes / TURN_BYTES
    };
    let turns: Vec<usize> = jobs.iter().skip(first).take(batches).map(turn).collect();
    let mut later = jobs.split_off((first + batches).min(jobs.len()));
    let mut by_turn: Vec<_> = turns.into_iter().zip(jobs.split_off(first.min(jobs.len()))).collect();
    by_turn.sort_by_key(|(turn, _)| *turn);
    jobs.extend(by_turn.into_iter().map(|(_, job)| job));
    jobs.append(&mut later);
    jobs
}

#[cfg(all(test, feature = "sled"))]
mod tests {
    use std::pin::pin;
    use std::task::{Context, Waker};
    use std::thread;

    use uuid::Uuid;

    use super::super::queue::{JobResponder, Queue};
    use super::*;
    use crate::model::Timestamp;
    use crate::store::{Batch, Facets, Key, Name, Precondition};

    /// Longer than any test runs: a test that waited for it would not end.
    const LONGER_THAN_A_TEST: Duration = Duration::from_secs(3_600);

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

    fn send(queue: &Queue, job: impl FnOnce(JobResponder) -> Job) {
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
            fixture.collector.record_group(LONGER_THAN_A_TEST, 1);
        }
    }

    #[test]
    fn group_waits_for_answered_and_queued_writers() {
        let mut fixture = Fixture::new();
        fixture.ask(0);
        assert_eq!(fixture.next(), [0]);
        fixture.ask(1);
        fixture.collector.record_group(LONGER_THAN_A_TEST, 1);
        let Fixture { queue, mut collector } = fixture;
        let group = thread::scope(|scope| {
            let group = scope.spawn(|| collector.next().iter().map(number).collect::<Vec<_>>());
            send(&queue, |responder| Job::Purge(Timestamp::UNIX_EPOCH.plus_micros(2), responder));
            group.join().unwrap()
        });
        assert_eq!(group, [1, 2]);
    }

    #[test]
    fn group_without_writes_causes_no_wait() {
        let mut fixture = Fixture::new();
        fixture.ask(0);
        fixture.next();
        fixture.collector.record_group(LONGER_THAN_A_TEST, 2);
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
        fixture.collector.record_group(LONGER_THAN_A_TEST, 64);
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
        fixture.collector.record_group(LONGER_THAN_A_TEST, 3);
        assert_eq!(fixture.next().len(), 2);
    }

    #[test]
    fn small_batch_waits_for_one_large_batch_of_another_organization_at_most() {
        let mut fixture = Fixture::new();
        let commit = |fixture: &Fixture, organization: u128, size: usize| {
            let mut batch = Batch::new();
            let facets = Facets::default().with_organization(Uuid::from_u128(organization));
            let key = Key::new(Name::new("note"), Uuid::nil());
            batch.put(key, Precondition::Any, facets, vec![0; size]);
            send(&fixture.queue, |responder| Job::Commit(batch, responder));
        };
        let next = |fixture: &mut Fixture| {
            let group = fixture.collector.next();
            fixture.collector.record_group(Duration::ZERO, 0);
            let organizations = group.iter().map(|job| job.organization().unwrap().as_u128());
            organizations.collect::<Vec<_>>()
        };
        (0..4).for_each(|_| commit(&fixture, 1, GROUP_BYTES));
        commit(&fixture, 2, 1);
        assert_eq!(next(&mut fixture), [2]);
        commit(&fixture, 2, 1);
        // Passed over once, and not again.
        assert_eq!(next(&mut fixture), [1]);
        commit(&fixture, 3, 1);
        assert_eq!(next(&mut fixture), [2, 3]);
        commit(&fixture, 2, 1);
        assert_eq!(next(&mut fixture), [1]);
        assert_eq!(next(&mut fixture), [2]);
        assert_eq!((next(&mut fixture), next(&mut fixture)), (vec![1], vec![1]));
    }

    #[test]
    fn large_batch_is_written_although_small_ones_of_others_never_end() {
        let mut fixture = Fixture::new();
        let commit = |fixture: &Fixture, organization: u128, size: usize| {
            let mut batch = Batch::new();
            let facets = Facets::default().with_organization(Uuid::from_u128(organization));
            let key = Key::new(Name::new("note"), Uuid::nil());
            batch.put(key, Precondition::Any, facets, vec![0; size]);
            send(&fixture.queue, |responder| Job::Commit(batch, responder));
        };
        let small = |fixture: &Fixture| {
            (0..50).for_each(|number| commit(fixture, 1 + number % 5, GROUP_BYTES / 40));
        };
        small(&fixture);
        commit(&fixture, 9, TURN_BYTES);
        let is_of_ninth = |job: &Job| job.organization() == Some(Uuid::from_u128(9));
        let groups = (0..10).position(|_| {
            let group = fixture.collector.next();
            fixture.collector.record_group(Duration::ZERO, 0);
            small(&fixture);
            group.iter().any(is_of_ninth)
        });
        assert!(groups.is_some(), "the large batch starves");
    }

    #[test]
    fn closed_queue_yields_empty_group() {
        let Fixture { queue, mut collector } = Fixture::new();
        drop(queue);
        assert!(collector.next().is_empty());
    }
}
