//! Exporting and restoring a store. The contents are identical, or the transfer fails.

mod damage;
mod faults;
mod inventory;
mod lines;
mod round_trip;
mod streams;

use std::error::Error;

use bytes::Bytes;
use toposcope::model::Timestamp;
use toposcope::store::{
    Batch, Export, Facets, Key, Link, MemoryStore, Name, Precondition, Restore, SortKey, Store, Term,
    TransferError, TransferReport, UniqueKey,
};
use uuid::Uuid;

use crate::contents::contents;

const NOTE: Name = Name::new("note");
const PARENT: Name = Name::new("parent");
const RANK: Name = Name::new("rank");
const MAIL: Name = Name::new("mail");

const HEADER: &str = "{\"format\":\"toposcope-store\",\"version\":1}\n";

/// A text that no error may contain.
const SECRET: &str = "hunter2";

async fn export(store: &dyn Store) -> Vec<u8> {
    let mut file = Vec::new();
    let report = Export::new().write(store, &mut file).await.unwrap();
    assert_eq!(report.bytes, file.len() as u64);
    file
}

/// Restores into a new store, and returns it with the result.
async fn restore(file: &[u8]) -> (MemoryStore, Result<TransferReport, TransferError>) {
    let store = MemoryStore::new();
    let result = Restore::new().read(&store, file).await;
    (store, result)
}

/// Asserts that the contents of a store survive an export completely.
async fn assert_restorable(store: &dyn Store) {
    let before = contents(store).await;
    let file = export(store).await;
    let (restored, result) = restore(&file).await;
    let report = result.unwrap();
    assert_eq!((report.records, report.bytes), (before.len() as u64, file.len() as u64));
    assert!(
        contents(&restored).await == before,
        "another store was restored from {}",
        String::from_utf8_lossy(&file)
    );
}

async fn put(store: &dyn Store, key: Key, facets: Facets, body: impl Into<Bytes>) {
    let mut batch = Batch::new();
    batch.put(key, Precondition::Any, facets, body);
    store.commit(batch).await.unwrap();
}

const fn note(number: u128) -> Key {
    Key::new(NOTE, Uuid::from_u128(number))
}

/// Returns a store with numbered notes.
async fn store_of(records: u128) -> MemoryStore {
    let store = MemoryStore::new();
    let mut batch = Batch::new();
    for number in 0..records {
        batch.put(note(number), Precondition::Absent, Facets::default(), number.to_string());
    }
    store.commit(batch).await.unwrap();
    store
}

/// Returns a store with three records that have every kind of facet. A secret is in each place that no error may show.
async fn small_store() -> MemoryStore {
    let store = MemoryStore::new();
    let full = Facets::default()
        .with_organization(Uuid::from_u128(7))
        .with_network(Uuid::from_u128(8))
        .with_expires_at("2030-01-02T03:04:05.678901Z".parse::<Timestamp>().unwrap())
        .with_links([Link::new(PARENT, Uuid::from_u128(2))])
        .with_terms([Term::new(RANK, SECRET)])
        .with_sort_keys([SortKey::new(RANK, SECRET)])
        .with_unique_keys([UniqueKey::new(MAIL, SECRET)]);
    put(&store, note(1), full, format!("{{\"password\": \"{SECRET}\"}}")).await;
    put(&store, note(2), Facets::default(), SECRET).await;
    put(&store, note(3), Facets::default(), "[1, 2, 3]").await;
    store
}

/// Returns all texts of an error. They are its display and debug forms, and the texts of its sources.
fn texts(error: &TransferError) -> String {
    let mut text = format!("{error} {error:?}");
    let mut source = error.source();
    while let Some(error) = source {
        text.push_str(&format!(" {error} {error:?}"));
        source = error.source();
    }
    text
}
