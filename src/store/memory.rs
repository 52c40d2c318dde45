use std::fmt;
use std::sync::Arc;

use async_trait::async_trait;
use bytes::Bytes;
use tokio::task::coop::consume_budget;
use uuid::Uuid;

use super::index::{Index, IndexSnapshot, Packs, PageRows, ReplacedRows, RowId, is_large};
use super::lock::StateLock;
use super::materializer::{Indexed, Materializer};
use super::{
    Batch, Entry, Guard, Key, Name, Page, Precondition, Query, Record, Revision, Snapshot, Store, StoreError,
    StoreFigures, UniqueKey, Write,
};
use crate::fair_threads::{FairThreads, NotRun};
use crate::invariant::Invariant;
use crate::model::Timestamp;

/// A store in memory, for tests, demonstrations, and inventories that are rebuilt at every start.
///
/// # Durability
/// None: all records are lost when the process ends.
///
/// # Cost
/// Pages are found by rank in sorted runs, so their cost does not grow with the offset and hardly grows with the number of
/// records. Every network that ever had a record takes some hundred bytes, even after its last record is deleted.
///
/// An open snapshot takes some hundred bytes per record, plus the bodies replaced since it was opened. Opening one
/// blocks writers, for about a tenth of a second at a million records; reading it does not.
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
/// let found = store.get(&[key]).await?;
/// assert_eq!(found[0].as_ref().map(|record| &record.body[..]), Some(&b"a body"[..]));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// # })?;
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Default)]
pub struct MemoryStore {
    shared: Arc<Shared>,
    materializer: Materializer,
    /// Threads that prepare large batches. They run apart from the commits, so that the next batch is ready when a
    /// commit has ended.
    preparations: FairThreads,
    commits: FairThreads,
}

/// A batch that is prepared for its commit before the lock is taken.
struct Prepared {
    writes: Vec<Write>,
    guards: Vec<Guard>,
    /// The bodies of the puts.
    bodies: Vec<Bytes>,
    packs: Packs,
}

/// The state behind its lock, shared with the threads that materialize orderings.
#[derive(Default)]
struct Shared(StateLock<State>);

#[derive(Default)]
struct State {
    index: Index,
    bodies: Vec<Bytes>,
}

impl MemoryStore {
    /// Creates an empty store.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }
}

impl Shared {
    /// Packs the facets of a large batch. This takes longer than the lock may be held.
    fn prepare_large(&self, writes: Vec<Write>, guards: Vec<Guard>) -> Result<Prepared, StoreError> {
        let prepared = Prepared::new(writes, guards);
        let packer = self.0.read()?.index.packer(&prepared.writes);
        Ok(Prepared { packs: packer.pack(&prepared.writes), ..prepared })
    }

    fn commit(&self, prepared: Prepared) -> Result<(), StoreError> {
        let Prepared { writes, guards, bodies, packs } = prepared;
        let mut state = self.0.write()?;
        state.index.check(&writes, &packs, &guards)?;
        // Dropped after the lock is released: freeing megabytes takes time, and the owner of some bytes may run any
        // code when they are dropped.
        let replaced = state.apply(&writes, bodies, packs);
        drop(state);
        drop(replaced);
        Ok(())
    }
}

impl Prepared {
    fn new(mut writes: Vec<Write>, guards: Vec<Guard>) -> Self {
        let bodies = take_bodies(&mut writes);
        Self { writes, guards, bodies, packs: Packs::default() }
    }
}

impl Indexed for Shared {
    type State = State;
    type Page = Page;

    fn state(&self) -> &StateLock<State> {
        &self.0
    }

    fn index(state: &State) -> &Index {
        &state.index
    }

    fn page(state: &State, PageRows { rows, total, next }: PageRows) -> Page {
        let mut records = Vec::with_capacity(rows.len());
        records.extend(rows.into_iter().filter_map(|row| state.record(row)));
        Page::new(records, total, next)
    }
}

fn not_run(reason: NotRun) -> StoreError {
    match reason {
        NotRun::Busy => StoreError::unavailable("too many large batches of one organization wait"),
        NotRun::ShutDown => StoreError::unavailable("the runtime is shutting down"),
    }
}

/// Takes copies of the bodies out of the puts, in their order.
///
/// The caller's body may be a slice of a larger buffer, and it lies among temporary allocations: storing it would keep
/// the buffer alive and fragment the heap. The copy is not left in the write, because cloning it from there allocates a
/// reference count.
fn take_bodies(writes: &mut [Write]) -> Vec<Bytes> {
    let mut copies: Vec<Option<Bytes>> = vec![None; writes.len()];
    // Bodies with a single owner come first: each is freed before the next is copied.
    for is_shared in [false, true] {
        for (write, copy) in writes.iter_mut().zip(&mut copies).filter(|(_, copy)| copy.is_none()) {
            if let Write::Put { body, .. } = write
                && (is_shared || body.is_unique())
            {
                *copy = Some(Bytes::copy_from_slice(&std::mem::take(body)));
            }
        }
    }
    copies.into_iter().flatten().collect()
}

impl State {
    fn record(&self, row: RowId) -> Option<Record> {
        let (key, version) = self.index.key(row)?;
        Some(Record { key, version, body: self.bodies.get(row as usize)?.clone() })
    }

    /// Applies writes whose preconditions hold. The bodies of the puts have been taken out of them. Returns what they
    /// replace.
    fn apply(
        &mut self,
        writes: &[Write],
        bodies_of_puts: Vec<Bytes>,
        packs: Packs,
    ) -> (Vec<Bytes>, ReplacedRows) {
        let Self { index, bodies } = self;
        let mut replaced = Vec::with_capacity(writes.len());
        let mut bodies_of_puts = bodies_of_puts.into_iter();
        // `Index::apply` calls back for every put, in the order of the writes.
        let rows = index.apply(index.next_version(), writes, packs, |row, put| {
            let body = put.map_or_else(Bytes::new, |_| bodies_of_puts.next().asserted_or_default());
            replaced.push(Self::set_body(bodies, row, body));
        });
        (replaced, rows)
    }

    /// Sets the body of a row and returns the replaced one.
    fn set_body(bodies: &mut Vec<Bytes>, row: RowId, body: Bytes) -> Bytes {
        let row = row as usize;
        if bodies.len() <= row {
            bodies.resize(row + 1, Bytes::new());
        }
        bodies.get_mut(row).map_or(Bytes::new(), |place| std::mem::replace(place, body))
    }
}

#[async_trait]
impl Store for MemoryStore {
    async fn get(&self, keys: &[Key]) -> Result<Vec<Option<Record>>, StoreError> {
        let state = self.shared.0.read()?;
        Ok(keys.iter().map(|key| state.record(state.index.find(*key)?)).collect())
    }

    async fn get_by_unique_key(&self, unique_key: &UniqueKey) -> Result<Option<Record>, StoreError> {
        let state = self.shared.0.read()?;
        Ok(state.index.get_by_unique_key(unique_key).and_then(|row| state.record(row)))
    }

    async fn list(&self, query: &Query) -> Result<Page, StoreError> {
        // Answers are always ready: without a budget, a loop of lists would keep the other tasks of its thread waiting.
        consume_budget().await;
        Ok(self.materializer.list(&self.shared, query).await?.cut(query.max_bytes))
    }

    async fn commit(&self, batch: Batch) -> Result<(), StoreError> {
        consume_budget().await;
        let (writes, guards) = batch.into_parts();
        if !is_large(&writes) {
            return self.shared.commit(Prepared::new(writes, guards));
        }
        let organization = writes.iter().find_map(|write| match write {
            Write::Put { facets, .. } => facets.organization,
            Write::Delete { .. } => None,
        });
        let organization = organization.unwrap_or_default();
        let shared = Arc::clone(&self.shared);
        let prepare = move || shared.prepare_large(writes, guards);
        let prepared = self.preparations.run(organization.into(), prepare).await.map_err(not_run)??;
        let shared = Arc::clone(&self.shared);
        self.commits.run(organization.into(), move || shared.commit(prepared)).await.map_err(not_run)?
    }

    async fn purge_expired(&self, now: Timestamp) -> Result<u64, StoreError> {
        let mut state = self.shared.0.write()?;
        let expired = state.index.expired(now);
        let deletions: Vec<Write> =
            expired.into_iter().map(|key| Write::Delete { key, precondition: Precondition::Any }).collect();
        let (purged, rows) = state.apply(&deletions, Vec::new(), Packs::default());
        drop(state);
        drop(rows);
        Ok(purged.len() as u64)
    }

    async fn snapshot(&self) -> Result<Box<dyn Snapshot>, StoreError> {
        let state = self.shared.0.read()?;
        Ok(Box::new(MemorySnapshot {
            index: state.index.index_snapshot(),
            bodies: state.bodies.clone(),
            read: 0,
        }))
    }

    async fn revision(&self, kind: Name, organization: Uuid) -> Result<Option<Revision>, StoreError> {
        Ok(Some(self.shared.0.read()?.index.revision(kind, organization)))
    }

    async fn changed_since(
        &self,
        kind: Name,
        organization: Uuid,
        revision: Revision,
    ) -> Result<Option<Vec<Uuid>>, StoreError> {
        Ok(self.shared.0.read()?.index.changed_since(kind, organization, revision))
    }

    fn is_shared(&self) -> bool {
        false
    }

    fn figures(&self) -> StoreFigures {
        self.shared.0.read().map(|state| state.index.figures()).unwrap_or_default()
    }
}

/// A snapshot of a [`MemoryStore`], which shares facets and bodies with the store.
struct MemorySnapshot {
    index: IndexSnapshot,
    bodies: Vec<Bytes>,
    read: usize,
}

impl MemorySnapshot {
    /// Size of the bodies at which a chunk ends, in bytes. The record that reaches it is the last of the chunk.
    const CHUNK_BYTES: usize = 4 * 1024 * 1024;

    fn entry(&self, place: usize) -> Option<Entry> {
        let (row, key, version, facets) = self.index.entry(place)?;
        let body = self.bodies.get(row as usize)?.clone();
        Some(Entry { record: Record { key, version, body }, facets })
    }
}

#[async_trait]
impl Snapshot for MemorySnapshot {
    async fn next(&mut self, limit: usize) -> Result<Vec<Entry>, StoreError> {
        let mut entries = Vec::new();
        let mut bytes = 0;
        for place in (self.read..self.index.len()).take(limit) {
            let entry = self.entry(place).ok_or_else(|| StoreError::corrupt("an indexed row is missing"))?;
            bytes += entry.record.body.len();
            entries.push(entry);
            if bytes >= Self::CHUNK_BYTES {
                break;
            }
        }
        self.read += entries.len();
        Ok(entries)
    }
}

/// Shows the number of records and how many were read, but not their content.
impl fmt::Debug for MemorySnapshot {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut debug = formatter.debug_struct("MemorySnapshot");
        debug.field("records", &self.index.len()).field("read", &self.read).finish_non_exhaustive()
    }
}

/// Shows the number of rows, but not their content.
impl fmt::Debug for MemoryStore {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let rows = self.shared.0.read().map(|state| state.bodies.len());
        formatter.debug_struct("MemoryStore").field("rows", &rows.unwrap_or_default()).finish_non_exhaustive()
    }
}
