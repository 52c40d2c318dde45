//! The threads on which jobs run, and the order in which waiting jobs get them.

use std::collections::{HashMap, VecDeque};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use tokio::sync::oneshot;

use crate::model::OrganizationId;

/// The debt below which an organization counts as one that has worked little.
const SMALL_DEBT: Duration = Duration::from_millis(8);

/// The greatest debt of an organization. It ensures that an organization that has stopped working soon counts like any
/// other.
const MAX_DEBT: Duration = Duration::from_millis(100);

/// Divides the time: an organization that works for at most this part of it has worked little.
const SHARE: u32 = 4;

/// The time after which a job takes turns with those of organizations that have worked little. Together, these could
/// otherwise take all the time.
const MAX_WAIT: Duration = Duration::from_millis(25);

/// The number of organizations with a debt from which on those whose debt is paid are forgotten.
const MAX_REMEMBERED_DEBTS: usize = 1_024;

/// A number of threads. Jobs of organizations that have worked little lately get one first, the others in the order in
/// which they asked.
#[derive(Debug)]
pub(super) struct Threads {
    queue: Mutex<Queue>,
    /// The number of jobs that wait, and of those that come first. Running jobs read both without the lock.
    waiting: AtomicUsize,
    first: AtomicUsize,
}

/// The right to use a processor. Dropping it gives it to the job that is next.
#[derive(Debug)]
pub(super) struct Thread {
    threads: Arc<Threads>,
    organization: OrganizationId,
    since: Instant,
    order: Precedence,
}

/// The reason why a job got its thread.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Precedence {
    /// Its organization has worked little.
    First,
    /// It was its turn.
    Usual,
    /// It had waited for too long.
    Late,
}

#[derive(Debug)]
struct Queue {
    free: usize,
    first: VecDeque<Waiter>,
    others: VecDeque<Waiter>,
    /// Whether the last thread was granted to a waiter that had waited long.
    was_late: bool,
    debts: HashMap<OrganizationId, Debt>,
}

#[derive(Debug)]
struct Waiter {
    since: Instant,
    granted: oneshot::Sender<Precedence>,
}

/// The time that an organization has worked beyond its share, as of a moment.
#[derive(Clone, Copy, Debug)]
struct Debt {
    time: Duration,
    at: Instant,
}

impl Threads {
    pub(super) fn new(threads: usize) -> Arc<Self> {
        let queue = Queue {
            free: threads,
            first: VecDeque::new(),
            others: VecDeque::new(),
            was_late: false,
            debts: HashMap::new(),
        };
        let [waiting, first] = [AtomicUsize::new(0), AtomicUsize::new(0)];
        Arc::new(Self { queue: Mutex::new(queue), waiting, first })
    }

    /// Returns whether a thread is free, for which no job waits.
    pub(super) fn has_free(&self) -> bool {
        self.lock().free > 0
    }

    /// Returns the number of jobs that wait for a thread.
    pub(super) fn waiting(&self) -> usize {
        self.waiting.load(Ordering::Relaxed)
    }

    /// Returns whether any job waits for a thread.
    pub(super) fn are_awaited(&self) -> bool {
        self.waiting() > 0
    }

    /// Returns whether a job of an organization that has worked little waits for a thread.
    pub(super) fn are_awaited_by_first(&self) -> bool {
        self.first.load(Ordering::Relaxed) > 0
    }

    /// Waits for a thread, on a thread that may block.
    pub(super) fn acquire(self: &Arc<Self>, organization: OrganizationId) -> Thread {
        let order = match self.enter(organization) {
            Ok(order) => order,
            // The sender is dropped only after it has sent.
            Err(granted) => granted.blocking_recv().unwrap_or(Precedence::Usual),
        };
        Thread { threads: Arc::clone(self), organization, since: Instant::now(), order }
    }

    /// Takes a free thread, or begins to wait for one.
    fn enter(&self, organization: OrganizationId) -> Result<Precedence, oneshot::Receiver<Precedence>> {
        let now = Instant::now();
        let mut queue = self.lock();
        let order = queue.order_of(organization, now);
        if queue.free > 0 {
            queue.free -= 1;
            return Ok(order);
        }
        let (granted, receiver) = oneshot::channel();
        let waiter = Waiter { since: now, granted };
        match order {
            Precedence::First => queue.first.push_back(waiter),
            Precedence::Usual | Precedence::Late => queue.others.push_back(waiter),
        }
        self.count(&queue);
        Err(receiver)
    }

    fn release(&self, organization: OrganizationId, worked: Duration) {
        let now = Instant::now();
        let mut queue = self.lock();
        queue.add_debt(organization, worked, now);
        while let Some((waiter, order)) = queue.next(now) {
            if waiter.granted.send(order).is_ok() {
                return self.count(&queue);
            }
        }
        queue.free += 1;
        self.count(&queue);
    }

    fn count(&self, queue: &Queue) {
        self.waiting.store(queue.first.len() + queue.others.len(), Ordering::Relaxed);
        self.first.store(queue.first.len(), Ordering::Relaxed);
    }

    fn lock(&self) -> MutexGuard<'_, Queue> {
        self.queue.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Queue {
    /// Removes the waiter that is next.
    fn next(&mut self, now: Instant) -> Option<(Waiter, Precedence)> {
        let is_late = |waiter: &Waiter| now.saturating_duration_since(waiter.since) >= MAX_WAIT;
        // Where all others wait long, those that worked little take turns with them.
        let is_turn_of_first = self.was_late && !self.first.is_empty();
        self.was_late = !is_turn_of_first && self.others.front().is_some_and(is_late);
        if self.was_late {
            return self.others.pop_front().map(|waiter| (waiter, Precedence::Late));
        }
        let first = self.first.pop_front().map(|waiter| (waiter, Precedence::First));
        first.or_else(|| self.others.pop_front().map(|waiter| (waiter, Precedence::Usual)))
    }

    fn order_of(&self, organization: OrganizationId, now: Instant) -> Precedence {
        let debt = self.debts.get(&organization).map_or(Duration::ZERO, |debt| debt.left(now));
        if debt < SMALL_DEBT { Precedence::First } else { Precedence::Usual }
    }

    fn add_debt(&mut self, organization: OrganizationId, worked: Duration, now: Instant) {
        if self.debts.len() >= MAX_REMEMBERED_DEBTS {
            self.debts.retain(|_, debt| debt.left(now) > Duration::ZERO);
        }
        let debt = self.debts.entry(organization).or_insert(Debt { time: Duration::ZERO, at: now });
        *debt = Debt { time: (debt.left(now) + worked).min(MAX_DEBT), at: now };
    }
}

impl Debt {
    fn left(self, now: Instant) -> Duration {
        self.time.saturating_sub(now.saturating_duration_since(self.at) / SHARE)
    }
}

impl Thread {
    pub(super) const fn order(&self) -> Precedence {
        self.order
    }

    /// Counts further work like that of any organization: the job has worked for a whole turn.
    pub(super) const fn begin_usual_turn(&mut self) {
        self.order = Precedence::Usual;
    }
}

impl Drop for Thread {
    fn drop(&mut self) {
        self.threads.release(self.organization, self.since.elapsed());
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const SMALL_ORGANIZATION: OrganizationId = OrganizationId::from_u128(1);
    const LARGE_ORGANIZATION: OrganizationId = OrganizationId::from_u128(2);

    fn waiter(since: Instant) -> Waiter {
        Waiter { since, granted: oneshot::channel().0 }
    }

    fn queue() -> Queue {
        Queue {
            free: 0,
            first: VecDeque::new(),
            others: VecDeque::new(),
            was_late: false,
            debts: HashMap::new(),
        }
    }

    #[test]
    fn organization_comes_first_until_it_has_worked_more_than_its_share() {
        let (mut queue, start) = (queue(), Instant::now());
        // A share of the time, for ever.
        for number in 0..1_000 {
            let now = start + number * SHARE * Duration::from_millis(2);
            assert_eq!(queue.order_of(SMALL_ORGANIZATION, now), Precedence::First);
            queue.add_debt(SMALL_ORGANIZATION, Duration::from_millis(2), now);
        }
        queue.add_debt(LARGE_ORGANIZATION, Duration::from_secs(3_600), start);
        assert_eq!(queue.order_of(LARGE_ORGANIZATION, start), Precedence::Usual);
        assert_eq!(queue.order_of(LARGE_ORGANIZATION, start + SHARE * MAX_DEBT), Precedence::First);
    }

    #[test]
    fn jobs_that_come_first_do_not_keep_the_others_waiting_for_ever() {
        let (mut queue, start) = (queue(), Instant::now());
        queue.others.push_back(waiter(start));
        queue.first.extend([waiter(start), waiter(start)]);
        let mut next = |after| queue.next(start + after).map(|(_, order)| order);
        assert_eq!(next(MAX_WAIT / 2), Some(Precedence::First));
        assert_eq!(next(MAX_WAIT), Some(Precedence::Late));
        assert_eq!(next(MAX_WAIT), Some(Precedence::First));
        assert_eq!(next(MAX_WAIT), None);
    }

    #[test]
    fn thread_passes_to_an_organization_that_has_worked_little() {
        let threads = Threads::new(1);
        // In the future, so that it is not paid during the test.
        threads.lock().add_debt(LARGE_ORGANIZATION, MAX_DEBT, Instant::now() + MAX_WAIT * 1_000);
        let running = threads.acquire(LARGE_ORGANIZATION);
        assert_eq!((running.order(), threads.has_free()), (Precedence::Usual, false));
        let mut other = threads.enter(LARGE_ORGANIZATION).unwrap_err();
        assert_eq!((threads.are_awaited(), threads.are_awaited_by_first()), (true, false));
        let mut small = threads.enter(SMALL_ORGANIZATION).unwrap_err();
        assert!(threads.are_awaited_by_first());
        // Waiting for too long would change the order.
        threads.lock().others.iter_mut().for_each(|waiter| waiter.since += MAX_WAIT * 1_000);
        drop(running);
        assert_eq!((small.try_recv(), other.try_recv().is_err()), (Ok(Precedence::First), true));
        threads.release(SMALL_ORGANIZATION, Duration::ZERO);
        assert_eq!((other.try_recv(), threads.are_awaited()), (Ok(Precedence::Usual), false));
        threads.release(LARGE_ORGANIZATION, Duration::ZERO);
        assert!(threads.has_free());
    }

    #[test]
    fn debts_that_are_paid_are_forgotten() {
        let (mut queue, start) = (queue(), Instant::now());
        for number in 0..10 * MAX_REMEMBERED_DEBTS as u32 {
            let work = Duration::from_millis(1);
            queue.add_debt(
                OrganizationId::from_u128(u128::from(number)),
                work,
                start + number * SHARE * work,
            );
        }
        assert!(queue.debts.len() <= MAX_REMEMBERED_DEBTS, "{}", queue.debts.len());
    }
}
