//! Requests of 1,000 benchmark hosts each, as JSON, into memory and into a folder.

use std::error::Error;
use std::sync::Arc;
use std::time::Instant;

use bytes::Bytes;
use serde::Deserialize;
use serde_json::value::RawValue;
use tempfile::TempDir;
use tokio::task::JoinSet;
use toposcope::access::{Caller, Scope};
use toposcope::inventory::{Atomicity, BulkHost, Inventory};
use toposcope::model::Permission;
use toposcope::store::{MemoryStore, SledStore, Store};
use uuid::Uuid;

use crate::host::{Random, benchmark_host};
use crate::processor_seconds;

const HOSTS: usize = 100_000;

#[derive(Deserialize)]
struct Body<'b> {
    #[serde(borrow)]
    hosts: Vec<&'b RawValue>,
}

pub(crate) async fn measure() -> Result<(), Box<dyn Error>> {
    println!("| {HOSTS} hosts into | requests at once | atomicity | MB of JSON | s | processor s |");
    println!("|---|---|---|---|---|---|");
    for at_once in [1, 2, 4] {
        for atomicity in [Atomicity::PerHost, Atomicity::AllOrNothing] {
            put(Arc::new(MemoryStore::new()), "memory", at_once, atomicity).await?;
        }
    }
    for at_once in [1, 2] {
        let folder = TempDir::with_prefix_in("bulk-", env!("CARGO_TARGET_TMPDIR"))?;
        let store = Arc::new(SledStore::builder(folder.path()).open().await?);
        put(Arc::clone(&store) as Arc<dyn Store>, "a folder", at_once, Atomicity::PerHost).await?;
        store.close().await?;
    }
    println!();
    Ok(())
}

async fn put(
    store: Arc<dyn Store>,
    name: &str,
    at_once: usize,
    atomicity: Atomicity,
) -> Result<(), Box<dyn Error>> {
    let inventory = Inventory::new(store);
    let organization = inventory.create_organization("Benchmark").await?.id;
    let network = inventory.create_network(organization, "Office").await?.id;
    let caller = Caller::new(organization, Uuid::nil(), Permission::Member, Scope::only([network]));
    let mut random = Random::new(7);
    let count = HOSTS / BulkHost::MAX;
    // Prepared before the time is measured: a client has them from somewhere else.
    let bodies: Vec<Bytes> = (0..count).map(|_| body(&mut random, network)).collect::<Result<_, _>>()?;
    let bytes: usize = bodies.iter().map(Bytes::len).sum();
    let ((user, system), start) = (processor_seconds()?, Instant::now());
    let mut requests = JoinSet::new();
    for body in bodies {
        if requests.len() == at_once {
            requests.join_next().await.transpose()?.transpose()?;
        }
        requests.spawn(request(inventory.clone(), caller.clone(), body, atomicity));
    }
    while let Some(request) = requests.join_next().await {
        request??;
    }
    let time = start.elapsed();
    let (user_after, system_after) = processor_seconds()?;
    let processor = user_after + system_after - user - system;
    let (megabytes, seconds) = (bytes as f64 / 1e6, time.as_secs_f64());
    println!("| {name} | {at_once} | {atomicity:?} | {megabytes:.0} | {seconds:.2} | {processor:.2} |");
    Ok(())
}

fn body(random: &mut Random, network: Uuid) -> Result<Bytes, Box<dyn Error>> {
    let mut hosts = Vec::with_capacity(BulkHost::MAX);
    for number in 0..BulkHost::MAX {
        hosts.push(benchmark_host(random, number, network)?);
    }
    Ok(serde_json::to_vec(&serde_json::json!({"hosts": hosts}))?.into())
}

async fn request(
    inventory: Inventory,
    caller: Caller,
    body: Bytes,
    atomicity: Atomicity,
) -> Result<(), String> {
    let Body { hosts } = serde_json::from_slice(&body).map_err(|error| error.to_string())?;
    let hosts = hosts.into_iter().map(|host| BulkHost::from_json(body.slice_ref(host.get().as_bytes())));
    let results = inventory.bulk_put_hosts_as(&caller, hosts.collect(), atomicity).await;
    let results = results.map_err(|error| error.to_string())?;
    results.into_iter().try_for_each(|result| match result.outcome {
        Ok(_) => Ok(()),
        Err(error) => Err(error.to_string()),
    })
}
