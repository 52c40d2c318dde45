//! Timing of a rejected port update: a foreign port or host against a missing one.
//!
//! If a foreign record took longer to reject than a missing one, the time would reveal its existence. The foreign host
//! has 20,000 ports. `cargo bench --bench refusal` prints the medians of one run and their ratio for each store, and
//! fails if a ratio exceeds 1.5. On the folder store, nothing of the foreign host is cached.

#![allow(
    clippy::indexing_slicing,
    clippy::panic,
    clippy::print_stdout,
    reason = "a benchmark stops at its first mistake and prints"
)]

#[path = "support/host.rs"]
mod host;

use std::error::Error;
use std::process::ExitCode;
use std::sync::Arc;
use std::time::{Duration, Instant};
use toposcope::access::Caller;

use host::{Random, benchmark_host};
use http::{Request, StatusCode, header};
use toposcope::inventory::{Inventory, NewUser, NewUserApiKey};
use toposcope::model::{Host, HostId, Network, Permission, Port, PortId, Protocol};
use toposcope::service::Api;
use toposcope::store::{MemoryStore, SledStore, Store};
use tower::ServiceExt;
use uuid::Uuid;

const PORTS: u16 = 20_000;

/// Number of rejections of each kind. They alternate, so that a drift in the machine's speed affects both.
const TURNS: usize = 301;

/// Maximum ratio of the rejection of a foreign record to that of a missing one.
const BAR: f64 = 1.5;

#[tokio::main(flavor = "current_thread")]
async fn main() -> Result<ExitCode, Box<dyn Error>> {
    let folder = tempfile::tempdir()?;
    let sled = SledStore::builder(folder.path().join("store")).cache_size(4096).open().await?;
    let sled = Arc::new(sled);
    let mut is_met = true;
    println!("| store | refused | unknown, µs | foreign, µs | ratio | at most |");
    println!("|---|---|---|---|---|---|");
    for (name, store) in
        [("memory", Arc::new(MemoryStore::new()) as Arc<dyn Store>), ("folder", sled.clone())]
    {
        let ground = Ground::new(store).await?;
        if name == "folder" {
            // From here on, all writes are on the disk.
            sled.verify().await?;
        }
        let (own, foreign) = (&ground.own, &ground.foreign);
        let (own_port, foreign_port) = (own.ports[0].id, foreign.ports[0].id);
        let nothing = Uuid::from_u128(0xdead);
        for (what, status, unknown, foreign) in [
            ("port", StatusCode::NOT_FOUND, (nothing.into(), own.id), (foreign_port, own.id)),
            ("host_id", StatusCode::BAD_REQUEST, (own_port, nothing.into()), (own_port, foreign.id)),
        ] {
            let (mut unknowns, mut foreigns) = (Vec::new(), Vec::new());
            for _ in 0..TURNS {
                unknowns.push(ground.refuse(unknown, status).await?);
                foreigns.push(ground.refuse(foreign, status).await?);
            }
            let (unknown, foreign) = (median(unknowns), median(foreigns));
            let ratio = foreign / unknown;
            is_met &= ratio <= BAR;
            println!("| {name} | {what} | {unknown:.1} | {foreign:.1} | {ratio:.2} | {BAR} |");
        }
    }
    sled.close().await?;
    Ok(if is_met { ExitCode::SUCCESS } else { ExitCode::FAILURE })
}

/// Two organizations in one store.
struct Ground {
    api: Api,
    key: String,
    own: Host,
    foreign: Host,
}

impl Ground {
    async fn new(store: Arc<dyn Store>) -> Result<Self, Box<dyn Error>> {
        let inventory = Inventory::new(store);
        let mut random = Random::new(7);
        let home = inventory.organizations().create("Home").await?.id;
        let network = inventory.networks().create(&Caller::system(home), Network::new("Office")).await?.id;
        let own = benchmark_host(&mut random, 0, network)?;
        inventory.hosts().put(&Caller::system(home), own.clone()).await?;
        let member = inventory
            .users()
            .create(&Caller::system(home), NewUser::new("owner@example.net", Permission::Owner))
            .await?;
        let mut key = NewUserApiKey::new(member.id, "benchmark", Permission::Member);
        key.network_ids = vec![network];
        let key = inventory
            .user_api_keys()
            .create(&Caller::system(member.organization_id), key)
            .await?
            .plaintext()
            .to_owned();

        let abroad = inventory.organizations().create("Abroad").await?.id;
        let network = inventory.networks().create(&Caller::system(abroad), Network::new("Theirs")).await?.id;
        let mut foreign = benchmark_host(&mut random, 1, network)?;
        foreign.services.clear();
        foreign.ports =
            (1..=PORTS).map(|number| port(&mut random, &foreign, number)).collect::<Result<_, _>>()?;
        inventory.hosts().put(&Caller::system(abroad), foreign.clone()).await?;
        let api = Api::builder(inventory).rate_limit(None).build();
        Ok(Self { api, key, own, foreign })
    }

    /// Returns the time, in microseconds, to reject moving this port to this host.
    async fn refuse(
        &self,
        (port, host): (PortId, HostId),
        status: StatusCode,
    ) -> Result<f64, Box<dyn Error>> {
        let network = self.own.network_id;
        let body = format!(r#"{{"host_id":"{host}","network_id":"{network}","number":1,"protocol":"Udp"}}"#);
        let request = Request::put(format!("/api/v1/ports/{port}"))
            .header(header::AUTHORIZATION, format!("Bearer {}", self.key))
            .header(header::CONTENT_TYPE, "application/json")
            .body(body)?;
        let begun_at = Instant::now();
        let response = self.api.clone().oneshot(request).await?;
        let time = begun_at.elapsed();
        assert_eq!(response.status(), status);
        Ok(micros(time))
    }
}

fn port(random: &mut Random, host: &Host, number: u16) -> Result<Port, Box<dyn Error>> {
    Ok(Port {
        id: random.id(),
        host_id: host.id,
        network_id: host.network_id,
        number: number.try_into()?,
        protocol: Protocol::Tcp,
        created_at: host.created_at,
        updated_at: host.updated_at,
        last_seen_at: None,
        is_stale: false,
    })
}

fn micros(time: Duration) -> f64 {
    time.as_nanos() as f64 / 1_000.0
}

fn median(mut times: Vec<f64>) -> f64 {
    times.sort_unstable_by(f64::total_cmp);
    times[times.len() / 2]
}
