//! Failover to a standby that lacks the latest commits.

use std::sync::Arc;
use std::time::{Duration, Instant};

use toposcope::store::{
    Batch, Facets, Key, Name, PostgresStore, Precondition, Query, Record, Revision, Store, StoreErrorKind,
};
use uuid::Uuid;

use super::super::servers::connection;
use super::super::servers::network::{Network, Proxy};
use super::super::{connect, database_of, open};
use super::failover::either;
use crate::cluster::{Cluster, UNSYNCED};

const KIND: Name = Name::new("note");
const OWNER: Uuid = Uuid::from_u128(7);

/// A record that the standby has.
const KEPT: Key = Key::new(KIND, Uuid::from_u128(1));

/// A record that only the first primary has.
const LOST: Key = Key::new(KIND, Uuid::from_u128(2));

/// A record that is written during the failover.
const NEW: Key = Key::new(KIND, Uuid::from_u128(3));

fn put(key: Key, precondition: Precondition, body: &'static str) -> Batch {
    let mut batch = Batch::new();
    batch.put(key, precondition, Facets::default().with_organization(OWNER), body);
    batch
}

async fn get(store: &PostgresStore, key: Key) -> Option<Record> {
    store.get(&[key]).await.unwrap().pop().flatten()
}

async fn revision(store: &PostgresStore) -> Revision {
    store.revision(KIND, OWNER).await.unwrap().unwrap()
}

/// Waits until a standby has everything that its primary has, and stops it.
fn stop_at_end_of_log(standby: &mut Cluster, primary: &Cluster) {
    let is_complete = "SELECT replay_lsn = pg_current_wal_lsn() FROM pg_stat_replication";
    primary.await_answer(is_complete, "t");
    standby.stop("fast");
}

/// Kills the primary, and makes a stopped standby its successor.
fn fail_over(primary: &mut Cluster, standby: &mut Cluster) {
    primary.kill_all();
    standby.start();
    standby.promote();
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn instances_serve_the_log_of_a_standby_that_lacks_the_latest_commits() {
    let Some(mut primary) = Cluster::start_new(UNSYNCED) else { return };
    let direct = primary.create_database();
    let mut standby = primary.start_standby();
    let connection = either(&primary, &standby, &direct);
    let builder = PostgresStore::builder(&connection);
    let (reading, writing) = (open(builder.clone()).await, open(builder).await);
    writing.commit(put(KEPT, Precondition::Absent, "kept")).await.unwrap();
    let revision_kept = revision(&reading).await;
    stop_at_end_of_log(&mut standby, &primary);
    writing.commit(put(KEPT, Precondition::Present, "lost")).await.unwrap();
    writing.commit(put(LOST, Precondition::Absent, "lost")).await.unwrap();
    let mut lost = Vec::new();
    for store in [&reading, &writing] {
        lost = vec![get(store, KEPT).await.unwrap(), get(store, LOST).await.unwrap()];
        assert!(lost.iter().all(|record| record.body == "lost"));
    }
    let revision_lost = revision(&reading).await;
    fail_over(&mut primary, &mut standby);

    assert_eq!(get(&reading, KEPT).await.unwrap().body, "kept");
    assert_eq!(get(&reading, LOST).await, None);
    assert_eq!(reading.list(&Query::new(KIND)).await.unwrap().total, 1);
    assert_eq!(revision(&reading).await, revision_kept);

    // This instance has not read yet, and gets batches that fit only the lost log.
    for batch in
        [put(LOST, Precondition::Present, "x"), put(KEPT, Precondition::Version(lost[0].version), "x")]
    {
        let error = writing.commit(batch).await.unwrap_err();
        assert!(matches!(error.kind(), StoreErrorKind::Conflict(_)), "{error}");
    }
    // At the same positions of the log as the lost commits.
    writing.commit(put(KEPT, Precondition::Present, "new")).await.unwrap();
    writing.commit(put(LOST, Precondition::Absent, "new")).await.unwrap();
    for store in [&reading, &writing] {
        for before in &lost {
            let record = get(store, before.key).await.unwrap();
            assert_eq!(record.body, "new");
            assert_eq!(record.version.0 >> 24, before.version.0 >> 24, "not at the same position");
            assert_ne!(record.version, before.version);
        }
        assert_eq!(store.status().reloads, 1);
    }
    assert!(![revision_kept, revision_lost].contains(&revision(&reading).await));
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn commit_of_unknown_outcome_is_repeated_once_its_log_is_lost() {
    let Some(mut primary) = Cluster::start_new(UNSYNCED) else { return };
    let direct = primary.create_database();
    let mut standby = primary.start_standby();
    let connection = either(&primary, &standby, &direct);
    let timeout = Duration::from_secs(60);
    let store = open(PostgresStore::builder(&connection).statement_timeout(timeout)).await;
    store.commit(put(KEPT, Precondition::Absent, "kept")).await.unwrap();
    stop_at_end_of_log(&mut standby, &primary);
    store.commit(put(LOST, Precondition::Absent, "lost")).await.unwrap();
    // Without a standby it waits when it is written, so that its outcome is unknown after the kill.
    primary.set_synchronous(true);
    let commit = async {
        store.commit(put(NEW, Precondition::Absent, "new")).await.unwrap();
        Instant::now()
    };
    let fail_over = async {
        let waiting = "SELECT count(*) FROM pg_stat_activity WHERE wait_event = 'SyncRep'";
        tokio::task::block_in_place(|| {
            primary.await_answer(waiting, "1");
            fail_over(&mut primary, &mut standby);
        });
        Instant::now()
    };
    let (answered, promoted) = tokio::join!(commit, fail_over);
    assert!(answered.saturating_duration_since(promoted) < Duration::from_secs(3));
    assert_eq!(get(&store, NEW).await.unwrap().body, "new");
    assert_eq!(get(&store, LOST).await, None);
    let error = store.commit(put(NEW, Precondition::Absent, "again")).await.unwrap_err();
    assert!(matches!(error.kind(), StoreErrorKind::Conflict(_)), "{error}");
    assert_eq!(get(&store, KEPT).await.unwrap().body, "kept");
}

/// Statements that wait for a lock, by their beginning.
fn locked(query: &str) -> String {
    format!("SELECT count(*) FROM pg_stat_activity WHERE wait_event_type = 'Lock' AND query LIKE '{query}%'")
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn commit_that_is_under_way_when_the_log_of_the_promoted_server_is_loaded_is_decided_by_it() {
    let Some(mut primary) = Cluster::start_new(UNSYNCED) else { return };
    let direct = primary.create_database();
    let mut standby = primary.start_standby();
    let proxy = Proxy::start(primary.folder(), Network::Works).await;
    let hosts = [("127.0.0.1".to_owned(), proxy.port())];
    let builder = PostgresStore::builder(&connection(&hosts, database_of(&direct)));
    let store = Arc::new(open(builder.statement_timeout(Duration::from_secs(60))).await);
    store.commit(put(KEPT, Precondition::Absent, "kept")).await.unwrap();
    stop_at_end_of_log(&mut standby, &primary);
    store.commit(put(LOST, Precondition::Absent, "lost")).await.unwrap();
    proxy.set(Network::Refuses).await;
    let committer = Arc::clone(&store);
    let commit = tokio::spawn(async move { committer.commit(put(LOST, Precondition::Present, "x")).await });
    tokio::task::block_in_place(|| fail_over(&mut primary, &mut standby));

    // The commit waits for the locks, one after the other. Reads wait only for the first one.
    let direct =
        direct.replace(&primary.folder().display().to_string(), &standby.folder().display().to_string());
    let (all, writes) = (connect(&direct).await, connect(&direct).await);
    all.batch_execute("BEGIN; LOCK TABLE topo_log IN ACCESS EXCLUSIVE MODE").await.unwrap();
    let (locking, is_locked) = (writes.batch_execute("BEGIN; LOCK TABLE topo_log IN SHARE MODE"), async {
        tokio::task::block_in_place(|| standby.await_answer(&locked("BEGIN; LOCK"), "1"));
        proxy.lead_to(standby.folder());
        proxy.set(Network::Works).await;
        tokio::task::block_in_place(|| standby.await_answer(&locked("WITH appended"), "1"));
        all.batch_execute("COMMIT").await.unwrap();
    });
    tokio::join!(locking, is_locked).0.unwrap();
    // This read finds another log, and has it loaded. So all connections are closed, that of the commit too.
    assert_eq!(get(&store, LOST).await, None);
    assert!(!commit.is_finished());
    writes.batch_execute("ROLLBACK").await.unwrap();
    let error = commit.await.unwrap().unwrap_err();
    assert!(matches!(error.kind(), StoreErrorKind::Conflict(_)), "{error}");
    assert_eq!(store.status().reloads, 1);
}
