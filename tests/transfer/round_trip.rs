//! All facets of all records are restored.

use toposcope::model::Timestamp;
use toposcope::store::{
    Batch, Direction, Facets, Key, Link, MemoryStore, Name, Order, Precondition, Query, SortKey, Store,
    UniqueKey,
};
use uuid::Uuid;

use crate::support::{
    MAIL, NOTE, PARENT, RANK, SplitMix64, comes_back, contents, export, note, put, restore, small_store,
};

#[tokio::test]
async fn an_empty_store_comes_back_empty() {
    comes_back(&MemoryStore::new()).await;
    assert_eq!(export(&MemoryStore::new()).await.iter().filter(|byte| **byte == b'\n').count(), 2);
}

#[tokio::test]
async fn a_record_with_something_of_everything_comes_back() {
    comes_back(&small_store().await).await;
}

#[tokio::test]
async fn made_up_stores_come_back() {
    for seed in 0..150 {
        let mut maker = Maker(SplitMix64(seed));
        let store = MemoryStore::new();
        for _ in 0..maker.0.below(40) {
            let mut batch = Batch::new();
            let facets = maker.facets();
            batch.put(maker.key(), Precondition::Any, facets, maker.bytes());
            // Another record may have the unique key: then this record is not stored, which is fine.
            let _ = store.commit(batch).await;
            if maker.0.below(5) == 0 {
                let mut batch = Batch::new();
                batch.delete(maker.key(), Precondition::Any);
                store.commit(batch).await.unwrap();
            }
        }
        comes_back(&store).await;
    }
}

struct Maker(SplitMix64);

impl Maker {
    fn key(&mut self) -> Key {
        Key::new(self.name(), self.id())
    }

    fn id(&mut self) -> Uuid {
        let numbers = [0, 1, 2, 3, u128::MAX, 1 << 127, u128::from(u64::MAX)];
        Uuid::from_u128(self.0.pick(&numbers))
    }

    fn name(&mut self) -> Name {
        let names = ["note", "a", "\"", "\\", "\\u0041", "body", "sixteen-letters!", "{}", "~"];
        Name::parse(self.0.pick(&names)).unwrap()
    }

    fn bytes(&mut self) -> Vec<u8> {
        let length = self.0.pick(&[0, 1, 2, 3, 16, 300]);
        self.0.bytes(length)
    }

    fn some<T>(&mut self, make: impl Fn(&mut Self) -> T) -> Option<T> {
        (self.0.below(2) == 0).then(|| make(self))
    }

    fn several<T>(&mut self, make: impl Fn(&mut Self) -> T) -> Vec<T> {
        (0..self.0.below(5)).map(|_| make(self)).collect()
    }

    fn time(&mut self) -> Timestamp {
        let micros = self.0.pick(&[i64::MIN, -1, 0, 1, 1_000_000, 1_700_000_000_123_456, i64::MAX]);
        Timestamp::UNIX_EPOCH.plus_micros(micros)
    }

    fn facets(&mut self) -> Facets {
        let mut sort_keys = self.several(|maker| SortKey::new(maker.name(), maker.bytes()));
        sort_keys.sort_by_key(|key| key.name);
        sort_keys.dedup_by_key(|key| key.name);
        Facets::default()
            .with_organization(self.some(Self::id))
            .with_network(self.some(Self::id))
            .with_expires_at(self.some(Self::time))
            .with_links(self.several(|maker| Link::new(maker.name(), maker.id())))
            .with_sort_keys(sort_keys)
            .with_unique_keys(self.several(|maker| UniqueKey::new(maker.name(), maker.bytes())))
    }
}

#[tokio::test]
async fn a_record_with_tens_of_thousands_of_unique_keys_and_links_comes_back() {
    let store = MemoryStore::new();
    let mut random = SplitMix64(3);
    let facets = Facets::default()
        .with_links((0..20_000).map(|number| Link::new(PARENT, Uuid::from_u128(number))))
        .with_unique_keys((0..50_000).map(|_| UniqueKey::new(MAIL, random.bytes(16))));
    put(&store, note(1), facets, "{}").await;
    comes_back(&store).await;
}

#[tokio::test]
async fn what_was_restored_is_found_in_every_way() {
    let (store, result) = restore(&export(&small_store().await).await).await;
    result.unwrap();
    let secret = UniqueKey::new(MAIL, crate::support::SECRET);
    assert_eq!(store.get_by_unique_key(&secret).await.unwrap().map(|record| record.key), Some(note(1)));
    let mut query = Query::new(NOTE);
    query.order = vec![Order::new(RANK, Direction::Descending)];
    let page = store.list(&query).await.unwrap();
    let keys: Vec<Key> = page.records.iter().map(|record| record.key).collect();
    assert_eq!(keys, [note(1), note(2), note(3)]);
    let mut query = Query::new(NOTE);
    query.networks = Some(vec![Uuid::from_u128(8)]);
    assert_eq!(store.list(&query).await.unwrap().total, 1);
    let purged = store.purge_expired("2030-01-02T03:04:05.678901Z".parse().unwrap()).await.unwrap();
    assert_eq!((purged, contents(&store).await.len()), (1, 2));
}

#[tokio::test]
async fn an_export_of_what_was_restored_is_no_other() {
    let first = export(&small_store().await).await;
    let (store, _) = restore(&first).await;
    assert_eq!(export(&store).await, first);
}
