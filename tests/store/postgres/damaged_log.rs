//! Entries of the log that no instance of this library writes there.

use std::error::Error;

use toposcope::store::{
    Batch, Facets, Key, Name, PostgresStore, Precondition, Store, StoreErrorKind, UniqueKey,
};
use uuid::Uuid;

use super::{connect, open};
use crate::cluster::Cluster;

const KIND: Name = Name::new("note");

/// The place of the second entry, which follows the one that every log begins with.
const PLACE: i64 = 2;

fn key(id: u128) -> Key {
    Key::new(KIND, Uuid::from_u128(id))
}

/// Puts a record with a unique key, which is the same for all.
async fn put(store: &PostgresStore, id: u128) {
    let unique_key = UniqueKey::new(Name::new("name"), "core");
    let mut batch = Batch::new();
    batch.put(
        key(id),
        Precondition::Absent,
        Facets::default().with_unique_keys([unique_key]),
        id.to_string(),
    );
    store.commit(batch).await.unwrap();
}

#[tokio::test]
async fn entry_that_breaks_a_limit_is_reported_and_not_applied() {
    let Some(cluster) = Cluster::shared() else { return };
    let [one, other] = [cluster.create_database(), cluster.create_database()];
    let store = open(PostgresStore::builder(&one)).await;
    put(&store, 1).await;
    put(&open(PostgresStore::builder(&other)).await, 2).await;

    // The entry of the other database puts another record with the same unique key.
    let changes = "SELECT changes FROM topo_log ORDER BY position DESC LIMIT 1";
    let changes: Vec<u8> = connect(&other).await.query_one(changes, &[]).await.unwrap().get(0);
    let append = "INSERT INTO topo_log SELECT shard, position + 1, nonce, gen_random_uuid(), $1 FROM topo_log \
        ORDER BY position DESC LIMIT 1";
    let client = connect(&one).await;
    client.execute(append, &[&changes]).await.unwrap();
    for error in
        [store.get(&[key(1)]).await.unwrap_err(), store.revision(KIND, Uuid::nil()).await.unwrap_err()]
    {
        assert_eq!(*error.kind(), StoreErrorKind::Corrupt, "{error}");
        assert!(error.to_string().contains(&format!("entry {PLACE} of the log")), "{error}");
        assert!(error.source().is_some(), "{error}");
    }
    client.execute("DELETE FROM topo_log WHERE position = $1", &[&PLACE]).await.unwrap();
    assert!(store.get(&[key(1)]).await.unwrap()[0].is_some());
    assert_eq!(store.get(&[key(2)]).await.unwrap(), [None]);
}
