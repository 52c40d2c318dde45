use std::fmt;
use std::sync::Arc;

use async_trait::async_trait;

use super::blocking::blocking;
use super::bodies::Found;
use super::state::Lease;
use super::store::Inner;
use crate::store::index::Frozen;
use crate::store::{Entry, Record, Snapshot, StoreError};

/// How many bytes of bodies one call gives, but for one record that may be larger.
const PIECE: usize = 4 << 20;

/// What a store held at one moment. The bodies that the records have are read when they are asked for.
pub(super) struct SledSnapshot {
    contents: Arc<Contents>,
    read: usize,
}

struct Contents {
    /// Keeps the store open.
    inner: Arc<Inner>,
    frozen: Frozen,
    bodies: Vec<Found>,
    _lease: Lease,
}

impl SledSnapshot {
    /// Takes time for every record, if little: not for an async thread.
    pub(super) fn new(inner: Arc<Inner>) -> Result<Self, StoreError> {
        let shared = Arc::clone(inner.shared());
        let state = shared.read_state()?;
        let frozen = state.index.freeze();
        let bodies = frozen.rows().map(|row| state.bodies.peek(row)).collect::<Option<_>>();
        let bodies = bodies.ok_or_else(|| StoreError::corrupt("a row of the index has no body"))?;
        let lease = state.lease();
        drop(state);
        let contents = Contents { inner, frozen, bodies, _lease: lease };
        Ok(Self { contents: Arc::new(contents), read: 0 })
    }
}

#[async_trait]
impl Snapshot for SledSnapshot {
    async fn next(&mut self, limit: usize) -> Result<Vec<Entry>, StoreError> {
        let (contents, from) = (Arc::clone(&self.contents), self.read);
        let entries = blocking(move || contents.read(from, limit)).await??;
        self.read += entries.len();
        Ok(entries)
    }
}

impl Contents {
    fn read(&self, from: usize, limit: usize) -> Result<Vec<Entry>, StoreError> {
        let mut entries = Vec::new();
        let mut size = 0;
        for place in from..self.frozen.len().min(from.saturating_add(limit)) {
            if size >= PIECE {
                break;
            }
            let entry = self.entry(place)?;
            size += entry.record.body.len();
            entries.push(entry);
        }
        Ok(entries)
    }

    fn entry(&self, place: usize) -> Result<Entry, StoreError> {
        let found = self.frozen.entry(place).zip(self.bodies.get(place));
        let ((_, key, version, facets), body) =
            found.ok_or_else(|| StoreError::corrupt("a row of the index stands for nothing"))?;
        let body = match body {
            Found::Here(body) => body.clone(),
            Found::InRecords(place) => self.inner.shared().copies.body(key, *place)?,
        };
        Ok(Entry { record: Record { key, version, body }, facets })
    }
}

impl fmt::Debug for SledSnapshot {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (records, read) = (self.contents.frozen.len(), self.read);
        formatter.debug_struct("SledSnapshot").field("records", &records).field("read", &read).finish()
    }
}
