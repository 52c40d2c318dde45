//! The networks whose links are to be computed again, and the tasks that do it.

use std::collections::{HashMap, HashSet, VecDeque};
use std::mem;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use tokio::runtime::Handle;
use tokio::time::{Instant, sleep_until};

use super::memory::FollowedMemory;
use super::touched::{Touched, TouchedNetworks};
use crate::inventory::Inventory;
use crate::inventory::history::known::KnownHistory;
use crate::model::{NetworkId, OrganizationId};

/// The maximum number of networks that are followed at a time.
const MAX_TASKS: usize = 4;

/// After a turn, a network rests this many times as long as the turn took, but at most a second: turns of up to a ninth of a second take a tenth of a processor's time.
const REST: u32 = 9;
const MAX_REST: Duration = Duration::from_secs(1);

/// The number of networks from which rested networks are forgotten.
const MAX_RESTING: usize = 1_024;

/// The number of repetitions of a failed turn, and the delays before them.
const MAX_REPETITIONS: u8 = 5;
const REPEATED_AFTER: Duration = Duration::from_secs(1);

/// A network of an organization.
pub(super) type FollowedKey = (OrganizationId, NetworkId);

/// The networks whose links are recorded as they change.
#[derive(Debug, Default)]
pub(in crate::inventory::history) struct Followers {
    queue: Mutex<Waiting>,
    pub(super) memory: FollowedMemory,
    /// Whether networks that were left behind have been looked for.
    has_looked: AtomicBool,
}

#[derive(Debug, Default)]
struct Waiting {
    touched: HashMap<FollowedKey, Pending>,
    /// The networks with changes and without a task, in the order of their turns.
    ready: VecDeque<FollowedKey>,
    /// The networks that have a task.
    busy: HashSet<FollowedKey>,
    /// The ends of the rests of networks. No task exists for a rest alone: it would keep the store open.
    resting: HashMap<FollowedKey, Instant>,
    tasks: usize,
}

#[derive(Debug, Default)]
struct Pending {
    touched: Touched,
    failures: u8,
}

impl Followers {
    /// Returns the number of networks in memory.
    pub(in crate::inventory::history) fn networks(&self) -> u64 {
        self.memory.len()
    }

    /// Returns whether networks that were left behind were not looked for yet. From now on, they were.
    pub(super) fn begin_looking(&self) -> bool {
        !self.has_looked.load(Ordering::Relaxed) && !self.has_looked.swap(true, Ordering::Relaxed)
    }

    /// Notes that looking has failed, so that the next use of the history looks again.
    pub(super) fn end_looking(&self) {
        self.has_looked.store(false, Ordering::Relaxed);
    }

    fn waiting(&self) -> MutexGuard<'_, Waiting> {
        self.queue.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Waiting {
    fn add(&mut self, key: FollowedKey, touched: Touched, failures: u8) {
        let is_new = !self.touched.contains_key(&key);
        let pending = self.touched.entry(key).or_default();
        pending.touched.add(touched);
        pending.failures = pending.failures.max(failures);
        if is_new && !self.busy.contains(&key) {
            self.ready.push_back(key);
        }
    }

    fn rest(&mut self, key: FollowedKey, rest: Duration) {
        let now = Instant::now();
        if self.resting.len() >= MAX_RESTING {
            self.resting.retain(|_, until| *until > now);
        }
        self.resting.insert(key, now + rest);
    }

    /// Ends the turn of a network.
    fn release(&mut self, key: FollowedKey) {
        if self.busy.remove(&key) && self.touched.contains_key(&key) {
            self.ready.push_back(key);
        }
    }
}

/// A task that follows networks. If it is aborted, its network is pending again.
#[derive(Debug)]
struct FollowerTask {
    history: Arc<KnownHistory>,
    /// The network that has its turn.
    current: Option<FollowedKey>,
    /// The changes that are pending again if the turn ends early.
    repetition: Touched,
    is_counted: bool,
}

impl FollowerTask {
    /// Returns a further task, if there is something to do and there are not too many.
    fn begin(history: &Arc<KnownHistory>) -> Option<Self> {
        let mut waiting = history.followers.waiting();
        if waiting.ready.is_empty() || waiting.tasks >= MAX_TASKS {
            return None;
        }
        waiting.tasks += 1;
        Some(Self {
            history: Arc::clone(history),
            current: None,
            repetition: Touched::default(),
            is_counted: true,
        })
    }

    /// Chooses the next network, and returns until when it rests. `None`: there is none, and the task ends.
    fn next(&mut self) -> Option<(FollowedKey, Option<Instant>)> {
        let mut waiting = self.history.followers.waiting();
        let Some(key) = waiting.ready.pop_front() else {
            waiting.tasks -= 1;
            self.is_counted = false;
            return None;
        };
        waiting.busy.insert(key);
        self.current = Some(key);
        self.repetition = Touched::default();
        Some((key, waiting.resting.remove(&key)))
    }

    /// Takes the pending changes of a network.
    fn take(&mut self, key: FollowedKey) -> Pending {
        let pending = self.history.followers.waiting().touched.remove(&key).unwrap_or_default();
        self.repetition = pending.touched.repeated();
        pending
    }

    /// Ends the turn of a network.
    fn end(&mut self, rest: Duration) {
        if let Some(key) = self.current.take() {
            let mut waiting = self.history.followers.waiting();
            waiting.rest(key, rest);
            waiting.release(key);
        }
    }
}

impl Drop for FollowerTask {
    fn drop(&mut self) {
        let mut waiting = self.history.followers.waiting();
        if let Some(key) = self.current {
            waiting.add(key, mem::take(&mut self.repetition), 0);
            waiting.release(key);
        }
        if self.is_counted {
            waiting.tasks -= 1;
        }
    }
}

impl Inventory {
    /// Has the links of networks recorded in the background.
    pub(in crate::inventory::history) fn follow_touched(
        &self,
        organization: OrganizationId,
        touched: TouchedNetworks,
    ) {
        if touched.networks.is_empty() {
            return;
        }
        self.begin_following();
        let networks =
            touched.networks.into_iter().map(|(network, touched)| ((organization, network), touched));
        self.follow_soon(networks);
    }

    pub(super) fn follow_soon(&self, networks: impl IntoIterator<Item = (FollowedKey, Touched)>) {
        let mut networks = networks.into_iter().peekable();
        if networks.peek().is_none() {
            return;
        }
        let history = &self.state.history;
        {
            let mut waiting = history.followers.waiting();
            networks.for_each(|(key, touched)| waiting.add(key, touched, 0));
        }
        // Without a runtime, they wait for a commit that has one.
        if Handle::try_current().is_err() {
            return;
        }
        let Some(task) = FollowerTask::begin(history) else { return };
        let inventory = self.with_own_state();
        self.spawn_following(async move { inventory.follow(task).await });
    }

    /// Spawns a task that ends with the inventory, also if this is the inventory of a background task.
    pub(super) fn spawn_following(&self, task: impl Future<Output = ()> + Send + 'static) {
        if let Some(tasks) = self.state.history.tasks() {
            tasks.spawn_required(task);
        }
    }

    async fn follow(&self, mut task: FollowerTask) {
        while let Some((key, rests_until)) = task.next() {
            if let Some(until) = rests_until {
                sleep_until(until).await;
            }
            let (begun, Pending { touched, failures }) = (Instant::now(), task.take(key));
            let rest = match self.follow_network(key, touched).await {
                Ok(()) => begun.elapsed().saturating_mul(REST).min(MAX_REST),
                Err(error) if error.is_of_missing_organization() => REPEATED_AFTER,
                Err(error) => {
                    let error = error.with_causes();
                    tracing::warn!(error, "changes of links were not recorded");
                    let followers = &self.state.history.followers;
                    if failures < MAX_REPETITIONS {
                        followers.waiting().add(key, mem::take(&mut task.repetition), failures + 1);
                    } else {
                        // The next turn reads everything again, also what these changes were about.
                        drop(followers.memory.take(key));
                    }
                    REPEATED_AFTER
                }
            };
            task.end(rest);
        }
    }
}
