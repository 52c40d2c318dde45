//! Limits on logins: concurrent logins by client and domain, and failed logins by name.

use std::collections::{BTreeSet, HashMap};
use std::hash::{BuildHasher, Hash, RandomState};
use std::sync::{Mutex as StdMutex, PoisonError};
use std::time::Duration;

use tokio::sync::{Mutex, MutexGuard};

use super::client_prefix::ClientPrefix;
use super::secret::SecretDigest;

/// Limits on logins by e-mail address and password.
///
/// Failed logins count by e-mail address, logins in progress in total and by the [prefix](ClientPrefix) of the client's
/// address. All counts are in the memory of one [`Inventory`](crate::Inventory) and its clones.
///
/// ```
/// use std::time::Duration;
///
/// use toposcope::access::LoginLimits;
/// use toposcope::{Inventory, MemoryStore};
///
/// let limits = LoginLimits::default()
///     .failures(10, Duration::from_secs(60 * 60))
///     .concurrent(64)
///     .client_share(4);
/// let inventory = Inventory::new(MemoryStore::new()).with_login_limits(limits);
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct LoginLimits {
    failures: usize,
    window: Duration,
    concurrent: usize,
    client_share: usize,
}

impl LoginLimits {
    /// Sets how many failures within a sliding window lock an e-mail address out. Default: 5 within 15 minutes.
    ///
    /// The address is locked out until its oldest failure is as old as the window. `count` is clamped to 1 to 100, the
    /// window to 1 second to 24 hours.
    #[must_use]
    pub fn failures(self, count: usize, window: Duration) -> Self {
        let window = window.clamp(Duration::from_secs(1), Duration::from_secs(24 * 60 * 60));
        Self { failures: count.clamp(1, 100), window, ..self }
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
    /// free, rounded up. Clamped to 1 to 65,536.
    #[must_use]
    pub fn client_share(self, free: usize) -> Self {
        Self { client_share: free.clamp(1, 65_536), ..self }
    }
}

impl Default for LoginLimits {
    fn default() -> Self {
        Self { failures: 5, window: Duration::from_secs(15 * 60), concurrent: 256, client_share: 8 }
    }
}

/// Maximum number of names whose failures are stored, at about 200 bytes each by default.
const CAPACITY: usize = 100_000;

/// Number of locks that serialize logins under one name. Each lock is shared by some names.
const NAME_LOCKS: usize = 64;

/// Limits concurrent logins, counts failed logins by name, and locks out names with many failures.
///
/// All decisions depend only on the client and on the name it sends, never on whether an account with that name
/// exists.
pub(crate) struct LoginAttempts {
    slots: LoginSlots,
    name_locks: [Mutex<()>; NAME_LOCKS],
    hasher: RandomState,
    names: StdMutex<Names>,
}

/// The stored form of a name. The name itself may be as long as a request body.
type NameDigest = [u8; 16];

#[derive(Debug)]
struct Names {
    limits: LoginLimits,
    /// Monotonic times of the latest failures, oldest first.
    failures: HashMap<NameDigest, Vec<Duration>>,
    /// The names in eviction order.
    eviction_order: BTreeSet<EvictionKey>,
}

/// Whether the name is locked out, the time of its latest failure, and the name. Locked-out names are evicted last.
type EvictionKey = (bool, Duration, NameDigest);

/// A login in progress, the only one under its name.
#[derive(Debug)]
pub(crate) struct Turn<'a> {
    _name_lock: MutexGuard<'a, ()>,
    _slot: LoginSlot<'a>,
}

impl LoginAttempts {
    pub(crate) fn new(limits: LoginLimits) -> Self {
        let names = Names { limits, failures: HashMap::new(), eviction_order: BTreeSet::new() };
        Self {
            slots: LoginSlots { limits, used: StdMutex::default() },
            name_locks: std::array::from_fn(|_| Mutex::default()),
            hasher: RandomState::new(),
            names: StdMutex::new(names),
        }
    }

    /// Waits until no other login under this name is in progress.
    ///
    /// Concurrent attempts are therefore counted one by one. Returns `None` immediately if too many logins are in
    /// progress, in total, from this client or under this domain.
    pub(crate) async fn turn(&self, client: Option<ClientPrefix>, name: &str) -> Option<Turn<'_>> {
        let slot = self.slots.acquire(client, name)?;
        let index = usize::try_from(self.hasher.hash_one(name) % NAME_LOCKS as u64).ok()?;
        let name_lock = self.name_locks.get(index)?.lock().await;
        Some(Turn { _name_lock: name_lock, _slot: slot })
    }

    /// Counts an attempt as failed before its outcome is known. `now` is a monotonic time.
    ///
    /// A client that disconnects before the outcome therefore gains no further attempt.
    ///
    /// # Errors
    /// If the name is locked out: the number of seconds until the next attempt is allowed.
    pub(crate) fn begin(&self, name: &str, now: Duration) -> Result<(), u64> {
        self.names.lock().unwrap_or_else(PoisonError::into_inner).begin(digest(name), now)
    }

    /// Removes the failure that [`begin`](Self::begin) counted at this time, because the attempt succeeded.
    pub(crate) fn take_back(&self, name: &str, at: Duration) {
        self.names.lock().unwrap_or_else(PoisonError::into_inner).take_back(digest(name), at);
    }
}

impl Names {
    fn begin(&mut self, name: NameDigest, now: Duration) -> Result<(), u64> {
        let mut times = self.remove(name);
        times.retain(|time| self.end_of_window(*time) > now);
        let oldest = times.first().filter(|_| times.len() >= self.limits.failures);
        let outcome = match oldest {
            Some(oldest) => Err(seconds_until(self.end_of_window(*oldest), now)),
            None => {
                times.push(now);
                Ok(())
            }
        };
        if self.failures.len() >= CAPACITY {
            self.evict_one(now);
        }
        self.insert(name, times);
        outcome
    }

    fn take_back(&mut self, name: NameDigest, at: Duration) {
        let mut times = self.remove(name);
        if let Some(index) = times.iter().rposition(|time| *time == at) {
            times.remove(index);
        }
        self.insert(name, times);
    }

    fn remove(&mut self, name: NameDigest) -> Vec<Duration> {
        let times = self.failures.remove(&name).unwrap_or_default();
        if let Some(key) = self.eviction_key(&times, name) {
            self.eviction_order.remove(&key);
        }
        times
    }

    fn insert(&mut self, name: NameDigest, times: Vec<Duration>) {
        if let Some(key) = self.eviction_key(&times, name) {
            self.eviction_order.insert(key);
            self.failures.insert(name, times);
        }
    }

    /// Evicts a name whose lock-out has ended, or else the first name in eviction order.
    fn evict_one(&mut self, now: Duration) {
        let first_locked = self.eviction_order.range((true, Duration::ZERO, NameDigest::default())..).next();
        let ended = first_locked.filter(|(_, last, _)| self.end_of_window(*last) <= now);
        if let Some((_, _, name)) = ended.or_else(|| self.eviction_order.first()) {
            let name = *name;
            self.remove(name);
        }
    }

    fn eviction_key(&self, times: &[Duration], name: NameDigest) -> Option<EvictionKey> {
        times.last().map(|last| (times.len() >= self.limits.failures, *last, name))
    }

    const fn end_of_window(&self, time: Duration) -> Duration {
        time.saturating_add(self.limits.window)
    }
}

fn digest(name: &str) -> NameDigest {
    SecretDigest::of(name).lookup()
}

/// Returns the whole seconds until a time, rounded up and at least 1.
const fn seconds_until(end: Duration, now: Duration) -> u64 {
    let rest = end.saturating_sub(now);
    let whole = rest.as_secs() + (rest.subsec_nanos() > 0) as u64;
    if whole == 0 { 1 } else { whole }
}

/// The slots for logins in progress, shared fairly between client prefixes and between e-mail domains.
///
/// A holder may acquire a slot only while it holds fewer than a fraction of the *free* slots: by default an eighth for
/// a client prefix, all of them for a domain. Alone, a prefix therefore gets 29 of the 256 slots and a domain gets 128.
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
    /// Has at most two entries for each slot in use.
    by_holder: CountMap<Holder>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
enum Holder {
    Client(ClientPrefix),
    Domain([u8; 16]),
}

/// A slot held by a login. Dropping it frees the slot.
#[derive(Debug)]
struct LoginSlot<'a> {
    slots: &'a LoginSlots,
    holders: [Option<Holder>; 2],
}

impl LoginSlots {
    /// Acquires a slot, or returns `None` if the client or the domain has none left.
    fn acquire(&self, client: Option<ClientPrefix>, email: &str) -> Option<LoginSlot<'_>> {
        let domain = email.rsplit_once('@').map_or("", |(_, domain)| domain);
        let domain = Holder::Domain(SecretDigest::of(domain).lookup());
        let holders = [client.map(Holder::Client), Some(domain)];
        let mut used = self.used.lock().unwrap_or_else(PoisonError::into_inner);
        let free = self.limits.concurrent.saturating_sub(used.total);
        let may_hold = |holder: &Holder| match holder {
            Holder::Client(_) => free.div_ceil(self.limits.client_share),
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
#[derive(Debug)]
pub(crate) struct CountMap<K>(HashMap<K, usize>);

impl<K: Eq + Hash> CountMap<K> {
    pub(crate) fn count(&self, key: &K) -> usize {
        self.0.get(key).copied().unwrap_or_default()
    }

    pub(crate) fn increment(&mut self, key: K) {
        self.add(key, 1);
    }

    pub(crate) fn decrement(&mut self, key: &K) {
        self.subtract(key, 1);
    }

    pub(crate) fn add(&mut self, key: K, number: usize) {
        *self.0.entry(key).or_default() += number;
    }

    pub(crate) fn subtract(&mut self, key: &K, number: usize) {
        if let Some(count) = self.0.get_mut(key) {
            *count = count.saturating_sub(number);
            if *count == 0 {
                self.0.remove(key);
            }
        }
    }
}

impl<K> Default for CountMap<K> {
    fn default() -> Self {
        Self(HashMap::new())
    }
}
