//! Stores that are reopened, compared with a map of all their records.

use std::collections::BTreeMap;
use std::fs;

use bytes::Bytes;
use fastrand::Rng;
use toposcope::store::{
    Batch, Durability, Facets, Key, Name, Precondition, SledStore, Store, UniqueKey, Version,
};

use super::once_in;
use super::workload::{WRITERS, Writer, commit, truth_of};
use crate::compare::{Content, Kept, Truth, compare};
use crate::fixture::{Fixture, assert_sound, copy, key};

/// How a folder is opened: its durability, and the size of its cache in bytes.
type Options = (Durability, usize);

const ON_DISK: Options = (Durability::Durable, 0);
const IN_MEMORY: Options = (Durability::Buffered, 64 << 20);

async fn open(fixture: &Fixture, (durability, cache_size): Options) -> SledStore {
    fixture.open_with(|builder| builder.durability(durability).cache_size(cache_size)).await
}

fn generated(seed: u64, length: usize) -> Kept {
    Kept { facets: Facets::default(), content: Content::Generated { seed, length } }
}

/// Size of a large body, in bytes. It is longer than one buffer of the log, of a checkpoint and of a snapshot.
const LARGE_BODY: usize = 5 << 20;

#[tokio::test]
async fn body_of_5_mebibytes_and_20_000_unique_keys_of_one_record_are_kept() {
    let mut with_unique_keys = generated(2, LARGE_BODY);
    // More than a mebibyte, the maximum size of the headers that are read together.
    let unique_key = |number: u32| UniqueKey::new(Name::new("service"), format!("{number:060}").into_bytes());
    with_unique_keys.facets.unique_keys = (0..20_000).map(unique_key).collect();
    assert_kept(ON_DISK, [generated(1, 10), with_unique_keys.clone(), generated(3, 10)]).await;
    with_unique_keys.content = Content::Generated { seed: 2, length: 100 };
    assert_kept(IN_MEMORY, [generated(1, LARGE_BODY), with_unique_keys]).await;
}

#[tokio::test]
async fn bodies_around_the_length_of_a_part_and_the_empty_one_are_kept() {
    let lengths =
        [0, 1, 2047, 2048, 2049, 4095, 4096, 4097, 8191, 8192, 8193, (1 << 20) - 1, 1 << 20, (1 << 20) + 1];
    for options in [ON_DISK, IN_MEMORY] {
        assert_kept(options, lengths.into_iter().zip(0..).map(|(length, seed)| generated(seed, length)))
            .await;
    }
}

#[tokio::test]
async fn batch_longer_than_a_file_of_the_log_is_kept() {
    assert_kept(ON_DISK, (0..34).map(|seed| generated(seed, 1_000_000))).await;
}

#[tokio::test]
async fn batch_of_2_000_records_without_facets_and_body_is_kept() {
    let empty = Kept { facets: Facets::default(), content: Content::Given(Bytes::new()) };
    for options in [ON_DISK, IN_MEMORY] {
        assert_kept(options, std::iter::repeat_n(empty.clone(), 2_000)).await;
    }
}

/// Puts the records in one batch, and asserts that they are present.
///
/// They must be present at once, after a kill, and after an orderly close. Then deleting them must leave nothing
/// behind.
async fn assert_kept(options: Options, records: impl IntoIterator<Item = Kept>) {
    let records = (0..).map(key).zip(records).collect();
    let truth = Truth { records, ..Truth::default() };
    let (fixture, killed) = (Fixture::new(), Fixture::new());
    let store = open(&fixture, options).await;
    store.verify().await.unwrap();
    let mut puts = Batch::new();
    for (key, kept) in &truth.records {
        puts.put(*key, Precondition::Absent, kept.facets.clone(), kept.content.body());
    }
    store.commit(puts).await.unwrap();
    compare(&store, &truth).await.unwrap();
    copy(fixture.path(), killed.path());
    assert_holds(&open(&killed, options).await, &truth).await;
    store.close().await.unwrap();
    let store = open(&fixture, options).await;
    assert_holds(&store, &truth).await;
    let mut deletions = Batch::new();
    truth.records.keys().for_each(|key| {
        deletions.delete(*key, Precondition::Present);
    });
    store.commit(deletions).await.unwrap();
    assert_holds(&store, &Truth::default()).await;
    drop(store);
    assert_holds(&open(&fixture, options).await, &Truth::default()).await;
}

async fn assert_holds(store: &SledStore, truth: &Truth) {
    compare(store, truth).await.unwrap();
    let found = store.verify().await.unwrap();
    assert!(found.is_sound(), "{found}");
    assert_eq!(found.records, truth.records.len() as u64);
}

/// Number of batches of [`walk`], enough for some comparisons and some reopenings.
const STEPS: usize = 160;

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn store_with_all_bodies_in_memory_holds_every_batch() {
    walk(1, (Durability::Durable, 64 << 20)).await;
}

#[tokio::test]
async fn store_without_a_cache_holds_every_batch() {
    walk(2, ON_DISK).await;
}

#[tokio::test]
async fn store_with_a_small_cache_holds_every_batch() {
    walk(3, (Durability::Durable, 10_000)).await;
}

#[tokio::test]
async fn store_that_does_not_wait_for_the_disk_holds_every_batch() {
    walk(4, (Durability::Buffered, 10_000)).await;
}

/// Commits batches of random writers. Occasionally it reopens the store or compares it with the writers.
async fn walk(seed: u64, options: Options) {
    let fixture = Fixture::new();
    let mut store = open(&fixture, options).await;
    let mut random = Rng::with_seed(seed);
    let mut writers: Vec<Writer> = (0..WRITERS).map(|number| Writer::new(seed, number)).collect();
    let mut versions = Versions::default();
    let mut reopenings = 0;
    for step in 0..STEPS {
        let writer = &mut writers[random.usize(..WRITERS as usize)];
        commit(&store, writer).await.unwrap();
        writer.go_on();
        versions.look(&store, writer).await;
        let reopens = once_in(&mut random, 30);
        if reopens {
            if random.bool() {
                store.close().await.unwrap();
            }
            drop(store);
            store = open(&fixture, options).await;
            reopenings += 1;
        }
        if reopens || once_in(&mut random, 30) {
            check(&store, &writers, random.bool())
                .await
                .unwrap_or_else(|fault| panic!("step {step}: {fault}"));
        }
    }
    assert!(reopenings > 1, "reopened {reopenings} times");
    check(&store, &writers, true).await.unwrap();
}

async fn check(store: &SledStore, writers: &[Writer], verifies: bool) -> Result<(), String> {
    if verifies {
        assert_sound(store).await;
    }
    compare(store, &truth_of(writers)).await
}

/// Checks that no version is used twice, even after its record was deleted.
#[derive(Default)]
struct Versions {
    of: BTreeMap<Key, Version>,
    greatest: Option<Version>,
}

impl Versions {
    async fn look(&mut self, store: &SledStore, writer: &Writer) {
        let keys: Vec<Key> = writer.keys().into_iter().collect();
        let records = store.get(&keys).await.unwrap().into_iter().flatten();
        let before = self.greatest;
        for record in records {
            if self.of.insert(record.key, record.version) != Some(record.version) {
                assert!(
                    Some(record.version) > before,
                    "{} has {:?} after {before:?}",
                    record.key,
                    record.version
                );
                self.greatest = self.greatest.max(Some(record.version));
            }
        }
    }
}

#[tokio::test]
async fn log_file_ends_after_some_megabytes_of_bodies_however_well_they_are_compressed() {
    const BLANK: &[u8] = &[b' '; 8 << 20];
    let fixture = Fixture::new();
    let store = fixture.open().await;
    let put = async |number| {
        let mut batch = Batch::new();
        batch.put(key(number), Precondition::Absent, Facets::default(), Bytes::from_static(BLANK));
        store.commit(batch).await.unwrap();
    };
    let is_second_used = || fs::metadata(fixture.file("journal.1")).unwrap().len() > 0;
    put(0).await;
    assert!(!is_second_used());
    for number in 1..10 {
        put(number).await;
    }
    assert!(is_second_used());
    store.close().await.unwrap();
    let records = fixture.open().await.get(&[key(9)]).await.unwrap();
    assert_eq!(records[0].as_ref().map(|record| &record.body[..] == BLANK), Some(true));
}
