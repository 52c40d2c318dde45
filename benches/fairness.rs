//! Fairness between organizations: page latency of a small one beside a busy large one.
//!
//! The small organization reads pages of 50 hosts, and stores 50 hosts at a time. The large one requests the most
//! expensive lists, changes the largest hosts, draws networks, or sends reports, imports and bulk requests, in addition
//! to 1,000 updates per second. Everything runs in one process, on one runtime with one thread per processor.
//! `cargo bench --bench fairness` uses 1,000,000 hosts and needs 4 GB of free memory; `-- 60000` sets the number of
//! hosts, and the names of loads select some of them. The 99th percentiles of both requests should be at most twice those
//! without a load. On two processors, a thread that asks for nothing (`Processor`) already exceeds that.

#![allow(
    clippy::indexing_slicing,
    clippy::panic,
    clippy::print_stdout,
    clippy::unreachable,
    clippy::unwrap_used,
    reason = "a benchmark stops at its first mistake and prints"
)]

#[path = "support/host.rs"]
mod host;

use std::error::Error;
use std::pin::Pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::task::{Context, Poll};
use std::time::{Duration, Instant};
use toposcope::access::Caller;

use bytes::Bytes;
use host::{Random, benchmark_host};
use http::{Request, header};
use http_body_util::{BodyExt, Full};
use tokio::task::JoinSet;
use toposcope::inventory::{Inventory, NewUser, NewUserApiKey};
use toposcope::model::{
    Host, IfEntry, LldpChassisId, LldpChassisIdSubtype, Network, NetworkId, OrganizationId, Permission, Port,
    PortNumber, Protocol, Tag, TagId,
};
use toposcope::service::Api;
use toposcope::store::MemoryStore;
use tower::ServiceExt;

const NETWORKS: usize = 10;
const TAGS: usize = 40;
const SMALL_HOSTS: usize = 1_000;
const PORTS: u16 = 20_000;
const PHASE: Duration = Duration::from_secs(10);
/// Interval between two page requests of the small organization.
const EVERY: Duration = Duration::from_millis(2);
/// Interval between two bulk requests of the small organization.
const WRITE_EVERY: Duration = Duration::from_millis(40);
/// Interval after which the large organization repeats a request that was refused. The rate limit is off.
const RETRY_EVERY: Duration = Duration::from_millis(2);
/// Number of hosts of a drawn network, of a report and of an import.
const HEAVY: usize = 2_000;
/// Number of concurrent requests of the large organization.
const CLIENTS: usize = 8;

/// The load that the large organization causes.
#[derive(Clone, Copy, Debug)]
enum Load {
    Nothing,
    /// One thread computes, and requests nothing: what a shared processor alone costs on this machine.
    Processor,
    Lists,
    WholeLists,
    LargeHosts,
    Graphs,
    Pictures,
    Reports,
    Imports,
    Bulks,
}

impl Load {
    const ALL: [Self; 10] = [
        Self::Nothing,
        Self::Processor,
        Self::Lists,
        Self::WholeLists,
        Self::LargeHosts,
        Self::Graphs,
        Self::Pictures,
        Self::Reports,
        Self::Imports,
        Self::Bulks,
    ];
}

/// An organization with its hosts and an API key of its owner.
struct Tenant {
    key: String,
    tags: Vec<TagId>,
    ports: Vec<Port>,
    heavy: Heavy,
}

/// The input of the heaviest requests of an organization.
#[derive(Default)]
struct Heavy {
    /// A network whose hosts are linked at random.
    network: NetworkId,
    report: Bytes,
    lines: Bytes,
    bulk: Bytes,
}

fn main() -> Result<(), Box<dyn Error>> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let hosts = arguments.iter().find_map(|argument| argument.parse().ok()).unwrap_or(1_000_000);
    let is_named = |load: &Load| arguments.contains(&format!("{load:?}"));
    let mut loads: Vec<Load> = Load::ALL.into_iter().filter(is_named).collect();
    if loads.is_empty() {
        loads = Load::ALL.to_vec();
    } else {
        loads.insert(0, Load::Nothing);
    }
    tokio::runtime::Runtime::new()?.block_on(measure(hosts, loads))
}

async fn measure(hosts: usize, loads: Vec<Load>) -> Result<(), Box<dyn Error>> {
    let inventory = Inventory::new(MemoryStore::new());
    let small = Arc::new(tenant(&inventory, "small", SMALL_HOSTS).await?);
    let large = Arc::new(tenant(&inventory, "large", hosts).await?);
    let giants = Arc::new(giants(&inventory).await?);
    let api = Api::builder(inventory).rate_limit(None).page_cache(0).build();
    println!(
        "{hosts} hosts of a large organization, {SMALL_HOSTS} of a small one; pages and bulk requests of the small one, in ms"
    );
    println!(
        "| the large one asks for | pages | median | 99 % | slowest | bulks | median | 99 % | slowest | its own requests | longest turn | updates |"
    );
    println!("|---|---|---|---|---|---|---|---|---|---|---|---|");
    for load in loads {
        let is_over = Arc::new(AtomicBool::new(false));
        let (asked, updated) = (Arc::new(Asked::default()), Arc::new(AtomicU64::new(0)));
        let mut tasks = JoinSet::new();
        tasks.spawn(update(api.clone(), Arc::clone(&large), Arc::clone(&is_over), Arc::clone(&updated)));
        let clients = if matches!(load, Load::Nothing | Load::Processor) { 0 } else { CLIENTS };
        if matches!(load, Load::Processor) {
            let is_over = Arc::clone(&is_over);
            tasks.spawn_blocking(move || compute(&is_over));
        }
        for number in 0..clients {
            let (api, is_over, asked) = (api.clone(), Arc::clone(&is_over), Arc::clone(&asked));
            let tenant = if matches!(load, Load::LargeHosts) { &giants } else { &large };
            tasks.spawn(ask(api, Arc::clone(tenant), load, number as u64, is_over, asked));
        }
        let writes = tokio::spawn(write_times(api.clone(), Arc::clone(&small)));
        let mut times = page_times(&api, &small.key).await?;
        let mut writes = writes.await?;
        is_over.store(true, Ordering::Relaxed);
        while let Some(task) = tasks.join_next().await {
            task?;
        }
        println!(
            "| {load:?} | {} | {} | {} | {:.2} | {} |",
            summary(&mut times),
            summary(&mut writes),
            asked.requests.load(Ordering::Relaxed),
            asked.longest_turn.load(Ordering::Relaxed) as f64 / 1e6,
            updated.load(Ordering::Relaxed)
        );
    }
    Ok(())
}

/// Reads pages of the small organization one after the other, and returns their latencies.
async fn page_times(api: &Api, key: &str) -> Result<Vec<Duration>, Box<dyn Error>> {
    let orders = ["name", "created_at", "hostname", "updated_at"];
    let mut times = Vec::new();
    // Latency counts from the time a request was due, so that a slow page also delays the following ones.
    let mut due = Instant::now();
    let end = due + PHASE;
    while due < end {
        tokio::time::sleep_until(due.into()).await;
        let order = orders[times.len() % orders.len()];
        let status =
            send(api, key, "GET", &format!("/api/v1/hosts?limit=50&order_by={order}"), Bytes::new()).await;
        times.push(due.elapsed());
        assert_eq!(status, 200);
        due += EVERY;
    }
    Ok(times)
}

/// Returns the number of latencies, their median, their 99th percentile and the slowest.
fn summary(times: &mut [Duration]) -> String {
    times.sort_unstable();
    let at = |share: f64| times[((times.len() - 1) as f64 * share) as usize].as_secs_f64() * 1e3;
    format!("{} | {:.2} | {:.2} | {:.2}", times.len(), at(0.5), at(0.99), at(1.0))
}

/// Stores 50 hosts of the small organization at a time, and returns the latencies.
async fn write_times(api: Api, small: Arc<Tenant>) -> Vec<Duration> {
    let mut times = Vec::new();
    let mut due = Instant::now();
    let end = due + PHASE;
    while due < end {
        tokio::time::sleep_until(due.into()).await;
        let status = send(&api, &small.key, "POST", "/api/v1/hosts/bulk", small.heavy.bulk.clone()).await;
        assert_eq!(status, 200);
        times.push(due.elapsed());
        due = (due + WRITE_EVERY).max(Instant::now());
    }
    times
}

/// Updates 1,000 ports per second.
async fn update(api: Api, tenant: Arc<Tenant>, is_over: Arc<AtomicBool>, updated: Arc<AtomicU64>) {
    let mut ticks = tokio::time::interval(Duration::from_millis(1));
    let mut random = Random::new(3);
    while !is_over.load(Ordering::Relaxed) {
        ticks.tick().await;
        let port = &tenant.ports[random.next() as usize % tenant.ports.len()];
        if put(&api, &tenant.key, port, 10_000 + (random.next() % 50_000) as u16).await == 200 {
            updated.fetch_add(1, Ordering::Relaxed);
        }
    }
}

/// Sorts numbers until the load is over.
fn compute(is_over: &AtomicBool) {
    let mut random = Random::new(7);
    while !is_over.load(Ordering::Relaxed) {
        let mut numbers: Vec<u64> = (0..10_000).map(|_| random.next()).collect();
        numbers.sort_unstable();
        std::hint::black_box(numbers);
    }
}

async fn ask(
    api: Api,
    tenant: Arc<Tenant>,
    load: Load,
    seed: u64,
    is_over: Arc<AtomicBool>,
    asked: Arc<Asked>,
) {
    let mut random = Random::new(100 + seed);
    while !is_over.load(Ordering::Relaxed) {
        let future = Box::pin(request(&api, &tenant, load, &mut random));
        let status = Timed { future, longest: &asked.longest_turn }.await;
        assert!(matches!(status, 200 | 429 | 503), "{load:?}: {status}");
        asked.requests.fetch_add(1, Ordering::Relaxed);
        match status {
            200 => tokio::task::yield_now().await,
            // Without the network in between, refused requests alone would take all of the processor.
            _ => tokio::time::sleep(RETRY_EVERY).await,
        }
    }
}

/// Measurements of the requests of the large organization.
#[derive(Default)]
struct Asked {
    requests: AtomicU64,
    /// The longest time that one of its requests has held a thread of the runtime, in nanoseconds.
    longest_turn: AtomicU64,
}

/// A future whose longest poll is measured.
struct Timed<'t, F> {
    future: Pin<Box<F>>,
    longest: &'t AtomicU64,
}

impl<F: Future> Future for Timed<'_, F> {
    type Output = F::Output;

    fn poll(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<F::Output> {
        let start = Instant::now();
        let polled = self.future.as_mut().poll(context);
        self.longest.fetch_max(start.elapsed().as_nanos() as u64, Ordering::Relaxed);
        polled
    }
}

/// Sends a request of the large organization, and returns its status.
async fn request(api: &Api, tenant: &Tenant, load: Load, random: &mut Random) -> u16 {
    match load {
        Load::Nothing | Load::Processor => unreachable!("nothing is requested"),
        Load::Lists => {
            let limit = 50 + random.next() % 951;
            let path = expensive(random, &tenant.tags, limit);
            send(api, &tenant.key, "GET", &path, Bytes::new()).await
        }
        Load::WholeLists => {
            let path = expensive(random, &tenant.tags, 0);
            send(api, &tenant.key, "GET", &path, Bytes::new()).await
        }
        Load::LargeHosts => {
            let port = &tenant.ports[random.next() as usize % tenant.ports.len()];
            put(api, &tenant.key, port, (random.next() % 65_000) as u16 + 1).await
        }
        // Another VLAN or confidence makes another drawing.
        Load::Graphs | Load::Pictures => {
            let (network, vlan) = (tenant.heavy.network, 1 + random.next() % 101);
            let confidence = ["Inferred", "Reported", "Confirmed"][random.next() as usize % 3];
            let what = if matches!(load, Load::Graphs) { "graph" } else { "export" };
            let path = format!(
                "/api/v1/topology/{what}?network_id={network}&collapse=false&vlan={vlan}&min_confidence={confidence}"
            );
            send(api, &tenant.key, "GET", &path, Bytes::new()).await
        }
        Load::Reports => {
            let network = tenant.heavy.network;
            let path = format!("/api/v1/discovery/import?format=report&dry_run=true&network_id={network}");
            send(api, &tenant.key, "POST", &path, tenant.heavy.report.clone()).await
        }
        Load::Imports => {
            send(api, &tenant.key, "POST", "/api/v1/hosts/import?dry_run=true", tenant.heavy.lines.clone())
                .await
        }
        Load::Bulks => send(api, &tenant.key, "POST", "/api/v1/hosts/bulk", tenant.heavy.bulk.clone()).await,
    }
}

/// Returns a query whose order no index provides, rarely the same one twice.
fn expensive(random: &mut Random, tags: &[TagId], limit: u64) -> String {
    let fields = ["created_at", "updated_at", "name", "hostname", "network_id", "interface_ip"];
    let mut path = format!("/api/v1/hosts?limit={limit}");
    if random.next().is_multiple_of(2) {
        path += &format!("&group_by={}", fields[random.next() as usize % fields.len()]);
    }
    path += &format!("&order_by={}", fields[random.next() as usize % fields.len()]);
    if random.next().is_multiple_of(2) {
        path += "&order_direction=desc";
    }
    for _ in 0..random.next() % 4 {
        path += &format!("&tag_ids={}", tags[random.next() as usize % tags.len()]);
    }
    if limit > 0 {
        path += &format!("&offset={}", random.next() % 500_000);
    }
    path
}

async fn send(api: &Api, key: &str, method: &str, path: &str, body: Bytes) -> u16 {
    let request =
        Request::builder().method(method).uri(path).header(header::AUTHORIZATION, format!("Bearer {key}"));
    let content_type =
        if path.starts_with("/api/v1/hosts/import") { "application/x-ndjson" } else { "application/json" };
    let request = request.header(header::CONTENT_TYPE, content_type).body(Full::new(body)).unwrap();
    let response = api.clone().oneshot(request).await.unwrap();
    let status = response.status().as_u16();
    let mut body = response.into_body();
    while let Some(Ok(_)) = body.frame().await {
        // A server would wait for its socket here.
        tokio::task::yield_now().await;
    }
    status
}

async fn put(api: &Api, key: &str, port: &Port, number: u16) -> u16 {
    let (host, network) = (port.host_id, port.network_id);
    let body =
        format!(r#"{{"host_id":"{host}","network_id":"{network}","number":{number},"protocol":"Udp"}}"#);
    send(api, key, "PUT", &format!("/api/v1/ports/{}", port.id), body.into()).await
}

async fn tenant(inventory: &Inventory, name: &str, hosts: usize) -> Result<Tenant, Box<dyn Error>> {
    let organization = inventory.organizations().create(name).await?.id;
    let mut networks = Vec::new();
    for number in 0..NETWORKS {
        networks.push(
            inventory
                .networks()
                .create(&Caller::system(organization), Network::new(format!("Network {number}")))
                .await?
                .id,
        );
    }
    let mut tags = Vec::new();
    for number in 0..TAGS {
        tags.push(
            inventory
                .tags()
                .create(&Caller::system(organization), Tag::new(format!("Tag {number}")))
                .await?
                .id,
        );
    }
    let (mut random, mut ports) = (Random::new(hosts as u64), Vec::new());
    for number in 0..hosts {
        let host = lean_host(&mut random, number, networks[number % NETWORKS], &tags)?;
        if number.is_multiple_of(hosts.div_ceil(10_000)) {
            ports.push(host.ports[0].clone());
        }
        inventory.hosts().put(&Caller::system(organization), host).await?;
    }
    let heavy = heavy(inventory, organization, networks[0], if name == "small" { 50 } else { 500 }).await?;
    networks.push(heavy.network);
    let key = key(inventory, organization, name, networks).await?;
    Ok(Tenant { key, tags, ports, heavy })
}

/// Creates a network to be drawn, and the bodies of heavy requests. A bulk request has `bulk` hosts.
async fn heavy(
    inventory: &Inventory,
    organization: OrganizationId,
    network: NetworkId,
    bulk: usize,
) -> Result<Heavy, Box<dyn Error>> {
    let drawn = inventory.networks().create(&Caller::system(organization), Network::new("Drawn")).await?.id;
    let mut random = Random::new(77 + bulk as u64);
    let chassis = |number: usize| LldpChassisId {
        subtype: LldpChassisIdSubtype::LocallyAssigned,
        value: format!("chassis-{number}"),
    };
    let mut devices = Vec::new();
    for number in 0..HEAVY {
        let mut host = Host::new(drawn, format!("sw-{number}"));
        host.chassis_id = Some(chassis(number));
        let entry = |port: i64, other: usize| IfEntry {
            if_name: Some(format!("Gi0/{port}")),
            if_type: Some(6),
            lldp_chassis_id: Some(chassis(other)),
            ..IfEntry::new(&host, port)
        };
        host.if_entries = (1..=3).map(|port| entry(port, random.next() as usize % HEAVY)).collect();
        inventory.hosts().put(&Caller::system(organization), host).await?;
        let rows: Vec<_> = (0..50).map(|row| address(number * 50 + row)).collect();
        devices.push(serde_json::json!({
            "sys_name": format!("device-{number}"),
            "chassis_id": {"subtype": "LocallyAssigned", "value": format!("chassis-{number}")},
            "tables": {"fdb": {"complete": true, "rows": rows}},
        }));
    }
    let report = serde_json::json!({
        "reporter": {"name": "bench"}, "observed_at": "2026-11-01T12:00:00Z", "devices": devices,
    });
    let mut hosts = Vec::new();
    for number in 0..HEAVY {
        let mut host = benchmark_host(&mut random, number, network)?;
        host.interfaces.clear();
        host.services.clear();
        host.tags.clear();
        host.if_entries.iter_mut().for_each(|entry| entry.interface_id = None);
        hosts.push(serde_json::to_value(&host)?);
    }
    let lines: Vec<String> = hosts.iter().map(ToString::to_string).collect();
    hosts.truncate(bulk);
    let bulk = serde_json::json!({"hosts": hosts}).to_string();
    let [report, lines, bulk] = [report.to_string(), lines.join("\n"), bulk].map(Bytes::from);
    Ok(Heavy { network: drawn, report, lines, bulk })
}

fn address(number: usize) -> serde_json::Value {
    let [.., a, b, c] = number.to_be_bytes();
    serde_json::json!({"mac_address": format!("00:10:20:{a:02x}:{b:02x}:{c:02x}"), "if_index": 1})
}

/// Creates an organization with a few hosts that have the maximum number of ports.
async fn giants(inventory: &Inventory) -> Result<Tenant, Box<dyn Error>> {
    let organization = inventory.organizations().create("giants").await?.id;
    let network =
        inventory.networks().create(&Caller::system(organization), Network::new("Network")).await?.id;
    let (mut random, mut ports) = (Random::new(8), Vec::new());
    for number in 0..4 {
        let mut host = lean_host(&mut random, number, network, &[])?;
        let port = host.ports[0].clone();
        host.ports = (1..=PORTS)
            .map(|number| Port {
                id: random.id(),
                number: PortNumber::try_from(number).unwrap(),
                protocol: Protocol::Tcp,
                ..port.clone()
            })
            .collect();
        ports.extend(host.ports.iter().step_by(100).cloned());
        inventory.hosts().put(&Caller::system(organization), host).await?;
    }
    let key = key(inventory, organization, "giants", vec![network]).await?;
    Ok(Tenant { key, tags: Vec::new(), ports, heavy: Heavy::default() })
}

async fn key(
    inventory: &Inventory,
    organization: OrganizationId,
    name: &str,
    networks: Vec<NetworkId>,
) -> Result<String, Box<dyn Error>> {
    let user = NewUser::new(format!("{name}@example.net"), Permission::Owner);
    let system = Caller::system(organization);
    let user = inventory.users().create(&system, user).await?;
    let mut key = NewUserApiKey::new(user.id, "benchmark", Permission::Owner);
    key.network_ids = networks;
    Ok(inventory.user_api_keys().create(&system, key).await?.plaintext().to_owned())
}

/// Returns a host with one port, so that a million fit into memory. Every third has no hostname; the others share
/// 1,000.
fn lean_host(
    random: &mut Random,
    number: usize,
    network: NetworkId,
    tags: &[TagId],
) -> Result<Host, Box<dyn Error>> {
    let mut host = benchmark_host(random, number, network)?;
    host.services.clear();
    host.interfaces.clear();
    host.if_entries.clear();
    host.ports.truncate(1);
    host.hostname = (!number.is_multiple_of(3)).then(|| format!("rack-{}", number % 1_000));
    // Half of the hosts have the first tag; each further tag is rarer.
    let bears = |place: usize, random: &mut Random| random.next().is_multiple_of(2 + place as u64);
    host.tags =
        tags.iter().enumerate().filter(|(place, _)| bears(*place, random)).map(|(_, tag)| *tag).collect();
    host.description = None;
    Ok(host)
}
