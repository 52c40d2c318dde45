//! All facets and bodies of all records are restored.

use std::iter::repeat_with;

use fastrand::Rng;
use toposcope::model::Timestamp;
use toposcope::store::{
    Batch, Direction, Facets, Key, Link, MemoryStore, Name, Order, Precondition, Query, SortKey, Store, Term,
    UniqueKey,
};
use uuid::Uuid;

use super::{MAIL, NOTE, PARENT, RANK, SECRET, assert_restorable, export, note, put, restore, small_store};
use crate::contents::contents;

#[tokio::test]
async fn empty_store_is_restored() {
    assert_restorable(&MemoryStore::new()).await;
    assert_eq!(export(&MemoryStore::new()).await.iter().filter(|byte| **byte == b'\n').count(), 2);
}

#[tokio::test]
async fn record_with_every_facet_is_restored() {
    assert_restorable(&small_store().await).await;
}

#[tokio::test]
async fn generated_stores_are_restored() {
    for seed in 0..100 {
        let mut generator = Generator(Rng::with_seed(seed));
        let store = MemoryStore::new();
        for _ in 0..generator.0.usize(..40) {
            let mut batch = Batch::new();
            let facets = generator.facets();
            batch.put(generator.key(), Precondition::Any, facets, generator.bytes());
            // Another record may have the unique key: then this record is not stored, which is fine.
            let _ = store.commit(batch).await;
            if generator.0.u8(..5) == 0 {
                let mut batch = Batch::new();
                batch.delete(generator.key(), Precondition::Any);
                store.commit(batch).await.unwrap();
            }
        }
        assert_restorable(&store).await;
    }
}

struct Generator(Rng);

impl Generator {
    fn key(&mut self) -> Key {
        Key::new(self.name(), self.id())
    }

    fn id(&mut self) -> Uuid {
        let numbers = [0, 1, 2, 3, u128::MAX, 1 << 127, u128::from(u64::MAX)];
        Uuid::from_u128(self.0.choice(numbers).unwrap())
    }

    fn name(&mut self) -> Name {
        let names = ["note", "a", "\"", "\\", "\\u0041", "body", "sixteen-letters!", "{}", "~"];
        Name::parse(self.0.choice(names).unwrap()).unwrap()
    }

    fn bytes(&mut self) -> Vec<u8> {
        let length = self.0.choice([0, 1, 2, 3, 16, 300]).unwrap();
        bytes(&mut self.0, length)
    }

    fn some<T>(&mut self, make: impl Fn(&mut Self) -> T) -> Option<T> {
        self.0.bool().then(|| make(self))
    }

    fn several<T>(&mut self, make: impl Fn(&mut Self) -> T) -> Vec<T> {
        (0..self.0.u8(..5)).map(|_| make(self)).collect()
    }

    fn time(&mut self) -> Timestamp {
        let micros = [i64::MIN, -1, 0, 1, 1_000_000, 1_700_000_000_123_456, i64::MAX];
        Timestamp::UNIX_EPOCH.plus_micros(self.0.choice(micros).unwrap())
    }

    fn facets(&mut self) -> Facets {
        let mut sort_keys = self.several(|generator| SortKey::new(generator.name(), generator.bytes()));
        sort_keys.sort_by_key(|key| key.name);
        sort_keys.dedup_by_key(|key| key.name);
        Facets::default()
            .with_organization(self.some(Self::id))
            .with_network(self.some(Self::id))
            .with_expires_at(self.some(Self::time))
            .with_links(self.several(|generator| Link::new(generator.name(), generator.id())))
            .with_terms(self.several(|generator| {
                let value = generator.bytes();
                Term::new(generator.name(), &value[..value.len().min(Term::MAX_LENGTH)])
            }))
            .with_sort_keys(sort_keys)
            .with_unique_keys(self.several(|generator| UniqueKey::new(generator.name(), generator.bytes())))
    }
}

fn bytes(random: &mut Rng, length: usize) -> Vec<u8> {
    let mut bytes = vec![0; length];
    random.fill(&mut bytes);
    bytes
}

#[tokio::test]
async fn record_with_tens_of_thousands_of_unique_keys_and_links_is_restored() {
    let store = MemoryStore::new();
    let mut random = Rng::with_seed(3);
    let facets = Facets::default()
        .with_terms((0..5_000_u32).map(|number| Term::new(RANK, number.to_be_bytes())))
        .with_links((0..20_000).map(|number| Link::new(PARENT, Uuid::from_u128(number))))
        .with_unique_keys((0..50_000).map(|_| UniqueKey::new(MAIL, bytes(&mut random, 16))));
    put(&store, note(1), facets, "{}").await;
    assert_restorable(&store).await;
}

#[tokio::test]
async fn restored_records_are_found_by_every_kind_of_read() {
    let (store, result) = restore(&export(&small_store().await).await).await;
    result.unwrap();
    let secret = UniqueKey::new(MAIL, SECRET);
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
async fn export_of_a_restored_store_is_identical() {
    let first = export(&small_store().await).await;
    let (store, _) = restore(&first).await;
    assert_eq!(export(&store).await, first);
}

/// Bodies that are JSON on a single line, without surrounding white space.
const EMBEDDED: [&str; 20] = [
    "null",
    "true",
    "0",
    "-0",
    "1.0",
    "1e999",
    "123456789012345678901234567890.10",
    "\"\"",
    "\"\\u0041\\ud800\\/\"",
    "\"é \u{2028} \u{7f} \u{10ffff}\"",
    "{}",
    "[]",
    "[ 1 ,\t2 ]",
    "{\"b\": 1.0, \"a\": {\"c\": null}, \"b\": 2}",
    "{\"body\": {}, \"kind\": \"\", \"records\": 1}",
    "{\"records\":3,\"crc32\":0}",
    "{\"$serde_json::private::RawValue\": \"x\"}",
    "{\"$serde_json::private::Number\": \"1\"}",
    "{\"\": \"\\n\\r\\u0000\"}",
    "[[[[[[[[[[]]]]]]]]]]",
];

const ENCODED: [&[u8]; 22] = [
    b"",
    b" ",
    b"\0",
    b"\n",
    b" {}",
    b"{} ",
    b"{}\n",
    b"{\n}",
    b"{\r}",
    b"{}\r",
    b"{} {}",
    b"nul",
    b"01",
    b"+1",
    b"{'a': 1}",
    b"\"\0\"",
    b"\"\n\"",
    b"\"\xff\"",
    b"\xff\xfe",
    b"\xef\xbb\xbf{}",
    b"{\"a\": 1,}",
    b"\"\xed\xa0\x80\"",
];

#[tokio::test]
async fn json_body_of_one_line_is_embedded_unchanged() {
    for body in EMBEDDED {
        let store = MemoryStore::new();
        put(&store, note(1), Facets::default(), body).await;
        let file = String::from_utf8(export(&store).await).unwrap();
        assert!(file.contains(&format!(",\"body\":{body}}}\n")), "{body} in {file}");
        assert_restorable(&store).await;
    }
}

#[tokio::test]
async fn other_body_is_encoded_in_base64() {
    for body in ENCODED {
        let store = MemoryStore::new();
        put(&store, note(1), Facets::default(), body).await;
        let file = String::from_utf8(export(&store).await).unwrap();
        assert!(file.contains(",\"body_base64\":\""), "{body:?} in {file}");
        assert_eq!(file.lines().count(), 3);
        assert_restorable(&store).await;
    }
}

#[tokio::test]
async fn bodies_of_any_bytes_are_restored() {
    let mut random = Rng::with_seed(1);
    let pieces: Vec<&[u8]> =
        b"{}[]\":,\\1 \n\r\0\xff".chunks(1).chain([&b"null"[..], "é".as_bytes()]).collect();
    let store = MemoryStore::new();
    for number in 0..3000 {
        let count = random.usize(..9);
        let body: Vec<u8> =
            repeat_with(|| *random.choice(&pieces).unwrap()).take(count).flatten().copied().collect();
        put(&store, note(number), Facets::default(), body).await;
    }
    put(&store, note(3001), Facets::default(), (u8::MIN..=u8::MAX).collect::<Vec<u8>>()).await;
    assert_restorable(&store).await;
}

#[tokio::test]
async fn body_larger_than_a_batch_is_restored_embedded_and_encoded() {
    const LENGTH: usize = 5 << 20;
    let store = MemoryStore::new();
    let text = format!("[\"{}\", 1]", "a\\n".repeat(LENGTH / 3));
    put(&store, note(1), Facets::default(), text).await;
    put(&store, note(2), Facets::default(), bytes(&mut Rng::with_seed(2), LENGTH)).await;
    assert_restorable(&store).await;
}

#[tokio::test]
async fn body_nested_a_hundred_thousand_deep_is_restored() {
    let store = MemoryStore::new();
    let deep = ["[".repeat(100_000), "]".repeat(100_000)].concat();
    put(&store, note(1), Facets::default(), deep).await;
    assert_restorable(&store).await;
}

#[cfg(feature = "sled")]
#[tokio::test]
async fn store_is_transferred_into_a_folder_and_back() {
    let store = small_store().await;
    let mut random = Rng::with_seed(4);
    for number in 10..1500 {
        let facets = Facets::default().with_unique_keys([UniqueKey::new(MAIL, bytes(&mut random, 8))]);
        put(&store, note(number), facets, bytes(&mut random, 40)).await;
    }
    let (before, fixture) = (contents(&store).await, crate::fixture::Fixture::new());

    let folder = fixture.open().await;
    toposcope::store::Restore::new().read(&folder, &export(&store).await[..]).await.unwrap();
    folder.close().await.unwrap();

    let folder = fixture.open().await;
    assert!(contents(&folder).await == before);
    let (back, result) = restore(&export(&folder).await).await;
    result.unwrap();
    assert!(contents(&back).await == before);
}
