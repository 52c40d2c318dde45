//! Lists records from an index behind a lock, and materializes expensive orderings without holding it.

use std::sync::{Arc, Weak};

use super::index::{Built, Finished, Index, ListKey, ListResult, PageRows};
use super::lock::StateLock;
use super::{Query, StoreError};
use crate::fair_threads::{FairThreads, NotRun};

/// A store's state, behind a lock, whose records are found through an index.
pub(super) trait Indexed: Send + Sync + 'static {
    /// The index and the data that is read under the same lock.
    type State;
    /// A page, as far as it can be read under the lock.
    type Page: Send + 'static;

    fn state(&self) -> &StateLock<Self::State>;

    fn index(state: &Self::State) -> &Index;

    fn page(state: &Self::State, selection: PageRows) -> Self::Page;
}

/// Maximum number of steps read while the lock is held once: about 50 microseconds.
const STEPS_PER_LOCK: usize = 512;

/// Materializes orderings of filtered lists on blocking threads.
#[derive(Debug, Default)]
pub(super) struct Materializer {
    threads: FairThreads,
}

impl Materializer {
    /// Returns a page, after materializing its list if that is necessary.
    ///
    /// # Errors
    /// The errors of the index; `Unavailable` if too many requests of the organization are already waiting.
    pub(super) async fn list<S: Indexed>(
        &self,
        shared: &Arc<S>,
        query: &Query,
    ) -> Result<S::Page, StoreError> {
        match read(&**shared, query)? {
            Read::Page(page, None) => Ok(page),
            Read::Page(page, Some(key)) => {
                self.materialize_if_idle(shared, key);
                Ok(page)
            }
            // Boxed: few requests need this future, but all would carry its size.
            Read::Materialize(key) => Box::pin(self.materialize_and_read(shared, query, key)).await,
        }
    }

    async fn materialize_and_read<S: Indexed>(
        &self,
        shared: &Arc<S>,
        query: &Query,
        key: ListKey,
    ) -> Result<S::Page, StoreError> {
        let (weak, query) = (Arc::downgrade(shared), query.clone());
        let page = self.threads.run(key.organization().into(), move || materialize_until_read(&weak, &query));
        page.await.map_err(|reason| match reason {
            NotRun::Busy => {
                StoreError::unavailable("too many requests of this organization are waiting for a list")
            }
            NotRun::ShutDown => interrupted(),
        })?
    }

    fn materialize_if_idle<S: Indexed>(&self, shared: &Arc<S>, key: ListKey) {
        let weak = Arc::downgrade(shared);
        self.threads.run_if_idle(key.organization().into(), move || {
            if let Err(error) = materialize(&weak, key, |_| ()) {
                tracing::warn!("failed to materialize a list: {error}");
            }
        });
    }
}

enum Read<P> {
    /// The page, and the key of its list if materializing it would pay off.
    Page(P, Option<ListKey>),
    Materialize(ListKey),
}

fn read<S: Indexed>(shared: &S, query: &Query) -> Result<Read<S::Page>, StoreError> {
    let state = shared.state().read()?;
    Ok(match S::index(&state).list(query)? {
        ListResult::Page(selection, worth) => Read::Page(S::page(&state, selection), worth),
        ListResult::Materialize(key) => Read::Materialize(key),
    })
}

/// Reads a page, materializing its list first unless another request has done so.
fn materialize_until_read<S: Indexed>(shared: &Weak<S>, query: &Query) -> Result<S::Page, StoreError> {
    loop {
        let key = match read(&*shared.upgrade().ok_or_else(interrupted)?, query)? {
            Read::Page(page, _) => return Ok(page),
            Read::Materialize(key) => key,
        };
        let page = materialize(shared, key, |state| match S::index(state).list(query)? {
            ListResult::Page(selection, _) => Ok::<_, StoreError>(Some(S::page(state, selection))),
            ListResult::Materialize(_) => Ok(None),
        })?;
        // No page: the organization lost its last record in the meantime, so the query is planned again.
        if let Some(page) = page.transpose()?.flatten() {
            return Ok(page);
        }
    }
}

/// Materializes a list, and then calls `read`. The list enters the cache and is read without releasing the lock in
/// between.
///
/// Holds a strong reference to the store only while reading it, so the store can be dropped in the meantime.
fn materialize<S: Indexed, T>(
    shared: &Weak<S>,
    key: ListKey,
    read: impl FnOnce(&S::State) -> T,
) -> Result<Option<T>, StoreError> {
    let Some(mut list) = with_index(shared, |index| index.begin(key))? else { return Ok(None) };
    while with_index(shared, |index| list.read(index, STEPS_PER_LOCK))? {}
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
        let state = shared.state().read_after_writer()?;
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
    let state = shared.state().read_after_writer()?;
    Ok(look(S::index(&state)))
}

fn interrupted() -> StoreError {
    StoreError::unavailable("the store or its runtime was shut down")
}
