//! The written records: small ones, and benchmark hosts.
//!
//! The hosts have the facets that the inventory gives them.

use std::error::Error;
use std::sync::Arc;

use bytes::Bytes;
use toposcope::store::{
    Batch, Entry, Facets, Key, MemoryStore, Name, Precondition, SortKey, Store, StoreError,
};
use uuid::Uuid;

use crate::host::Random;
use crate::load::{Loaded, load};

pub(crate) const HOST: Name = Name::new("host");
const NOTE: Name = Name::new("note");

/// Number of small records per writer; every commit replaces one of them.
const OWN: u64 = 100;

/// Number of records per batch in bulk writes, about as many as an import commits.
const TOGETHER: usize = 256;

/// The kind of record that writers write.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Sort {
    /// Small records, such as the time at which a key was used: one is rewritten.
    Small,
    /// Benchmark hosts: a new one is added.
    Host,
}

impl Sort {
    pub(crate) const ALL: [Self; 2] = [Self::Small, Self::Host];

    pub(crate) const fn name(self) -> &'static str {
        match self {
            Self::Small => "small record",
            Self::Host => "benchmark host",
        }
    }
}

/// Makes batches of one record each.
#[derive(Debug)]
pub(crate) struct Records {
    random: Random,
    host: Entry,
}

impl Records {
    pub(crate) async fn new() -> Result<Self, Box<dyn Error>> {
        let entries = InMemory::load(1).await?.entries;
        let host = entries.into_iter().find(|entry| entry.record.key.kind == HOST);
        Ok(Self { random: Random::new(11), host: host.ok_or("there is no host")? })
    }

    /// Returns the batches of one writer.
    pub(crate) fn batches(&mut self, sort: Sort, writer: u64, count: usize) -> Vec<Batch> {
        (0..count).map(|_| self.batch(sort, writer)).collect()
    }

    /// Returns the next batch of a writer.
    pub(crate) fn batch(&mut self, sort: Sort, writer: u64) -> Batch {
        let mut batch = Batch::new();
        match sort {
            Sort::Small => {
                let number = self.random.next() % OWN;
                let key = Key::new(NOTE, Uuid::from_u64_pair(writer, number));
                batch.put(key, Precondition::Any, small_facets(writer, number), vec![b'.'; 300]);
            }
            Sort::Host => {
                let key = Key::new(HOST, self.random.uuid());
                // A copy, because each host has memory of its own.
                let body = Bytes::copy_from_slice(&self.host.record.body);
                batch.put(key, Precondition::Absent, self.host_facets(), body);
            }
        }
        batch
    }

    /// Gives a host its own ports and services, and its own position in every order.
    fn host_facets(&mut self) -> Facets {
        let mut facets = self.host.facets.clone();
        for unique_key in &mut facets.unique_keys {
            unique_key.value = self.random.uuid().as_bytes().to_vec();
        }
        for sort_key in &mut facets.sort_keys {
            if let Some(end) = sort_key.value.last_chunk_mut() {
                *end = (self.random.next() as u16).to_be_bytes();
            }
        }
        facets
    }
}

/// Returns the facets of a small record. They include its creation time, which a rewrite does not change.
fn small_facets(writer: u64, number: u64) -> Facets {
    let time = (number * 1_000 + writer).to_be_bytes();
    Facets::default()
        .with_organization(Uuid::nil())
        .with_sort_keys([SortKey::new(Name::new("created_at"), time)])
}

/// Deletes the written hosts, so that the next round starts with the same number.
pub(crate) fn deletion(keys: Vec<Key>) -> Batch {
    let mut batch = Batch::new();
    for key in keys.into_iter().filter(|key| key.kind == HOST) {
        batch.delete(key, Precondition::Present);
    }
    batch
}

/// An inventory in memory with all its records.
#[derive(Debug)]
pub(crate) struct InMemory {
    pub(crate) store: Arc<MemoryStore>,
    pub(crate) loaded: Loaded,
    pub(crate) entries: Vec<Entry>,
}

impl InMemory {
    pub(crate) async fn load(hosts: usize) -> Result<Self, Box<dyn Error>> {
        let store = Arc::new(MemoryStore::new());
        let loaded = load(Arc::clone(&store) as Arc<dyn Store>, hosts).await?;
        let mut snapshot = store.snapshot().await?;
        let mut entries = Vec::new();
        loop {
            let next = snapshot.next(usize::MAX).await?;
            if next.is_empty() {
                return Ok(Self { store, loaded, entries });
            }
            entries.extend(next);
        }
    }
}

/// Writes records in batches of several hundred.
pub(crate) async fn put_all<'e>(
    store: &dyn Store,
    entries: impl IntoIterator<Item = &'e Entry>,
) -> Result<(), StoreError> {
    let mut batch = Batch::new();
    for Entry { record, facets, .. } in entries {
        batch.put(record.key, Precondition::Any, facets.clone(), record.body.clone());
        if batch.writes().len() == TOGETHER {
            store.commit(std::mem::take(&mut batch)).await?;
        }
    }
    store.commit(batch).await
}
