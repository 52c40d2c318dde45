//! Following the history as it grows.

use std::collections::{HashMap, VecDeque};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, Weak};
use std::time::Duration;

use tokio::sync::watch;
use tokio::time::timeout;

use super::feed::ChangeQuery;
use crate::access::Caller;
use crate::inventory::{Error, Inventory};
use crate::model::{Change, ChangePosition, OrganizationId};

/// The interval at which entries of other instances are looked for.
const INTERVAL: Duration = Duration::from_secs(1);

/// The number of entries that are read at a time.
const ENTRIES_AT_ONCE: usize = 100;

/// The readers that wait for entries of each organization.
#[derive(Debug, Default)]
pub(super) struct Watchers(Mutex<HashMap<OrganizationId, Weak<watch::Sender<()>>>>);

impl Watchers {
    /// Wakes the readers of an organization.
    pub(super) fn wake(&self, organization: OrganizationId) {
        let mut watched = self.watched();
        match watched.get(&organization).map(Weak::upgrade) {
            Some(Some(sender)) => sender.send_modify(|()| ()),
            Some(None) => drop(watched.remove(&organization)),
            None => {}
        }
    }

    /// Returns what the entries of an organization are waited for by.
    fn watch(&self, organization: OrganizationId) -> Arc<watch::Sender<()>> {
        let mut watched = self.watched();
        if let Some(known) = watched.get(&organization).and_then(Weak::upgrade) {
            return known;
        }
        // Those that no reader waits for any more would otherwise stay until their next entry.
        watched.retain(|_, sender| sender.strong_count() > 0);
        let sender = Arc::new(watch::Sender::new(()));
        watched.insert(organization, Arc::downgrade(&sender));
        sender
    }

    fn watched(&self) -> MutexGuard<'_, HashMap<OrganizationId, Weak<watch::Sender<()>>>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Entries of the history, in its order, as they are committed.
///
/// It reads the history itself: a slow reader loses nothing and costs no memory. Entries of this process come without
/// delay, those of other instances with one store within a second.
#[derive(Debug)]
pub struct ChangeWatch {
    inventory: Inventory,
    caller: Caller,
    query: ChangeQuery,
    ready: VecDeque<Change>,
    /// Keeps the organization watched.
    woken_by: Arc<watch::Sender<()>>,
}

impl Inventory {
    /// Follows the history of the caller's organization from a position on; `None`: from its beginning.
    ///
    /// The rights are those of the caller as given. Whoever may lose them is to be checked again between entries.
    #[must_use]
    pub fn watch(&self, caller: &Caller, after: Option<ChangePosition>) -> ChangeWatch {
        let query = ChangeQuery { after, limit: Some(ENTRIES_AT_ONCE), ..ChangeQuery::default() };
        let woken_by = self.state.history.watchers.watch(caller.organization_id());
        let (inventory, caller) = (self.clone(), caller.clone());
        ChangeWatch { inventory, caller, query, ready: VecDeque::new(), woken_by }
    }
}

impl ChangeWatch {
    /// Waits for the next entry.
    ///
    /// Dropping the future loses nothing.
    ///
    /// # Errors
    /// As of [`Inventory::changes`]. The next call tries again.
    pub async fn next(&mut self) -> Result<Change, Error> {
        loop {
            if let Some(change) = self.ready.pop_front() {
                return Ok(change);
            }
            // Subscribed before reading: an entry that is committed meanwhile wakes at once.
            let mut woken = self.woken_by.subscribe();
            let page = self.inventory.changes(&self.caller, &self.query).await?;
            self.query.after = Some(page.next);
            self.ready.extend(page.changes);
            if self.ready.is_empty() {
                self.wait(&mut woken).await;
            }
        }
    }

    async fn wait(&self, woken: &mut watch::Receiver<()>) {
        if self.inventory.store.is_shared() {
            // Whether something has come, or the interval has passed, is all the same.
            let _woken = timeout(INTERVAL, woken.changed()).await;
        } else {
            let _woken = woken.changed().await;
        }
    }
}
