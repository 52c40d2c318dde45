//! The figures of an inventory.

use super::Inventory;
use crate::access::{LoginAttempts, PasswordFigures};
use crate::figures::{CacheFigures, Latencies, MetricKind, OpenMetrics, write_caches};
use crate::store::StoreFigures;

/// The figures of an inventory. See [`Inventory::figures`].
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct InventoryFigures {
    /// The caches: decoded records by which requests are authenticated, and lists of parts.
    pub caches: Vec<CacheFigures>,
    /// The queues of waiting requests. They are those of updates of one record, of creations under a quota, of changes
    /// about which the policy is asked again, and of readers of lists of parts.
    pub queues: Vec<QueueFigures>,
    /// The logins of users.
    pub logins: LoginFigures,
    /// The attempts with passwords of shares.
    pub share_passwords: LoginFigures,
    /// Number of sessions that have begun.
    pub sessions_begun: u64,
    /// Number of sessions that a logout has ended.
    pub sessions_ended: u64,
    /// Number of records of the host application that lists have left out because they could not be read.
    pub unreadable_records: u64,
    /// Number of background tasks, such as those that record the use of keys.
    pub background_tasks: u64,
    /// Number of networks whose links are in memory, so that the history records how they change.
    pub followed_networks: u64,
    /// Number of long computations that wait for a thread.
    pub waiting_computations: u64,
    /// The records of the store, and the memory of its index.
    pub store: StoreFigures,
    /// The calls of the store.
    pub store_calls: Vec<StoreCallFigures>,
}

/// Work that takes turns, record by record or organization by organization.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct QueueFigures {
    /// The name of the queues.
    pub name: &'static str,
    /// Number of operations that have their turn or wait for it, in all queues together.
    pub length: u64,
    /// Number of operations in the longest queue.
    pub longest: u64,
}

/// Attempts with a password.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct LoginFigures {
    /// Number of attempts in progress.
    pub in_progress: u64,
    /// Number of attempts with a wrong password, or for an account that does not exist or has no password.
    pub failed: u64,
    /// Number of attempts that were refused after too many failures.
    pub locked_out: u64,
    /// Number of attempts that were refused because too many were in progress.
    pub refused: u64,
    /// The hashes of passwords.
    pub hashes: PasswordFigures,
}

/// The calls of one method of the store.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct StoreCallFigures {
    /// The name of the method.
    pub call: &'static str,
    /// Number of calls.
    pub calls: u64,
    /// Number of measured calls that have failed because the store was unavailable or its data damaged.
    pub failures: u64,
    /// The latencies of the measured calls: one read in 17, and all that write.
    pub latencies: Latencies,
}

impl Inventory {
    /// Returns figures for monitoring. All clones of the inventory have the same.
    ///
    /// ```
    /// use toposcope::{Inventory, MemoryStore};
    ///
    /// let inventory = Inventory::new(MemoryStore::new());
    /// assert_eq!(inventory.figures().logins.failed, 0);
    /// ```
    #[must_use]
    pub fn figures(&self) -> InventoryFigures {
        let state = &*self.state;
        let [users, shares] = self.passwords.figures();
        InventoryFigures {
            caches: state.authentication.figures().into_iter().chain([state.part_lists.figures()]).collect(),
            queues: vec![
                state.queues.figures("records"),
                state.creations.figures("quotas"),
                state.repeated.figures("repeated"),
                state.part_readers.figures("part_lists"),
            ],
            logins: LoginFigures::new(&self.attempts, users),
            share_passwords: LoginFigures::new(&self.share_attempts, shares),
            sessions_begun: state.sessions_begun.get(),
            sessions_ended: state.sessions_ended.get(),
            unreadable_records: state.unreadable_records.get(),
            background_tasks: state.tasks.running(),
            followed_networks: state.history.followed_networks(),
            waiting_computations: state.offload.waiting(),
            store: self.store.figures(),
            store_calls: self.store_counters.figures(),
        }
    }
}

impl LoginFigures {
    fn new(attempts: &LoginAttempts, hashes: PasswordFigures) -> Self {
        let counters = &attempts.counters;
        Self {
            in_progress: attempts.in_progress() as u64,
            failed: counters.failed.get(),
            locked_out: counters.locked_out.get(),
            refused: counters.refused.get(),
            hashes,
        }
    }
}

impl InventoryFigures {
    /// Returns the figures as text in the format of OpenMetrics. Its type is [`CONTENT_TYPE`](crate::figures::CONTENT_TYPE).
    ///
    /// The text of [`ApiFigures`](crate::service::ApiFigures::to_openmetrics) has them, too.
    #[must_use]
    pub fn to_openmetrics(&self) -> String {
        let mut text = OpenMetrics::default();
        write_caches(&mut text, &self.caches.iter());
        self.write_all_but_caches(&mut text);
        text.finish()
    }

    pub(crate) fn write_all_but_caches(&self, text: &mut OpenMetrics) {
        self.write_queues(text);
        self.write_logins(text);
        let numbers: [(&str, MetricKind, &str, u64); 6] = [
            (
                "toposcope_sessions_begun",
                MetricKind::Counter,
                "Sessions that have begun.",
                self.sessions_begun,
            ),
            (
                "toposcope_sessions_ended",
                MetricKind::Counter,
                "Sessions that a logout has ended.",
                self.sessions_ended,
            ),
            (
                "toposcope_unreadable_records",
                MetricKind::Counter,
                "Records of the host application that lists have left out.",
                self.unreadable_records,
            ),
            ("toposcope_background_tasks", MetricKind::Gauge, "Background tasks.", self.background_tasks),
            (
                "toposcope_followed_networks",
                MetricKind::Gauge,
                "Networks whose links are in memory.",
                self.followed_networks,
            ),
            (
                "toposcope_waiting_computations",
                MetricKind::Gauge,
                "Long computations that wait for a thread.",
                self.waiting_computations,
            ),
        ];
        for (name, kind, help, value) in numbers {
            text.family(name, kind, help).value(&[], value);
        }
        self.write_store(text);
    }

    fn write_queues(&self, text: &mut OpenMetrics) {
        let mut family = text.family(
            "toposcope_queue_length",
            MetricKind::Gauge,
            "Work that has its turn or waits for it.",
        );
        for queues in &self.queues {
            family.value(&[("queue", queues.name)], queues.length);
        }
        let mut family =
            text.family("toposcope_queue_longest", MetricKind::Gauge, "Work in the longest queue of a kind.");
        for queues in &self.queues {
            family.value(&[("queue", queues.name)], queues.longest);
        }
    }

    fn write_logins(&self, text: &mut OpenMetrics) {
        type Value = fn(&LoginFigures) -> u64;
        let families: [(&str, MetricKind, &str, Value); 6] = [
            ("toposcope_logins", MetricKind::Gauge, "Attempts with a password in progress.", |of| {
                of.in_progress
            }),
            ("toposcope_logins_failed", MetricKind::Counter, "Attempts with a wrong password.", |of| {
                of.failed
            }),
            (
                "toposcope_logins_locked_out",
                MetricKind::Counter,
                "Attempts refused after too many failures.",
                |of| of.locked_out,
            ),
            (
                "toposcope_logins_refused",
                MetricKind::Counter,
                "Attempts refused because too many were in progress.",
                |of| of.refused,
            ),
            ("toposcope_password_hashes", MetricKind::Gauge, "Password hashes that run.", |of| {
                of.hashes.running
            }),
            (
                "toposcope_password_hashes_waiting",
                MetricKind::Gauge,
                "Password hashes that wait for others to end.",
                |of| of.hashes.waiting,
            ),
        ];
        let kinds = [("users", &self.logins), ("shares", &self.share_passwords)];
        for (name, kind, help, value) in families {
            let mut family = text.family(name, kind, help);
            for (of, figures) in kinds {
                family.value(&[("of", of)], value(figures));
            }
        }
        let help = "Time for which a password hash has waited for others to end.";
        let mut family = text.family("toposcope_password_wait_seconds", MetricKind::Histogram, help);
        for (of, figures) in kinds {
            family.latencies(&[("of", of)], &figures.hashes.waits);
        }
    }

    fn write_store(&self, text: &mut OpenMetrics) {
        let StoreFigures { records, index_bytes } = self.store;
        let numbers = [
            ("toposcope_store_records", "Records of the store.", records),
            ("toposcope_store_index_bytes", "Memory of the store's index, estimated.", index_bytes),
        ];
        for (name, help, value) in numbers {
            if let Some(value) = value {
                text.family(name, MetricKind::Gauge, help).value(&[], value);
            }
        }
        let mut family = text.family("toposcope_store_calls", MetricKind::Counter, "Calls of the store.");
        for call in &self.store_calls {
            family.value(&[("call", call.call)], call.calls);
        }
        let help = "Measured calls in which the store has failed.";
        let mut family = text.family("toposcope_store_failures", MetricKind::Counter, help);
        for call in &self.store_calls {
            family.value(&[("call", call.call)], call.failures);
        }
        let help = "Latency of calls of the store: of one read in 17, and of all writes.";
        let mut family = text.family("toposcope_store_duration_seconds", MetricKind::Histogram, help);
        for call in &self.store_calls {
            family.latencies(&[("call", call.call)], &call.latencies);
        }
    }
}
