use std::collections::HashSet;

use bytes::Bytes;

use super::batch::AcceptedBatch;
use super::body::{BodyRef, MAX_BODY};
use super::codec::{RecordChange, RecordHeader};
use super::queue::JobResponder;
use crate::store::index::{Index, Packs};
use crate::store::{Batch, Guard, Key, Precondition, StoreError, UniqueKey, Version, Write};

/// Batches that are written together.
///
/// Each batch is checked against the state before the group. Therefore no batch may depend on another: its
/// preconditions must not concern what an earlier one changes. So readers see only what is in the log, and a group
/// whose write fails leaves nothing to undo.
#[derive(Debug)]
pub(crate) struct CommitGroup {
    /// The accepted batches as they were submitted, with their callers.
    pub(crate) requests: Vec<(Batch, JobResponder)>,
    keys: HashSet<Key>,
    unique_keys: HashSet<UniqueKey>,
    /// The version of the first batch. Each further batch has the next one.
    first_version: Version,
}

/// Returns the stored form of a body with this number, and the reference to it.
pub(crate) type StoreBody = fn(u64, &Bytes) -> (BodyRef, Bytes);

/// The result of submitting a batch to a group.
#[derive(Debug)]
pub(crate) enum Admission {
    /// The batch is part of the group.
    Accepted,
    /// The batch depends on another one of the group, and must wait for the next.
    Deferred(Batch, JobResponder),
    /// The batch is not written. A condition is not met, or the batch has no writes.
    Decided(Batch, JobResponder, Result<(), StoreError>),
}

impl CommitGroup {
    /// Starts a group, whose first batch gets this version.
    pub(crate) fn new(first_version: Version) -> Self {
        Self { requests: Vec::new(), keys: HashSet::new(), unique_keys: HashSet::new(), first_version }
    }

    /// Adds a batch unless it depends on the group or a condition is not met.
    pub(crate) fn admit(&mut self, index: &Index, batch: Batch, responder: JobResponder) -> Admission {
        if self.depends_on_group(index, &batch) {
            return Admission::Deferred(batch, responder);
        }
        let checked = index
            .check(batch.writes(), &Packs::default(), batch.guards())
            .and_then(|()| check_lengths(batch.writes()));
        if checked.is_err() || batch.writes().is_empty() {
            return Admission::Decided(batch, responder, checked);
        }
        for write in batch.writes() {
            self.keys.insert(write.key());
            if let Write::Put { facets, .. } = write {
                self.unique_keys.extend(facets.unique_keys.iter().cloned());
            }
        }
        self.requests.push((batch, responder));
        Admission::Accepted
    }

    /// Encodes the batches as they are written. Advances the highest body number assigned.
    ///
    /// This takes long for many large bodies, so that readers must not have to wait for it.
    pub(crate) fn encode(&self, last_body_id: &mut u64, store_body: StoreBody) -> Vec<AcceptedBatch> {
        let versions = (self.first_version.0..).map(Version);
        let mut encode = |(version, (batch, _)): (Version, &(Batch, JobResponder))| {
            let writes = batch.writes().iter();
            let changes = writes.map(|write| (write.key(), change(write, version, last_body_id, store_body)));
            AcceptedBatch { version, changes: changes.collect() }
        };
        versions.zip(&self.requests).map(&mut encode).collect()
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.requests.is_empty()
    }

    fn depends_on_group(&self, index: &Index, batch: &Batch) -> bool {
        if self.is_empty() {
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
}

fn change(write: &Write, version: Version, last_body_id: &mut u64, store_body: StoreBody) -> RecordChange {
    let Write::Put { key, facets, body, .. } = write else { return RecordChange::Delete };
    *last_body_id += 1;
    let (body_ref, body) = store_body(*last_body_id, body);
    let header = RecordHeader::encode(*key, version, body_ref, &facets.completed(version)).into();
    RecordChange::Put { header, body_ref, body }
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
