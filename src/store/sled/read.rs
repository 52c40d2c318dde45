use std::sync::{Arc, RwLockReadGuard};

use tokio::sync::Semaphore;

use super::blocking::blocking;
use super::bodies::Found;
use super::queue::closed;
use super::shared::Shared;
use super::state::{Lease, Located, State};
use crate::store::index::{Index, RowId, Selection};
use crate::store::materializer::Indexed;
use crate::store::{Cursor, Record, StoreError};

/// How many reads may go to the disk at once: more would not be faster, and each holds what it has read.
const READERS: usize = 8;

/// The way to the bodies that are not in memory.
#[derive(Debug)]
pub(super) struct Reader {
    shared: Arc<Shared>,
    turns: Arc<Semaphore>,
}

/// What was asked for, as far as it is in memory.
#[derive(Debug)]
pub(super) enum Reading<R> {
    Done(Vec<R>),
    /// All of it, with the lease that keeps the rest readable.
    Missing(Vec<Option<Located>>, Lease),
}

/// A page as far as it is in memory.
#[derive(Debug)]
pub(super) struct Listed {
    pub(super) reading: Reading<Record>,
    pub(super) total: u64,
    pub(super) next: Option<Cursor>,
}

impl Indexed for Shared {
    type State = State;
    type Page = Listed;

    fn lock(&self) -> Result<RwLockReadGuard<'_, State>, StoreError> {
        self.read_state()
    }

    fn index(state: &State) -> &Index {
        &state.index
    }

    fn page(state: &State, Selection { rows, total, next }: Selection) -> Listed {
        Listed { reading: Reading::of_page(state, &rows), total, next }
    }
}

impl Reading<Option<Record>> {
    /// Reads what is in memory, under the lock of the state.
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

impl Reading<Record> {
    /// The same for rows that are there. Nearly every page is in memory as a whole, and costs little then.
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

impl<R> Reading<R> {
    fn missing(state: &State, rows: impl Iterator<Item = Option<RowId>>) -> Self {
        let located = rows.map(|row| row.and_then(|row| state.locate(row))).collect();
        Self::Missing(located, state.lease())
    }
}

impl Reader {
    pub(super) fn new(shared: Arc<Shared>) -> Self {
        Self { shared, turns: Arc::new(Semaphore::new(READERS)) }
    }

    /// Reads what is missing.
    pub(super) async fn finish(
        &self,
        reading: Reading<Option<Record>>,
    ) -> Result<Vec<Option<Record>>, StoreError> {
        match reading {
            Reading::Done(records) => Ok(records),
            Reading::Missing(located, lease) => self.read(located, lease).await,
        }
    }

    pub(super) async fn finish_page(&self, reading: Reading<Record>) -> Result<Vec<Record>, StoreError> {
        match reading {
            Reading::Done(records) => Ok(records),
            Reading::Missing(located, lease) => {
                Ok(self.read(located, lease).await?.into_iter().flatten().collect())
            }
        }
    }

    /// Reads from the disk what is not in memory, and keeps it there for the next.
    async fn read(
        &self,
        located: Vec<Option<Located>>,
        lease: Lease,
    ) -> Result<Vec<Option<Record>>, StoreError> {
        let turn = Arc::clone(&self.turns).acquire_owned().await.map_err(|_| closed())?;
        let shared = Arc::clone(&self.shared);
        let read = blocking(move || {
            let records = read_all(&shared, &located);
            drop(lease);
            // Only now: a read that nobody waits for any more goes on all the same.
            drop(turn);
            records
        });
        read.await?
    }
}

fn read_all(shared: &Shared, located: &[Option<Located>]) -> Result<Vec<Option<Record>>, StoreError> {
    let mut records = Vec::with_capacity(located.len());
    for located in located {
        let record = match located {
            None => None,
            Some(Located { key, version, body, .. }) => {
                let body = match body {
                    Found::Here(body) => body.clone(),
                    Found::InRecords(place) => shared.copies.body(*key, *place)?,
                };
                Some(Record { key: *key, version: *version, body })
            }
        };
        records.push(record);
    }
    keep(shared, located, &records)?;
    Ok(records)
}

fn keep(shared: &Shared, located: &[Option<Located>], records: &[Option<Record>]) -> Result<(), StoreError> {
    let mut state = shared.write_state()?;
    for (located, record) in located.iter().zip(records) {
        if let (Some(Located { row, body: Found::InRecords(place), .. }), Some(record)) = (located, record) {
            state.bodies.keep(*row, *place, record.body.clone());
        }
    }
    let evicted = state.bodies.evict();
    drop(state);
    drop(evicted);
    Ok(())
}
