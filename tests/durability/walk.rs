//! A store that is reopened repeatedly, compared with a map of all its records.

use std::collections::BTreeMap;
use std::path::Path;

use toposcope::store::{Durability, Key, SledStore, Store, Version};

use crate::place::Place;
use crate::support::{SplitMix64, compare, numbered};
use crate::workload::{WRITERS, Writer, commit, truth_of};

const STEPS: usize = 250;

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn with_everything_in_memory() {
    walk(1, 64 << 20, Durability::Durable).await;
}

#[tokio::test]
async fn with_nothing_in_memory() {
    walk(2, 0, Durability::Durable).await;
}

#[tokio::test]
async fn with_hardly_anything_in_memory() {
    walk(3, 10_000, Durability::Durable).await;
}

#[tokio::test]
async fn with_commits_that_do_not_wait_for_the_disk() {
    walk(4, 10_000, Durability::Buffered).await;
}

async fn walk(seed: u64, cache_size: usize, durability: Durability) {
    let folder = Place::new();
    let open = async |path: &Path| {
        let builder = SledStore::builder(path).cache_size(cache_size).durability(durability);
        builder.open().await.unwrap()
    };
    let mut store = open(folder.path()).await;
    let mut random = numbered(seed, &[]);
    let mut writers: Vec<Writer> = (0..WRITERS).map(|number| Writer::new(seed, number)).collect();
    let mut versions = Versions::default();
    for step in 0..STEPS {
        let writer = &mut writers[random.below(WRITERS as usize)];
        commit(&store, writer).await.unwrap();
        writer.go_on();
        versions.look(&store, writer).await;
        if random.once_in(30) {
            check(&store, &writers, &mut random).await.unwrap_or_else(|fault| panic!("step {step}: {fault}"));
        }
        if random.once_in(30) {
            if random.once_in(2) {
                store.close().await.unwrap();
            }
            drop(store);
            store = open(folder.path()).await;
            check(&store, &writers, &mut random).await.unwrap_or_else(|fault| panic!("step {step}: {fault}"));
        }
    }
    check(&store, &writers, &mut random).await.unwrap();
}

async fn check(store: &SledStore, writers: &[Writer], random: &mut SplitMix64) -> Result<(), String> {
    if random.once_in(2) {
        let found = store.verify().await.map_err(|error| error.to_string())?;
        if !found.is_sound() {
            return Err(found.to_string());
        }
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
