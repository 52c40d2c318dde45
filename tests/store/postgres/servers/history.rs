//! Servers whose history does not continue that of the servers before, or that do not identify it.

use toposcope::store::{PostgresStore, StoreErrorKind};

use super::super::{database_of, open};
use super::connection;
use super::load::Instance;
use super::network::{Network, Proxy};
use super::promotion::{assert_refused, await_standby};
use crate::cluster::{Cluster, UNSYNCED};

/// A user without special rights, for whom the functions of the schema `own` come before those of the system.
const CREATE_USER: &str = "CREATE ROLE app LOGIN; CREATE SCHEMA own AUTHORIZATION app; \
    GRANT ALL ON SCHEMA public TO app; ALTER ROLE app SET search_path = public, own, pg_catalog";

/// A replacement for the server's function that returns its system identifier. It fails.
const FAIL: &str = "CREATE FUNCTION own.pg_control_system() RETURNS TABLE(system_identifier bigint) LANGUAGE plpgsql \
    AS 'BEGIN RAISE EXCEPTION ''out of order'' USING ERRCODE = ''XX000''; END'";

const TERMINATE: &str = "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE usename = 'app'";

/// Starts a server, and returns the connection string of the user.
fn start() -> Option<(Cluster, String)> {
    let cluster = Cluster::start_new(UNSYNCED)?;
    let direct = cluster.create_database();
    cluster.execute(database_of(&direct), CREATE_USER);
    Some((cluster, direct.replace("user=postgres", "user=app")))
}

/// Asserts that reads and writes fail for a reason once the connections were closed.
async fn assert_refused_for(instance: &Instance, reason: &str) {
    for error in [instance.read().await.unwrap_err(), instance.write().await.unwrap_err()] {
        assert_eq!(*error.kind(), StoreErrorKind::Unavailable, "{error}");
        assert!(error.to_string().contains(reason), "{error}");
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn standby_of_another_cluster_is_refused() {
    let (Some(primary), Some(other)) = (Cluster::start_new(UNSYNCED), Cluster::start_new(UNSYNCED)) else {
        return;
    };
    let databases = [primary.create_database(), other.create_database()];
    assert_eq!(database_of(&databases[0]), database_of(&databases[1]));
    let standbys = [primary.start_standby(), other.start_standby()];
    for (primary, database) in [&primary, &other].into_iter().zip(&databases) {
        await_standby(primary);
        let instance = Instance::new(open(PostgresStore::builder(database)).await, 0, 1);
        instance.write().await.unwrap();
        instance.store.close().await.unwrap();
        primary.await_answer("SELECT replay_lsn = pg_current_wal_lsn() FROM pg_stat_replication", "t");
    }
    let proxy = Proxy::start(standbys[0].folder(), Network::Works).await;
    let hosts = [("127.0.0.1".to_owned(), proxy.port())];
    let connection = connection(&hosts, database_of(&databases[0])).replace("read-write", "read-only");
    let instance = Instance::new(open(PostgresStore::builder(&connection)).await, 0, 1);
    instance.read().await.unwrap();
    proxy.lead_to(standbys[1].folder());
    assert_refused(&instance, &proxy, "other data").await;
    proxy.lead_to(standbys[0].folder());
    instance.read().await.unwrap();
    assert_eq!(instance.store.status().reloads, 0);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn server_that_fails_to_tell_its_history_is_refused_until_it_does() {
    let Some((cluster, connection)) = start() else { return };
    let database = database_of(&connection);
    let instance = Instance::new(open(PostgresStore::builder(&connection)).await, 0, 1);
    instance.write().await.unwrap();
    assert_eq!(instance.store.status().timeline, Some(1));
    cluster.execute(database, FAIL);
    cluster.execute(database, TERMINATE);
    assert_refused_for(&instance, "does not answer what it is").await;
    let error = PostgresStore::open(&connection).await.unwrap_err();
    assert_eq!(*error.kind(), StoreErrorKind::Unavailable, "{error}");
    assert!(error.to_string().contains("does not answer what it is"), "{error}");
    cluster.execute(database, "DROP FUNCTION own.pg_control_system()");
    instance.read().await.unwrap();
    instance.write().await.unwrap();
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn server_that_may_not_tell_its_history_any_more_is_refused_until_the_instance_is_restarted() {
    let Some((cluster, connection)) = start() else { return };
    let database = database_of(&connection);
    let instance = Instance::new(open(PostgresStore::builder(&connection)).await, 0, 1);
    instance.write().await.unwrap();
    cluster.execute(database, "REVOKE EXECUTE ON FUNCTION pg_catalog.pg_control_system() FROM PUBLIC");
    cluster.execute(database, TERMINATE);
    assert_refused_for(&instance, "does not tell its system identifier").await;
    // As databases that are similar to PostgreSQL, which have no such function.
    let other = Instance::new(open(PostgresStore::builder(&connection)).await, 0, 1);
    other.write().await.unwrap();
    assert_eq!(other.store.status().timeline, None);
    cluster.execute(database, "GRANT EXECUTE ON FUNCTION pg_catalog.pg_control_system() TO PUBLIC");
    instance.read().await.unwrap();
    other.read().await.unwrap();
}
