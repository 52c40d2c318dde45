//! Connections that are cut while they commit.

use std::time::Duration;

use super::super::proxy::{Fault, Proxy};
use super::instances::Instances;
use super::usual_rounds;
use crate::cluster::Cluster;
use crate::durability::fresh_generator;

/// Ends the connections of the instances to the current database.
const TERMINATE: &str = "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE application_name = 'toposcope' \
    AND datname = current_database()";

/// Batches of a round, while connections are cut.
const BATCHES: u64 = 100;

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn connection_cut_before_or_after_a_commit_loses_nothing() {
    let Some(cluster) = Cluster::shared() else { return };
    let mut random = fresh_generator();
    let faults = [Fault::CutAnswer { one_in: 8 }, Fault::CutRequest { one_in: 8 }, Fault::CutPreparation];
    for fault in faults {
        let (proxy, direct) = (Proxy::start(cluster.folder(), fault), cluster.create_database());
        let mut instances = Instances::open_two(random.u64(..), &proxy.connection(&direct)).await;
        for _ in 0..usual_rounds() {
            instances.run_during(async |instances| instances.await_batches(BATCHES).await).await;
            instances.verify().await;
        }
        assert!(proxy.cuts() > 0);
        instances.finish(&format!("{} connections cut by {fault:?}", proxy.cuts()));
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn connections_that_the_server_ends_lose_nothing() {
    let Some(cluster) = Cluster::shared() else { return };
    let mut random = fresh_generator();
    let connection = cluster.create_database();
    let mut instances = Instances::open_two(random.u64(..), &connection).await;
    let (admin, driver) = tokio_postgres::connect(&connection, tokio_postgres::NoTls).await.unwrap();
    tokio::spawn(driver);
    let mut cuts = 0;
    for _ in 0..usual_rounds() {
        let run = async |instances: &mut Instances| {
            for _ in 0..5 {
                instances.await_batches(random.u64(1..40)).await;
                tokio::time::sleep(Duration::from_micros(random.u64(..3_000))).await;
                cuts += admin.query(TERMINATE, &[]).await.unwrap().len();
            }
            instances.await_service(&connection).await;
        };
        instances.run_during(run).await;
        instances.verify().await;
    }
    assert!(cuts > 0);
    instances.finish(&format!("{cuts} connections ended by the server"));
}
