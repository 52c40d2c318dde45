//! Limits on logins: concurrent logins by client and domain, and failed logins by client and name.

use std::collections::BTreeMap;
use std::hash::{BuildHasher, RandomState};
use std::sync::{Mutex as StdMutex, PoisonError};
use std::time::Duration;

use tokio::sync::{Mutex, MutexGuard};

use super::client_prefix::ClientPrefix;
use super::login_failures::{Failures, NameDigest};
use super::secret::SecretDigest;
use crate::figures::Counter;

/// Limits on logins by e-mail address and password.
///
/// Failed logins count by e-mail address together with the [prefix](ClientPrefix) of the client's address, and by e-mail
/// address alone. Logins in progress count in total and by prefix. IPv6 clients also count by their /48. All counts are in
/// the memory of one [`Inventory`](crate::Inventory) and its clones.
///
/// ```
/// use std::time::Duration;
///
/// use toposcope::access::LoginLimits;
/// use toposcope::{Inventory, MemoryStore};
///
/// let limits = LoginLimits::default()
///     .failures(10, Duration::from_secs(60 * 60))
///     .account_failures(200)
///     .concurrent(64)
///     .client_share(4);
/// let inventory = Inventory::new(MemoryStore::new()).with_login_limits(limits);
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct LoginLimits {
    failures: usize,
    account_failures: usize,
    window: Duration,
    concurrent: usize,
    client_share: usize,
}

/// How many times as many failures lock out an IPv6 /48 as lock out a client.
const SITE_FAILURES: usize = 3;

impl LoginLimits {
    /// Sets how many failures within a sliding window lock a client out of an e-mail address. Default: 5 within 15 minutes.
    ///
    /// The client is locked out until its oldest failure for the address is as old as the window; other clients are not.
    /// Three times as many failures lock out all clients of an IPv6 /48. All clients without a known address are one.
    /// `count` is clamped to 1 to 100, the window to 1 second to 24 hours.
    #[must_use]
    pub fn failures(self, count: usize, window: Duration) -> Self {
        let window = window.clamp(Duration::from_secs(1), Duration::from_secs(24 * 60 * 60));
        Self { failures: count.clamp(1, 100), window, ..self }
    }

    /// Sets how many failures within the window lock all clients out of an e-mail address. Default: 50.
    ///
    /// It is many more than lock out one client, so that one client cannot lock out the user of a known address. `count`
    /// is clamped to 1 to 10,000, and counts as at least the number for one client.
    #[must_use]
    pub fn account_failures(self, count: usize) -> Self {
        Self { account_failures: count.clamp(1, 10_000), ..self }
    }

    /// Sets the maximum number of logins in progress, including waiting ones. Default: 256.
    ///
    /// Further logins are refused as [`Busy`](crate::inventory::ErrorKind::Busy). Clamped to 1 to 65,536.
    #[must_use]
    pub fn concurrent(self, logins: usize) -> Self {
        Self { concurrent: logins.clamp(1, 65_536), ..self }
    }

    /// Sets the share of the free places that one client prefix may hold. Default: 8.
    ///
    /// The share is one place per `free` free places. With 8, a client holds at most an eighth as many places as are
    /// free, rounded up. All clients of an IPv6 /48 together hold at most twice the share of one. Clamped to 1 to 65,536.
    #[must_use]
    pub fn client_share(self, free: usize) -> Self {
        Self { client_share: free.clamp(1, 65_536), ..self }
    }
}

impl Default for LoginLimits {
    fn default() -> Self {
        Self {
            failures: 5,
            account_failures: 50,
            window: Duration::from_secs(15 * 60),
            concurrent: 256,
            client_share: 8,
        }
    }
}

/// Number of locks that serialize logins under one name. Each lock is shared by some names.
const NAME_LOCKS: usize = 64;

/// Limits concurrent logins, counts failed logins, and locks out clients and names with many failures.
///
/// All decisions depend only on the client and on the name it sends, never on whether an account with that name
/// exists.
pub(crate) struct LoginAttempts {
    slots: LoginSlots,
    name_locks: [Mutex<()>; NAME_LOCKS],
    hasher: RandomState,
    failures: StdMutex<Failures>,
    pub(crate) counters: AttemptCounters,
}

/// Counts attempts by their outcome.
#[derive(Debug, Default)]
pub(crate) struct AttemptCounters {
    /// Attempts with a wrong password.
    pub(crate) failed: Counter,
    /// Attempts refused after too many failures.
    pub(crate) locked_out: Counter,
    /// Attempts refused because too many were in progress.
    pub(crate) refused: Counter,
}

/// A login in progress, the only one of its client under its name.
#[derive(Debug)]
pub(crate) struct Turn<'a> {
    _name_lock: MutexGuard<'a, ()>,
    _slot: LoginSlot<'a>,
}

impl LoginAttempts {
    pub(crate) fn new(limits: LoginLimits) -> Self {
        let by_site = limits.failures.saturating_mul(SITE_FAILURES);
        let by_name = limits.account_failures.max(limits.failures);
        Self {
            slots: LoginSlots { limits, used: StdMutex::default() },
            name_locks: std::array::from_fn(|_| Mutex::default()),
            hasher: RandomState::new(),
            counters: AttemptCounters::default(),
            failures: StdMutex::new(Failures::new(limits.window, [limits.failures, by_site, by_name])),
        }
    }

    /// Returns the number of attempts in progress.
    pub(crate) fn in_progress(&self) -> usize {
        self.slots.used.lock().unwrap_or_else(PoisonError::into_inner).total
    }

    /// Returns a keyed digest of a name for the log.
    ///
    /// The key is random and exists in this process alone. Without it, a name cannot be tested against the log.
    pub(crate) fn log_digest(&self, name: &str) -> String {
        format!("{:016x}", self.hasher.hash_one(name))
    }

    /// Waits until no other login of this client under this name is in progress.
    ///
    /// Concurrent attempts are therefore counted one by one. Returns `None` immediately if too many logins are in
    /// progress, in total, from this client or under this domain.
    pub(crate) async fn turn(&self, client: Option<ClientPrefix>, name: &str) -> Option<Turn<'_>> {
        let slot = self.slots.acquire(client, name)?;
        let index = usize::try_from(self.hasher.hash_one((client, name)) % NAME_LOCKS as u64).ok()?;
        let name_lock = self.name_locks.get(index)?.lock().await;
        Some(Turn { _name_lock: name_lock, _slot: slot })
    }

    /// Counts an attempt as failed before its outcome is known. `now` is a monotonic time.
    ///
    /// A client that disconnects before the outcome therefore gains no further attempt.
    ///
    /// # Errors
    /// If the client or the name is locked out: the number of seconds until the next attempt is allowed. The attempt does
    /// not count then, so that one client alone does not lock out all others.
    pub(crate) fn begin(&self, client: Option<ClientPrefix>, name: &str, now: Duration) -> Result<(), u64> {
        let digests = digests(client, name);
        self.failures.lock().unwrap_or_else(PoisonError::into_inner).begin(&digests, now)
    }

    /// Removes the failure that [`begin`](Self::begin) counted at this time, because the attempt succeeded.
    pub(crate) fn take_back(&self, client: Option<ClientPrefix>, name: &str, at: Duration) {
        let digests = digests(client, name);
        self.failures.lock().unwrap_or_else(PoisonError::into_inner).take_back(&digests, at);
    }
}

/// Returns the keys under which a failed attempt counts. They are its client and name, its site and name, and its name.
fn digests(client: Option<ClientPrefix>, name: &str) -> [Option<NameDigest>; 3] {
    let digest = |of: String| Some(SecretDigest::of(&of).lookup());
    let of_client = digest(format!("{client:?} {name}"));
    let of_site = client.and_then(ClientPrefix::site).and_then(|site| digest(format!("{site:?} {name}")));
    [of_client, of_site, digest(name.to_owned())]
}

/// The slots for logins in progress, shared fairly between client prefixes and between e-mail domains.
///
/// A holder may acquire a slot only while it holds fewer than a fraction of the *free* slots: by default an eighth for
/// a client prefix, a quarter for an IPv6 /48, all of them for a domain. Alone, a prefix therefore gets 29 of the 256
/// slots, a /48 gets 52 and a domain gets 128.
/// The more holders there are, the fewer slots each gets; a holder without a slot gets one as long as one is free.
///
/// The domain stands for the organization. It is taken from the e-mail address that the client sent and not from the
/// account, because a refusal that depended on the account would reveal which accounts exist.
#[derive(Debug)]
struct LoginSlots {
    limits: LoginLimits,
    used: StdMutex<UsedSlots>,
}

#[derive(Debug, Default)]
struct UsedSlots {
    total: usize,
    /// Has at most three entries for each slot in use.
    by_holder: CountMap<Holder>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Holder {
    Client(ClientPrefix),
    /// The IPv6 /48 of a client.
    Site(ClientPrefix),
    Domain([u8; 16]),
}

/// A slot held by a login. Dropping it frees the slot.
#[derive(Debug)]
struct LoginSlot<'a> {
    slots: &'a LoginSlots,
    holders: [Option<Holder>; 3],
}

impl LoginSlots {
    /// Acquires a slot, or returns `None` if the client or the domain has none left.
    fn acquire(&self, client: Option<ClientPrefix>, email: &str) -> Option<LoginSlot<'_>> {
        let domain = email.rsplit_once('@').map_or("", |(_, domain)| domain);
        let domain = Holder::Domain(SecretDigest::of(domain).lookup());
        let site = client.and_then(ClientPrefix::site).map(Holder::Site);
        let holders = [client.map(Holder::Client), site, Some(domain)];
        let mut used = self.used.lock().unwrap_or_else(PoisonError::into_inner);
        let free = self.limits.concurrent.saturating_sub(used.total);
        let may_hold = |holder: &Holder| match holder {
            Holder::Client(_) => free.div_ceil(self.limits.client_share),
            Holder::Site(_) => free.saturating_mul(2).div_ceil(self.limits.client_share),
            Holder::Domain(_) => free,
        };
        if holders.iter().flatten().any(|holder| used.by_holder.count(holder) >= may_hold(holder)) {
            return None;
        }
        used.total += 1;
        for holder in holders.into_iter().flatten() {
            used.by_holder.increment(holder);
        }
        Some(LoginSlot { slots: self, holders })
    }
}

impl Drop for LoginSlot<'_> {
    fn drop(&mut self) {
        let mut used = self.slots.used.lock().unwrap_or_else(PoisonError::into_inner);
        used.total -= 1;
        for holder in self.holders.iter().flatten() {
            used.by_holder.decrement(holder);
        }
    }
}

/// Counts per key. Keys with a count of zero have no entry.
///
/// With few keys, comparing takes less time than hashing, and with many it cannot be made slow by choosing them.
#[derive(Debug)]
pub(crate) struct CountMap<K>(BTreeMap<K, usize>);

impl<K: Ord> CountMap<K> {
    pub(crate) fn count(&self, key: &K) -> usize {
        self.0.get(key).map_or(0, |count| *count)
    }

    pub(crate) fn increment(&mut self, key: K) {
        self.add(key, 1);
    }

    pub(crate) fn add(&mut self, key: K, amount: usize) {
        *self.0.entry(key).or_default() += amount;
    }

    pub(crate) fn decrement(&mut self, key: &K) {
        self.subtract(key, 1);
    }

    pub(crate) fn subtract(&mut self, key: &K, amount: usize) {
        if let Some(count) = self.0.get_mut(key) {
            *count = count.saturating_sub(amount);
            if *count == 0 {
                self.0.remove(key);
            }
        }
    }
}

impl<K> Default for CountMap<K> {
    fn default() -> Self {
        Self(BTreeMap::new())
    }
}
