//! Measures commits per second, and compares them with a loop of plain inserts.
//!
//! One writer and many writers use one instance, and many writers use two instances.

use std::error::Error;
use std::sync::Arc;
use std::time::Instant;

use tokio::task::JoinSet;
use toposcope::store::{Batch, PostgresStore, Store};

use crate::host::Random;
use crate::plain::{commits_per_second, connect};
use crate::postgres::Cluster;
use crate::record::{Records, Sort};

const ROUNDS: usize = 7;
const WRITERS: usize = 64;
/// Number of commits per round of a single writer, and of each of many writers.
const COMMITS: (usize, usize) = (1_000, 100);

pub(crate) async fn measure(cluster: &Cluster) -> Result<(), Box<dyn Error>> {
    let database = cluster.create_database();
    let stores = [open(&database).await?, open(&database).await?];
    let plain = connect(&cluster.create_database()).await?;
    let (mut records, mut random) = (Records::new().await?, Random::new(5));
    let mut rates: [Vec<f64>; 4] = Default::default();
    for round in 0..=ROUNDS {
        eprintln!("commits: round {round} of {ROUNDS}");
        let [first, _] = &stores;
        let next = [
            commits_per_second(&plain, &mut random, COMMITS.0).await?,
            write(std::slice::from_ref(first), &mut records, (1, COMMITS.0)).await?,
            write(std::slice::from_ref(first), &mut records, (WRITERS, COMMITS.1)).await?,
            write(&stores, &mut records, (WRITERS, COMMITS.1)).await?,
        ];
        // The first round prepares statements, and does not count.
        if round > 0 {
            rates.iter_mut().zip(next).for_each(|(rates, rate)| rates.push(rate));
        }
    }
    let [plain, one, many, shared] = rates.map(|mut rates| {
        rates.sort_unstable_by(f64::total_cmp);
        rates[ROUNDS / 2]
    });
    println!("| small records | commits a second | ratio |\n|---|---|---|");
    println!("| a plain loop of inserts | {plain:.0} | |");
    println!("| 1 writer | {one:.0} | {:.2} of the plain loop |", one / plain);
    println!("| {WRITERS} writers | {many:.0} | {:.1} of 1 writer |", many / one);
    println!(
        "| {} writers on each of 2 instances | {shared:.0} | {:.2} of {WRITERS} writers on 1 |\n",
        WRITERS / 2,
        shared / many
    );
    for store in stores {
        store.close().await?;
    }
    Ok(())
}

async fn open(database: &str) -> Result<Arc<PostgresStore>, Box<dyn Error>> {
    Ok(Arc::new(PostgresStore::open(database).await?))
}

/// Returns the commits per second of writers that are spread over instances.
async fn write(
    stores: &[Arc<PostgresStore>],
    records: &mut Records,
    (writers, commits): (usize, usize),
) -> Result<f64, Box<dyn Error>> {
    let work: Vec<(Arc<PostgresStore>, Vec<Batch>)> = (0..writers)
        .map(|writer| {
            let store = Arc::clone(&stores[writer % stores.len()]);
            (store, records.batches(Sort::Small, writer as u64, commits))
        })
        .collect();
    let start = Instant::now();
    let mut tasks = JoinSet::new();
    for (store, batches) in work {
        tasks.spawn(async move {
            for batch in batches {
                store.commit(batch).await?;
            }
            Ok::<(), toposcope::store::StoreError>(())
        });
    }
    while let Some(done) = tasks.join_next().await {
        done??;
    }
    Ok((writers * commits) as f64 / start.elapsed().as_secs_f64())
}
