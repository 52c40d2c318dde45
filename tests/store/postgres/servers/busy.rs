//! Servers that are alive, but have no place for another connection.

use std::time::Duration;

use tokio::sync::watch;
use tokio::task::JoinHandle;
use tokio::time::sleep;
use tokio_postgres::error::SqlState;
use tokio_postgres::{Client, NoTls};
use toposcope::store::{PostgresStore, PostgresStoreBuilder};

use super::super::{connect, database_of, open};
use super::connection;
use super::load::Instance;
use super::network::{Network, Proxy};
use crate::cluster::{Cluster, UNSYNCED};

/// Number of connections of the connection that watches a server and has asked it.
const WATCHING: &str = "SELECT count(*) FROM pg_stat_activity WHERE application_name = 'toposcope' \
    AND datname = current_database() AND state = 'idle' AND query LIKE '%pg_control_system%'";

/// Pause before a server is asked again.
const RETRY_DELAY: Duration = Duration::from_millis(5);

/// Takes all places of a server, and those that become free later.
struct Crowd(JoinHandle<()>);

impl Crowd {
    async fn gather(direct: &str) -> Self {
        let (full, mut is_full) = watch::channel(false);
        let direct = direct.to_owned();
        let gathering = tokio::spawn(async move {
            let mut clients = Vec::new();
            loop {
                match tokio_postgres::connect(&direct, NoTls).await {
                    Ok((client, driver)) => {
                        tokio::spawn(driver);
                        clients.push(client);
                    }
                    Err(error) => {
                        assert_eq!(error.code(), Some(&SqlState::TOO_MANY_CONNECTIONS), "{error}");
                        full.send_replace(true);
                        sleep(RETRY_DELAY).await;
                    }
                }
            }
        });
        is_full.wait_for(|full| *full).await.unwrap();
        Self(gathering)
    }
}

impl Drop for Crowd {
    fn drop(&mut self) {
        self.0.abort();
    }
}

/// Short timeouts, after a part of which the server is asked whether it answers at all.
fn builder(connection: &str) -> PostgresStoreBuilder {
    PostgresStore::builder(connection).statement_timeout(Duration::from_secs(1))
}

/// Makes reads wait for a lock. Asserts that they end by the timeout of their statement, and not because the server is
/// given up, and that the instance continues with its connections.
async fn assert_not_given_up(instance: &Instance, locker: &Client) {
    locker.batch_execute("BEGIN; LOCK TABLE topo_log IN ACCESS EXCLUSIVE MODE").await.unwrap();
    for _ in 0..2 {
        let error = instance.read().await.unwrap_err();
        assert!(error.to_string().contains("longer than its timeout"), "{error}");
    }
    locker.batch_execute("ROLLBACK").await.unwrap();
    instance.read().await.unwrap();
    instance.write().await.unwrap();
    assert_eq!(instance.store.status().server_changes, 0);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn server_that_refuses_further_connections_is_not_given_up() {
    let Some(cluster) = Cluster::start_new(&["fsync=off", "max_connections=20"]) else { return };
    let direct = cluster.create_database();
    let instance = Instance::new(open(builder(&direct)).await, 0, 1);
    instance.write().await.unwrap();
    instance.read().await.unwrap();
    let locker = connect(&direct).await;
    let crowd = Crowd::gather(&direct).await;
    assert_not_given_up(&instance, &locker).await;
    drop(crowd);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn server_behind_a_pooler_without_a_free_connection_is_not_given_up() {
    let Some(cluster) = Cluster::start_new(UNSYNCED) else { return };
    let direct = cluster.create_database();
    let proxy = Proxy::start(cluster.folder(), Network::Works).await;
    let hosts = [("127.0.0.1".to_owned(), proxy.port())];
    let instance = Instance::new(open(builder(&connection(&hosts, database_of(&direct)))).await, 0, 1);
    instance.write().await.unwrap();
    instance.read().await.unwrap();
    let locker = connect(&direct).await;
    while locker.query_one(WATCHING, &[]).await.unwrap().get::<_, i64>(0) == 0 {
        sleep(RETRY_DELAY).await;
    }
    proxy.set(Network::Queues).await;
    assert_not_given_up(&instance, &locker).await;
}
