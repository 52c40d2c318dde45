//! Killed servers.

use std::thread;
use std::time::Duration;

use fastrand::Rng;

use super::super::database_of;
use super::instances::Instances;
use super::usual_rounds;
use crate::cluster::{Cluster, UNSYNCED};
use crate::durability::fresh_generator;

/// The processes that are killed.
#[derive(Clone, Copy, Debug)]
enum Victim {
    /// The process that starts the others, which end by themselves.
    Server,
    /// All processes.
    Everything,
    /// The process of a connection; the server then starts all others again.
    Connection,
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn killed_server_loses_nothing_that_two_instances_have_acknowledged() {
    let Some(mut cluster) = Cluster::start_new(UNSYNCED) else { return };
    let mut random = fresh_generator();
    let connection = cluster.create_database();
    let mut instances = Instances::open_two(random.u64(..), &connection).await;
    let rounds = usual_rounds();
    for round in 0..rounds {
        let victims = [Victim::Everything, Victim::Connection, Victim::Server];
        let victim = victims[round % victims.len()];
        let run = async |instances: &mut Instances| {
            instances.await_batches(random.u64(1..200)).await;
            thread::sleep(Duration::from_micros(random.u64(..5_000)));
            kill(&mut cluster, &connection, victim, &mut random).await;
            instances.await_service(&connection).await;
            // Writers whose commit was not answered with an error go on.
            tokio::time::sleep(Duration::from_micros(random.u64(..50_000))).await;
        };
        instances.run_during(run).await;
        instances.verify().await;
    }
    instances.finish(&format!("server killed {rounds} times"));
}

async fn kill(cluster: &mut Cluster, connection: &str, victim: Victim, random: &mut Rng) {
    match victim {
        Victim::Server => cluster.kill(),
        Victim::Everything => cluster.kill_all(),
        Victim::Connection => {
            let (other, driver) = tokio_postgres::connect(connection, tokio_postgres::NoTls).await.unwrap();
            let processes = "SELECT pid FROM pg_stat_activity WHERE application_name = 'toposcope'";
            let processes = cluster.execute(database_of(connection), processes);
            let processes: Vec<&str> = processes.lines().collect();
            cluster.kill_process(random.choice(&processes).unwrap());
            // The server has noticed it when it ends the other connections. The process may have ended by itself before.
            let _ = tokio::time::timeout(Duration::from_secs(10), driver).await;
            return drop(other);
        }
    }
    cluster.start();
}
