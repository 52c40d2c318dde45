//! Loading the index again: never more often than necessary.

use std::sync::Arc;
use std::time::{Duration, Instant};

use tokio::task::JoinSet;
use tokio::time::sleep;
use toposcope::store::{
    Batch, Facets, Key, Name, PostgresStore, Precondition, Store, StoreError, StoreErrorKind,
};
use uuid::Uuid;

use super::super::{connect, database_of, open};
use super::promotion::await_standby;
use super::{MAX_OUTAGE, connection, direct};
use crate::cluster::{Cluster, UNSYNCED};

/// Number of callers, which is the default number of connections.
const CALLERS: u128 = 8;

const LOCK_FACETS: &str = "BEGIN; LOCK TABLE topo_facet IN ACCESS EXCLUSIVE MODE";

/// As after a failover to a server that lacks the last commits and has others.
const REPLACE_LOG: &str = "UPDATE topo_log SET nonce = gen_random_uuid()";

/// Number of statements that wait for a lock.
const LOCKED: &str = "SELECT count(*) FROM pg_locks WHERE NOT granted";

const fn key(id: u128) -> Key {
    Key::new(Name::new("note"), Uuid::from_u128(id))
}

async fn put(store: &PostgresStore, id: u128) -> Result<(), StoreError> {
    let mut batch = Batch::new();
    batch.put(key(id), Precondition::Any, Facets::default(), id.to_string());
    store.commit(batch).await
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn calls_that_find_another_log_at_the_same_time_share_one_attempt_to_load() {
    let Some(cluster) = Cluster::start_new(UNSYNCED) else { return };
    let connection = cluster.create_database();
    let store = Arc::new(open(PostgresStore::builder(&connection).body_cache_bytes(0)).await);
    for id in 0..CALLERS {
        put(&store, id).await.unwrap();
    }
    let locker = connect(&connection).await;
    locker.batch_execute(LOCK_FACETS).await.unwrap();
    cluster.execute(database_of(&connection), REPLACE_LOG);
    let mut calls = JoinSet::new();
    for id in 0..CALLERS {
        let store = Arc::clone(&store);
        calls.spawn(async move { store.get(&[key(id)]).await });
    }
    tokio::task::block_in_place(|| cluster.await_answer(LOCKED, "1"));
    // The others come to the same conclusion meanwhile.
    sleep(Duration::from_millis(500)).await;
    locker.batch_execute("ALTER TABLE topo_facet RENAME TO away; COMMIT").await.unwrap();
    while let Some(outcome) = calls.join_next().await {
        let error = outcome.unwrap().unwrap_err();
        assert_eq!(*error.kind(), StoreErrorKind::Unavailable, "{error}");
    }
    let attempts = cluster.log().matches("relation \"topo_facet\" does not exist").count();
    assert!((1..4).contains(&attempts), "{attempts} attempts");
    locker.batch_execute("ALTER TABLE away RENAME TO topo_facet").await.unwrap();
    assert!(store.get(&[key(0)]).await.unwrap()[0].is_some());
    assert_eq!(store.status().reloads, 1);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn load_from_a_server_that_was_replaced_is_given_up() {
    let Some(primary) = Cluster::start_new(UNSYNCED) else { return };
    let database = primary.create_database();
    let standby = primary.start_standby();
    let connection = connection(&[direct(&primary), direct(&standby)], database_of(&database));
    // Far longer than the test takes.
    let builder = PostgresStore::builder(&connection).statement_timeout(Duration::from_secs(60));
    let store = Arc::new(open(builder).await);
    await_standby(&primary);
    put(&store, 0).await.unwrap();
    let locker = connect(&database).await;
    locker.batch_execute(LOCK_FACETS).await.unwrap();
    primary.execute(database_of(&database), REPLACE_LOG);
    let reader = Arc::clone(&store);
    let read = tokio::spawn(async move { reader.get(&[key(0)]).await });
    tokio::task::block_in_place(|| {
        primary.await_answer(LOCKED, "1");
        standby.promote();
    });
    let begin = Instant::now();
    let writer = Arc::clone(&store);
    let written = tokio::spawn(async move { put(&writer, 1).await });
    while !read.is_finished() || !written.is_finished() {
        assert!(begin.elapsed() < MAX_OUTAGE, "the replaced server is still waited for");
        sleep(Duration::from_millis(5)).await;
    }
    assert!(read.await.unwrap().unwrap()[0].is_some());
    // If its outcome was unknown, the new log has decided.
    written.await.unwrap().unwrap();
    put(&store, 2).await.unwrap();
    let status = store.status();
    assert_eq!((status.timeline, status.reloads), (Some(2), 1));
}
