//! One host fails, and another one serves.

use std::sync::Arc;
use std::time::{Duration, Instant};

use tokio::task::{JoinError, JoinSet};
use tokio::time::sleep;
use toposcope::store::{PostgresStore, Store, StoreErrorKind};

use super::super::{database_of, open};
use super::load::Instance;
use super::network::{Network, Proxy};
use super::{MAX_OUTAGE, connection, direct, rounds};
use crate::cluster::Cluster;

/// Three hosts in a connection string: one that fails, the primary, and a standby.
struct Hosts {
    failing: Proxy,
    primary: Proxy,
    connection: String,
}

impl Hosts {
    /// `place` is that of the failing host in the connection string.
    async fn start(servers: &[Cluster; 2], direct_connection: &str, place: usize) -> Self {
        let [primary, standby] = servers;
        let failing = Proxy::start(primary.folder(), Network::Works).await;
        let works = Proxy::start(primary.folder(), Network::Refuses).await;
        let mut hosts = vec![("127.0.0.1".to_owned(), works.port()), direct(standby)];
        hosts.insert(place, ("127.0.0.1".to_owned(), failing.port()));
        let connection = connection(&hosts, database_of(direct_connection));
        Self { failing, primary: works, connection }
    }
}

fn start_pair() -> Option<[Cluster; 2]> {
    let primary = Cluster::start_new(crate::cluster::UNSYNCED)?;
    let standby = primary.start_standby();
    Some([primary, standby])
}

/// Opens an instance while a host has failed. Returns how long that and a first read and write take.
async fn open_during(servers: Arc<[Cluster; 2]>, database: String, fault: Network, place: usize) -> Duration {
    let hosts = Hosts::start(&servers, &database, place).await;
    hosts.failing.set(fault).await;
    hosts.primary.set(Network::Works).await;
    let begin = Instant::now();
    let instance = Instance::new(open(PostgresStore::builder(&hosts.connection)).await, 0, 1);
    instance.write().await.unwrap();
    instance.read().await.unwrap();
    begin.elapsed()
}

/// Makes the host in use fail while it serves, and another one serve instead. Returns how long the instance needs.
async fn change_over(servers: Arc<[Cluster; 2]>, database: String, fault: Network, place: usize) -> Duration {
    let hosts = Hosts::start(&servers, &database, place).await;
    let instance = Instance::new(open(PostgresStore::builder(&hosts.connection)).await, 0, 1);
    instance.write().await.unwrap();
    let port = |proxy: &Proxy| format!("127.0.0.1:{}", proxy.port());
    assert_eq!(instance.store.status().server, port(&hosts.failing));
    let change = async {
        sleep(Duration::from_millis(100)).await;
        hosts.failing.set(fault).await;
        hosts.primary.set(Network::Works).await;
        let begin = Instant::now();
        while instance.write().await.is_err() || instance.read().await.is_err() {}
        begin.elapsed()
    };
    let outage = Instance::run_during(std::slice::from_ref(&instance), change).await;
    // An idle connection to the server in use. On a busy machine, a new one may take so long that any server that answers
    // would be used.
    instance.write().await.unwrap();
    // The recovered server is not used again, because the other one works.
    hosts.failing.set(Network::Works).await;
    instance.write().await.unwrap();
    instance.read().await.unwrap();
    let status = instance.store.status();
    assert_eq!((status.server, status.reloads), (port(&hosts.primary), 0), "{fault:?}");
    outage
}

/// Number of a kind of case, its outage and the fault.
type Case = (usize, Duration, Network);

/// Remembers the slowest case of each kind.
fn note(case: Option<Result<Case, JoinError>>, place: usize, slowest: &mut [(Duration, Network, usize); 2]) {
    let (kind, outage, fault) = case.unwrap().unwrap();
    assert!(outage < MAX_OUTAGE, "{fault:?} of host {place}: {outage:?}");
    if outage > slowest[kind].0 {
        slowest[kind] = (outage, fault, place);
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn host_that_fails_in_any_way_and_place_stops_no_instance_that_starts_or_runs() {
    let Some(servers) = start_pair() else { return };
    let servers = Arc::new(servers);
    let mut slowest = [(Duration::ZERO, Network::Works, 0); 2];
    for _ in 0..rounds() {
        for place in 0..3 {
            let mut cases = JoinSet::new();
            for fault in Network::FAULTS {
                let databases = [servers[0].create_database(), servers[0].create_database()];
                let [starts, runs] = databases;
                let (one, other) = (Arc::clone(&servers), Arc::clone(&servers));
                cases.spawn(async move { (0, open_during(one, starts, fault, place).await, fault) });
                cases.spawn(async move { (1, change_over(other, runs, fault, place).await, fault) });
                // Many rounds measure, so that their cases may not slow each other down.
                let most = if rounds() > 1 { 1 } else { usize::MAX };
                while cases.len() > most {
                    note(cases.join_next().await, place, &mut slowest);
                }
            }
            while !cases.is_empty() {
                note(cases.join_next().await, place, &mut slowest);
            }
        }
    }
    println!("slowest start: {:?}; slowest change: {:?}", slowest[0], slowest[1]);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn opening_waits_for_a_server_that_accepts_writes_as_long_as_it_may() {
    let Some(servers) = start_pair() else { return };
    let database = servers[0].create_database();
    let hosts = Hosts::start(&servers, &database, 0).await;
    hosts.failing.set(Network::Refuses).await;
    let builder = PostgresStore::builder(&hosts.connection);
    let error = builder.clone().open().await.unwrap_err();
    assert_eq!(*error.kind(), StoreErrorKind::Unavailable);
    let waiting = tokio::spawn(builder.clone().open_timeout(Duration::from_secs(60)).open());
    sleep(Duration::from_millis(500)).await;
    assert!(!waiting.is_finished());
    hosts.primary.set(Network::Works).await;
    assert!(waiting.await.unwrap().unwrap().get(&[]).await.is_ok());
    // An error of all servers that only another configuration mends is returned at once.
    hosts.failing.set(Network::Works).await;
    let wrong = hosts.connection.replace("user=postgres", "user=nobody");
    let begin = Instant::now();
    let error =
        PostgresStore::builder(&wrong).open_timeout(Duration::from_secs(60)).open().await.unwrap_err();
    assert!(error.to_string().contains("rejects the user"), "{error}");
    assert!(begin.elapsed() < MAX_OUTAGE);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn calls_wait_for_the_end_of_a_short_outage() {
    let Some(servers) = start_pair() else { return };
    let database = servers[0].create_database();
    let hosts = Hosts::start(&servers, &database, 0).await;
    let instance = Instance::new(open(PostgresStore::builder(&hosts.connection)).await, 0, 1);
    instance.write().await.unwrap();
    hosts.failing.set(Network::Refuses).await;
    let calls = async { tokio::join!(instance.read(), instance.write()) };
    let end = async {
        sleep(Duration::from_secs(1)).await;
        hosts.primary.set(Network::Works).await;
    };
    let ((read, written), ()) = tokio::join!(calls, end);
    read.unwrap();
    written.unwrap();
    let status = instance.store.status();
    assert!(status.failed_connects > 0);
    assert_eq!(status.server_changes, 1);
    assert!(status.since_last_commit.unwrap() < MAX_OUTAGE);
}

#[tokio::test]
async fn connections_are_replaced_when_their_lifetime_is_over() {
    let Some(cluster) = Cluster::shared() else { return };
    let connection = cluster.create_database();
    let builder = PostgresStore::builder(&connection).connection_lifetime(Duration::ZERO);
    let instance = Instance::new(open(builder).await, 0, 1);
    for _ in 0..3 {
        instance.write().await.unwrap();
        instance.read().await.unwrap();
    }
    assert_eq!(instance.store.status().connections_idle, 0);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn commits_of_two_instances_at_the_same_time_fill_no_log_of_the_server() {
    let Some(cluster) = Cluster::start_new(crate::cluster::UNSYNCED) else { return };
    let connection = cluster.create_database();
    let mut instances = Vec::new();
    for own in 0..2 {
        instances.push(Instance::new(open(PostgresStore::builder(&connection)).await, own, 2));
    }
    let conflicts = || instances.iter().map(|one| one.store.status().commit_conflicts).sum::<u64>();
    Instance::run_during(&instances, async {
        let begin = Instant::now();
        // On one processor, few commits are at the same time.
        while conflicts() < 20 && begin.elapsed() < Duration::from_secs(60) {
            tokio::join!(instances[0].write(), instances[1].write()).0.unwrap();
        }
    })
    .await;
    assert!(conflicts() > 0, "no commits were at the same time");
    let log = cluster.log();
    assert!(!log.contains("duplicate key") && !log.contains("topo_log_pkey"), "{log}");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn connections_to_one_address_of_a_server_stay_when_another_address_is_used() {
    let Some(servers) = start_pair() else { return };
    let database = servers[0].create_database();
    let hosts = Hosts::start(&servers, &database, 0).await;
    let builder = PostgresStore::builder(&hosts.connection).connection_lifetime(Duration::ZERO);
    let instance = Instance::new(open(builder).await, 0, 1);
    instance.write().await.unwrap();
    let mut snapshot = instance.store.snapshot().await.unwrap();
    assert_eq!(snapshot.next(1).await.unwrap().len(), 1);
    hosts.primary.set(Network::Works).await;
    hosts.failing.set(Network::Silent).await;
    instance.write().await.unwrap();
    instance.read().await.unwrap();
    hosts.failing.set(Network::Works).await;
    let status = instance.store.status();
    assert_eq!(status.server, format!("127.0.0.1:{}", hosts.primary.port()));
    assert_eq!(status.server_changes, 1);
    assert!(snapshot.next(1).await.unwrap().is_empty());
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn connections_that_the_network_has_forgotten_are_all_replaced_once_one_of_them_is_silent() {
    let Some(cluster) = Cluster::shared() else { return };
    let connection = cluster.create_database();
    let proxy = Proxy::start(cluster.folder(), Network::Works).await;
    let hosts = [("127.0.0.1".to_owned(), proxy.port())];
    let store = open(PostgresStore::builder(&super::connection(&hosts, database_of(&connection)))).await;
    let instance = Instance::new(store, 0, 1);
    instance.write().await.unwrap();
    // Calls at the same time need several connections.
    while instance.store.status().connections_idle < 2 {
        let load = sleep(Duration::from_millis(20));
        Instance::run_during(std::slice::from_ref(&instance), load).await;
    }
    proxy.forget_connections();
    let begin = Instant::now();
    for _ in 0..4 {
        while instance.read().await.is_err() {}
        while instance.write().await.is_err() {}
    }
    assert!(begin.elapsed() < MAX_OUTAGE, "{:?}", begin.elapsed());
}
