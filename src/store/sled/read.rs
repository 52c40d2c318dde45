use std::sync::Arc;

use tokio::sync::Semaphore;
use tokio::task::spawn_blocking;

use super::bodies::Found;
use super::queue::closed;
use super::shared::Shared;
use super::state::{Lease, Located, State};
use crate::store::index::RowId;
use crate::store::{Record, StoreError};

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
pub(super) enum Reading {
    Done(Vec<Option<Record>>),
    /// All of it, with the lease that keeps the rest readable.
    Missing(Vec<Option<Located>>, Lease),
}

impl Reading {
    /// Reads what is in memory, under the lock of the state.
    pub(super) fn of(state: &State, rows: impl ExactSizeIterator<Item = Option<RowId>> + Clone) -> Self {
        let mut records = Vec::with_capacity(rows.len());
        for row in rows.clone() {
            let record = match row.and_then(|row| state.locate(row)) {
                None => None,
                Some(Located { key, version, body: Found::Here(body), .. }) => {
                    Some(Record { key, version, body })
                }
                Some(Located { body: Found::InRecords(_), .. }) => {
                    let located = rows.map(|row| row.and_then(|row| state.locate(row))).collect();
                    return Self::Missing(located, state.lease());
                }
            };
            records.push(record);
        }
        Self::Done(records)
    }
}

impl Reader {
    pub(super) fn new(shared: Arc<Shared>) -> Self {
        Self { shared, turns: Arc::new(Semaphore::new(READERS)) }
    }

    /// Reads what is missing from the disk, and keeps it in memory for the next.
    pub(super) async fn finish(&self, reading: Reading) -> Result<Vec<Option<Record>>, StoreError> {
        let (located, lease) = match reading {
            Reading::Done(records) => return Ok(records),
            Reading::Missing(located, lease) => (located, lease),
        };
        let turn = Arc::clone(&self.turns).acquire_owned().await.map_err(|_| closed())?;
        let shared = Arc::clone(&self.shared);
        let read = spawn_blocking(move || {
            let records = read_all(&shared, &located);
            drop(lease);
            // Only now: a read that nobody waits for any more goes on all the same.
            drop(turn);
            records
        });
        read.await.map_err(|_| closed())?
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
