//! Records larger than one piece of a checkpoint, and records with hardly anything to store.

use std::path::Path;

use bytes::Bytes;
use toposcope::store::{Batch, Durability, Facets, Key, Name, Precondition, SledStore, Store, UniqueKey};
use uuid::Uuid;

use crate::place::Place;
use crate::support::{Content, Kept, Truth, compare, copy};

const MANY: u32 = 52_000;

/// How a folder is opened: its durability, and the size of its cache in bytes.
type Way = (Durability, usize);

const ON_THE_DISK: Way = (Durability::Durable, 0);
const IN_MEMORY: Way = (Durability::Buffered, 64 << 20);

fn made(number: u64, length: usize) -> Kept {
    Kept { facets: Facets::default(), content: Content::Made { seed: number, length } }
}

fn with_many_unique_keys(mut kept: Kept) -> Kept {
    let unique_key =
        |number: u32| UniqueKey::new(Name::new("service"), format!("a service, the {number}th").into_bytes());
    kept.facets.unique_keys = (0..MANY).map(unique_key).collect();
    kept
}

#[tokio::test]
async fn a_body_of_14_mb_and_52_000_unique_keys_of_one_record() {
    keeps(ON_THE_DISK, [made(1, 10), with_many_unique_keys(made(2, 14_000_000)), made(3, 10)]).await;
    keeps(IN_MEMORY, [made(2, 14_000_000), with_many_unique_keys(made(3, 100))]).await;
}

#[tokio::test]
async fn bodies_around_the_length_of_a_part_and_the_empty_one() {
    let lengths =
        [0, 1, 2047, 2048, 2049, 4095, 4096, 4097, 8191, 8192, 8193, (1 << 20) - 1, 1 << 20, (1 << 20) + 1];
    for way in [ON_THE_DISK, IN_MEMORY] {
        keeps(way, lengths.into_iter().zip(0..).map(|(length, number)| made(number, length))).await;
    }
}

#[tokio::test]
async fn a_batch_that_is_longer_than_a_file_of_the_journal() {
    keeps(ON_THE_DISK, (0..34).map(|number| made(number, 1_000_000))).await;
}

#[tokio::test]
async fn a_batch_of_2_000_records_without_anything() {
    let empty = Kept { facets: Facets::default(), content: Content::Given(Bytes::new()) };
    for way in [ON_THE_DISK, IN_MEMORY] {
        keeps(way, std::iter::repeat_n(empty.clone(), 2_000)).await;
    }
}

/// Puts the records in one batch, and asserts that they are present: at once, after a kill, and after an
/// orderly close. Then asserts that deleting them leaves nothing behind.
async fn keeps((durability, cache_size): Way, records: impl IntoIterator<Item = Kept>) {
    let key = |number| Key::new(Name::new("document"), Uuid::from_u128(number));
    let records = (0..).map(key).zip(records).collect();
    let truth = Truth { records, ..Truth::default() };
    let folder = Place::new();
    let open = async |path: &Path| {
        let builder = SledStore::builder(path).durability(durability).cache_size(cache_size);
        builder.open().await.unwrap()
    };
    let (path, killed) = (folder.path().join("store"), folder.path().join("killed"));
    let store = open(&path).await;
    store.verify().await.unwrap();
    store.commit(puts(&truth)).await.unwrap();
    compare(&store, &truth).await.unwrap();
    copy(&path, &killed);
    assert_holds(&open(&killed).await, &truth).await;
    store.close().await.unwrap();
    let store = open(&path).await;
    assert_holds(&store, &truth).await;
    store.commit(deletions(&truth)).await.unwrap();
    assert_holds(&store, &Truth::default()).await;
    drop(store);
    assert_holds(&open(&path).await, &Truth::default()).await;
}

fn puts(truth: &Truth) -> Batch {
    let mut batch = Batch::new();
    for (key, kept) in &truth.records {
        batch.put(*key, Precondition::Absent, kept.facets.clone(), kept.content.body());
    }
    batch
}

fn deletions(truth: &Truth) -> Batch {
    let mut batch = Batch::new();
    for key in truth.records.keys() {
        batch.delete(*key, Precondition::Present);
    }
    batch
}

async fn assert_holds(store: &SledStore, truth: &Truth) {
    compare(store, truth).await.unwrap();
    let found = store.verify().await.unwrap();
    assert!(found.is_sound(), "{found}");
    assert_eq!(found.records, truth.records.len() as u64);
}
