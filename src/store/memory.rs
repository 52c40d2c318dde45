use std::fmt;
use std::sync::{PoisonError, RwLock, RwLockReadGuard, RwLockWriteGuard};

use async_trait::async_trait;
use bytes::Bytes;

use super::index::{Index, RowId};
use super::{Alias, Batch, Key, Page, Query, Record, Store, StoreError};
use crate::model::Timestamp;

/// A store in memory: for tests, for demonstrations, and for inventories that are loaded anew at every start.
///
/// Nothing outlives the process. Pages of hosts are found by rank in sorted runs, so that their cost does not grow with
/// the offset and hardly with the inventory.
///
/// ```
/// use toposcope::store::{Batch, Expect, Facets, Key, MemoryStore, Name, Store};
/// use uuid::Uuid;
///
/// # tokio::runtime::Builder::new_current_thread().build()?.block_on(async {
/// let store = MemoryStore::new();
/// let key = Key::new(Name::new("note"), Uuid::nil());
/// let mut batch = Batch::new();
/// batch.put(key, Expect::Absent, Facets::default(), "a body");
/// store.commit(batch).await?;
/// let found = store.get(&[key]).await?;
/// assert_eq!(found[0].as_ref().map(|record| &record.body[..]), Some(&b"a body"[..]));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// # })?;
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Default)]
pub struct MemoryStore {
    state: RwLock<State>,
}

#[derive(Default)]
struct State {
    index: Index,
    bodies: Vec<Bytes>,
}

impl MemoryStore {
    /// An empty store.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    fn read(&self) -> RwLockReadGuard<'_, State> {
        self.state.read().unwrap_or_else(PoisonError::into_inner)
    }

    fn write(&self) -> RwLockWriteGuard<'_, State> {
        self.state.write().unwrap_or_else(PoisonError::into_inner)
    }
}

impl State {
    fn record(&self, row: RowId) -> Option<Record> {
        let (key, version) = self.index.key(row)?;
        Some(Record { key, version, body: self.bodies.get(row as usize)?.clone() })
    }

    fn set_body(bodies: &mut Vec<Bytes>, row: RowId, body: Bytes) {
        let row = row as usize;
        if bodies.len() <= row {
            bodies.resize(row + 1, Bytes::new());
        }
        if let Some(place) = bodies.get_mut(row) {
            *place = body;
        }
    }
}

#[async_trait]
impl Store for MemoryStore {
    async fn get(&self, keys: &[Key]) -> Result<Vec<Option<Record>>, StoreError> {
        let state = self.read();
        Ok(keys.iter().map(|key| state.record(state.index.find(*key)?)).collect())
    }

    async fn resolve(&self, alias: &Alias) -> Result<Option<Record>, StoreError> {
        let state = self.read();
        Ok(state.index.resolve(alias).and_then(|row| state.record(row)))
    }

    async fn list(&self, query: &Query) -> Result<Page, StoreError> {
        let state = self.read();
        let selection = state.index.list(query)?;
        let records = selection.rows.into_iter().filter_map(|row| state.record(row)).collect();
        Ok(Page { records, total: selection.total, next: selection.next })
    }

    async fn commit(&self, batch: Batch) -> Result<(), StoreError> {
        let (writes, checks) = batch.into_parts();
        let mut state = self.write();
        state.index.check(&writes, &checks)?;
        let State { index, bodies } = &mut *state;
        index.apply(writes, |row, body| State::set_body(bodies, row, body.unwrap_or_default()));
        Ok(())
    }

    async fn purge_expired(&self, now: Timestamp) -> Result<u64, StoreError> {
        let mut state = self.write();
        let purged = state.index.purge_expired(now);
        for row in &purged {
            State::set_body(&mut state.bodies, *row, Bytes::new());
        }
        Ok(purged.len() as u64)
    }
}

/// How many rows there are, and nothing of what is in them.
impl fmt::Debug for MemoryStore {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.debug_struct("MemoryStore").field("rows", &self.read().bodies.len()).finish_non_exhaustive()
    }
}
