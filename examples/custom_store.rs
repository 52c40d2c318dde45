//! A custom store that wraps `MemoryStore` and counts calls, verified by the conformance suite.
//!
//! ```text
//! cargo run --example custom_store --features testing
//! ```

use std::io::{self, Write};
use std::process::ExitCode;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use async_trait::async_trait;
use toposcope::model::Timestamp;
use toposcope::store::{
    Batch, Key, MemoryStore, Name, Page, Query, Record, Revision, Snapshot, Store, StoreError, UniqueKey,
};
use uuid::Uuid;

#[derive(Debug, Default)]
struct Counting {
    store: MemoryStore,
    reads: AtomicU64,
    writes: AtomicU64,
}

// With the default implementation of a method, a wrapper would not call the wrapped store. The lint finds such methods.
#[deny(clippy::missing_trait_methods)]
#[async_trait]
impl Store for Counting {
    async fn get(&self, keys: &[Key]) -> Result<Vec<Option<Record>>, StoreError> {
        self.reads.fetch_add(1, Ordering::Relaxed);
        self.store.get(keys).await
    }

    async fn get_by_unique_key(&self, unique_key: &UniqueKey) -> Result<Option<Record>, StoreError> {
        self.reads.fetch_add(1, Ordering::Relaxed);
        self.store.get_by_unique_key(unique_key).await
    }

    async fn list(&self, query: &Query) -> Result<Page, StoreError> {
        self.reads.fetch_add(1, Ordering::Relaxed);
        self.store.list(query).await
    }

    async fn commit(&self, batch: Batch) -> Result<(), StoreError> {
        self.writes.fetch_add(1, Ordering::Relaxed);
        self.store.commit(batch).await
    }

    async fn purge_expired(&self, now: Timestamp) -> Result<u64, StoreError> {
        self.writes.fetch_add(1, Ordering::Relaxed);
        self.store.purge_expired(now).await
    }

    async fn snapshot(&self) -> Result<Box<dyn Snapshot>, StoreError> {
        self.reads.fetch_add(1, Ordering::Relaxed);
        self.store.snapshot().await
    }

    async fn revision(&self, kind: Name, organization: Uuid) -> Result<Option<Revision>, StoreError> {
        self.reads.fetch_add(1, Ordering::Relaxed);
        self.store.revision(kind, organization).await
    }

    fn is_shared(&self) -> bool {
        self.store.is_shared()
    }
}

#[tokio::main]
async fn main() -> io::Result<ExitCode> {
    let store = Arc::new(Counting::default());
    // Every case could get a store of its own. Here all share one, so that the counters cover the whole run.
    let report = toposcope::testing::run(async || Arc::clone(&store)).await;
    let (reads, writes) = (store.reads.load(Ordering::Relaxed), store.writes.load(Ordering::Relaxed));
    writeln!(io::stdout(), "{report}\n{reads} reads, {writes} writes")?;
    Ok(if report.failures().is_empty() { ExitCode::SUCCESS } else { ExitCode::FAILURE })
}
