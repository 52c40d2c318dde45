//! Failover to a standby that lacks the latest commits.

use std::time::{Duration, Instant};

use toposcope::store::{
    Batch, Facets, Key, Name, PostgresStore, Precondition, Query, Record, Revision, Store, StoreErrorKind,
};
use uuid::Uuid;

use super::super::open;
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
        let mut error = writing.commit(batch.clone()).await.unwrap_err();
        // On a busy machine, the first commit may still be sent to the killed primary. Then its outcome was unknown, until
        // its log turned out to be lost.
        if *error.kind() == StoreErrorKind::Unavailable {
            eprintln!("tried again: {error}");
            error = writing.commit(batch).await.unwrap_err();
        }
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
async fn commit_of_unknown_outcome_is_answered_when_its_log_is_lost() {
    let Some(mut primary) = Cluster::start_new(UNSYNCED) else { return };
    let direct = primary.create_database();
    let mut standby = primary.start_standby();
    let connection = either(&primary, &standby, &direct);
    let patience = Duration::from_secs(60);
    let store = open(PostgresStore::builder(&connection).statement_timeout(patience)).await;
    store.commit(put(KEPT, Precondition::Absent, "kept")).await.unwrap();
    stop_at_end_of_log(&mut standby, &primary);
    store.commit(put(LOST, Precondition::Absent, "lost")).await.unwrap();
    // Without a standby it waits when it is written, so that its outcome is unknown after the kill.
    primary.set_synchronous(true);
    let commit = async {
        let error = store.commit(put(NEW, Precondition::Absent, "new")).await.unwrap_err();
        assert_eq!(*error.kind(), StoreErrorKind::Unavailable, "{error}");
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
    assert_eq!(get(&store, NEW).await, None);
    assert_eq!(get(&store, LOST).await, None);
    store.commit(put(NEW, Precondition::Absent, "again")).await.unwrap();
    assert_eq!(get(&store, NEW).await.unwrap().body, "again");
    assert_eq!(get(&store, KEPT).await.unwrap().body, "kept");
}
