//! Several instances on one database: revisions, and loading the index again.

use std::time::{Duration, Instant};

use toposcope::store::{Batch, Facets, Key, Name, PostgresStore, Precondition, Revision, Store};
use uuid::Uuid;

use super::{database_of, open};
use crate::cluster::Cluster;

const KIND: Name = Name::new("note");
const OWNER: Uuid = Uuid::from_u128(7);

async fn put(store: &PostgresStore, id: u128, organization: Uuid) {
    let mut facets = Facets::default();
    facets.organization = Some(organization);
    let mut batch = Batch::new();
    batch.put(Key::new(KIND, Uuid::from_u128(id)), Precondition::Any, facets, id.to_string());
    store.commit(batch).await.unwrap();
}

async fn revision(store: &PostgresStore) -> Revision {
    store.revision(KIND, OWNER).await.unwrap().unwrap()
}

#[tokio::test]
async fn instances_agree_on_revisions_until_they_are_renewed() {
    let Some(cluster) = Cluster::shared() else { return };
    let connection = cluster.create_database();
    let (one, other) =
        (open(PostgresStore::builder(&connection)).await, open(PostgresStore::builder(&connection)).await);
    put(&one, 1, OWNER).await;
    let before = revision(&one).await;
    put(&other, 2, Uuid::from_u128(8)).await;
    assert_eq!(revision(&other).await, before);
    assert_eq!(revision(&open(PostgresStore::builder(&connection)).await).await, before);
    other.renew().await.unwrap();
    let after = revision(&one).await;
    assert_ne!(after, before);
    assert_eq!(revision(&other).await, after);
    assert_eq!(revision(&open(PostgresStore::builder(&connection)).await).await, after);
    put(&one, 3, OWNER).await;
    assert_ne!(revision(&other).await, after);
}

#[tokio::test]
async fn instance_whose_log_was_replaced_loads_it_again() {
    let Some(cluster) = Cluster::shared() else { return };
    let connection = cluster.create_database();
    let store = open(PostgresStore::builder(&connection)).await;
    put(&store, 1, OWNER).await;
    // As after a failover to a server that lacks the last commit and has another one.
    let replaced = "UPDATE topo_log SET nonce = gen_random_uuid() WHERE position = 1";
    cluster.execute(database_of(&connection), replaced);
    assert!(store.get(&[Key::new(KIND, Uuid::from_u128(1))]).await.unwrap()[0].is_some());
    assert_eq!(store.status().reloads, 1);
    put(&store, 2, OWNER).await;
    assert_eq!(store.status().log_position, 2);
}

#[tokio::test]
async fn instance_that_differs_from_the_log_loads_it_again() {
    let Some(cluster) = Cluster::shared() else { return };
    let connection = cluster.create_database();
    let (one, other) =
        (open(PostgresStore::builder(&connection)).await, open(PostgresStore::builder(&connection)).await);
    // Byte 9 is the first of the digest.
    let damage = "CREATE FUNCTION damage() RETURNS trigger LANGUAGE plpgsql AS \
        'BEGIN NEW.changes = set_byte(NEW.changes, 9, get_byte(NEW.changes, 9) # 1); RETURN NEW; END'; \
        CREATE TRIGGER damage BEFORE INSERT ON topo_log FOR EACH ROW WHEN (NEW.position = 2) EXECUTE FUNCTION damage()";
    cluster.execute(database_of(&connection), damage);
    for (id, reloads) in [(1, 0), (2, 1), (3, 2), (4, 2)] {
        put(&one, id, OWNER).await;
        assert!(other.get(&[Key::new(KIND, Uuid::from_u128(id))]).await.unwrap()[0].is_some());
        assert_eq!(other.status().reloads, reloads, "after {id}");
    }
    assert_eq!(one.status().reloads, 0);
}

#[tokio::test]
async fn snapshot_stays_readable_after_the_last_handle_to_its_store_is_dropped() {
    let Some(cluster) = Cluster::shared() else { return };
    let connection = cluster.create_database();
    let store = open(PostgresStore::builder(&connection)).await;
    for id in 0..5 {
        put(&store, id, OWNER).await;
    }
    let mut snapshot = store.snapshot().await.unwrap();
    let mut ids: Vec<Uuid> = Vec::new();
    let mut store = Some(store);
    loop {
        let entries = snapshot.next(2).await.unwrap();
        if entries.is_empty() {
            break;
        }
        ids.extend(entries.iter().map(|entry| entry.record.key.id));
        drop(store.take());
        // The tasks of the store end meanwhile.
        tokio::time::sleep(Duration::from_millis(50)).await;
    }
    assert_eq!(ids, (0..5).map(Uuid::from_u128).collect::<Vec<_>>());
}

#[tokio::test]
async fn trimmed_log_serves_new_and_old_instances() {
    let Some(cluster) = Cluster::shared() else { return };
    let connection = cluster.create_database();
    let trimming = open(PostgresStore::builder(&connection).log_retention(Duration::ZERO, 0)).await;
    let reading = open(PostgresStore::builder(&connection)).await;
    for id in 0..5 {
        put(&trimming, id, OWNER).await;
    }
    let deadline = Instant::now() + Duration::from_secs(30);
    while cluster.execute(database_of(&connection), "SELECT min(position) = max(position) FROM topo_log")
        != "t"
    {
        assert!(Instant::now() < deadline, "the log is not trimmed");
        tokio::time::sleep(Duration::from_millis(20)).await;
    }
    put(&reading, 5, OWNER).await;
    for store in [&trimming, &reading, &open(PostgresStore::builder(&connection)).await] {
        for id in 0..6 {
            assert!(store.get(&[Key::new(KIND, Uuid::from_u128(id))]).await.unwrap()[0].is_some());
        }
    }
}
