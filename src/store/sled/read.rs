use std::sync::Arc;

use tokio::sync::Semaphore;

use super::blocking::blocking;
use super::state::{EpochGuard, Located, Shared, State};
use crate::store::index::{Index, PageRows, RowId};
use crate::store::lock::StateLock;
use crate::store::log::body_cache::BodyLocation;
use crate::store::log::queue::closed;
use crate::store::materializer::Indexed;
use crate::store::{Cursor, Key, Page, Record, StoreError};

/// Maximum number of concurrent disk reads. More are not faster, and each holds its result in memory.
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

    fn page(state: &State, PageRows { rows, total, next }: PageRows) -> PendingPage {
        PendingPage { pending: PendingRead::of_page(state, &rows), total, next }
    }
}

impl PendingRead<Option<Record>> {
    /// Reads the records that are in memory; called under the state lock.
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
            PendingRead::Missing(located, epoch_guard) => Ok(self.read(located, epoch_guard, None).await?.0),
        }
    }

    pub(super) async fn finish_page(
        &self,
        PendingPage { pending, total, next }: PendingPage,
        max_bytes: Option<usize>,
    ) -> Result<Page, StoreError> {
        match pending {
            PendingRead::Done(records) => Ok(Page::new(records, total, next).cut(max_bytes)),
            PendingRead::Missing(located, epoch_guard) => {
                let (records, unread) = self.read(located, epoch_guard, max_bytes).await?;
                let records = records.into_iter().flatten().collect();
                Ok(Page { unread, ..Page::new(records, total, next) })
            }
        }
    }

    /// Reads the missing bodies on blocking threads, and caches them. Once the bodies have `max_bytes`, the rest is left
    /// unread.
    async fn read(
        &self,
        located: Vec<Option<Located>>,
        epoch_guard: EpochGuard,
        max_bytes: Option<usize>,
    ) -> Result<(Vec<Option<Record>>, Vec<Key>), StoreError> {
        let epoch_guard = Arc::new(epoch_guard);
        let mut records = Vec::with_capacity(located.len());
        let mut unread = Vec::new();
        // A page has at least one record.
        let mut room = max_bytes.map_or(usize::MAX, |max| max.max(1));
        let mut rest = located.into_iter();
        while rest.len() > 0 && room > 0 {
            let located: Vec<_> = rest.by_ref().take(RECORDS_PER_READ).collect();
            let permit = Arc::clone(&self.permits).acquire_owned().await.map_err(|_| closed())?;
            let (shared, epoch_guard) = (Arc::clone(&self.shared), Arc::clone(&epoch_guard));
            let read = blocking(move || {
                let read = read_until(&shared, &located, room);
                drop(epoch_guard);
                // Released only now, because the read continues when its future is dropped.
                drop(permit);
                read.map(|records| {
                    let unread = located.iter().skip(records.len()).flatten();
                    (unread.map(|located| located.key).collect::<Vec<_>>(), records)
                })
            });
            let (left, read) = read.await??;
            unread.extend(left);
            room = read.iter().flatten().fold(room, |room, record| room.saturating_sub(record.body.len()));
            records.extend(read);
        }
        unread.extend(rest.flatten().map(|located| located.key));
        Ok((records, unread))
    }
}

/// Reads records until their bodies have `max_bytes`.
fn read_until(
    shared: &Shared,
    located: &[Option<Located>],
    max_bytes: usize,
) -> Result<Vec<Option<Record>>, StoreError> {
    let mut records = Vec::with_capacity(located.len());
    let mut size = 0_usize;
    for located in located {
        if size >= max_bytes {
            break;
        }
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
        size = record.iter().fold(size, |size, record| size.saturating_add(record.body.len()));
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
