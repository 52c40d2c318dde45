//! Three stores around a store, verified by the conformance suite: metrics, a cipher, and an outbox.
//!
//! ```text
//! cargo run --example wrapper --features testing
//! ```

use std::array;
use std::io::{self, Write as _};
use std::process::ExitCode;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Instant;

use hmac::{Hmac, KeyInit, Mac};
use sha2::Sha256;
use toposcope::async_trait;
use toposcope::bytes::Bytes;
use toposcope::store::{
    Batch, Direction, Entry, Facets, Key, MemoryStore, Name, Order, Page, Precondition, Query, Record,
    Snapshot, SortKey, Store, StoreError, UniqueKey, Wrapper, Write,
};
use toposcope::uuid::Uuid;

/// Measures how often and how long reads and commits keep their callers waiting.
#[derive(Debug, Default)]
struct Metrics<S> {
    inner: S,
    reads: Timer,
    commits: Timer,
}

#[async_trait]
impl<S: Store> Wrapper for Metrics<S> {
    fn inner(&self) -> &dyn Store {
        &self.inner
    }

    async fn get(&self, keys: &[Key]) -> Result<Vec<Option<Record>>, StoreError> {
        self.reads.time(self.inner.get(keys)).await
    }

    async fn list(&self, query: &Query) -> Result<Page, StoreError> {
        self.reads.time(self.inner.list(query)).await
    }

    async fn commit(&self, batch: Batch) -> Result<(), StoreError> {
        self.commits.time(self.inner.commit(batch)).await
    }
}

/// The number of calls that have returned, and their total time in microseconds.
#[derive(Debug, Default)]
struct Timer(AtomicU64, AtomicU64);

impl Timer {
    async fn time<T>(&self, call: impl Future<Output = T>) -> T {
        let begin = Instant::now();
        let result = call.await;
        self.0.fetch_add(1, Ordering::Relaxed);
        self.1.fetch_add(begin.elapsed().as_micros() as u64, Ordering::Relaxed);
        result
    }
}

/// Encrypts the bodies of records. Facets stay readable, because the inner store filters and orders by them.
#[derive(Debug, Default)]
struct Encrypted<S>(S, Cipher);

#[async_trait]
impl<S: Store> Wrapper for Encrypted<S> {
    fn inner(&self) -> &dyn Store {
        &self.0
    }

    async fn get(&self, keys: &[Key]) -> Result<Vec<Option<Record>>, StoreError> {
        let records = self.0.get(keys).await?.into_iter();
        records.map(|record| record.map(|record| self.1.open(record)).transpose()).collect()
    }

    async fn get_by_unique_key(&self, unique_key: &UniqueKey) -> Result<Option<Record>, StoreError> {
        self.0.get_by_unique_key(unique_key).await?.map(|record| self.1.open(record)).transpose()
    }

    async fn list(&self, query: &Query) -> Result<Page, StoreError> {
        let mut sealed = query.clone();
        // `max_bytes` counts readable bytes. The inner store reads as many sealed ones, and the page is cut again.
        let overhead = query.limit.map(|limit| limit.saturating_mul(Cipher::OVERHEAD));
        sealed.max_bytes = query.max_bytes.zip(overhead).map(|(max, overhead)| max.saturating_add(overhead));
        let mut page = self.0.list(&sealed).await?;
        page.records =
            page.records.into_iter().map(|record| self.1.open(record)).collect::<Result<_, _>>()?;
        Ok(page.cut(query.max_bytes))
    }

    async fn commit(&self, batch: Batch) -> Result<(), StoreError> {
        self.0.commit(batch.map_bodies(|key, body| self.1.seal(key, &body))).await
    }

    async fn snapshot(&self) -> Result<Box<dyn Snapshot>, StoreError> {
        Ok(Box::new(Opened(self.0.snapshot().await?, self.1.clone())))
    }
}

/// A snapshot of encrypted records, which it returns readable.
#[derive(Debug)]
struct Opened(Box<dyn Snapshot>, Cipher);

#[async_trait]
impl Snapshot for Opened {
    async fn next(&mut self, limit: usize) -> Result<Vec<Entry>, StoreError> {
        let entries = self.0.next(limit).await?.into_iter();
        entries.map(|entry| Ok(Entry::new(self.1.open(entry.record)?, entry.facets))).collect()
    }
}

/// Stores an event with every change, in the same batch. So an event is stored exactly if its change is.
#[derive(Debug, Default)]
struct Outbox<S>(S);

const EVENT: Name = Name::new("x.event");

/// The order of the commits.
const COMMITTED: Name = Name::new("x.committed");

#[async_trait]
impl<S: Store> Wrapper for Outbox<S> {
    fn inner(&self) -> &dyn Store {
        &self.0
    }

    async fn commit(&self, mut batch: Batch) -> Result<(), StoreError> {
        let keys = batch.writes().iter().map(Write::key).filter(|key| key.kind != EVENT);
        let written: Vec<_> = keys.map(|key| key.to_string()).collect();
        if !written.is_empty() {
            let id = Uuid::from_u128(fastrand::u128(..));
            let facets = Facets::default().with_sort_keys([SortKey::with_version(COMMITTED, [])]);
            batch.put(Key::new(EVENT, id), Precondition::Absent, facets, written.join("\n"));
        }
        self.0.commit(batch).await
    }
}

impl<S: Store> Outbox<S> {
    /// Passes the oldest events to `receive` in the order of their commits, then deletes them. After a crash in between, they
    /// are passed again: the receiver skips ids that it has stored.
    async fn deliver(&self, mut receive: impl FnMut(Uuid, &[u8])) -> Result<usize, StoreError> {
        let (mut query, mut delivered) = (Query::new(EVENT), Batch::new());
        query.order = vec![Order::new(COMMITTED, Direction::Ascending)];
        query.limit = Some(100);
        for event in self.0.list(&query).await?.records {
            receive(event.key.id, &event.body);
            delivered.delete(event.key, Precondition::Any);
        }
        let count = delivered.writes().len();
        self.0.commit(delivered).await.map(|()| count)
    }
}

/// In place of an audited cipher, such as those of the crate `chacha20poly1305`: HMAC-SHA-256 as a key stream, and as
/// the tag of the stored bytes. A sealed body begins with a random nonce and the tag, and opens only in its own
/// record.
#[derive(Clone, Default)]
struct Cipher([u8; 32]);

impl Cipher {
    const OVERHEAD: usize = 16 + 32;

    fn seal(&self, key: Key, body: &[u8]) -> Bytes {
        let nonce = fastrand::u128(..).to_le_bytes();
        let body = self.apply(nonce, body);
        [&nonce[..], &self.mac(&[key.to_string().as_bytes(), &nonce, &body]), &body].concat().into()
    }

    fn open(&self, mut record: Record) -> Result<Record, StoreError> {
        let key = record.key;
        let damaged = || StoreError::corrupt(format!("the body of {key} is not what was encrypted"));
        let (nonce, rest) = record.body.split_first_chunk::<16>().ok_or_else(damaged)?;
        let (tag, body) = rest.split_first_chunk::<32>().ok_or_else(damaged)?;
        if self.mac(&[key.to_string().as_bytes(), nonce, body]) != *tag {
            return Err(damaged());
        }
        record.body = self.apply(*nonce, body).into();
        Ok(record)
    }

    /// Encrypts or decrypts.
    fn apply(&self, nonce: [u8; 16], body: &[u8]) -> Vec<u8> {
        let blocks = (0_u64..).zip(body.chunks(32));
        let stream = blocks.flat_map(|(number, _)| self.mac(&[&nonce, &number.to_le_bytes()]));
        body.iter().zip(stream).map(|(byte, key)| byte ^ key).collect()
    }

    fn mac(&self, parts: &[&[u8]]) -> [u8; 32] {
        // HMAC extends a short key with zeros.
        let key = array::from_fn(|place| self.0.get(place).copied().unwrap_or(0));
        let mac = Hmac::<Sha256>::new(&<[u8; 64]>::into(key));
        parts.iter().fold(mac, |mac, part| mac.chain_update(part)).finalize().into_bytes().into()
    }
}

/// Omits the key.
impl std::fmt::Debug for Cipher {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        formatter.write_str("Cipher")
    }
}

#[tokio::main]
async fn main() -> io::Result<ExitCode> {
    let (metrics, cipher, outbox) = tokio::join!(
        verify("metrics", Metrics::<MemoryStore>::default),
        verify("cipher", Encrypted::<MemoryStore>::default),
        verify("outbox", Outbox::<MemoryStore>::default),
    );
    let has_passed = metrics? && cipher? && outbox?;

    // A wrapper is a store, which another wrapper may hold.
    let store = Metrics::<Outbox<Encrypted<MemoryStore>>>::default();
    let mut batch = Batch::new();
    batch.put(Key::new(Name::new("note"), Uuid::nil()), Precondition::Absent, Facets::default(), "a body");
    Store::commit(&store, batch).await.map_err(io::Error::other)?;
    let print = |id, event: &[u8]| writeln!(io::stdout(), "event {id}: {}", String::from_utf8_lossy(event));
    let delivered =
        store.inner.deliver(|id, event| drop(print(id, event))).await.map_err(io::Error::other)?;
    writeln!(io::stdout(), "{delivered} events; {:?} and {:?}", store.reads, store.commits)?;
    Ok(if has_passed { ExitCode::SUCCESS } else { ExitCode::FAILURE })
}

async fn verify<S: Store>(name: &str, make: impl Fn() -> S) -> io::Result<bool> {
    let report = toposcope::testing::run(async || make()).await;
    writeln!(io::stdout(), "{name}: {report}")?;
    Ok(report.failures().is_empty())
}
