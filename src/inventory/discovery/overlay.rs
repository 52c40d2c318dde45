//! A store that shows its own commits and applies none of them.
//!
//! The store beneath stays as it is, for discovery that only answers.

use std::collections::{BTreeSet, HashMap, HashSet};
use std::fmt;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use async_trait::async_trait;
use uuid::Uuid;

use crate::model::Timestamp;
use crate::store::{
    Batch, Cursor, Guard, Key, MemoryStore, Name, Page, Precondition, Query, Record, Revision, Snapshot,
    Start, Store, StoreError, UniqueKey, Version, Write,
};

/// Reads from a store, and from the commits to the overlay.
///
/// Conditions on records that the overlay has not written are checked in the store beneath. The overlay serves one
/// task.
pub(super) struct Overlay {
    beneath: Arc<dyn Store>,
    written: MemoryStore,
    keys: Mutex<WrittenKeys>,
}

/// Number of records beneath up to which they are read to count the hidden ones. Lists by identity have few, while the
/// overlay may hide thousands.
const MAX_LISTED_ONE_BY_ONE: u64 = 64;

/// The keys of the records that were committed to the overlay.
#[derive(Default)]
struct WrittenKeys {
    /// Each key, and whether its record was deleted.
    all: HashMap<Key, bool>,
    /// The keys that the store beneath may have, too: all but those of records that are new in the overlay.
    may_hide: BTreeSet<Key>,
}

impl Overlay {
    pub(super) fn new(beneath: Arc<dyn Store>) -> Self {
        Self { beneath, written: MemoryStore::new(), keys: Mutex::default() }
    }

    fn keys(&self) -> MutexGuard<'_, WrittenKeys> {
        self.keys.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Counts the records beneath that a list would have, and that the overlay hides.
    async fn count_hidden(&self, query: &Query) -> Result<u64, StoreError> {
        let all = Query { limit: Some(0), start: Start::Offset(0), ..query.clone() };
        let ids = match &query.ids {
            Some(ids) => ids.iter().copied().filter(|id| self.may_hide(Key::new(query.kind, *id))).collect(),
            None if self.hidden(query.kind, 1).is_empty() => return Ok(0),
            None => match self.beneath.list(&all).await?.total {
                0 => return Ok(0),
                total if total <= MAX_LISTED_ONE_BY_ONE => {
                    let records = self.beneath.list(&Query { limit: None, ..all }).await?.records;
                    return Ok(records.iter().filter(|record| self.may_hide(record.key)).count() as u64);
                }
                _ => self.hidden(query.kind, usize::MAX),
            },
        };
        if ids.is_empty() {
            return Ok(0);
        }
        Ok(self.beneath.list(&Query { ids: Some(ids), ..all }).await?.total)
    }

    /// Returns the ids of records of a kind that the overlay may hide, at most `limit`.
    fn hidden(&self, kind: Name, limit: usize) -> Vec<Uuid> {
        let keys = self.keys();
        let hidden = keys.may_hide.range(Key::new(kind, Uuid::nil())..).take_while(|key| key.kind == kind);
        hidden.take(limit).map(|key| key.id).collect()
    }

    fn may_hide(&self, key: Key) -> bool {
        self.keys().may_hide.contains(&key)
    }

    fn is_written(&self, key: Key) -> bool {
        self.keys().all.contains_key(&key)
    }

    /// Checks the conditions that concern only the store beneath.
    async fn check_beneath(&self, writes: &[Write], guards: &[Guard]) -> Result<(), StoreError> {
        let mut batch = Batch::new();
        for write in writes.iter().filter(|write| !self.is_written(write.key())) {
            if write.precondition() != Precondition::Any {
                batch.guard(Guard::record(write.key(), write.precondition()));
            }
        }
        for guard in guards {
            match guard {
                Guard::Record { key, .. } if !self.is_written(*key) => drop(batch.guard(guard.clone())),
                // The others only protect reads against concurrent writers.
                Guard::Record { .. }
                | Guard::UniqueKey { .. }
                | Guard::LinkedWithin { .. }
                | Guard::NetworkEmpty { .. } => {}
            }
        }
        self.beneath.commit(batch).await
    }

    /// Checks that no record beneath has a unique key of the writes.
    async fn check_unique_keys(&self, writes: &[Write]) -> Result<(), StoreError> {
        let replaced: HashSet<Key> = writes.iter().map(Write::key).collect();
        for write in writes {
            let Write::Put { facets, .. } = write else { continue };
            for unique_key in &facets.unique_keys {
                let holder = self.beneath.get_by_unique_key(unique_key).await?.map(|record| record.key);
                if holder.is_some_and(|key| !replaced.contains(&key) && !self.is_written(key)) {
                    return Err(StoreError::unique_key_taken(unique_key.clone()));
                }
            }
        }
        Ok(())
    }
}

#[async_trait]
impl Store for Overlay {
    async fn get(&self, keys: &[Key]) -> Result<Vec<Option<Record>>, StoreError> {
        let mut records = self.beneath.get(keys).await?;
        for (record, own) in records.iter_mut().zip(self.written.get(keys).await?) {
            if own.is_some() {
                *record = own.map(with_own_version);
            }
        }
        for (record, key) in records.iter_mut().zip(keys) {
            if self.keys().all.get(key) == Some(&true) {
                *record = None;
            }
        }
        Ok(records)
    }

    async fn get_by_unique_key(&self, unique_key: &UniqueKey) -> Result<Option<Record>, StoreError> {
        if let Some(own) = self.written.get_by_unique_key(unique_key).await? {
            return Ok(Some(with_own_version(own)));
        }
        let found = self.beneath.get_by_unique_key(unique_key).await?;
        Ok(found.filter(|record| !self.is_written(record.key)))
    }

    /// Merges both lists by id, the only order that discovery asks for.
    async fn list(&self, query: &Query) -> Result<Page, StoreError> {
        let (max_bytes, query) = (query.max_bytes, &Query { max_bytes: None, ..query.clone() });
        // Only the merged list determines which records come after a cursor, so a list with a cursor has no
        // limit here.
        let own_limit = query.limit.filter(|_| query.start == Start::Offset(0));
        let own = Query { limit: own_limit, start: Start::Offset(0), ..query.clone() };
        let own = self.written.list(&own).await?;
        let hidden = self.count_hidden(query).await?;
        let limit = query.limit.map(|limit| match limit {
            0 => 0,
            limit => limit.saturating_add(usize::try_from(hidden).unwrap_or(usize::MAX)),
        });
        let mut page = self.beneath.list(&Query { limit, ..query.clone() }).await?;
        page.total = page.total.saturating_sub(hidden).saturating_add(own.total);
        page.records.retain(|record| !self.is_written(record.key));
        let is_after = |record: &Record| match &query.start {
            Start::After(cursor) => record.key.id > cursor.id(),
            _ => true,
        };
        let has_more_of_own = own.next.is_some();
        page.records.extend(own.records.into_iter().filter(is_after).map(with_own_version));
        page.records.sort_by_key(|record| record.key.id);
        let limit = query.limit.unwrap_or(usize::MAX);
        let has_more = page.next.is_some() || has_more_of_own || page.records.len() > limit;
        page.records.truncate(limit);
        let last = page.records.last().filter(|_| has_more);
        page.next = last.map(|record| Cursor::new(Vec::new(), record.key.id));
        Ok(page.cut(max_bytes))
    }

    async fn commit(&self, batch: Batch) -> Result<(), StoreError> {
        let (writes, guards) = batch.into_parts();
        self.check_beneath(&writes, &guards).await?;
        self.check_unique_keys(&writes).await?;
        let mut own = Batch::new();
        for write in &writes {
            match write {
                Write::Put { key, facets, body, .. } => {
                    own.put(*key, Precondition::Any, facets.clone(), body.clone());
                }
                Write::Delete { key, .. } => drop(own.delete(*key, Precondition::Any)),
            }
        }
        self.written.commit(own).await?;
        let mut keys = self.keys();
        for write in &writes {
            // Only the first write of a key states whether it is in the store beneath.
            let is_first = keys.all.insert(write.key(), matches!(write, Write::Delete { .. })).is_none();
            if is_first && write.precondition() != Precondition::Absent {
                keys.may_hide.insert(write.key());
            }
        }
        Ok(())
    }

    async fn purge_expired(&self, _now: Timestamp) -> Result<u64, StoreError> {
        Ok(0)
    }

    async fn snapshot(&self) -> Result<Box<dyn Snapshot>, StoreError> {
        self.beneath.snapshot().await
    }

    async fn revision(&self, _kind: Name, _organization: Uuid) -> Result<Option<Revision>, StoreError> {
        Ok(None)
    }
}

/// Gives a record of the overlay a version that no record beneath has.
///
/// Otherwise a host that the overlay has changed could have the version that it had beneath.
fn with_own_version(record: Record) -> Record {
    let Version(version) = record.version;
    Record { version: Version(version | 1 << 63), ..record }
}

impl fmt::Debug for Overlay {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.debug_struct("Overlay").field("beneath", &self.beneath).finish_non_exhaustive()
    }
}
