use std::collections::BTreeMap;
use std::error::Error;

use bytes::Bytes;
use toposcope::model::Timestamp;
use toposcope::store::{
    Batch, Export, Facets, Key, Link, MemoryStore, Name, Precondition, Restore, SortKey, Store,
    TransferError, TransferReport, UniqueKey,
};
use uuid::Uuid;

pub(crate) const NOTE: Name = Name::new("note");
pub(crate) const PARENT: Name = Name::new("parent");
pub(crate) const RANK: Name = Name::new("rank");
pub(crate) const MAIL: Name = Name::new("mail");

/// Returns everything that a store holds except versions, in an order independent of the store.
pub(crate) type Contents = BTreeMap<Key, (Facets, Bytes)>;

pub(crate) async fn contents(store: &dyn Store) -> Contents {
    let mut snapshot = store.snapshot().await.unwrap();
    let mut contents = Contents::new();
    loop {
        let entries = snapshot.next(1000).await.unwrap();
        if entries.is_empty() {
            return contents;
        }
        for entry in entries {
            let found = (in_one_order(entry.facets), entry.record.body);
            assert_eq!(contents.insert(entry.record.key, found), None, "{} is there twice", entry.record.key);
        }
    }
}

fn in_one_order(mut facets: Facets) -> Facets {
    facets.links.sort_unstable();
    facets.unique_keys.sort_unstable();
    facets.sort_keys.sort_unstable_by_key(|key| key.name);
    facets
}

pub(crate) async fn export(store: &dyn Store) -> Vec<u8> {
    let mut file = Vec::new();
    let report = Export::new().write(store, &mut file).await.unwrap();
    assert_eq!(report.bytes, file.len() as u64);
    file
}

/// Restores into a new store, and returns it with the result.
pub(crate) async fn restore(file: &[u8]) -> (MemoryStore, Result<TransferReport, TransferError>) {
    let store = MemoryStore::new();
    let result = Restore::new().read(&store, file).await;
    (store, result)
}

/// Asserts that the contents of a store survive an export completely.
pub(crate) async fn comes_back(store: &dyn Store) {
    let before = contents(store).await;
    let file = export(store).await;
    let (restored, result) = restore(&file).await;
    let report = result.unwrap();
    assert_eq!((report.records, report.bytes), (before.len() as u64, file.len() as u64));
    assert!(
        contents(&restored).await == before,
        "another store came out of {}",
        String::from_utf8_lossy(&file)
    );
}

pub(crate) async fn put(store: &dyn Store, key: Key, facets: Facets, body: impl Into<Bytes>) {
    let mut batch = Batch::new();
    batch.put(key, Precondition::Any, facets, body);
    store.commit(batch).await.unwrap();
}

pub(crate) const fn note(number: u128) -> Key {
    Key::new(NOTE, Uuid::from_u128(number))
}

/// Three records with every kind of facet, and a secret in each place that must hide one.
pub(crate) async fn small_store() -> MemoryStore {
    let store = MemoryStore::new();
    let full = Facets::default()
        .with_organization(Uuid::from_u128(7))
        .with_network(Uuid::from_u128(8))
        .with_expires_at("2030-01-02T03:04:05.678901Z".parse::<Timestamp>().unwrap())
        .with_links([Link::new(PARENT, Uuid::from_u128(2))])
        .with_sort_keys([SortKey::new(RANK, SECRET)])
        .with_unique_keys([UniqueKey::new(MAIL, SECRET)]);
    put(&store, note(1), full, format!("{{\"password\": \"{SECRET}\"}}")).await;
    put(&store, note(2), Facets::default(), SECRET).await;
    put(&store, note(3), Facets::default(), "[1, 2, 3]").await;
    store
}

pub(crate) const SECRET: &str = "hunter2";

/// Returns all texts of an error: its display and debug forms, and those of its sources.
pub(crate) fn told(error: &TransferError) -> String {
    let mut text = format!("{error} {error:?}");
    let mut source = error.source();
    while let Some(error) = source {
        text.push_str(&format!(" {error} {error:?}"));
        source = error.source();
    }
    text
}

pub(crate) struct SplitMix64(pub(crate) u64);

impl SplitMix64 {
    pub(crate) fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mixed = (self.0 ^ (self.0 >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        let mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        mixed ^ (mixed >> 31)
    }

    pub(crate) fn below(&mut self, bound: usize) -> usize {
        usize::try_from(self.next() % bound as u64).unwrap()
    }

    pub(crate) fn bytes(&mut self, length: usize) -> Vec<u8> {
        (0..length).map(|_| self.next().to_le_bytes()[0]).collect()
    }

    pub(crate) fn pick<T: Clone>(&mut self, from: &[T]) -> T {
        from[self.below(from.len())].clone()
    }
}
