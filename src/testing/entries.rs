//! The contents of a snapshot, restricted to the fixture's records and normalized for comparison.

use std::collections::BTreeMap;

use super::{Fault, Fixture, Outcome, expect};
use crate::store::{Entry, Facets, Key, Name, Snapshot};

pub(super) type Entries = BTreeMap<Key, Entry>;

/// A limit at which most cases read a snapshot in one chunk.
pub(super) const CHUNK: usize = 1000;

impl Fixture {
    /// Puts a record unconditionally and returns its expected snapshot entry.
    pub(super) async fn put_entry(&self, key: Key, facets: Facets, body: &'static str) -> Outcome<Entry> {
        let record = self.put(key, facets.clone(), body).await?;
        Ok(Entry { record, facets: as_returned(facets) })
    }

    /// Returns the fixture's records in a new snapshot.
    pub(super) async fn entries(&self) -> Outcome<Entries> {
        let mut snapshot = self.store.snapshot().await?;
        read_all(&mut *snapshot, CHUNK, self.kinds()).await
    }

    pub(super) const fn kinds(&self) -> [Name; 2] {
        [self.kind, self.other_kind]
    }
}

/// Reads a snapshot to its end with this limit, and returns the records of these kinds.
pub(super) async fn read_all(
    snapshot: &mut dyn Snapshot,
    limit: usize,
    kinds: [Name; 2],
) -> Outcome<Entries> {
    let mut entries = Entries::new();
    while read_chunk(snapshot, limit, kinds, &mut entries).await? {}
    Ok(entries)
}

/// Reads one chunk. Returns `false` at the end.
pub(super) async fn read_chunk(
    snapshot: &mut dyn Snapshot,
    limit: usize,
    kinds: [Name; 2],
    entries: &mut Entries,
) -> Outcome<bool> {
    let chunk = snapshot.next(limit).await?;
    expect(chunk.len() <= limit, &format!("a chunk with limit {limit} has {} records", chunk.len()))?;
    let is_end = chunk.is_empty();
    add_chunk(chunk, kinds, entries)?;
    Ok(!is_end)
}

/// Adds a chunk's records of these kinds to the entries read before.
pub(super) fn add_chunk(chunk: Vec<Entry>, kinds: [Name; 2], entries: &mut Entries) -> Outcome {
    for Entry { record, facets } in chunk.into_iter().filter(|entry| kinds.contains(&entry.record.key.kind)) {
        let key = record.key;
        if entries.insert(key, Entry { record, facets: normalized(facets) }).is_some() {
            return Err(Fault::new(format!("{key} occurs twice in a snapshot")));
        }
    }
    Ok(())
}

/// Returns facets as a snapshot must return them, normalized.
pub(super) fn as_returned(facets: Facets) -> Facets {
    let mut facets = normalized(facets);
    facets.links.dedup();
    facets.unique_keys.dedup();
    facets
}

/// Sorts facets and removes empty sort keys. Duplicates stay, so that a store that returns them fails.
fn normalized(mut facets: Facets) -> Facets {
    facets.links.sort_unstable();
    facets.unique_keys.sort_unstable();
    facets.sort_keys.retain(|key| !key.value.is_empty());
    facets
        .sort_keys
        .sort_unstable_by(|left, right| (left.name, &left.value).cmp(&(right.name, &right.value)));
    facets
}

pub(super) fn by_key(entries: impl IntoIterator<Item = Entry>) -> Entries {
    entries.into_iter().map(|entry| (entry.record.key, entry)).collect()
}
