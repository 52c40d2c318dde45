//! What a snapshot holds of a bench's own records, in a shape that two stores with the same contents share.

use std::collections::BTreeMap;

use super::{Fault, Fixture, Outcome, expect};
use crate::store::{Entry, Facets, Key, Name, Snapshot};

pub(super) type Entries = BTreeMap<Key, Entry>;

/// A piece that is long enough for most stores of a test to be read in one.
pub(super) const CHUNK: usize = 1000;

impl Fixture {
    /// Puts a record whatever was there, and tells what a snapshot must hold of it.
    pub(super) async fn put_entry(&self, key: Key, facets: Facets, body: &'static str) -> Outcome<Entry> {
        let record = self.put(key, facets.clone(), body).await?;
        Ok(Entry { record, facets: as_returned(facets) })
    }

    /// What a snapshot that is taken now holds of the bench's own records.
    pub(super) async fn entries(&self) -> Outcome<Entries> {
        let mut snapshot = self.store.snapshot().await?;
        read_all(&mut *snapshot, CHUNK, self.kinds()).await
    }

    pub(super) const fn kinds(&self) -> [Name; 2] {
        [self.kind, self.other_kind]
    }
}

/// Reads a snapshot to its end in pieces of this length, and picks the records of these kinds.
pub(super) async fn read_all(
    snapshot: &mut dyn Snapshot,
    limit: usize,
    kinds: [Name; 2],
) -> Outcome<Entries> {
    let mut entries = Entries::new();
    while read_chunk(snapshot, limit, kinds, &mut entries).await? {}
    Ok(entries)
}

/// Reads one piece. `false` at the end.
pub(super) async fn read_chunk(
    snapshot: &mut dyn Snapshot,
    limit: usize,
    kinds: [Name; 2],
    entries: &mut Entries,
) -> Outcome<bool> {
    let piece = snapshot.next(limit).await?;
    expect(piece.len() <= limit, &format!("a piece of at most {limit} has {} records", piece.len()))?;
    let is_end = piece.is_empty();
    add_chunk(piece, kinds, entries)?;
    Ok(!is_end)
}

/// Adds the records of these kinds to what was read of a snapshot before.
pub(super) fn add_chunk(piece: Vec<Entry>, kinds: [Name; 2], entries: &mut Entries) -> Outcome {
    for Entry { record, facets } in piece.into_iter().filter(|entry| kinds.contains(&entry.record.key.kind)) {
        let key = record.key;
        if entries.insert(key, Entry { record, facets: normalized(facets) }).is_some() {
            return Err(Fault::new(format!("{key} is twice in a snapshot")));
        }
    }
    Ok(())
}

/// How facets that were put come out, in the one order of [`in_one_order`].
pub(super) fn as_returned(facets: Facets) -> Facets {
    let mut facets = normalized(facets);
    facets.links.dedup();
    facets.unique_keys.dedup();
    facets
}

/// Without empty sort keys, and in an order that does not depend on the store. What is there twice stays so.
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
