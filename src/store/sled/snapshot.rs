use std::fmt;
use std::sync::Arc;

use async_trait::async_trait;

use super::blocking::blocking;
use super::handle::Handle;
use super::state::EpochGuard;
use crate::store::index::IndexSnapshot;
use crate::store::log::body_cache::BodyLocation;
use crate::store::{Entry, Record, Snapshot, StoreError, Version};

/// Maximum size of the bodies returned by one call, in bytes. A single larger record is returned whole.
const MAX_BYTES: usize = 4 << 20;

/// The contents of the store at one moment. Bodies in the trees are read on demand.
pub(super) struct SledSnapshot {
    contents: Arc<Contents>,
    read: usize,
}

struct Contents {
    /// Keeps the store open.
    handle: Arc<Handle>,
    index: IndexSnapshot,
    bodies: Vec<BodyLocation>,
    last_version: Version,
    _epoch_guard: EpochGuard,
}

impl SledSnapshot {
    /// Takes a snapshot. Visits every record, so it must not run on an async thread.
    pub(super) fn new(handle: Arc<Handle>) -> Result<Self, StoreError> {
        let shared = Arc::clone(handle.shared());
        let state = shared.state.read()?;
        let index = state.index.index_snapshot();
        let bodies = state.index.rows().map(|row| state.bodies.peek(row)).collect::<Option<_>>();
        let bodies = bodies.ok_or_else(|| StoreError::corrupt("a row of the index has no body"))?;
        let last_version = Version(state.index.next_version().0 - 1);
        let epoch_guard = state.epoch_guard();
        drop(state);
        let contents = Contents { handle, index, bodies, last_version, _epoch_guard: epoch_guard };
        Ok(Self { contents: Arc::new(contents), read: 0 })
    }

    /// Returns the highest version that the store had assigned by then.
    pub(super) fn last_version(&self) -> Version {
        self.contents.last_version
    }

    /// Returns the next records like [`next`](Snapshot::next); blocks.
    pub(super) fn read(&mut self, limit: usize) -> Result<Vec<Entry>, StoreError> {
        let entries = self.contents.read(self.read, limit)?;
        self.read += entries.len();
        Ok(entries)
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
        for index in from..self.index.len().min(from.saturating_add(limit)) {
            if size >= MAX_BYTES {
                break;
            }
            let entry = self.entry(index)?;
            size += entry.record.body.len();
            entries.push(entry);
        }
        Ok(entries)
    }

    fn entry(&self, index: usize) -> Result<Entry, StoreError> {
        let found = self.index.entry(index).zip(self.bodies.get(index));
        let ((_, key, version, facets), body) =
            found.ok_or_else(|| StoreError::corrupt("a row of the index has no record"))?;
        let body = match body {
            BodyLocation::InMemory(body) => body.clone(),
            BodyLocation::OnDisk(body_ref) => self.handle.shared().trees.body(key, *body_ref)?,
        };
        Ok(Entry { record: Record { key, version, body }, facets })
    }
}

impl fmt::Debug for SledSnapshot {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (records, read) = (self.contents.index.len(), self.read);
        formatter.debug_struct("SledSnapshot").field("records", &records).field("read", &read).finish()
    }
}
