use std::fmt;

use async_trait::async_trait;

use super::{Facets, Record, StoreError};

/// A record with its facets: all that a store knows of it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Entry {
    /// The record.
    pub record: Record,
    /// What it was put with, as [`Store::snapshot`](super::Store::snapshot) gives it back.
    pub facets: Facets,
}

/// Everything that a store held at one moment, read piece by piece; [`Store::snapshot`](super::Store::snapshot) makes it.
///
/// ```
/// use toposcope::store::{Batch, Precondition, Facets, Key, MemoryStore, Name, Store};
/// use uuid::Uuid;
///
/// # tokio::runtime::Builder::new_current_thread().build()?.block_on(async {
/// let store = MemoryStore::new();
/// let key = Key::new(Name::new("note"), Uuid::nil());
/// let mut batch = Batch::new();
/// batch.put(key, Precondition::Absent, Facets::default(), "a body");
/// store.commit(batch).await?;
///
/// let mut snapshot = store.snapshot().await?;
/// let mut batch = Batch::new();
/// batch.delete(key, Precondition::Present);
/// store.commit(batch).await?;
///
/// let entries = snapshot.next(100).await?;
/// assert_eq!(entries[0].record.body, "a body");
/// assert!(snapshot.next(100).await?.is_empty());
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// # })?;
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[async_trait]
pub trait Snapshot: fmt::Debug + Send {
    /// The records that come next, at most `limit` of them.
    ///
    /// # Contract
    /// * At least one while any are left; it may be fewer than `limit`, where bodies are large, for the sake of memory.
    /// * None when all were read, however often it is asked. None for a limit of 0, which reads nothing.
    /// * A call that is dropped before it is ready takes nothing: what it would have given comes with the next one.
    ///
    /// # Errors
    /// `Unavailable`, after which the next call tries to give the same records, and `Corrupt`.
    async fn next(&mut self, limit: usize) -> Result<Vec<Entry>, StoreError>;
}
