//! Faults of exports and restores.
//!
//! The tests are about input that is not an export, stores that refuse a restore, and stores, output and input that
//! fail in the middle of a transfer.

use std::io;
use std::pin::Pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::task::{Context, Poll};

use async_trait::async_trait;
use tokio::io::{AsyncRead, AsyncReadExt, AsyncWrite, ReadBuf};
use toposcope::store::TransferErrorKind::{
    Io, NotAnExport, NotEmpty, Store as OfTheStore, TooLong, Truncated, UnknownVersion,
};
use toposcope::store::{Entry, Export, Facets, MemoryStore, Restore, Snapshot, StoreError};
use toposcope::testing::{Call, Intercept, Interceptor, Operation, Reply};

use super::{HEADER, SECRET, export, note, put, restore, small_store, store_of, texts};
use crate::contents::contents;

/// Fails commits, snapshots and reads of a snapshot after this many of them.
#[derive(Clone, Debug)]
struct FailAfter(Arc<AtomicU64>);

impl FailAfter {
    fn calls(calls: u64, store: MemoryStore) -> Interceptor<MemoryStore, Self> {
        Interceptor::new(store, Self(Arc::new(AtomicU64::new(calls))))
    }

    fn count(&self) -> Result<(), StoreError> {
        let left = self.0.fetch_update(Ordering::SeqCst, Ordering::SeqCst, |left| left.checked_sub(1));
        left.map(drop).map_err(|_| StoreError::unavailable("out of order"))
    }
}

#[async_trait]
impl Intercept for FailAfter {
    async fn intercept(&self, call: Call<'_>) -> Result<Reply, StoreError> {
        if matches!(call.operation(), Operation::Commit(_) | Operation::Snapshot) {
            self.count()?;
        }
        Ok(match call.proceed().await? {
            Reply::Snapshot(inner) => {
                Reply::Snapshot(Box::new(FailingSnapshot { inner, hook: self.clone() }))
            }
            reply => reply,
        })
    }
}

#[derive(Debug)]
struct FailingSnapshot {
    inner: Box<dyn Snapshot>,
    hook: FailAfter,
}

#[async_trait]
impl Snapshot for FailingSnapshot {
    async fn next(&mut self, limit: usize) -> Result<Vec<Entry>, StoreError> {
        self.hook.count()?;
        self.inner.next(limit).await
    }
}

#[tokio::test]
async fn failing_store_ends_an_export_which_cannot_be_restored() {
    // The calls are the snapshot, three pieces, and the end.
    for calls in 0..5 {
        let store = FailAfter::calls(calls, store_of(2500).await);
        let mut file = Vec::new();
        let error = Export::new().write(&store, &mut file).await.unwrap_err();
        assert_eq!(error.kind(), OfTheStore, "after {calls} calls");
        assert!(texts(&error).contains("out of order"));
        assert!(restore(&file).await.1.is_err(), "after {calls} calls");
    }
    assert!(Export::new().write(&FailAfter::calls(5, store_of(2500).await), tokio::io::sink()).await.is_ok());
}

#[tokio::test]
async fn failing_store_ends_a_restore() {
    let file = export(&store_of(2500).await).await;
    // The calls are the snapshot, its first piece, and three commits.
    for calls in 0..5 {
        let store = FailAfter::calls(calls, MemoryStore::new());
        let error = Restore::new().read(&store, &file[..]).await.unwrap_err();
        assert_eq!(error.kind(), OfTheStore, "after {calls} calls");
        let stored = contents(store.store()).await.len() as u64;
        assert_eq!(stored, calls.saturating_sub(2) * 1000);
    }
    assert!(Restore::new().read(&FailAfter::calls(5, MemoryStore::new()), &file[..]).await.is_ok());
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
async fn failing_output_ends_an_export() {
    let store = store_of(2500).await;
    let length = export(&store).await.len();
    for room in [0, 10, length / 2, length - 1, length] {
        let error = Export::new().write(&store, Full(room)).await.unwrap_err();
        assert_eq!(error.kind(), Io, "room for {room} bytes");
        assert!(texts(&error).contains("full"));
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
async fn failing_input_ends_a_restore() {
    let file = export(&store_of(2500).await).await;
    for length in [0, 10, file.len() / 2, file.len()] {
        let input = file[..length].chain(Broken);
        let error = Restore::new().read(&MemoryStore::new(), input).await.unwrap_err();
        assert_eq!(error.kind(), Io, "after {length} bytes");
        assert!(texts(&error).contains("broken"));
    }
}

#[tokio::test]
async fn dropped_export_is_truncated() {
    let store = store_of(2500).await;
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

struct NotToBeRead;

impl AsyncRead for NotToBeRead {
    fn poll_read(self: Pin<&mut Self>, _: &mut Context<'_>, _: &mut ReadBuf<'_>) -> Poll<io::Result<()>> {
        panic!("this is not to be read");
    }
}

#[tokio::test]
async fn restore_into_a_store_with_records_is_refused() {
    let store = MemoryStore::new();
    put(&store, note(9), Facets::default(), "there").await;
    let before = contents(&store).await;
    let error = Restore::new().read(&store, NotToBeRead).await.unwrap_err();
    assert_eq!((error.kind(), error.line(), error.field()), (NotEmpty, None, None));
    assert_eq!(error.to_string(), "the store already holds records; restore into an empty store");
    assert_eq!(contents(&store).await, before);
}

#[tokio::test]
async fn second_restore_is_refused() {
    let file = export(&small_store().await).await;
    let (store, _) = restore(&file).await;
    assert_eq!(Restore::new().read(&store, &file[..]).await.unwrap_err().kind(), NotEmpty);
}

#[tokio::test]
async fn input_without_the_header_is_not_an_export() {
    let lines = [
        "",
        "\n",
        "{}\n",
        "[]\n",
        "hunter2\n",
        "{\"format\":\"toposcope-store\"}\n",
        "{\"format\":\"toposcope-store\",\"version\":\"1\"}\n",
        "{\"format\":\"toposcope-store\",\"version\":-1}\n",
        "{\"format\":\"hunter2\",\"version\":1}\n",
        "{\"version\":1}\n",
        "{\"records\":0,\"crc32\":0}\n",
        "\u{feff}{\"format\":\"toposcope-store\",\"version\":1}\n",
    ];
    for line in lines {
        let error = restore(line.as_bytes()).await.1.unwrap_err();
        assert_eq!((error.kind(), error.line()), (NotAnExport, Some(1)), "{line:?}");
        assert!(!texts(&error).contains(SECRET));
    }
}

#[tokio::test]
async fn unknown_version_is_reported() {
    let file = String::from_utf8(export(&small_store().await).await).unwrap();
    for version in ["0", "2", "18446744073709551615", "2,\"encrypted\":true"] {
        let other = file.replace("\"version\":1}", &format!("\"version\":{version}}}"));
        let (store, result) = restore(other.as_bytes()).await;
        let error = result.unwrap_err();
        assert_eq!((error.kind(), error.line()), (UnknownVersion, Some(1)), "{version}");
        assert!(contents(&store).await.is_empty());
    }
}

#[tokio::test]
async fn too_long_line_is_neither_written_nor_read() {
    let store = MemoryStore::new();
    put(&store, note(1), Facets::default(), vec![b'x'; Restore::MAX_LINE + 1]).await;
    let error = Export::new().write(&store, tokio::io::sink()).await.unwrap_err();
    assert_eq!((error.kind(), error.line()), (TooLong, None));
    assert!(texts(&error).contains(&note(1).to_string()), "{}", texts(&error));
    drop(store);
    let endless = HEADER.as_bytes().chain(tokio::io::repeat(b'x').take(Restore::MAX_LINE as u64 + 1));
    let error = Restore::new().read(&MemoryStore::new(), endless).await.unwrap_err();
    assert_eq!((error.kind(), error.line()), (TooLong, Some(2)));
}
