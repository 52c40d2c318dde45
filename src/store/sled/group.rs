use std::collections::HashSet;

use bytes::Bytes;

use super::codec::{Head, Place};
use super::journal::{Accepted, Change};
use super::queue::{Job, Reply};
use crate::store::index::{Index, Packs};
use crate::store::{Batch, Facets, Guard, Key, StoreError, UniqueKey, Version, Write};

/// Batches that are written in one go.
///
/// Each was checked against the state before the group, so none may depend on another: what a batch expects must not be
/// among what those before it change. Readers therefore see only what is on the disk, and a group that cannot be written
/// leaves nothing to take back.
#[derive(Debug)]
pub(super) struct Group {
    accepted: Vec<Accepted>,
    facets: Vec<Vec<Facets>>,
    replies: Vec<Reply>,
    keys: HashSet<Key>,
    unique_keys: HashSet<UniqueKey>,
    next_version: Version,
    last_body: u64,
}

/// A group in its parts.
#[derive(Debug)]
pub(super) struct Parts {
    pub(super) accepted: Vec<Accepted>,
    /// Of every batch, of every record it puts.
    pub(super) facets: Vec<Vec<Facets>>,
    pub(super) replies: Vec<Reply>,
    pub(super) last_body: u64,
}

impl Group {
    /// `next_version` is for the first batch; `last_body` is the number of the last body that was ever written.
    pub(super) fn new(next_version: Version, last_body: u64) -> Self {
        Self {
            accepted: Vec::new(),
            facets: Vec::new(),
            replies: Vec::new(),
            keys: HashSet::new(),
            unique_keys: HashSet::new(),
            next_version,
            last_body,
        }
    }

    /// Takes a batch in, or tells its writer why not. Gives back what depends on the group and has to wait for the next.
    pub(super) fn admit(&mut self, index: &Index, batch: Batch, reply: Reply) -> Option<Job> {
        if self.is_dependent(index, &batch) {
            return Some(Job::Commit(batch, reply));
        }
        let checked = index
            .check(batch.writes(), &Packs::default(), batch.guards())
            .and_then(|()| check_lengths(batch.writes()));
        if checked.is_err() || batch.writes().is_empty() {
            reply.send(checked);
            return None;
        }
        let (writes, _) = batch.into_parts();
        self.accept(writes);
        self.replies.push(reply);
        None
    }

    pub(super) fn is_empty(&self) -> bool {
        self.accepted.is_empty()
    }

    pub(super) fn into_parts(self) -> Parts {
        let Self { accepted, facets, replies, last_body, .. } = self;
        Parts { accepted, facets, replies, last_body }
    }

    fn is_dependent(&self, index: &Index, batch: &Batch) -> bool {
        if self.accepted.is_empty() {
            return false;
        }
        let is_touched = |unique_key: &UniqueKey| {
            let holder = index.get_by_unique_key(unique_key).and_then(|row| index.key(row));
            self.unique_keys.contains(unique_key) || holder.is_some_and(|(key, _)| self.keys.contains(&key))
        };
        let by_write = batch.writes().iter().any(|write| {
            self.keys.contains(&write.key())
                || matches!(write, Write::Put { facets, .. } if facets.unique_keys.iter().any(is_touched))
        });
        let by_check = batch.guards().iter().any(|check| match check {
            Guard::Record { key, .. } => self.keys.contains(key),
            Guard::UniqueKey { unique_key, .. } => is_touched(unique_key),
            // Of any record that the group puts it could be the link or the network.
            Guard::LinkedWithin { .. } | Guard::NetworkEmpty { .. } => true,
        });
        // How many names there may be is counted before the group.
        by_write || by_check || index.introduces_names(batch.writes())
    }

    fn accept(&mut self, writes: Vec<Write>) {
        let version = self.next_version;
        self.next_version = Version(version.0 + 1);
        let (mut changes, mut all_facets) =
            (Vec::with_capacity(writes.len()), Vec::with_capacity(writes.len()));
        for write in writes {
            self.keys.insert(write.key());
            match write {
                Write::Delete { key, .. } => changes.push((key, Change::Delete)),
                Write::Put { key, facets, body, .. } => {
                    self.unique_keys.extend(facets.unique_keys.iter().cloned());
                    let (change, facets) = self.put(key, version, facets, body);
                    changes.push((key, change));
                    all_facets.push(facets);
                }
            }
        }
        self.accepted.push(Accepted { version, changes });
        self.facets.push(all_facets);
    }

    fn put(&mut self, key: Key, version: Version, facets: Facets, body: Bytes) -> (Change, Facets) {
        self.last_body += 1;
        let length = body.len() as u32;
        let place = Place { id: self.last_body, length, checksum: crc32fast::hash(&body) };
        let head = Head { version, body: place, facets };
        let encoded = head.encode(key).into();
        (Change::Put { head: encoded, place, body }, head.facets)
    }
}

fn check_lengths(writes: &[Write]) -> Result<(), StoreError> {
    for write in writes {
        if let Write::Put { key, body, .. } = write
            && u32::try_from(body.len()).is_err()
        {
            return Err(StoreError::invalid(format!("the body of {key} is longer than {} bytes", u32::MAX)));
        }
    }
    Ok(())
}
