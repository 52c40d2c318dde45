//! Servers whose data do not belong to the cluster that was used.

use std::time::Duration;

use toposcope::store::{PostgresStore, StoreErrorKind};

use super::super::{database_of, open};
use super::load::Instance;
use super::{connection, direct};
use crate::cluster::{Cluster, UNSYNCED};

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn server_that_comes_back_with_other_data_is_refused_until_the_instance_is_restarted() {
    let Some(mut cluster) = Cluster::start_new(UNSYNCED) else { return };
    let connection = cluster.create_database();
    let instance = Instance::new(open(PostgresStore::builder(&connection)).await, 0, 1);
    instance.write().await.unwrap();
    let mut exchange = || {
        tokio::task::block_in_place(|| {
            cluster.stop("fast");
            cluster.exchange_data();
            cluster.start();
        });
    };
    exchange();
    let create = format!("CREATE DATABASE {}", database_of(&connection));
    // Another instance has used the other data before.
    cluster.execute("postgres", &create);
    let other = Instance::new(open(PostgresStore::builder(&connection)).await, 0, 1);
    other.write().await.unwrap();
    for outcome in [instance.read().await, instance.write().await] {
        let error = outcome.unwrap_err();
        assert_eq!(*error.kind(), StoreErrorKind::Unavailable, "{error}");
        let text = error.to_string();
        assert!(text.contains("other data") && text.contains("restart this instance"), "{text}");
    }
    let mut exchange = || {
        tokio::task::block_in_place(|| {
            cluster.stop("fast");
            cluster.exchange_data();
            cluster.start();
        });
    };
    exchange();
    instance.read().await.unwrap();
    instance.write().await.unwrap();
    assert!(other.write().await.is_err());
    assert_eq!(instance.store.status().reloads, 0);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn hosts_of_two_clusters_are_refused_by_opening() {
    let (Some(one), Some(other)) = (Cluster::start_new(UNSYNCED), Cluster::start_new(UNSYNCED)) else {
        return;
    };
    let databases = [one.create_database(), other.create_database()];
    assert_eq!(database_of(&databases[0]), database_of(&databases[1]));
    let connection = connection(&[direct(&one), direct(&other)], database_of(&databases[0]));
    // On a busy machine, one of them may answer too late to be compared.
    for _ in 0..5 {
        let builder = PostgresStore::builder(&connection).open_timeout(Duration::from_secs(60));
        if let Err(error) = builder.open().await {
            assert_eq!(*error.kind(), StoreErrorKind::Invalid, "{error}");
            assert!(error.to_string().contains("do not belong to one cluster"), "{error}");
            return;
        }
    }
    panic!("one of two unrelated servers is chosen");
}
