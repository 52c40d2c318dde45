use std::collections::HashSet;

use bytes::Bytes;

use super::batch::AcceptedBatch;
use super::body::{BodyRef, MAX_BODY};
use super::codec::{RecordChange, RecordHeader};
use super::queue::Responder;
use crate::store::index::{Index, Packs};
use crate::store::{Batch, Facets, Guard, Key, Precondition, StoreError, UniqueKey, Version, Write};

/// Batches that are written together.
///
/// Each batch is checked against the state before the group. Therefore no batch may depend on another: its
/// preconditions must not concern what an earlier one changes. So readers see only what is in the log, and a group
/// whose write fails leaves nothing to undo.
#[derive(Debug)]
pub(crate) struct CommitGroup {
    pub(crate) accepted: Vec<AcceptedBatch>,
    /// For each batch, the batch as it was submitted, and its caller.
    pub(crate) requests: Vec<(Batch, Responder)>,
    keys: HashSet<Key>,
    unique_keys: HashSet<UniqueKey>,
    next_version: Version,
    pub(crate) last_body_id: u64,
    store_body: StoreBody,
}

/// Returns the stored form of a body with this number, and the reference to it.
pub(crate) type StoreBody = fn(u64, &Bytes) -> (BodyRef, Bytes);

/// The result of submitting a batch to a group.
#[derive(Debug)]
pub(crate) enum Admission {
    /// The batch is part of the group.
    Accepted,
    /// The batch depends on another one of the group, and must wait for the next.
    Deferred(Batch, Responder),
    /// The batch is not written. A condition is not met, or the batch has no writes.
    Decided(Batch, Responder, Result<(), StoreError>),
}

impl CommitGroup {
    /// Starts a group. `next_version` is for its first batch; `last_body_id` is the highest body number assigned.
    pub(crate) fn new(next_version: Version, last_body_id: u64, store_body: StoreBody) -> Self {
        Self {
            accepted: Vec::new(),
            requests: Vec::new(),
            keys: HashSet::new(),
            unique_keys: HashSet::new(),
            next_version,
            last_body_id,
            store_body,
        }
    }

    /// Adds a batch unless it depends on the group or a condition is not met.
    pub(crate) fn admit(&mut self, index: &Index, batch: Batch, responder: Responder) -> Admission {
        if self.depends_on_group(index, &batch) {
            return Admission::Deferred(batch, responder);
        }
        let checked = index
            .check(batch.writes(), &Packs::default(), batch.guards())
            .and_then(|()| check_lengths(batch.writes()));
        if checked.is_err() || batch.writes().is_empty() {
            return Admission::Decided(batch, responder, checked);
        }
        self.accept(batch.writes());
        self.requests.push((batch, responder));
        Admission::Accepted
    }

    #[cfg(feature = "sled")]
    pub(crate) fn is_empty(&self) -> bool {
        self.accepted.is_empty()
    }

    fn depends_on_group(&self, index: &Index, batch: &Batch) -> bool {
        if self.accepted.is_empty() {
            return false;
        }
        let is_changed = |unique_key: &UniqueKey| {
            let holder = index.get_by_unique_key(unique_key).and_then(|row| index.key(row));
            self.unique_keys.contains(unique_key) || holder.is_some_and(|(key, _)| self.keys.contains(&key))
        };
        let by_write = batch.writes().iter().any(|write| {
            self.keys.contains(&write.key())
                || matches!(write, Write::Put { facets, .. } if facets.unique_keys.iter().any(is_changed))
        });
        let by_guard = batch.guards().iter().any(|guard| match guard {
            Guard::Record { key, .. } => self.keys.contains(key),
            Guard::UniqueKey { unique_key, .. } => is_changed(unique_key),
            // Any record that the group puts could have the link, or be in the network.
            Guard::LinkedWithin { .. } | Guard::NetworkEmpty { .. } => true,
        });
        // The index limits the number of distinct names by counting them before the group.
        by_write || by_guard || index.introduces_names(batch.writes())
    }

    fn accept(&mut self, writes: &[Write]) {
        let version = self.next_version;
        self.next_version = Version(version.0 + 1);
        let mut changes = Vec::with_capacity(writes.len());
        for write in writes {
            let key = write.key();
            self.keys.insert(key);
            let change = match write {
                Write::Delete { .. } => RecordChange::Delete,
                Write::Put { facets, body, .. } => {
                    self.unique_keys.extend(facets.unique_keys.iter().cloned());
                    self.put(key, version, facets, body)
                }
            };
            changes.push((key, change));
        }
        self.accepted.push(AcceptedBatch { version, changes });
    }

    fn put(&mut self, key: Key, version: Version, facets: &Facets, body: &Bytes) -> RecordChange {
        self.last_body_id += 1;
        let (body_ref, body) = (self.store_body)(self.last_body_id, body);
        let header = RecordHeader::encode(key, version, body_ref, facets).into();
        RecordChange::Put { header, body_ref, body }
    }
}

/// Returns the batch that deletes these records.
pub(crate) fn deletions(keys: Vec<Key>) -> Batch {
    let mut batch = Batch::new();
    for key in keys {
        batch.delete(key, Precondition::Any);
    }
    batch
}

fn check_lengths(writes: &[Write]) -> Result<(), StoreError> {
    for write in writes {
        if let Write::Put { key, body, .. } = write
            && body.len() > MAX_BODY
        {
            return Err(StoreError::invalid(format!("the body of {key} is longer than {MAX_BODY} bytes")));
        }
    }
    Ok(())
}
