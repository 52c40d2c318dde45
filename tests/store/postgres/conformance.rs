//! Runs the conformance suite on one and on several instances.
//!
//! It runs at all isolation levels of the database.

use std::sync::Arc;
use std::time::Duration;

use toposcope::store::{PostgresStore, PostgresStoreBuilder, Store};
use toposcope::testing;

use super::proxy::{Fault, Proxy};
use super::{database_of, open};
use crate::cluster::Cluster;
use crate::in_turn::InTurn;

/// Number of cases that share a database. Snapshots contain the records of all of them.
const CASES: usize = 32;

/// Timeout that is longer than a checkpoint takes on a busy disk. The suite is about the answers of a store, not about
/// their time.
const TIMEOUT: Duration = Duration::from_secs(60);

/// Runs all cases on instances that perform one operation in turn.
async fn assert_conforms(
    cluster: Option<&'static Cluster>,
    isolation: &str,
    instances: usize,
    options: fn(PostgresStoreBuilder) -> PostgresStoreBuilder,
    connect: impl Fn(&Cluster, String) -> String,
) {
    let Some(cluster) = cluster else { return };
    let (mut current, mut cases) = (None, 0);
    let make = async || {
        if cases % CASES == 0 {
            close(current.take()).await;
            let connection = cluster.create_database();
            let database = database_of(&connection);
            cluster.execute(
                database,
                &format!("ALTER DATABASE {database} SET default_transaction_isolation = '{isolation}'"),
            );
            let connection = connect(cluster, connection);
            let mut stores = Vec::new();
            for _ in 0..instances {
                let builder = PostgresStore::builder(&connection).statement_timeout(TIMEOUT);
                stores.push(open(options(builder.acquire_timeout(TIMEOUT))).await);
            }
            current = Some(Arc::new(InTurn::new(stores)));
        }
        cases += 1;
        current.clone().unwrap()
    };
    testing::run(make).await.assert_passed();
    close(current).await;
}

async fn close(stores: Option<Arc<InTurn<PostgresStore>>>) {
    for store in stores.iter().flat_map(|stores| stores.stores()) {
        assert_eq!(store.status().reloads, 0, "the instances disagree");
        store.close().await.unwrap();
        assert!(store.get(&[]).await.is_err());
    }
}

fn direct(_: &Cluster, connection: String) -> String {
    connection
}

#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn three_instances_at_read_committed_conform() {
    assert_conforms(Cluster::shared(), "read committed", 3, |builder| builder, direct).await;
}

#[tokio::test]
async fn three_instances_at_repeatable_read_conform_on_one_thread() {
    assert_conforms(Cluster::shared(), "repeatable read", 3, |builder| builder.max_connections(2), direct)
        .await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn instance_at_serializable_in_a_schema_conforms_without_cached_bodies() {
    assert_conforms(
        Cluster::shared(),
        "serializable",
        1,
        |builder| builder.schema("an \"odd\" schema").body_cache_bytes(0),
        direct,
    )
    .await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn three_instances_at_serializable_without_prepared_statements_conform() {
    assert_conforms(
        Cluster::shared(),
        "serializable",
        3,
        |builder| builder.transaction_pooling(true),
        direct,
    )
    .await;
}

/// Runs the suite on two instances whose connections have a fault.
async fn assert_conforms_despite(fault: Fault) {
    let proxied =
        |cluster: &Cluster, connection: String| Proxy::start(cluster.folder(), fault).connection(&connection);
    assert_conforms(Cluster::shared(), "read committed", 2, |builder| builder, proxied).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn instances_whose_connections_end_before_the_answers_to_commits_conform() {
    assert_conforms_despite(Fault::CutAnswer { one_in: 16 }).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn instances_whose_connections_end_before_commits_conform() {
    assert_conforms_despite(Fault::CutRequest { one_in: 16 }).await;
}
