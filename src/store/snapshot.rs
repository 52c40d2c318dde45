use std::fmt;

use async_trait::async_trait;

use super::{Facets, Record, StoreError};

/// A record together with its facets: everything a store holds of it.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Entry {
    /// Key, version and body.
    pub record: Record,
    /// Facets the record was put with, as [`Store::snapshot`](super::Store::snapshot) specifies them.
    pub facets: Facets,
}

impl Entry {
    /// Creates an entry.
    #[must_use]
    pub const fn new(record: Record, facets: Facets) -> Self {
        Self { record, facets }
    }
}

/// A consistent view of all records of a store, read in chunks.
///
/// [`Store::snapshot`](super::Store::snapshot) opens it.
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
    /// Returns the next records, at most `limit`.
    ///
    /// # Contract
    /// * The result has at least one record while any remain. It may have fewer than `limit`: a backend may return large
    ///   bodies in smaller chunks to bound memory.
    /// * At the end, every call returns no records. A limit of 0 returns no records and skips none.
    /// * A call that is dropped before it completes consumes nothing: the next call returns its records.
    ///
    /// # Errors
    /// `Unavailable`, after which the next call tries to return the same records, or `Corrupt`.
    async fn next(&mut self, limit: usize) -> Result<Vec<Entry>, StoreError>;
}
