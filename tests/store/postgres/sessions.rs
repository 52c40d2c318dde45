//! Events that end the sessions of a store, and events that do not.

use std::time::{Duration, Instant};

use toposcope::store::{
    Batch, Facets, Key, Name, PostgresStore, Precondition, Store, StoreError, StoreErrorKind,
};
use uuid::Uuid;

use super::{connect, database_of, open};
use crate::cluster::Cluster;

const NOTE: Key = Key::new(Name::new("note"), Uuid::from_u128(1));

/// The sessions of the store in the current database, in their order.
const SESSIONS: &str = "SELECT string_agg(pid::text, ' ' ORDER BY pid) FROM pg_stat_activity \
    WHERE application_name = 'toposcope' AND datname = current_database()";

async fn put(store: &PostgresStore, id: u128) -> Result<(), StoreError> {
    let mut batch = Batch::new();
    let key = Key::new(NOTE.kind, Uuid::from_u128(id));
    batch.put(key, Precondition::Any, Facets::default(), "a body");
    store.commit(batch).await
}

#[tokio::test]
async fn slow_statement_ends_no_session_but_its_own() {
    let Some(cluster) = Cluster::shared() else { return };
    let connection = cluster.create_database();
    // The server of such sessions has no timeout, so that the store gives up on the statement.
    let builder = PostgresStore::builder(&connection).transaction_pooling(true).body_cache_bytes(0);
    let store = open(builder.statement_timeout(Duration::from_millis(500))).await;
    put(&store, 1).await.unwrap();
    let committing = format!("{SESSIONS} AND query LIKE 'WITH appended%'");
    let before = cluster.execute(database_of(&connection), &committing);
    assert!(before.parse::<u32>().is_ok(), "{before}");
    let locker = connect(&connection).await;
    locker.batch_execute("BEGIN; LOCK TABLE topo_body IN ACCESS EXCLUSIVE MODE").await.unwrap();
    let error = store.get(&[NOTE]).await.unwrap_err();
    assert_eq!(*error.kind(), StoreErrorKind::Unavailable, "{error}");
    locker.batch_execute("ROLLBACK").await.unwrap();
    put(&store, 1).await.unwrap();
    assert_eq!(cluster.execute(database_of(&connection), &committing), before);
    assert!(store.get(&[NOTE]).await.unwrap()[0].is_some());
}

#[tokio::test]
async fn commit_that_a_server_refuses_because_it_is_read_only_ends_no_session() {
    let Some(cluster) = Cluster::shared() else { return };
    let connection = cluster.create_database();
    let database = database_of(&connection);
    let store = open(PostgresStore::builder(&connection)).await;
    put(&store, 1).await.unwrap();
    let set = |is_read_only: &str| {
        let alter = format!("ALTER DATABASE {database} SET default_transaction_read_only = {is_read_only}");
        cluster.execute("postgres", &alter);
        let terminate =
            SESSIONS.replace("string_agg(pid::text, ' ' ORDER BY pid)", "pg_terminate_backend(pid)");
        cluster.execute(database, &terminate);
    };
    set("on");
    assert!(put(&store, 1).await.is_err());
    assert!(store.get(&[NOTE]).await.unwrap()[0].is_some());
    let before = cluster.execute(database, SESSIONS);
    for _ in 0..5 {
        let error = put(&store, 1).await.unwrap_err();
        assert!(error.to_string().contains("read-only"), "{error}");
        assert!(store.get(&[NOTE]).await.unwrap()[0].is_some());
    }
    // A read that ran beside the maintenance may have opened one more.
    let after = cluster.execute(database, SESSIONS);
    assert!(
        before.split(' ').all(|session| after.split(' ').any(|other| other == session)),
        "{before}: {after}"
    );
    set("off");
    put(&store, 1).await.unwrap();
}

#[tokio::test]
async fn timeouts_that_the_database_sets_for_idle_sessions_end_no_snapshot_and_no_call() {
    let Some(cluster) = Cluster::shared() else { return };
    let connection = cluster.create_database();
    let database = database_of(&connection);
    for setting in ["idle_in_transaction_session_timeout", "idle_session_timeout"] {
        cluster.execute(database, &format!("ALTER DATABASE {database} SET {setting} = '100ms'"));
    }
    let store = open(PostgresStore::builder(&connection)).await;
    for id in 1..4 {
        put(&store, id).await.unwrap();
    }
    let mut snapshot = store.snapshot().await.unwrap();
    assert_eq!(snapshot.next(1).await.unwrap().len(), 1);
    // The session of the snapshot is left.
    let deadline = Instant::now() + Duration::from_secs(30);
    while cluster.execute(database, SESSIONS).contains(' ') {
        assert!(Instant::now() < deadline, "idle sessions do not end");
        tokio::time::sleep(Duration::from_millis(5)).await;
    }
    assert_eq!(snapshot.next(5).await.unwrap().len(), 2);
    for _ in 0..20 {
        put(&store, 1).await.unwrap();
        assert!(store.get(&[NOTE]).await.unwrap()[0].is_some());
        tokio::time::sleep(Duration::from_millis(95)).await;
    }
}
