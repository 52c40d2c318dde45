//! Errors that callers see while the database fails, and recovery from the failures.
//!
//! The store must work again as soon as the database does.

use std::time::{Duration, Instant};

use toposcope::store::{
    Batch, Facets, Key, Name, PostgresStore, PostgresStoreBuilder, Precondition, Store, StoreError,
    StoreErrorKind,
};
use uuid::Uuid;

use super::proxy::{Fault, Proxy};
use super::{connect, database_of, open};
use crate::cluster::Cluster;

/// The time within which every call ends with the default options.
const TIMEOUT: Duration = Duration::from_secs(5);

const NOTE: Key = Key::new(Name::new("note"), Uuid::from_u128(1));

async fn put(store: &PostgresStore, body: &str) -> Result<(), StoreError> {
    let mut batch = Batch::new();
    batch.put(NOTE, Precondition::Any, Facets::default(), body.to_owned());
    store.commit(batch).await
}

/// Asserts that both a read and a commit succeed.
async fn assert_works(store: &PostgresStore, body: &str) {
    put(store, body).await.unwrap();
    let found = store.get(&[NOTE]).await.unwrap().pop().flatten().unwrap();
    assert_eq!(found.body, body);
}

/// Asserts that a call fails in time, and that its error names the cause.
fn assert_unavailable<T>(begin: Instant, outcome: Result<T, StoreError>, cause: &str) {
    let Err(error) = outcome else { panic!("a call succeeds in spite of: {cause}") };
    assert!(begin.elapsed() < TIMEOUT, "{:?}: {error}", begin.elapsed());
    assert_eq!(*error.kind(), StoreErrorKind::Unavailable, "{error}");
    assert!(error.to_string().contains(cause), "{error}");
}

async fn assert_fails(store: &PostgresStore, cause: &str) {
    let begin = Instant::now();
    assert_unavailable(begin, store.get(&[NOTE]).await, cause);
    let begin = Instant::now();
    assert_unavailable(begin, put(store, "lost").await, cause);
}

/// Opens a store with short timeouts, on a new database.
async fn open_new(
    cluster: &Cluster,
    options: fn(PostgresStoreBuilder) -> PostgresStoreBuilder,
) -> (PostgresStore, String) {
    let connection = cluster.create_database();
    let store = open(options(PostgresStore::builder(&connection))).await;
    assert_works(&store, "before").await;
    (store, connection)
}

#[tokio::test]
async fn missing_table_is_unavailable_until_it_is_back() {
    let Some(cluster) = Cluster::shared() else { return };
    let (store, connection) = open_new(cluster, |builder| builder).await;
    for table in ["topo_log", "topo_body"] {
        let database = database_of(&connection);
        cluster.execute(database, &format!("ALTER TABLE {table} RENAME TO away"));
        let begin = Instant::now();
        assert_unavailable(begin, put(&store, "lost").await, "a table of the store is missing");
        cluster.execute(database, &format!("ALTER TABLE away RENAME TO {table}"));
        assert_works(&store, table).await;
    }
}

#[tokio::test]
async fn read_only_server_refuses_commits_and_answers_reads() {
    let Some(cluster) = Cluster::shared() else { return };
    let (store, connection) = open_new(cluster, |builder| builder).await;
    let database = database_of(&connection);
    let terminate = format!(
        "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE datname = '{database}' AND pid <> pg_backend_pid()"
    );
    for (is_read_only, body) in [("on", None), ("off", Some("after"))] {
        cluster.execute(
            "postgres",
            &format!("ALTER DATABASE {database} SET default_transaction_read_only = {is_read_only}"),
        );
        cluster.execute(database, &terminate);
        match body {
            None => {
                assert_unavailable(Instant::now(), put(&store, "lost").await, "read-only");
                assert!(store.get(&[NOTE]).await.unwrap()[0].is_some());
            }
            Some(body) => assert_works(&store, body).await,
        }
    }
}

#[tokio::test]
async fn full_disk_refuses_commits_until_space_is_free() {
    let Some(cluster) = Cluster::start_with_small_disk() else { return };
    cluster.execute("postgres", "CREATE DATABASE test TABLESPACE small");
    let store = open(PostgresStore::builder(&cluster.connection("test"))).await;
    assert_works(&store, "before").await;
    let ballast = "CREATE TABLE ballast (text text); ALTER TABLE ballast ALTER text SET STORAGE EXTERNAL; \
                   INSERT INTO ballast SELECT repeat('x', 1000000) FROM generate_series(1, 6)";
    cluster.execute("test", ballast);
    let mut random = fastrand::Rng::with_seed(7);
    let mut stored = Vec::new();
    let (begin, refused) = loop {
        let key = Key::new(Name::new("note"), Uuid::from_u128(random.u128(..)));
        // The bytes are random, because the server would compress others.
        let body: Vec<u8> = std::iter::repeat_with(|| random.u8(..)).take(200_000).collect();
        let mut batch = Batch::new();
        batch.put(key, Precondition::Absent, Facets::default(), body);
        let begin = Instant::now();
        match store.commit(batch).await {
            Ok(()) => stored.push(key),
            refused => break (begin, refused),
        }
    };
    assert_unavailable(begin, refused, "the disk of the database server is full");
    assert!(stored.len() > 1, "{}", stored.len());
    let found = store.get(&stored).await.unwrap();
    assert!(found.iter().all(Option::is_some), "an acknowledged commit was lost");
    cluster.execute("test", "DROP TABLE ballast");
    assert_works(&store, "after").await;
}

#[tokio::test]
async fn wrong_password_is_unavailable_and_not_quoted() {
    let Some(cluster) = Cluster::start_new(&[]) else { return };
    let connection = cluster.create_database();
    let database = database_of(&connection);
    cluster.execute(database, "CREATE ROLE app LOGIN PASSWORD 'the right one'");
    cluster.execute(
        database,
        &format!("ALTER DATABASE {database} OWNER TO app; GRANT ALL ON SCHEMA public TO app"),
    );
    cluster.require_password("app");
    let connection =
        |password: &str| connection.replace("user=postgres", &format!("user=app password='{password}'"));
    let begin = Instant::now();
    let refused = PostgresStore::open(&connection("the wrong one")).await;
    assert!(!format!("{refused:?}").contains("the wrong one"));
    assert_unavailable(begin, refused.map(|_| ()), "rejects the user or the password");
    let store = open(PostgresStore::builder(&connection("the right one"))).await;
    assert_works(&store, "before").await;

    // This is the state after a password was changed: connections stay, and new ones are refused.
    cluster.execute(database, "ALTER ROLE app PASSWORD 'another one'");
    let terminate = "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE usename = 'app'";
    cluster.execute(database, terminate);
    assert_fails(&store, "rejects the user or the password").await;
    cluster.execute(database, "ALTER ROLE app PASSWORD 'the right one'");
    assert_works(&store, "after").await;
}

#[tokio::test]
async fn locked_log_times_out() {
    let Some(cluster) = Cluster::shared() else { return };
    let (store, connection) = open_new(cluster, |builder| builder).await;
    let locker = connect(&connection).await;
    locker.batch_execute("BEGIN; LOCK TABLE topo_log IN ACCESS EXCLUSIVE MODE").await.unwrap();
    let begin = Instant::now();
    let calls = (store.get(&[NOTE]), store.get(&[NOTE]), put(&store, "late"), store.snapshot());
    let (one, other, commit, snapshot) = tokio::join!(calls.0, calls.1, calls.2, calls.3);
    for outcome in [one.map(|_| ()), other.map(|_| ()), commit, snapshot.map(|_| ())] {
        assert_unavailable(begin, outcome, "");
    }
    locker.batch_execute("ROLLBACK").await.unwrap();
    assert_works(&store, "after").await;
}

#[tokio::test]
async fn read_that_finds_no_free_connection_is_unavailable() {
    let Some(cluster) = Cluster::shared() else { return };
    let options = |builder: PostgresStoreBuilder| {
        let builder = builder.max_connections(1).body_cache_bytes(0);
        builder.acquire_timeout(Duration::from_millis(100))
    };
    let (store, connection) = open_new(cluster, options).await;
    let locker = connect(&connection).await;
    locker.batch_execute("BEGIN; LOCK TABLE topo_body IN ACCESS EXCLUSIVE MODE").await.unwrap();
    let keys = [NOTE];
    let (one, other) = (store.get(&keys), store.get(&keys));
    tokio::pin!(one, other);
    let begin = Instant::now();
    // The read that got the connection waits for the lock, and the other one for the connection.
    let outcome = tokio::select! { outcome = &mut one => outcome, outcome = &mut other => outcome };
    assert_unavailable(begin, outcome, "all connections of the pool are in use");
    locker.batch_execute("ROLLBACK").await.unwrap();
    assert_works(&store, "after").await;
    assert_eq!(store.status().connections_in_use, 0);
}

#[tokio::test]
async fn store_works_again_once_the_server_does() {
    let Some(mut cluster) = Cluster::start_new(&[]) else { return };
    let (store, _) = open_new(&cluster, |builder| builder).await;
    for mode in ["fast", "immediate"] {
        cluster.stop(mode);
        assert_fails(&store, "").await;
        cluster.start();
        assert_works(&store, mode).await;
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn commits_survive_terminated_connections() {
    let Some(cluster) = Cluster::shared() else { return };
    let (store, connection) = open_new(cluster, |builder| builder).await;
    let admin = connect(&connection).await;
    let terminator = tokio::spawn(async move {
        for _ in 0..50 {
            let terminate = "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE application_name = 'toposcope' AND datname = current_database()";
            admin.batch_execute(terminate).await.unwrap();
            tokio::task::yield_now().await;
        }
    });
    let mut number = 0_u64;
    while !terminator.is_finished() {
        // The precondition detects a commit that was applied twice, because it would conflict with itself.
        let key = Key::new(Name::new("count"), Uuid::from_u128(number.into()));
        let mut batch = Batch::new();
        batch.put(key, Precondition::Absent, Facets::default(), number.to_string());
        match store.commit(batch).await {
            Ok(()) => number += 1,
            Err(error) => assert_eq!(*error.kind(), StoreErrorKind::Unavailable, "{error}"),
        }
    }
    terminator.await.unwrap();
    assert!(number > 0);
    assert_works(&store, "after").await;
}

#[tokio::test]
async fn server_that_stops_answering_makes_no_call_hang() {
    let Some(cluster) = Cluster::shared() else { return };
    let proxy = Proxy::start(cluster.folder(), Fault::Nothing);
    let store = open(PostgresStore::builder(&proxy.connection(&cluster.create_database()))).await;
    assert_works(&store, "before").await;
    proxy.set_stalled(true);
    let begin = Instant::now();
    let (keys, renewed) = ([NOTE], store.renew());
    let (read, commit, snapshot, renewed) =
        tokio::join!(store.get(&keys), put(&store, "late"), store.snapshot(), renewed);
    for outcome in [read.map(|_| ()), commit, snapshot.map(|_| ()), renewed] {
        assert_unavailable(begin, outcome, "does not answer in time");
    }
    // New connections stall as well.
    assert_fails(&store, "does not answer in time").await;
    proxy.set_stalled(false);
    assert_works(&store, "after").await;
}
