//! Killed instances.

use std::sync::Arc;

use serde::{Deserialize, Serialize};
use tokio::task::JoinSet;
use toposcope::store::PostgresStore;

use super::instances::Instances;
use super::usual_rounds;
use crate::child::{Child, say};
use crate::cluster::Cluster;
use crate::durability::fresh_generator;
use crate::durability::workload::{WRITERS, Writer, kill_sometime, write_until_killed};

/// Name by which the server knows the connections of the child.
const NAME: &str = "killed";

/// Maximum number of batches of a child before it is killed.
const BATCHES: usize = 300;

/// Options of a child that writes.
#[derive(Debug, Serialize, Deserialize)]
struct Orders {
    connection: String,
    seed: u64,
    /// The last batch of each writer, by its number.
    done: Vec<(u64, u64)>,
}

/// Half of the writers write in the child.
fn is_in_child(number: &u64) -> bool {
    number.is_multiple_of(2)
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn killed_instance_loses_nothing_that_it_has_acknowledged() {
    let Some(cluster) = Cluster::shared() else { return };
    let mut random = fresh_generator();
    let connection = cluster.create_database();
    let own = (0..WRITERS).filter(|number| !is_in_child(number));
    let mut instances = Instances::open(random.u64(..), std::slice::from_ref(&connection), own).await;
    let rounds = usual_rounds();
    for _ in 0..rounds {
        let done = instances.progress.done.iter().copied();
        let orders = Orders {
            connection: format!("application_name={NAME} {connection}"),
            seed: instances.seed,
            done: (0..).zip(done).filter(|(number, _)| is_in_child(number)).collect(),
        };
        let run = async |instances: &mut Instances| {
            let child = Child::start("instance", &[&serde_json::to_string(&orders).unwrap()]);
            kill_sometime(child, BATCHES, &mut random, &mut |line| {
                assert!(!line.starts_with("failed "), "{line}");
                if line != "open" {
                    instances.progress.hear(line);
                }
            });
            instances.await_service(&connection).await;
        };
        instances.run_during(run).await;
        // Until then the server may complete statements that the
        // instance has sent.
        let left = format!("SELECT count(*) FROM pg_stat_activity WHERE application_name = '{NAME}'");
        cluster.await_answer(&left, "0");
        instances.verify().await;
    }
    instances.finish(&format!("instance killed {rounds} times"));
    instances.assert_all_known();
}

/// Runs in the child: writes until the process is killed.
pub(crate) async fn write(arguments: &[&str]) {
    let orders: Orders = serde_json::from_str(arguments[0]).unwrap();
    if let Err(problem) = try_to_write(&orders).await {
        say(&format!("failed {problem}"));
    }
}

async fn try_to_write(orders: &Orders) -> Result<(), String> {
    let store = PostgresStore::open(&orders.connection).await.map_err(|error| format!("to open: {error}"))?;
    let store = Arc::new(store);
    say("open");
    let mut tasks = JoinSet::new();
    for (number, done) in &orders.done {
        let writer = Writer::after(orders.seed, *number, *done);
        tasks.spawn(write_until_killed(Arc::clone(&store), writer));
    }
    tasks.join_next().await.unwrap().map_err(|error| error.to_string())?
}
