//! A commit is visible on every instance as soon as it has returned.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Instant;

use tokio::task::JoinSet;
use toposcope::store::{
    Batch, Facets, Key, Name, PostgresStore, Precondition, Query, Record, Store, UniqueKey,
};
use uuid::Uuid;

use super::super::open;
use crate::cluster::Cluster;
use crate::durability::rounds;

const TASKS: u128 = 32;
const KIND: Name = Name::new("note");
const NUMBER: Name = Name::new("number");

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn commit_is_visible_on_the_other_instance_as_soon_as_it_has_returned() {
    let Some(cluster) = Cluster::shared() else { return };
    let connection = cluster.create_database();
    let builder = PostgresStore::builder(&connection);
    let stores = Arc::new([open(builder.clone()).await, open(builder).await]);
    let left = Arc::new(AtomicUsize::new(rounds("TOPOSCOPE_POSTGRES_READS", 3_000)));
    let (reads, begin) = (left.load(Ordering::Relaxed), Instant::now());
    let mut tasks = JoinSet::new();
    for number in 0..TASKS {
        tasks.spawn(write_and_read(Arc::clone(&stores), number, Arc::clone(&left)));
    }
    tasks.join_all().await;
    println!("{reads} reads after a commit on the other instance, none outdated, in {:?}", begin.elapsed());
}

/// Writes a record on one instance and reads it on the other, in turn.
async fn write_and_read(stores: Arc<[PostgresStore; 2]>, number: u128, left: Arc<AtomicUsize>) {
    let key = Key::new(KIND, Uuid::from_u128(number));
    let take = |left: usize| left.checked_sub(1);
    let mut count = 0_u64;
    while left.fetch_update(Ordering::Relaxed, Ordering::Relaxed, take).is_ok() {
        let writing = count as usize % 2;
        let unique_key = |count: u64| UniqueKey::new(NUMBER, format!("{number}/{count}"));
        let facets = Facets::default().with_organization(key.id).with_unique_keys([unique_key(count)]);
        let mut batch = Batch::new();
        batch.put(key, Precondition::Any, facets, count.to_string());
        stores[writing].commit(batch).await.unwrap();
        let found = read(&stores[1 - writing], key, &unique_key(count), count / 2).await;
        let body = found.as_ref().map(|record| &record.body[..]);
        assert_eq!(body, Some(count.to_string().as_bytes()), "record {number}");
        count += 1;
    }
}

/// Reads a record in one of several ways.
async fn read(store: &PostgresStore, key: Key, unique_key: &UniqueKey, way: u64) -> Option<Record> {
    match way % 3 {
        0 => store.get(&[key]).await.unwrap().pop().flatten(),
        1 => store.get_by_unique_key(unique_key).await.unwrap(),
        _ => {
            let mut query = Query::new(KIND);
            query.organization = Some(key.id);
            store.list(&query).await.unwrap().records.pop()
        }
    }
}
