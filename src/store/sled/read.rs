use std::sync::Arc;

use tokio::sync::Semaphore;

use super::blocking::blocking;
use super::state::{EpochGuard, Located, Shared, State};
use crate::store::index::{Index, RowId, Selection};
use crate::store::lock::StateLock;
use crate::store::log::body_cache::BodyLocation;
use crate::store::log::queue::closed;
use crate::store::materializer::Indexed;
use crate::store::{Cursor, Record, StoreError};

/// Maximum number of concurrent disk reads. More are not faster, and each holds in memory what it has read.
const MAX_DISK_READS: usize = 8;

/// Maximum number of records in one disk read. A longer request waits again after each, so that a request for one
/// record never waits for whole pages of others.
const RECORDS_PER_READ: usize = 64;

/// Reads the bodies that are not in memory.
#[derive(Debug)]
pub(super) struct BodyReader {
    shared: Arc<Shared>,
    permits: Arc<Semaphore>,
}

/// The records of a request, as far as they are in memory.
#[derive(Debug)]
pub(super) enum PendingRead<R> {
    Done(Vec<R>),
    /// Locations of all of the records, with the guard that keeps their bodies on disk.
    Missing(Vec<Option<Located>>, EpochGuard),
}

/// A page of a list, as far as it is in memory.
#[derive(Debug)]
pub(super) struct PendingPage {
    pub(super) pending: PendingRead<Record>,
    pub(super) total: u64,
    pub(super) next: Option<Cursor>,
}

impl Indexed for Shared {
    type State = State;
    type Page = PendingPage;

    fn state(&self) -> &StateLock<State> {
        &self.state
    }

    fn index(state: &State) -> &Index {
        &state.index
    }

    fn page(state: &State, Selection { rows, total, next }: Selection) -> PendingPage {
        PendingPage { pending: PendingRead::of_page(state, &rows), total, next }
    }
}

impl PendingRead<Option<Record>> {
    /// Reads what is in memory; called under the state lock.
    pub(super) fn of_each(state: &State, rows: impl ExactSizeIterator<Item = Option<RowId>> + Clone) -> Self {
        let mut records = Vec::with_capacity(rows.len());
        for row in rows.clone() {
            let record = row.and_then(|row| state.record(row));
            if row.is_some() && record.is_none() {
                return Self::missing(state, rows);
            }
            records.push(record);
        }
        Self::Done(records)
    }
}

impl PendingRead<Record> {
    /// Like `of_each`, for rows that exist. Nearly every page is completely in memory, which makes this cheap.
    pub(super) fn of_page(state: &State, rows: &[RowId]) -> Self {
        let mut records = Vec::with_capacity(rows.len());
        for row in rows {
            match state.record(*row) {
                Some(record) => records.push(record),
                None => return Self::missing(state, rows.iter().copied().map(Some)),
            }
        }
        Self::Done(records)
    }
}

impl<R> PendingRead<R> {
    fn missing(state: &State, rows: impl Iterator<Item = Option<RowId>>) -> Self {
        let located = rows.map(|row| row.and_then(|row| state.locate(row))).collect();
        Self::Missing(located, state.epoch_guard())
    }
}

impl BodyReader {
    pub(super) fn new(shared: Arc<Shared>) -> Self {
        Self { shared, permits: Arc::new(Semaphore::new(MAX_DISK_READS)) }
    }

    /// Returns the records, after reading the missing ones from disk.
    pub(super) async fn finish(
        &self,
        pending: PendingRead<Option<Record>>,
    ) -> Result<Vec<Option<Record>>, StoreError> {
        match pending {
            PendingRead::Done(records) => Ok(records),
            PendingRead::Missing(located, epoch_guard) => self.read(located, epoch_guard).await,
        }
    }

    pub(super) async fn finish_page(&self, pending: PendingRead<Record>) -> Result<Vec<Record>, StoreError> {
        match pending {
            PendingRead::Done(records) => Ok(records),
            PendingRead::Missing(located, epoch_guard) => {
                Ok(self.read(located, epoch_guard).await?.into_iter().flatten().collect())
            }
        }
    }

    /// Reads the missing bodies on blocking threads, and caches them.
    async fn read(
        &self,
        located: Vec<Option<Located>>,
        epoch_guard: EpochGuard,
    ) -> Result<Vec<Option<Record>>, StoreError> {
        let epoch_guard = Arc::new(epoch_guard);
        let mut records = Vec::with_capacity(located.len());
        let mut rest = located.into_iter();
        while rest.len() > 0 {
            let located: Vec<_> = rest.by_ref().take(RECORDS_PER_READ).collect();
            let permit = Arc::clone(&self.permits).acquire_owned().await.map_err(|_| closed())?;
            let (shared, epoch_guard) = (Arc::clone(&self.shared), Arc::clone(&epoch_guard));
            let read = blocking(move || {
                let records = read_all(&shared, &located);
                drop(epoch_guard);
                // Released only now, because the read continues when its future is dropped.
                drop(permit);
                records
            });
            records.extend(read.await??);
        }
        Ok(records)
    }
}

fn read_all(shared: &Shared, located: &[Option<Located>]) -> Result<Vec<Option<Record>>, StoreError> {
    let mut records = Vec::with_capacity(located.len());
    for located in located {
        let record = match located {
            None => None,
            Some(Located { key, version, body, .. }) => {
                let body = match body {
                    BodyLocation::InMemory(body) => body.clone(),
                    BodyLocation::OnDisk(body_ref) => shared.trees.body(*key, *body_ref)?,
                };
                Some(Record { key: *key, version: *version, body })
            }
        };
        records.push(record);
    }
    cache_bodies(shared, located, &records)?;
    Ok(records)
}

fn cache_bodies(
    shared: &Shared,
    located: &[Option<Located>],
    records: &[Option<Record>],
) -> Result<(), StoreError> {
    let mut state = shared.state.write()?;
    for (located, record) in located.iter().zip(records) {
        if let (Some(Located { row, body: BodyLocation::OnDisk(body_ref), .. }), Some(record)) =
            (located, record)
        {
            state.bodies.insert(*row, *body_ref, record.body.clone());
        }
    }
    let evicted = state.bodies.evict();
    drop(state);
    drop(evicted);
    Ok(())
}
