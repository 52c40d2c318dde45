//! Following the history as it grows.

use std::collections::{HashMap, VecDeque};
use std::future::poll_fn;
use std::pin::Pin;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, Weak};
use std::task::{Context, Poll};
use std::time::Duration;
use std::{fmt, mem};

use futures_core::Stream;
use tokio::sync::watch;
use tokio::time::{Instant, sleep_until, timeout};

use crate::access::Caller;
use crate::inventory::{ChangeQuery, Error, ErrorKind, Inventory};
use crate::model::{Change, ChangePosition, OrganizationId};

/// The interval at which entries of other instances are looked for.
const INTERVAL: Duration = Duration::from_secs(1);

/// The time between two reads while entries are written all the time. A read costs about as much as a commit, however many entries
/// it finds, so that readers without a rest would take the time of the writers.
const REST: Duration = Duration::from_millis(8);

/// The number of entries that are read at a time.
const ENTRIES_AT_ONCE: usize = 100;

/// The readers that wait for entries of each organization.
#[derive(Debug, Default)]
pub(in crate::inventory::history) struct Watchers(Mutex<HashMap<OrganizationId, Weak<watch::Sender<()>>>>);

impl Watchers {
    /// Wakes the readers of an organization.
    pub(in crate::inventory::history) fn wake(&self, organization: OrganizationId) {
        let mut watched = self.watched();
        match watched.get(&organization).map(Weak::upgrade) {
            Some(Some(sender)) => sender.send_modify(|()| ()),
            Some(None) => drop(watched.remove(&organization)),
            None => {}
        }
    }

    /// Returns the sender that notifies the watchers of an organization of new entries.
    fn watch(&self, organization: OrganizationId) -> Arc<watch::Sender<()>> {
        let mut watched = self.watched();
        if let Some(known) = watched.get(&organization).and_then(Weak::upgrade) {
            return known;
        }
        // Senders without receivers would otherwise stay until their next entry.
        watched.retain(|_, sender| sender.strong_count() > 0);
        let sender = Arc::new(watch::Sender::new(()));
        watched.insert(organization, Arc::downgrade(&sender));
        sender
    }

    fn watched(&self) -> MutexGuard<'_, HashMap<OrganizationId, Weak<watch::Sender<()>>>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Reads the history of a caller's organization from a position on, as it grows.
#[derive(Debug)]
pub(crate) struct ChangeReader {
    inventory: Inventory,
    caller: Caller,
    query: ChangeQuery,
    /// Whether there may be entries that were not read.
    is_behind: bool,
    /// The end of its rest after the last entries or the last error.
    rests_until: Instant,
    has_failed: bool,
    woken: watch::Receiver<()>,
    /// Keeps the organization watched.
    _woken_by: Arc<watch::Sender<()>>,
}

impl ChangeReader {
    /// Returns the next entries; none if all were read. Dropping the future loses nothing.
    ///
    /// # Errors
    /// As of [`Inventory::changes`]. The next call tries again.
    pub(crate) async fn read(&mut self) -> Result<Vec<Change>, Error> {
        self.is_behind = true;
        // Before reading: an entry that is committed meanwhile wakes.
        self.woken.mark_unchanged();
        let read = self.inventory.changes(&self.caller, &self.query).await;
        let page = read.inspect_err(|_| {
            (self.has_failed, self.rests_until) = (true, Instant::now() + INTERVAL);
        })?;
        self.query.after = Some(page.next);
        self.is_behind = page.has_more;
        if !page.changes.is_empty() {
            self.rests_until = Instant::now() + REST;
        }
        Ok(page.changes)
    }

    /// Waits until there may be further entries, for about a second at most. Returns whether there may be. After an error, it waits
    /// that long in any case: a loop that tries again would otherwise do nothing else.
    pub(crate) async fn wait(&mut self) -> bool {
        if self.has_failed {
            sleep_until(self.rests_until).await;
            self.has_failed = false;
        }
        if self.is_behind {
            return true;
        }
        let is_woken = timeout(INTERVAL, self.woken.changed()).await.is_ok();
        // First: if the rest is abandoned, the entries that have woken it are still to be read.
        self.is_behind = is_woken || self.inventory.store.is_shared();
        if is_woken {
            sleep_until(self.rests_until).await;
        }
        self.is_behind
    }

    async fn next_entries(mut self: Box<Self>) -> ReadEntries {
        loop {
            while !self.wait().await {}
            match self.read().await {
                Ok(changes) if changes.is_empty() => {}
                result => return (self, result),
            }
        }
    }
}

/// Entries of the history, in its order, as they are committed: a `Stream` that ends only if it cannot go on.
///
/// It reads the history itself: a slow reader loses nothing and costs no memory. Entries of this process come within
/// ten milliseconds, those of other instances with one store within a second.
///
/// After an error of the store, it goes on where it was, a second later. Where the history has no longer the position, where it never had
/// it, or where there is no organization any more, the error is the last item of the `Stream`, and [`next`](Self::next) returns it again each
/// second.
pub struct ChangeWatch {
    ready: VecDeque<Change>,
    reader: WatchState,
    /// Whether the stream has ended with an error that stays.
    is_over: bool,
}

/// The next entries, and the reader that goes on behind them.
type ReadEntries = (Box<ChangeReader>, Result<Vec<Change>, Error>);

enum WatchState {
    Idle(Box<ChangeReader>),
    Reading(Pin<Box<dyn Future<Output = ReadEntries> + Send>>),
    /// The reading has panicked.
    Lost,
}

impl Inventory {
    /// Follows the history of the caller's organization from a position on; `None`: from its beginning.
    ///
    /// The rights are those of the caller as given. Authenticate the caller again from time to time, and begin a new watch if
    /// its rights have changed.
    ///
    /// ```
    /// # use toposcope::access::{Caller, Scope};
    /// # use toposcope::model::{Permission, Tag, UserId};
    /// # use toposcope::{Inventory, MemoryStore};
    /// # #[tokio::main(flavor = "current_thread")]
    /// # async fn main() -> Result<(), toposcope::inventory::Error> {
    /// # let inventory = Inventory::new(MemoryStore::new());
    /// # let organization = inventory.organizations().create("Example").await?;
    /// # let caller = Caller::new(organization.id, UserId::nil(), Permission::Admin, Scope::all());
    /// let mut query = toposcope::inventory::ChangeQuery::default();
    /// query.limit = Some(0);
    /// let now = inventory.changes(&caller, &query).await?.next;
    /// let mut watch = inventory.watch(&caller, Some(now));
    /// inventory.tags().create(&caller, Tag::new("critical")).await?;
    /// assert_eq!(watch.next().await?.name, "critical");
    /// # Ok(())
    /// # }
    /// ```
    #[must_use]
    pub fn watch(&self, caller: &Caller, after: Option<ChangePosition>) -> ChangeWatch {
        let reader = WatchState::Idle(Box::new(self.change_reader(caller, after)));
        ChangeWatch { ready: VecDeque::new(), reader, is_over: false }
    }

    /// Returns a reader of the history of the caller's organization from a position on; `None`: from its beginning.
    pub(crate) fn change_reader(&self, caller: &Caller, after: Option<ChangePosition>) -> ChangeReader {
        let query = ChangeQuery { after, limit: Some(ENTRIES_AT_ONCE), ..ChangeQuery::default() };
        let woken_by = self.state.history.watchers.watch(caller.organization_id());
        let (inventory, caller, woken) = (self.clone(), caller.clone(), woken_by.subscribe());
        let rests_until = Instant::now();
        ChangeReader {
            inventory,
            caller,
            query,
            is_behind: true,
            rests_until,
            has_failed: false,
            woken,
            _woken_by: woken_by,
        }
    }
}

impl ChangeWatch {
    /// Waits for the next entry. Dropping the future loses nothing.
    ///
    /// # Errors
    /// As of [`Inventory::changes`]. The next call tries again, a second later at the earliest.
    pub async fn next(&mut self) -> Result<Change, Error> {
        poll_fn(|context| self.poll_entry(context)).await
    }

    fn poll_entry(&mut self, context: &mut Context<'_>) -> Poll<Result<Change, Error>> {
        loop {
            if let Some(change) = self.ready.pop_front() {
                return Poll::Ready(Ok(change));
            }
            match mem::replace(&mut self.reader, WatchState::Lost) {
                WatchState::Idle(reader) => {
                    self.reader = WatchState::Reading(Box::pin(reader.next_entries()));
                }
                WatchState::Reading(mut reading) => {
                    let Poll::Ready((reader, result)) = reading.as_mut().poll(context) else {
                        self.reader = WatchState::Reading(reading);
                        return Poll::Pending;
                    };
                    self.reader = WatchState::Idle(reader);
                    match result {
                        Ok(changes) => self.ready = changes.into(),
                        Err(error) => return Poll::Ready(Err(error)),
                    }
                }
                WatchState::Lost => {
                    return Poll::Ready(Err(Error::internal("the history could not be read")));
                }
            }
        }
    }
}

impl Stream for ChangeWatch {
    type Item = Result<Change, Error>;

    fn poll_next(self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Option<Result<Change, Error>>> {
        let watch = self.get_mut();
        if watch.is_over {
            return Poll::Ready(None);
        }
        let entry = watch.poll_entry(context);
        if let Poll::Ready(Err(error)) = &entry {
            watch.is_over = !may_pass(error) || matches!(watch.reader, WatchState::Lost);
        }
        entry.map(Some)
    }
}

/// Returns whether reading again may succeed.
fn may_pass(error: &Error) -> bool {
    matches!(
        error.kind(),
        ErrorKind::StoreUnavailable | ErrorKind::IndexIncomplete | ErrorKind::Busy | ErrorKind::Internal
    )
}

impl fmt::Debug for ChangeWatch {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.debug_struct("ChangeWatch").field("ready", &self.ready.len()).finish_non_exhaustive()
    }
}
