//! Output and stores that fail in the middle of a transfer.

use std::io;
use std::pin::Pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::task::{Context, Poll};

use async_trait::async_trait;
use tokio::io::{AsyncRead, AsyncReadExt, AsyncWrite, ReadBuf};
use toposcope::model::Timestamp;
use toposcope::store::TransferErrorKind::{Io, Store as OfTheStore, Truncated};
use toposcope::store::{
    Batch, Entry, Export, Facets, Key, MemoryStore, Page, Query, Record, Restore, Snapshot, Store,
    StoreError, UniqueKey,
};

use crate::support::{contents, export, note, put, restore, told};

/// A store that fails after this many calls.
#[derive(Debug)]
struct Failing {
    inner: MemoryStore,
    calls: Arc<AtomicU64>,
}

impl Failing {
    fn after(calls: u64, inner: MemoryStore) -> Self {
        Self { inner, calls: Arc::new(AtomicU64::new(calls)) }
    }
}

fn call(calls: &AtomicU64) -> Result<(), StoreError> {
    let left = calls.fetch_update(Ordering::SeqCst, Ordering::SeqCst, |left| left.checked_sub(1));
    left.map(drop).map_err(|_| StoreError::unavailable("told to fail"))
}

#[async_trait]
impl Store for Failing {
    async fn get(&self, keys: &[Key]) -> Result<Vec<Option<Record>>, StoreError> {
        self.inner.get(keys).await
    }

    async fn get_by_unique_key(&self, unique_key: &UniqueKey) -> Result<Option<Record>, StoreError> {
        self.inner.get_by_unique_key(unique_key).await
    }

    async fn list(&self, query: &Query) -> Result<Page, StoreError> {
        self.inner.list(query).await
    }

    async fn commit(&self, batch: Batch) -> Result<(), StoreError> {
        call(&self.calls)?;
        self.inner.commit(batch).await
    }

    async fn purge_expired(&self, now: Timestamp) -> Result<u64, StoreError> {
        self.inner.purge_expired(now).await
    }

    async fn snapshot(&self) -> Result<Box<dyn Snapshot>, StoreError> {
        call(&self.calls)?;
        Ok(Box::new(FailingSnapshot { inner: self.inner.snapshot().await?, calls: self.calls.clone() }))
    }
}

#[derive(Debug)]
struct FailingSnapshot {
    inner: Box<dyn Snapshot>,
    calls: Arc<AtomicU64>,
}

#[async_trait]
impl Snapshot for FailingSnapshot {
    async fn next(&mut self, limit: usize) -> Result<Vec<Entry>, StoreError> {
        call(&self.calls)?;
        self.inner.next(limit).await
    }
}

async fn many() -> MemoryStore {
    let store = MemoryStore::new();
    for number in 0..2500 {
        put(&store, note(number), Facets::default(), number.to_string()).await;
    }
    store
}

#[tokio::test]
async fn a_store_that_fails_ends_an_export_which_is_no_whole_one() {
    // The snapshot, three pieces, and the end.
    for calls in 0..5 {
        let store = Failing::after(calls, many().await);
        let mut file = Vec::new();
        let error = Export::new().write(&store, &mut file).await.unwrap_err();
        assert_eq!(error.kind(), OfTheStore, "after {calls} calls");
        assert!(told(&error).contains("told to fail"));
        assert!(restore(&file).await.1.is_err(), "after {calls} calls");
    }
    assert!(Export::new().write(&Failing::after(5, many().await), tokio::io::sink()).await.is_ok());
}

#[tokio::test]
async fn a_store_that_fails_ends_a_restoration() {
    let file = export(&many().await).await;
    // The snapshot, its first piece, and three commits.
    for calls in 0..5 {
        let store = Failing::after(calls, MemoryStore::new());
        let error = Restore::new().read(&store, &file[..]).await.unwrap_err();
        assert_eq!(error.kind(), OfTheStore, "after {calls} calls");
        let stored = contents(&store.inner).await.len() as u64;
        assert_eq!(stored, calls.saturating_sub(2) * 1000);
    }
    assert!(Restore::new().read(&Failing::after(5, MemoryStore::new()), &file[..]).await.is_ok());
}

/// A writer that is full after this many bytes.
struct Full(usize);

impl AsyncWrite for Full {
    fn poll_write(mut self: Pin<&mut Self>, _: &mut Context<'_>, bytes: &[u8]) -> Poll<io::Result<usize>> {
        let taken = bytes.len().min(self.0).min(1000);
        self.0 -= taken;
        Poll::Ready(if taken > 0 { Ok(taken) } else { Err(io::Error::other("full")) })
    }

    fn poll_flush(self: Pin<&mut Self>, _: &mut Context<'_>) -> Poll<io::Result<()>> {
        Poll::Ready(if self.0 > 0 { Ok(()) } else { Err(io::Error::other("full")) })
    }

    fn poll_shutdown(self: Pin<&mut Self>, _: &mut Context<'_>) -> Poll<io::Result<()>> {
        panic!("the caller may still use its writer");
    }
}

#[tokio::test]
async fn a_medium_that_is_full_ends_an_export() {
    let store = many().await;
    let length = export(&store).await.len();
    for room in [0, 10, length / 2, length - 1, length] {
        let error = Export::new().write(&store, Full(room)).await.unwrap_err();
        assert_eq!(error.kind(), Io, "room for {room} bytes");
        assert!(told(&error).contains("full"));
    }
    assert!(Export::new().write(&store, Full(length + 1)).await.is_ok());
}

struct Broken;

impl AsyncRead for Broken {
    fn poll_read(self: Pin<&mut Self>, _: &mut Context<'_>, _: &mut ReadBuf<'_>) -> Poll<io::Result<()>> {
        Poll::Ready(Err(io::Error::other("broken")))
    }
}

#[tokio::test]
async fn a_medium_that_breaks_ends_a_restoration() {
    let file = export(&many().await).await;
    for length in [0, 10, file.len() / 2, file.len()] {
        let input = file[..length].chain(Broken);
        let error = Restore::new().read(&MemoryStore::new(), input).await.unwrap_err();
        assert_eq!(error.kind(), Io, "after {length} bytes");
        assert!(told(&error).contains("broken"));
    }
}

#[tokio::test]
async fn an_export_that_was_dropped_is_no_whole_one() {
    let store = many().await;
    let (mut writer, mut reader) = tokio::io::duplex(1000);
    let mut file = Vec::new();
    {
        let export = Export::new().write(&store, &mut writer);
        let reading = async {
            let mut part = [0; 5000];
            reader.read_exact(&mut part).await.unwrap();
            file.extend_from_slice(&part);
        };
        tokio::select! {
            _ = export => panic!("there is no room for all of it"),
            () = reading => {}
        }
    }
    drop(writer);
    reader.read_to_end(&mut file).await.unwrap();
    assert_eq!(restore(&file).await.1.unwrap_err().kind(), Truncated);
}
