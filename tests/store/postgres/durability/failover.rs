//! Failover to a synchronous standby.

use std::mem;
use std::time::Duration;

use toposcope::store::{Batch, Facets, Key, Name, PostgresStore, Precondition, Store};
use uuid::Uuid;

use super::super::{database_of, open};
use super::instances::Instances;
use super::usual_rounds;
use crate::cluster::{Cluster, UNSYNCED};
use crate::durability::fresh_generator;

/// Returns a connection to whichever of two servers is the primary.
pub(super) fn either(one: &Cluster, other: &Cluster, direct: &str) -> String {
    let [one, other] = [one, other].map(|cluster| cluster.folder().display());
    format!("host={one},{other} user=postgres target_session_attrs=read-write dbname={}", database_of(direct))
}

fn await_standby(primary: &Cluster) {
    primary.set_synchronous(true);
    primary.await_answer("SELECT count(*) FROM pg_stat_replication WHERE sync_state = 'sync'", "1");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn promotion_of_a_synchronous_standby_loses_nothing() {
    let Some(mut primary) = Cluster::start_new(UNSYNCED) else { return };
    let mut random = fresh_generator();
    let direct = primary.create_database();
    let mut standby = primary.start_standby();
    let connection = either(&primary, &standby, &direct);
    let mut instances = Instances::open_two(random.u64(..), &connection).await;
    let rounds = usual_rounds().div_ceil(5);
    for round in 0..rounds {
        if round > 0 {
            mem::swap(&mut primary, &mut standby);
            standby.follow(&primary);
        }
        await_standby(&primary);
        let run = async |instances: &mut Instances| {
            instances.await_batches(random.u64(1..200)).await;
            primary.kill_all();
            standby.promote();
            instances.await_service(&connection).await;
            tokio::time::sleep(Duration::from_micros(random.u64(..50_000))).await;
        };
        instances.run_during(run).await;
        instances.verify().await;
    }
    instances.finish(&format!("{rounds} synchronous standbys promoted"));
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn commit_cut_off_while_it_waits_for_a_standby_is_acknowledged_only_once_it_is_there() {
    let Some(primary) = Cluster::start_new(UNSYNCED) else { return };
    let connection = primary.create_database();
    let builder = |connection| PostgresStore::builder(connection).statement_timeout(Duration::from_secs(60));
    let (store, other) = (open(builder(&connection)).await, open(builder(&connection)).await);
    primary.set_synchronous(true);
    let key = Key::new(Name::new("note"), Uuid::nil());
    let mut batch = Batch::new();
    batch.put(key, Precondition::Absent, Facets::default(), "waits");
    let commit = tokio::spawn(async move { store.commit(batch).await });
    let waits = |query: &str| {
        format!("SELECT count(*) FROM pg_stat_activity WHERE wait_event = 'SyncRep' AND query LIKE '{query}'")
    };
    primary.await_answer(&waits("WITH appended%"), "1");
    let terminate = waits("WITH appended%").replace("count(*)", "pg_terminate_backend(pid)");
    assert_eq!(primary.execute("postgres", &terminate), "t");
    // The commit is visible now, although no standby has it.
    primary.await_answer(&waits("UPDATE topo_format%"), "1");
    assert!(other.get(&[key]).await.unwrap()[0].is_some());
    assert!(!commit.is_finished());
    let _standby = primary.start_standby();
    commit.await.unwrap().unwrap();
}
