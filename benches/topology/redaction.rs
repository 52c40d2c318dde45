//! The cost of redaction for a share: the same network of switches, with no redaction and with every one.

use std::error::Error;
use std::time::{Duration, Instant};

use ::http::{Request, StatusCode};
use http_body_util::BodyExt;
use toposcope::access::Caller;
use toposcope::inventory::NewShare;
use toposcope::model::{Host, Network, NetworkId, Redaction, ShareId};
use toposcope::{Api, Inventory, MemoryStore};
use tower::ServiceExt;

use crate::http::{host, median};

const HOSTS: u32 = 10_000;

/// Number of bytes of a long name, about the longest that is stored.
const NAME_BYTES: usize = 65_000;

/// Number of requests, each after a change.
const ROUNDS: u32 = 5;

/// A way to name hosts.
type Naming = fn(u32) -> String;

const NAMINGS: [(&str, Naming); 3] = [
    ("short", |number| format!("sw-{number}")),
    ("long, with the same beginning", |number| format!("{}{number}", "a".repeat(NAME_BYTES))),
    ("long, with the same end", |number| format!("{number}-{}", "a".repeat(NAME_BYTES))),
];

/// Prints the first answers of shares after a change.
pub(crate) fn measure() -> Result<(), Box<dyn Error>> {
    let runtime = tokio::runtime::Builder::new_multi_thread().enable_all().build()?;
    println!("| {HOSTS} names | nothing concealed, ms | everything concealed, ms | concealing, ms |");
    println!("|---|---|---|---|");
    for (title, naming) in NAMINGS {
        runtime.block_on(measure_names(title, naming))?;
    }
    println!();
    Ok(())
}

async fn measure_names(title: &str, naming: Naming) -> Result<(), Box<dyn Error>> {
    let inventory = Inventory::new(MemoryStore::new());
    let system = Caller::system(inventory.organizations().create("bench").await?.id);
    let network = inventory.networks().create(&system, Network::new("bench")).await?.id;
    for number in 0..HOSTS {
        inventory.hosts().put(&system, named(network, number, naming)).await?;
    }
    let all = vec![Redaction::Names, Redaction::Addresses, Redaction::Macs, Redaction::Serials];
    let mut shares = Vec::new();
    for redact in [Vec::new(), all] {
        let mut new = NewShare::new("bench");
        (new.network_id, new.redact) = (Some(network), redact);
        shares.push(inventory.shares().create(&system, new).await?.id);
    }
    let api = Api::builder(inventory.clone()).rate_limit(None).build();
    let mut times = [Vec::new(), Vec::new()];
    for round in 0..ROUNDS {
        for (times, share) in times.iter_mut().zip(&shares) {
            let mut host = named(network, HOSTS / 2, naming);
            host.description = Some(format!("{share} {round}"));
            inventory.hosts().put(&system, host).await?;
            times.push(open(&api, *share).await?);
        }
    }
    let [plain, concealed] = times.map(|mut times| median(&mut times));
    println!(
        "| {title} | {:.0} | {:.0} | {:.0} |",
        plain.as_secs_f64() * 1e3,
        concealed.as_secs_f64() * 1e3,
        concealed.saturating_sub(plain).as_secs_f64() * 1e3
    );
    Ok(())
}

fn named(network: NetworkId, number: u32, naming: Naming) -> Host {
    let mut host = host(network, number, HOSTS);
    host.name = naming(number);
    host
}

/// Returns the time of a request for what a share shows.
async fn open(api: &Api, share: ShareId) -> Result<Duration, Box<dyn Error>> {
    let request = Request::post(format!("/api/v1/shares/public/{share}/topology")).body(String::new())?;
    let start = Instant::now();
    let response = api.clone().oneshot(request).await?;
    let status = response.status();
    let body = response.into_body().collect().await?.to_bytes();
    assert_eq!(status, StatusCode::OK, "{}", String::from_utf8_lossy(&body));
    Ok(start.elapsed())
}
