use std::collections::VecDeque;
use std::time::Duration;

use super::queue::{GROUP_BYTES, Job, Jobs};

/// How many jobs are done in one go.
const GROUP: usize = 256;

/// Picks what is written in one go.
///
/// Writers that were told of the last group come back with their next batch while the other half is being written. So that the
/// halves do not alternate for ever, each group waits a little for as many as may come: those who were told of the last, and
/// those who came while it was written.
#[derive(Debug)]
pub(super) struct Gatherer {
    jobs: Jobs,
    /// What had to wait for the next group.
    deferred: VecDeque<Job>,
    /// What came in after the last group was full.
    left: VecDeque<Job>,
    /// How many may come for the next group.
    expected: usize,
    /// Less than what a group of its own would take those who come late.
    patience: Duration,
}

impl Gatherer {
    pub(super) fn new(jobs: Jobs) -> Self {
        let (deferred, left) = (VecDeque::new(), VecDeque::new());
        Self { jobs, deferred, left, expected: 0, patience: Duration::ZERO }
    }

    /// Waits for the next group; none when nobody can ask for anything any more. A wish to close the store ends the group.
    pub(super) fn next(&mut self) -> Vec<Job> {
        self.wait();
        let mut waiting = std::mem::take(&mut self.deferred);
        waiting.append(&mut self.left);
        waiting.append(&mut self.jobs.take());
        let (mut group, mut size) = (Vec::new(), 0);
        while group.len() < GROUP
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
        self.left = waiting;
        group
    }

    /// Has a job wait for the next group.
    pub(super) fn defer(&mut self, job: Job) {
        self.deferred.push_back(job);
    }

    /// Hears how long the last group took to be written, and how many are now to be told. Before they are: who comes back is
    /// not counted twice then.
    pub(super) fn learn(&mut self, writing: Duration, told: usize) {
        self.expected = self.kept() + self.jobs.len() + told;
        self.patience = writing / 2;
    }

    /// For somebody, and then a little for all who are expected.
    fn wait(&mut self) {
        let kept = self.kept();
        if kept == 0 {
            self.jobs.wait();
        }
        // Taken, so that nobody is waited for after a group of which nothing was written.
        let expected = std::mem::take(&mut self.expected).min(GROUP);
        if expected > kept + self.jobs.len() {
            self.jobs.wait_for(expected - kept, self.patience);
        }
    }

    fn kept(&self) -> usize {
        self.deferred.len() + self.left.len()
    }
}

#[cfg(test)]
mod tests {
    use std::pin::pin;
    use std::task::{Context, Waker};
    use std::thread;

    use uuid::Uuid;

    use super::super::queue::{Queue, Reply};
    use super::*;
    use crate::model::Timestamp;
    use crate::store::{Batch, Facets, Key, Name, Precondition};

    /// Nobody waits for so long: a test that ends did not.
    const LONG: Duration = Duration::from_secs(3_600);

    /// Asks for jobs that are known by their numbers, and minds no answer.
    #[derive(Debug)]
    struct Asking {
        queue: Queue,
        gatherer: Gatherer,
    }

    impl Asking {
        fn new() -> Self {
            let (queue, jobs) = Queue::new();
            Self { queue, gatherer: Gatherer::new(jobs) }
        }

        fn ask(&self, number: i64) {
            send(&self.queue, |reply| Job::Purge(Timestamp::UNIX_EPOCH.plus_micros(number), reply));
        }

        fn next(&mut self) -> Vec<i64> {
            self.gatherer.next().iter().map(number).collect()
        }
    }

    fn send(queue: &Queue, job: impl FnOnce(Reply) -> Job) {
        let mut asked = pin!(queue.ask(job));
        assert!(asked.as_mut().poll(&mut Context::from_waker(Waker::noop())).is_pending());
    }

    fn number(job: &Job) -> i64 {
        match job {
            Job::Purge(time, _) => time.unix_micros(),
            _ => -1,
        }
    }

    #[test]
    fn nobody_is_waited_for_where_one_writes_alone() {
        let mut asking = Asking::new();
        for number in 0..3 {
            asking.ask(number);
            assert_eq!(asking.next(), [number]);
            asking.gatherer.learn(LONG, 1);
        }
    }

    #[test]
    fn who_was_told_is_waited_for_together_with_who_came_meanwhile() {
        let mut asking = Asking::new();
        asking.ask(0);
        assert_eq!(asking.next(), [0]);
        asking.ask(1);
        asking.gatherer.learn(LONG, 1);
        let Asking { queue, mut gatherer } = asking;
        let group = thread::scope(|scope| {
            let group = scope.spawn(|| gatherer.next().iter().map(number).collect::<Vec<_>>());
            send(&queue, |reply| Job::Purge(Timestamp::UNIX_EPOCH.plus_micros(2), reply));
            group.join().unwrap_or_default()
        });
        assert_eq!(group, [1, 2]);
    }

    #[test]
    fn nobody_is_waited_for_after_a_group_of_which_nothing_was_written() {
        let mut asking = Asking::new();
        asking.ask(0);
        asking.next();
        asking.gatherer.learn(LONG, 2);
        asking.ask(1);
        asking.ask(2);
        assert_eq!(asking.next(), [1, 2]);
        asking.ask(3);
        assert_eq!(asking.next(), [3]);
    }

    #[test]
    fn who_does_not_come_back_is_given_up() {
        let mut asking = Asking::new();
        asking.gatherer.learn(Duration::from_micros(2), 64);
        asking.ask(0);
        assert_eq!(asking.next(), [0]);
    }

    #[test]
    fn what_had_to_wait_goes_first_and_all_else_in_the_order_it_came() {
        let mut asking = Asking::new();
        (0..GROUP as i64 + 2).for_each(|number| asking.ask(number));
        let mut group = asking.gatherer.next();
        assert_eq!(group.len(), GROUP);
        let deferred = group.split_off(GROUP - 2);
        deferred.into_iter().for_each(|job| asking.gatherer.defer(job));
        asking.gatherer.learn(Duration::ZERO, 0);
        asking.ask(1_000);
        assert_eq!(asking.next(), [254, 255, 256, 257, 1_000]);
    }

    #[test]
    fn a_wish_to_close_is_the_last_of_its_group_also_where_more_are_expected() {
        let mut asking = Asking::new();
        asking.ask(0);
        send(&asking.queue, Job::Close);
        asking.ask(1);
        asking.gatherer.learn(LONG, 64);
        assert_eq!(asking.next(), [0, -1]);
        assert_eq!(asking.next(), [1]);
    }

    #[test]
    fn a_group_ends_with_the_batch_that_fills_it() {
        let mut asking = Asking::new();
        for _ in 0..3 {
            let mut batch = Batch::new();
            let key = Key::new(Name::new("note"), Uuid::nil());
            batch.put(key, Precondition::Any, Facets::default(), vec![0; GROUP_BYTES / 2]);
            send(&asking.queue, |reply| Job::Commit(batch, reply));
        }
        asking.gatherer.learn(LONG, 3);
        assert_eq!(asking.next().len(), 2);
    }

    #[test]
    fn there_is_no_group_when_nobody_can_ask_any_more() {
        let Asking { queue, mut gatherer } = Asking::new();
        drop(queue);
        assert!(gatherer.next().is_empty());
    }
}
