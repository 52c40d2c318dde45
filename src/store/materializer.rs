//! Answers lists over an index behind a lock, and materializes the expensive ones where nobody waits for it.

use std::pin::Pin;
use std::sync::{Arc, RwLockReadGuard, Weak};
use std::task::{Context, Poll};

use tokio::runtime::Handle;
use tokio::sync::{OwnedSemaphorePermit, Semaphore};
use tokio::task::{JoinError, JoinHandle};
use uuid::Uuid;

use super::index::{Answer, Built, Finished, Index, ListKey, Selection};
use super::{Query, StoreError};
use crate::keyed_lock::{KeyGuard, KeyedLock};

/// The state of a store whose records are found through an index.
pub(super) trait Indexed: Send + Sync + 'static {
    /// The index, and what is read under the same lock.
    type State;
    /// A page as far as it can be read under the lock.
    type Page: Send + 'static;

    /// Takes the lock for reading.
    fn lock(&self) -> Result<RwLockReadGuard<'_, Self::State>, StoreError>;

    fn index(state: &Self::State) -> &Index;

    fn page(state: &Self::State, selection: Selection) -> Self::Page;
}

/// The most steps that are read under one lock: some 200 microseconds.
const SLICE: usize = 2_048;

/// The most requests of one organization that wait for a list to be materialized.
const WAITING: usize = 256;

/// Materializes lists on blocking threads: one at a time for each organization, and in all fewer than there are
/// processors, so that one is left for everything else.
#[derive(Clone, Debug)]
pub(super) struct Materializer {
    organizations: KeyedLock<Uuid>,
    threads: Arc<Semaphore>,
}

/// The right to materialize a list of an organization.
struct Turn {
    _organization: KeyGuard<Uuid>,
    _thread: OwnedSemaphorePermit,
}

impl Default for Materializer {
    fn default() -> Self {
        let processors = std::thread::available_parallelism().map_or(1, std::num::NonZero::get);
        let threads = Arc::new(Semaphore::new(processors.saturating_sub(1).max(1)));
        Self { organizations: KeyedLock::new(WAITING), threads }
    }
}

impl Materializer {
    /// Answers a query, and waits for its list to be materialized where that is needed.
    ///
    /// # Errors
    /// Those of the index; `Unavailable` when too many requests of the organization wait already.
    pub(super) async fn list<S: Indexed>(
        &self,
        shared: &Arc<S>,
        query: &Query,
    ) -> Result<S::Page, StoreError> {
        match read(&**shared, query)? {
            Read::Page(page, None) => Ok(page),
            Read::Page(page, Some(key)) => {
                self.materialize_in_background(shared, key);
                Ok(page)
            }
            // Boxed, because few requests need it and every one would carry its size.
            Read::Materialize(key) => Box::pin(self.materialize_and_read(shared, query, key)).await,
        }
    }

    /// Waits for a turn in a task of its own: a caller that does not poll this future for a while would otherwise keep a
    /// turn from all that wait behind it.
    async fn materialize_and_read<S: Indexed>(
        &self,
        shared: &Arc<S>,
        query: &Query,
        key: ListKey,
    ) -> Result<S::Page, StoreError> {
        let (materializer, weak, query) = (self.clone(), Arc::downgrade(shared), query.clone());
        let turn = async move { materializer.turn(&key).await };
        let Ok(runtime) = Handle::try_current() else {
            let _turn = turn.await?;
            return materialize_until_read(&weak, &query);
        };
        let work = async move {
            let turn = turn.await?;
            let work = move || {
                let page = materialize_until_read(&weak, &query);
                // Only now: work that nobody waits for any more goes on all the same.
                drop(turn);
                page
            };
            Handle::current().spawn_blocking(work).await.map_err(|_| interrupted())?
        };
        AbortOnDrop(runtime.spawn(work)).await.map_err(|_| interrupted())?
    }

    /// Materializes a list if that can begin at once, and lets nobody wait for it where there is a runtime.
    fn materialize_in_background<S: Indexed>(&self, shared: &Arc<S>, key: ListKey) {
        let Some(turn) = self.try_turn(&key) else { return };
        let weak = Arc::downgrade(shared);
        let work = move || {
            if let Err(error) = materialize(&weak, key, |_| ()) {
                tracing::warn!("a list cannot be materialized: {error}");
            }
            drop(turn);
        };
        match Handle::try_current() {
            Ok(runtime) => drop(runtime.spawn_blocking(work)),
            Err(_) => work(),
        }
    }

    async fn turn(&self, key: &ListKey) -> Result<Turn, StoreError> {
        let organization = self.organizations.lock(key.organization()).await;
        let organization = organization.ok_or_else(|| {
            StoreError::unavailable("too many requests of one organization wait for a list")
        })?;
        let thread = Arc::clone(&self.threads).acquire_owned().await.map_err(|_| interrupted())?;
        Ok(Turn { _organization: organization, _thread: thread })
    }

    fn try_turn(&self, key: &ListKey) -> Option<Turn> {
        let organization = self.organizations.try_lock(key.organization())?;
        let thread = Arc::clone(&self.threads).try_acquire_owned().ok()?;
        Some(Turn { _organization: organization, _thread: thread })
    }
}

/// A task that ends when nobody waits for it any more.
struct AbortOnDrop<T>(JoinHandle<T>);

impl<T> Future for AbortOnDrop<T> {
    type Output = Result<T, JoinError>;

    fn poll(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Self::Output> {
        Pin::new(&mut self.0).poll(context)
    }
}

impl<T> Drop for AbortOnDrop<T> {
    fn drop(&mut self) {
        self.0.abort();
    }
}

enum Read<P> {
    /// The page, and its list when that is worth to be materialized.
    Page(P, Option<ListKey>),
    Materialize(ListKey),
}

fn read<S: Indexed>(shared: &S, query: &Query) -> Result<Read<S::Page>, StoreError> {
    let state = shared.lock()?;
    Ok(match S::index(&state).list(query)? {
        Answer::Page(selection, worth) => Read::Page(S::page(&state, selection), worth),
        Answer::Materialize(key) => Read::Materialize(key),
    })
}

/// Reads a page, and materializes its list before if no other request has done so meanwhile.
fn materialize_until_read<S: Indexed>(shared: &Weak<S>, query: &Query) -> Result<S::Page, StoreError> {
    loop {
        let key = match read(&*shared.upgrade().ok_or_else(interrupted)?, query)? {
            Read::Page(page, _) => return Ok(page),
            Read::Materialize(key) => key,
        };
        let page = materialize(shared, key, |state| match S::index(state).list(query)? {
            Answer::Page(selection, _) => Ok(Some(S::page(state, selection))),
            Answer::Materialize(_) => Ok(None),
        })?;
        // Without a page, the organization lost its last record meanwhile.
        if let Some(page) = page.transpose()?.flatten() {
            return Ok(page);
        }
    }
}

/// Materializes a list, and reads something of it under the lock under which it comes into the cache.
///
/// The store may be dropped meanwhile: it is only held while it is looked at.
fn materialize<S: Indexed, T>(
    shared: &Weak<S>,
    key: ListKey,
    read: impl FnOnce(&S::State) -> T,
) -> Result<Option<T>, StoreError> {
    let Some(mut list) = with_index(shared, |index| index.begin(key))? else { return Ok(None) };
    while with_index(shared, |index| list.read(index, SLICE))? {}
    let mut list = list.sort();
    with_index(shared, |index| list.read_prefixes(index))?;
    finish(shared, list.build(), read)
}

fn finish<S: Indexed, T>(
    shared: &Weak<S>,
    mut list: Built,
    read: impl FnOnce(&S::State) -> T,
) -> Result<Option<T>, StoreError> {
    loop {
        let shared = shared.upgrade().ok_or_else(interrupted)?;
        let state = shared.lock()?;
        match S::index(&state).finish(list) {
            Finished::Unfinished(unfinished) => list = unfinished,
            Finished::Abandoned => return Ok(None),
            Finished::Cached(evicted) => {
                let found = read(&state);
                drop(state);
                drop(evicted);
                return Ok(Some(found));
            }
        }
    }
}

fn with_index<S: Indexed, T>(shared: &Weak<S>, look: impl FnOnce(&Index) -> T) -> Result<T, StoreError> {
    let shared = shared.upgrade().ok_or_else(interrupted)?;
    let state = shared.lock()?;
    Ok(look(S::index(&state)))
}

fn interrupted() -> StoreError {
    StoreError::unavailable("the store or its runtime was shut down")
}
