//! A standby is promoted while its primary keeps running: two servers of one history accept writes.

use std::mem;
use std::time::{Duration, Instant};

use tokio::time::sleep;
use toposcope::store::{PostgresStore, StoreErrorKind};

use super::super::{database_of, open, proxy};
use super::load::Instance;
use super::network::{Network, Proxy};
use super::{MAX_OUTAGE, connection, direct, rounds};
use crate::cluster::{Cluster, UNSYNCED};

/// Connection strings of two servers, in both orders.
fn both_orders(one: &Cluster, other: &Cluster, direct_connection: &str) -> [String; 2] {
    let database = database_of(direct_connection);
    let [one, other] = [direct(one), direct(other)];
    [connection(&[one.clone(), other.clone()], database), connection(&[other, one], database)]
}

/// Makes the primary acknowledge only commits that its standby has, so that a promotion loses none.
pub(super) fn await_standby(primary: &Cluster) {
    primary.set_synchronous(true);
    primary.await_answer("SELECT count(*) FROM pg_stat_replication WHERE sync_state = 'sync'", "1");
}

/// Waits until an instance writes on a server of this timeline. A write that returns after it has moved is on that server.
async fn await_write(instance: &Instance, timeline: u32, begin: Instant) {
    while instance.store.status().timeline != Some(timeline) || instance.write().await.is_err() {
        assert!(begin.elapsed() < MAX_OUTAGE, "no write after {:?}", begin.elapsed());
        sleep(Duration::from_millis(1)).await;
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn instances_move_to_the_promoted_server_and_none_answers_what_is_older_than_another_answered() {
    let Some(mut primary) = Cluster::start_new(UNSYNCED) else { return };
    let database = primary.create_database();
    let mut standby = primary.start_standby();
    let orders = both_orders(&primary, &standby, &database);
    let [one, other] = &orders;
    let first = Instance::new(open(PostgresStore::builder(one)).await, 0, 2);
    let second = first.beside(open(PostgresStore::builder(other)).await, 1);
    let instances = [first, second];
    let (mut slowest, mut slowest_start) = (Duration::ZERO, Duration::ZERO);
    for round in 0..rounds() {
        if round > 0 {
            mem::swap(&mut primary, &mut standby);
            standby.kill_all();
            standby.follow(&primary);
        }
        await_standby(&primary);
        let promotion = async {
            sleep(Duration::from_millis(20 + 7 * (round as u64 % 20))).await;
            tokio::task::block_in_place(|| standby.promote());
            let begin = Instant::now();
            let timeline = round as u32 + 2;
            for instance in &instances {
                await_write(instance, timeline, begin).await;
            }
            slowest = slowest.max(begin.elapsed());
            // Both servers still accept writes when another instance starts.
            let begin = Instant::now();
            let starting = open(PostgresStore::builder(&orders[round % 2])).await;
            slowest_start = slowest_start.max(begin.elapsed());
            assert_eq!(starting.status().timeline, Some(timeline));
        };
        Instance::run_during(&instances, promotion).await;
        for instance in &instances {
            instance.read().await.unwrap();
        }
    }
    let calls: u64 = instances.iter().map(|one| one.calls.load(std::sync::atomic::Ordering::Relaxed)).sum();
    println!(
        "{} promotions without fencing, {calls} calls, none answered from an older state; writes on the new primary at \
         the latest {slowest:?} after its promotion, starts at the latest after {slowest_start:?}",
        rounds()
    );
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn nothing_is_committed_on_the_promoted_server_while_another_instance_may_not_know_of_it() {
    let Some(primary) = Cluster::start_new(UNSYNCED) else { return };
    let database = primary.create_database();
    let standby = primary.start_standby();
    let far = Proxy::start(standby.folder(), Network::Far).await;
    let connection = |standby| connection(&[direct(&primary), standby], database_of(&database));
    let near = open(PostgresStore::builder(&connection(direct(&standby)))).await;
    let near = Instance::new(near, 0, 2);
    let late = open(PostgresStore::builder(&connection(("127.0.0.1".to_owned(), far.port())))).await;
    let late = near.beside(late, 1);
    await_standby(&primary);
    let instances = [near, late];
    let promotion = async {
        sleep(Duration::from_millis(20)).await;
        tokio::task::block_in_place(|| standby.promote());
        let begin = Instant::now();
        // The other instance reads: it would hardly ever be the first to append to the log.
        await_write(&instances[0], 2, begin).await;
        while instances[1].store.status().timeline != Some(2) || instances[1].read().await.is_err() {
            assert!(begin.elapsed() < MAX_OUTAGE, "the old primary is used after {:?}", begin.elapsed());
            sleep(Duration::from_millis(1)).await;
        }
    };
    Instance::run_during(&instances, promotion).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn promoted_server_is_used_although_its_primary_goes_on_and_answers_sooner() {
    let Some(primary) = Cluster::start_new(UNSYNCED) else { return };
    let database = primary.create_database();
    let standby = primary.start_standby();
    let far = Proxy::start(standby.folder(), Network::Far).await;
    let hosts = [direct(&primary), ("127.0.0.1".to_owned(), far.port())];
    let store = open(PostgresStore::builder(&connection(&hosts, database_of(&database)))).await;
    let instance = Instance::new(store, 0, 1);
    await_standby(&primary);
    instance.write().await.unwrap();
    tokio::task::block_in_place(|| standby.promote());
    let begin = Instant::now();
    while instance.store.status().timeline != Some(2) || instance.write().await.is_err() {
        assert!(begin.elapsed() < MAX_OUTAGE, "no write after {:?}", begin.elapsed());
        let _ = instance.read().await;
        sleep(Duration::from_millis(1)).await;
    }
    instance.read().await.unwrap();
    assert_eq!(instance.store.status().server_changes, 1);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn server_that_is_promoted_during_the_outage_of_a_silent_one_is_used_at_once() {
    let Some(primary) = Cluster::start_new(UNSYNCED) else { return };
    let database = primary.create_database();
    let standby = primary.start_standby();
    let proxy = Proxy::start(primary.folder(), Network::Works).await;
    let hosts = [("127.0.0.1".to_owned(), proxy.port()), direct(&standby)];
    let connection = connection(&hosts, database_of(&database));
    let builder = PostgresStore::builder(&connection).open_timeout(Duration::from_secs(60));
    // The outage begins soon.
    let running = builder.clone().statement_timeout(Duration::from_millis(500));
    let instance = Instance::new(open(running).await, 0, 1);
    await_standby(&primary);
    instance.write().await.unwrap();
    proxy.set(Network::Silent).await;
    while instance.read().await.is_ok() {}
    assert!(instance.write().await.is_err());
    let starting = tokio::spawn(builder.open());
    sleep(Duration::from_millis(500)).await;
    tokio::task::block_in_place(|| standby.promote());
    let begin = Instant::now();
    while instance.write().await.is_err() || instance.read().await.is_err() {
        assert!(begin.elapsed() < MAX_OUTAGE, "no write after {:?}", begin.elapsed());
    }
    let running = begin.elapsed();
    assert_eq!(starting.await.unwrap().unwrap().status().timeline, Some(2));
    println!(
        "used {running:?} after its promotion, and by an instance that starts after {:?}",
        begin.elapsed()
    );
    assert!(begin.elapsed() < MAX_OUTAGE);
}

/// Promotes a standby, has an address lead to it, and reads until an instance uses it. Returns how long that and a
/// write take. The connections of the instance to the old primary stay open.
pub(super) async fn follow_promotion(
    instance: &Instance,
    standby: &Cluster,
    lead_to_it: impl FnOnce(),
) -> Duration {
    instance.read().await.unwrap();
    tokio::task::block_in_place(|| standby.promote());
    lead_to_it();
    let begin = Instant::now();
    while instance.store.status().timeline != Some(2) {
        assert!(begin.elapsed() < MAX_OUTAGE, "the old primary is still used after {:?}", begin.elapsed());
        instance.read().await.unwrap();
        sleep(Duration::from_millis(1)).await;
    }
    instance.write().await.unwrap();
    begin.elapsed()
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn single_address_is_followed_to_the_promoted_server_and_not_back() {
    let Some(primary) = Cluster::start_new(UNSYNCED) else { return };
    let database = primary.create_database();
    let standby = primary.start_standby();
    let proxy = Proxy::start(primary.folder(), Network::Works).await;
    let hosts = [("127.0.0.1".to_owned(), proxy.port())];
    let instance =
        Instance::new(open(PostgresStore::builder(&connection(&hosts, database_of(&database)))).await, 0, 1);
    await_standby(&primary);
    instance.write().await.unwrap();
    let outage = follow_promotion(&instance, &standby, || proxy.lead_to(standby.folder())).await;
    println!("a single address is followed within {outage:?}");
    proxy.lead_to(primary.folder());
    assert_refused(&instance, &proxy, "timeline 1").await;
    proxy.lead_to(standby.folder());
    instance.write().await.unwrap();
    instance.read().await.unwrap();
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn proxy_behind_a_unix_socket_is_followed_to_the_promoted_server() {
    let Some(primary) = Cluster::start_new(UNSYNCED) else { return };
    let database = primary.create_database();
    let standby = primary.start_standby();
    let proxy = proxy::Proxy::start(primary.folder(), proxy::Fault::Nothing);
    let builder = PostgresStore::builder(&proxy.connection(&database));
    let instance = Instance::new(open(builder).await, 0, 1);
    await_standby(&primary);
    instance.write().await.unwrap();
    let outage = follow_promotion(&instance, &standby, || proxy.lead_to(standby.folder())).await;
    println!("a proxy behind a Unix socket is followed within {outage:?}");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn standby_behind_the_address_of_its_primary_answers_nothing() {
    let Some(primary) = Cluster::start_new(UNSYNCED) else { return };
    let database = primary.create_database();
    let standby = primary.start_standby();
    let proxy = Proxy::start(primary.folder(), Network::Works).await;
    let hosts = [("127.0.0.1".to_owned(), proxy.port())];
    // Without `target_session_attrs`, a single server may be read-only.
    let connection =
        connection(&hosts, database_of(&database)).replace("target_session_attrs=read-write", "");
    let instance = Instance::new(open(PostgresStore::builder(&connection)).await, 0, 1);
    instance.write().await.unwrap();
    await_standby(&primary);
    primary.set_synchronous(false);
    standby.execute("postgres", "SELECT pg_wal_replay_pause()");
    instance.write().await.unwrap();
    proxy.lead_to(standby.folder());
    assert_refused(&instance, &proxy, "it is read-only").await;
    proxy.lead_to(primary.folder());
    instance.write().await.unwrap();
    instance.read().await.unwrap();
}

/// Closes the connections of an instance, and asserts that it does not use the server that new ones lead to.
pub(super) async fn assert_refused(instance: &Instance, proxy: &Proxy, reason: &str) {
    proxy.close_connections();
    let begin = Instant::now();
    // A connection may close a little later. An answer from an older state would fail.
    let error = loop {
        match instance.read().await {
            Ok(()) => assert!(begin.elapsed() < MAX_OUTAGE),
            Err(error) => break error,
        }
    };
    for error in [error, instance.write().await.unwrap_err()] {
        assert!(error.to_string().contains(reason), "{error}");
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn server_of_an_older_timeline_is_not_used_again() {
    let Some(mut primary) = Cluster::start_new(UNSYNCED) else { return };
    let database = primary.create_database();
    let mut standby = primary.start_standby();
    for connection in both_orders(&primary, &standby, &database) {
        let instance = Instance::new(open(PostgresStore::builder(&connection)).await, 0, 1);
        instance.write().await.unwrap();
        if instance.store.status().timeline == Some(1) {
            standby.promote();
            while instance.store.status().timeline != Some(2) {
                let _ = instance.write().await;
            }
        }
        instance.write().await.unwrap();
        standby.stop("fast");
        let begin = Instant::now();
        for outcome in [instance.read().await, instance.write().await] {
            let error = outcome.unwrap_err();
            assert_eq!(*error.kind(), StoreErrorKind::Unavailable, "{error}");
            assert!(error.to_string().contains("timeline 1"), "{error}");
        }
        assert!(begin.elapsed() < 2 * MAX_OUTAGE);
        standby.start();
        instance.write().await.unwrap();
        instance.read().await.unwrap();
    }
    primary.stop("fast");
}
