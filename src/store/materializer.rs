//! Answers lists over an index behind a lock, and materializes expensive ones outside it.

use std::sync::{Arc, RwLockReadGuard, Weak};

use super::index::{Answer, Built, Finished, Index, ListKey, Selection};
use super::{Query, StoreError};
use crate::fair_threads::{FairThreads, NotRun};

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

/// Materializes lists on blocking threads.
#[derive(Debug, Default)]
pub(super) struct Materializer {
    threads: FairThreads,
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
                self.materialize_if_idle(shared, key);
                Ok(page)
            }
            // Boxed, because few requests need it and every one would carry its size.
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
        let page = self.threads.run(key.organization(), move || materialize_until_read(&weak, &query));
        page.await.map_err(|reason| match reason {
            NotRun::Busy => StoreError::unavailable("too many requests of one organization wait for a list"),
            NotRun::ShutDown => interrupted(),
        })?
    }

    fn materialize_if_idle<S: Indexed>(&self, shared: &Arc<S>, key: ListKey) {
        let weak = Arc::downgrade(shared);
        self.threads.run_if_idle(key.organization(), move || {
            if let Err(error) = materialize(&weak, key, |_| ()) {
                tracing::warn!("a list cannot be materialized: {error}");
            }
        });
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
