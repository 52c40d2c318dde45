//! The clusters that the other tests use.

#[cfg(feature = "sled")]
use std::path::Path;
#[cfg(feature = "sled")]
use std::thread::park;
#[cfg(feature = "sled")]
use std::time::{Duration, Instant};

#[cfg(feature = "sled")]
use crate::child::{Child, TIMEOUT, say};
use crate::cluster::Cluster;

/// Returns the database name in a connection string.
fn name(connection: &str) -> &str {
    connection.rsplit_once("dbname=").unwrap().1
}

#[test]
fn databases_of_the_shared_cluster_are_separate() {
    let Some(cluster) = Cluster::shared() else { return };
    let [one, other] = [cluster.create_database(), cluster.create_database()];
    cluster.execute(name(&one), "CREATE TABLE notes AS SELECT 'text' AS body");
    assert_eq!(cluster.execute(name(&one), "SELECT body FROM notes"), "text");
    let tables = "SELECT count(*) FROM pg_tables WHERE tablename = 'notes'";
    assert_eq!(cluster.execute(name(&other), tables), "0");
}

#[test]
fn cluster_starts_again_after_a_kill_and_keeps_what_was_committed() {
    let Some(mut cluster) = Cluster::start_new(&["autovacuum=off"]) else { return };
    let connection = cluster.create_database();
    let database = name(&connection);
    cluster.execute(database, "CREATE TABLE notes AS SELECT 1 AS number");
    assert_eq!(cluster.execute(database, "SHOW autovacuum"), "off");
    for round in 2..5 {
        cluster.kill();
        cluster.start();
        cluster.execute(database, &format!("INSERT INTO notes VALUES ({round})"));
    }
    for mode in ["fast", "immediate"] {
        cluster.stop(mode);
        cluster.start();
    }
    assert_eq!(cluster.execute(database, "SELECT sum(number) FROM notes"), "10");
}

#[test]
fn dropped_cluster_leaves_nothing_behind() {
    let Some(cluster) = Cluster::start_new(&[]) else { return };
    let folder = cluster.folder().to_owned();
    assert!(folder.exists());
    drop(cluster);
    assert!(!folder.exists());
}

/// Runs in a child process, which is killed.
#[cfg(feature = "sled")]
pub(crate) fn hold() {
    let cluster = Cluster::start_new(&[]).unwrap();
    say(cluster.folder().to_str().unwrap());
    loop {
        park();
    }
}

#[cfg(feature = "sled")]
#[test]
fn cluster_of_a_killed_process_ends_and_leaves_nothing_behind() {
    if Cluster::shared().is_none() {
        return;
    }
    let child = Child::start("cluster", &[]);
    let folder = child.next(TIMEOUT).unwrap();
    assert!(Path::new(&folder).exists());
    child.kill();
    let deadline = Instant::now() + TIMEOUT;
    while Path::new(&folder).exists() {
        assert!(Instant::now() < deadline, "{folder} is left behind");
        std::thread::sleep(Duration::from_millis(10));
    }
}
