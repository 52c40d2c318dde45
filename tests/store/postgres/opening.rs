//! Opening: creating the tables, and errors of the connection.

use std::net::{Ipv4Addr, Ipv6Addr};
use std::time::{Duration, Instant};

use toposcope::store::{Batch, Facets, Key, Name, PostgresStore, Precondition, Store, StoreErrorKind};
use uuid::Uuid;

use super::database_of;
use super::servers::network::{Network, Proxy};
use crate::cluster::Cluster;

/// The time within which every call ends with the default options.
const TIMEOUT: Duration = Duration::from_secs(5);

const NOTE: Key = Key::new(Name::new("note"), Uuid::from_u128(1));

fn put(body: &'static str) -> Batch {
    let mut batch = Batch::new();
    batch.put(NOTE, Precondition::Any, Facets::default(), body);
    batch
}

#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn eight_instances_open_an_empty_database_at_the_same_time() {
    let Some(cluster) = Cluster::shared() else { return };
    for schema in [None, Some("inventory")] {
        let connection = cluster.create_database();
        let opening = (0..8).map(|_| {
            let builder = PostgresStore::builder(&connection);
            let builder = schema.map_or(builder.clone(), |schema| builder.schema(schema));
            tokio::spawn(async move { builder.open().await.unwrap() })
        });
        let opening: Vec<_> = opening.collect();
        let mut stores = Vec::new();
        for store in opening {
            stores.push(store.await.unwrap());
        }
        stores[0].commit(put("shared")).await.unwrap();
        for store in &stores {
            let found = store.get(&[NOTE]).await.unwrap().pop().flatten();
            assert_eq!(found.map(|record| record.body).as_deref(), Some(&b"shared"[..]));
        }
    }
}

#[tokio::test]
async fn newer_format_is_refused() {
    let Some(cluster) = Cluster::shared() else { return };
    let connection = cluster.create_database();
    PostgresStore::open(&connection).await.unwrap().close().await.unwrap();
    cluster.execute(database_of(&connection), "UPDATE topo_format SET format = 2");
    let error = PostgresStore::open(&connection).await.unwrap_err();
    assert_eq!(*error.kind(), StoreErrorKind::Invalid);
    assert!(error.to_string().contains("format 2"), "{error}");
}

#[tokio::test]
async fn connection_that_cannot_be_made_is_unavailable_and_names_the_cause() {
    let Some(cluster) = Cluster::shared() else { return };
    let folder = cluster.folder().display();
    let cases = [
        (format!("host={folder} user=postgres dbname=missing"), "no such database"),
        (format!("host={folder} user=nobody dbname=postgres"), "rejects the user"),
        (format!("host={folder}/none user=postgres"), "cannot be reached"),
        (format!("host={folder} user=postgres sslmode=require"), "cannot be reached"),
        ("host=192.0.2.1 user=postgres password=secret".to_owned(), ""),
    ];
    for (connection, cause) in cases {
        let begin = Instant::now();
        let error = PostgresStore::open(&connection).await.unwrap_err();
        assert!(begin.elapsed() < TIMEOUT, "{connection}");
        assert_eq!(*error.kind(), StoreErrorKind::Unavailable, "{connection}");
        assert!(error.to_string().contains(cause), "{connection}: {error}");
        assert!(!format!("{error:?}").contains("secret"), "{error:?}");
    }
}

#[tokio::test]
async fn invalid_connection_string_is_not_quoted() {
    for connection in ["host=x password='secret", "password=a secret=b", "postgres://u:secret@:x/"] {
        let builder = PostgresStore::builder(connection);
        assert!(!format!("{builder:?}").contains("secret"));
        let error = builder.open().await.unwrap_err();
        assert_eq!(*error.kind(), StoreErrorKind::Invalid);
        assert!(!format!("{error:?}").contains("secret"), "{error:?}");
    }
}

#[tokio::test]
async fn connection_string_that_cannot_work_is_refused_and_names_the_part() {
    let cases = [
        ("host=a,b,c port=1,2 user=u", "different numbers of hosts, addresses and ports"),
        ("host=a hostaddr=127.0.0.1,127.0.0.2 user=u", "different numbers of hosts, addresses and ports"),
        ("user=u dbname=d", "no host"),
        ("host=a,b target_session_attrs=primary user=u", "`target_session_attrs`"),
        ("postgres://u@a,b/d?target_session_attrs=standby", "`target_session_attrs`"),
        ("host=a sslmode=verify-full user=u", "`sslmode`"),
        ("host=a port=99999 user=u", "`port`"),
        ("postgres://u:secret@[::1/d", "`host`"),
        ("host=a hostaddr=nowhere user=u", "`hostaddr`"),
        ("postgres://u:p@secret@b/d", "%40"),
    ];
    for (connection, part) in cases {
        let error = PostgresStore::open(connection).await.unwrap_err();
        assert_eq!(*error.kind(), StoreErrorKind::Invalid, "{connection}: {error}");
        assert!(error.to_string().contains(part), "{connection}: {error}");
        assert!(!format!("{error:?}").contains("secret"), "{error:?}");
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn hosts_are_names_addresses_and_sockets_in_any_mixture() {
    let Some(cluster) = Cluster::shared() else { return };
    let socket = cluster.folder().display().to_string();
    let database = cluster.create_database();
    let database = database_of(&database);
    let works = Network::Works;
    let four_proxy = Proxy::start_at(Ipv4Addr::LOCALHOST.into(), 0, cluster.folder(), works).await;
    let six_proxy = Proxy::start_at(Ipv6Addr::LOCALHOST.into(), 0, cluster.folder(), works).await;
    let (four, six) = (four_proxy.port(), six_proxy.port());
    let encoded = socket.replace('/', "%2F");
    let cases = [
        (format!("host=::1 port={six} user=postgres dbname={database}"), format!("[::1]:{six}")),
        (format!("postgres://postgres@[::1]:{six}/{database}"), format!("[::1]:{six}")),
        (format!("hostaddr=::1 port={six} user=postgres dbname={database}"), format!("[::1]:{six}")),
        (
            format!("host=nowhere.invalid hostaddr=127.0.0.1 port={four} user=postgres dbname={database}"),
            format!("nowhere.invalid:{four}"),
        ),
        (
            format!("host=/nowhere,127.0.0.1 port=5432,{four} user=postgres dbname={database}"),
            format!("127.0.0.1:{four}"),
        ),
        (
            format!("host=127.0.0.1,{socket} port=1,5432 user=postgres dbname={database}"),
            format!("{socket}:5432"),
        ),
        (format!("postgres://postgres@127.0.0.1:1,[::1]:{six}/{database}"), format!("[::1]:{six}")),
        (format!("postgres://postgres@[::1]:1,{encoded}/{database}"), format!("{socket}:5432")),
        (
            format!("host=nowhere.invalid,localhost port={four} user=postgres dbname={database}"),
            format!("localhost:{four}"),
        ),
    ];
    for (connection, server) in cases {
        let store =
            PostgresStore::open(&connection).await.unwrap_or_else(|error| panic!("{connection}: {error:?}"));
        store.commit(put("a body")).await.unwrap();
        assert_eq!(store.status().server, server, "{connection}");
    }
}

#[tokio::test]
async fn longest_timeouts_can_be_set() {
    let Some(cluster) = Cluster::shared() else { return };
    let builder = PostgresStore::builder(&cluster.create_database());
    let longest = Duration::MAX;
    let builders = [
        builder.clone().statement_timeout(longest),
        builder.clone().acquire_timeout(longest),
        builder.acquire_timeout(longest).connect_timeout(longest).statement_timeout(longest),
    ];
    for builder in builders {
        let builder =
            builder.open_timeout(longest).connection_lifetime(longest).log_retention(longest, u64::MAX);
        let store = builder.open().await.unwrap();
        store.commit(put("a body")).await.unwrap();
        assert!(store.get(&[NOTE]).await.unwrap()[0].is_some());
        assert!(store.snapshot().await.unwrap().next(1).await.unwrap().len() == 1);
    }
}

#[test]
fn runtime_without_timers_is_refused() {
    let runtime = tokio::runtime::Builder::new_current_thread().build().unwrap();
    let error = runtime.block_on(PostgresStore::open("host=/nowhere user=postgres")).unwrap_err();
    assert_eq!(*error.kind(), StoreErrorKind::Invalid);
}
