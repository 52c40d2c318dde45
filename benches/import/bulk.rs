//! `POST /api/v1/hosts/bulk` with 1,000 benchmark hosts each, into memory and into a folder.
//!
//! Each measurement runs in a separate process: memory freed by an earlier one would slow it down.

use std::error::Error;
use std::process::{Command, Stdio};
use std::sync::Arc;
use std::time::Instant;

use bytes::Bytes;
use http::header::{AUTHORIZATION, CONTENT_TYPE};
use http::{HeaderValue, Request, StatusCode};
use http_body_util::{BodyExt, Full};
use serde::Serialize;
use tempfile::TempDir;
use tokio::task::JoinSet;
use toposcope::Api;
use toposcope::inventory::{Atomicity, Bootstrap, BulkHost, Inventory};
use toposcope::model::{Host, NetworkId};
use toposcope::store::{MemoryStore, SledStore, Store};
use tower::ServiceExt;

use crate::host::{Random, benchmark_host};
use crate::processor_seconds;

/// First argument of a child process; an index of [`CASES`] follows.
pub(crate) const CHILD: &str = "bulk-child";

const HOSTS: usize = 100_000;

const ROUNDS: usize = 3;

/// The store, the number of concurrent requests, and their atomicity.
type Case = (&'static str, usize, Atomicity);

const MEMORY: &str = "memory";
const FOLDER: &str = "a folder";

const CASES: [Case; 8] = [
    (MEMORY, 1, Atomicity::PerHost),
    (MEMORY, 1, Atomicity::AllOrNothing),
    (MEMORY, 2, Atomicity::PerHost),
    (MEMORY, 2, Atomicity::AllOrNothing),
    (MEMORY, 4, Atomicity::PerHost),
    (MEMORY, 4, Atomicity::AllOrNothing),
    (FOLDER, 1, Atomicity::PerHost),
    (FOLDER, 2, Atomicity::PerHost),
];

/// Elapsed seconds, processor seconds of all threads, and megabytes of JSON.
type Times = [f64; 3];

#[derive(Serialize)]
struct Body {
    hosts: Vec<Host>,
    atomic: bool,
}

pub(crate) fn measure() -> Result<(), Box<dyn Error>> {
    let mut times: [Vec<Times>; CASES.len()] = Default::default();
    for round in 1..=ROUNDS {
        for (number, times) in times.iter_mut().enumerate() {
            let (store, at_once, atomicity) = CASES[number];
            eprintln!(
                "round {round} of {ROUNDS}: {HOSTS} hosts into {store}, {at_once} at once, {atomicity:?}"
            );
            times.push(ask(number)?);
        }
    }
    println!(
        "| {HOSTS} hosts into | requests at once | atomicity | MB of JSON | s, median of {ROUNDS} | fastest | slowest | processor s |"
    );
    println!("|---|---|---|---|---|---|---|---|");
    for ((store, at_once, atomicity), mut times) in CASES.into_iter().zip(times) {
        times.sort_by(|left, right| left[0].total_cmp(&right[0]));
        let [median, processor, megabytes] = times[ROUNDS / 2];
        let (fastest, slowest) = (times[0][0], times[ROUNDS - 1][0]);
        println!(
            "| {store} | {at_once} | {atomicity:?} | {megabytes:.0} | {median:.2} | {fastest:.2} | {slowest:.2} | {processor:.2} |"
        );
    }
    println!();
    Ok(())
}

/// Measures a case in a child.
fn ask(number: usize) -> Result<Times, Box<dyn Error>> {
    let output = Command::new(std::env::current_exe()?)
        .args([CHILD, &number.to_string()])
        .stderr(Stdio::inherit())
        .output()?;
    if !output.status.success() {
        return Err("the measurement failed".into());
    }
    let numbers = String::from_utf8(output.stdout)?;
    let numbers: Vec<f64> = numbers.split_whitespace().map(str::parse).collect::<Result<_, _>>()?;
    Ok(numbers.try_into().map_err(|_| "the child said too little")?)
}

/// Runs in the child.
pub(crate) async fn run(number: usize) -> Result<(), Box<dyn Error>> {
    let (store, at_once, atomicity) = CASES[number];
    let [seconds, processor, megabytes] = if store == MEMORY {
        put(Arc::new(MemoryStore::new()), at_once, atomicity).await?
    } else {
        let folder = TempDir::with_prefix_in("bulk-", env!("CARGO_TARGET_TMPDIR"))?;
        let store = Arc::new(SledStore::builder(folder.path()).open().await?);
        let times = put(Arc::clone(&store) as Arc<dyn Store>, at_once, atomicity).await?;
        store.close().await?;
        times
    };
    println!("{seconds} {processor} {megabytes}");
    Ok(())
}

async fn put(store: Arc<dyn Store>, at_once: usize, atomicity: Atomicity) -> Result<Times, Box<dyn Error>> {
    let inventory = Inventory::new(store);
    let start = inventory.bootstrap(Bootstrap::new("Benchmark", "owner@example.net")).await?;
    let key = start.issued_key.ok_or("there is no key")?;
    let authorization = HeaderValue::from_str(&format!("Bearer {}", key.plaintext()))?;
    let network = start.network.id;
    let api = Api::builder(inventory).rate_limit(None).build();
    let mut random = Random::new(7);
    let count = HOSTS / BulkHost::MAX;
    // Prepared before the time is measured: a client has them from somewhere else.
    let bodies: Vec<Bytes> =
        (0..count).map(|_| body(&mut random, network, atomicity)).collect::<Result<_, _>>()?;
    let bytes: usize = bodies.iter().map(Bytes::len).sum();
    let ((user, system), start) = (processor_seconds()?, Instant::now());
    let mut requests = JoinSet::new();
    for body in bodies {
        if requests.len() == at_once {
            requests.join_next().await.transpose()?.transpose()?;
        }
        requests.spawn(request(api.clone(), authorization.clone(), body));
    }
    while let Some(request) = requests.join_next().await {
        request??;
    }
    let time = start.elapsed();
    let (user_after, system_after) = processor_seconds()?;
    let processor = user_after + system_after - user - system;
    Ok([time.as_secs_f64(), processor, bytes as f64 / 1e6])
}

fn body(random: &mut Random, network: NetworkId, atomicity: Atomicity) -> Result<Bytes, Box<dyn Error>> {
    let hosts = (0..BulkHost::MAX).map(|number| benchmark_host(random, number, network));
    let atomic = atomicity == Atomicity::AllOrNothing;
    let request = Body { hosts: hosts.collect::<Result<_, _>>()?, atomic };
    Ok(serde_json::to_vec(&request)?.into())
}

async fn request(api: Api, authorization: HeaderValue, body: Bytes) -> Result<(), String> {
    let request = Request::post("/api/v1/hosts/bulk")
        .header(AUTHORIZATION, authorization)
        .header(CONTENT_TYPE, "application/json")
        .body(Full::new(body))
        .map_err(|error| error.to_string())?;
    let Ok(response) = api.oneshot(request).await;
    let status = response.status();
    let answer = response.into_body().collect().await.map_err(|error| error.to_string())?.to_bytes();
    let answer = String::from_utf8_lossy(&answer);
    if status == StatusCode::OK && answer.matches("\"outcome\":\"created\"").count() == BulkHost::MAX {
        return Ok(());
    }
    Err(format!("{status}: {answer}"))
}
