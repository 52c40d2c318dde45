//! Topologies through the API, in process.

use std::error::Error;
use std::time::{Duration, Instant};

use http::{Request, Response, StatusCode, header};
use http_body_util::BodyExt;
use toposcope::access::{Caller, Scope};
use toposcope::model::{
    Host, IfEntry, LldpChassisId, LldpChassisIdSubtype, LldpPortId, LldpPortIdSubtype, Network,
};
use toposcope::model::{HostId, IfEntryId, NetworkId, Permission, UserId};
use toposcope::service::ResponseBody;
use toposcope::{Api, Inventory, MemoryStore};
use tower::ServiceExt;

/// Numbers of hosts of the networks.
const SIZES: [u32; 2] = [1_000, 10_000];

/// Numbers of requests whose median is printed. The first is for requests that take microseconds, the second for
/// requests that take milliseconds.
const ROUNDS: (usize, usize) = (10_000, 7);

/// Number of ports of a switch; the first leads to the switch above it.
const PORTS: u32 = 32;

/// Measures requests for an unchanged graph, and for one whose network has just changed.
pub(crate) fn measure() -> Result<(), Box<dyn Error>> {
    let runtime = tokio::runtime::Builder::new_multi_thread().enable_all().build()?;
    println!(
        "| hosts | graph, MB | 304, µs | cached, µs | copying as many bytes, µs | changed, ms | changed, with layout, ms |"
    );
    println!("|---|---|---|---|---|---|---|");
    for hosts in SIZES {
        runtime.block_on(measure_network(hosts))?;
    }
    println!();
    Ok(())
}

struct Asked {
    api: Api,
    caller: Caller,
    network: NetworkId,
}

impl Asked {
    async fn get(&self, query: &str, tag: Option<&str>) -> Result<Response<ResponseBody>, Box<dyn Error>> {
        let path = format!("/api/v1/topology/graph?network_id={}{query}", self.network);
        let mut request = Request::get(path).extension(self.caller.clone());
        if let Some(tag) = tag {
            request = request.header(header::IF_NONE_MATCH, tag);
        }
        Ok(self.api.clone().oneshot(request.body(String::new())?).await?)
    }

    /// Returns the time of a request up to the last byte, and the response's length.
    async fn time(&self, query: &str) -> Result<(Duration, usize), Box<dyn Error>> {
        let start = Instant::now();
        let response = self.get(query, None).await?;
        assert_eq!(response.status(), StatusCode::OK);
        let body = response.into_body().collect().await?.to_bytes();
        Ok((start.elapsed(), body.len()))
    }
}

async fn measure_network(hosts: u32) -> Result<(), Box<dyn Error>> {
    let inventory = Inventory::new(MemoryStore::new());
    let organization = inventory.organizations().create("bench").await?.id;
    let network = inventory.networks().create(&Caller::system(organization), Network::new("bench")).await?.id;
    for number in 0..hosts {
        inventory.hosts().put(&Caller::system(organization), host(network, number, hosts)).await?;
    }
    let caller = Caller::new(organization, UserId::nil(), Permission::Viewer, Scope::all());
    let api = Api::builder(inventory.clone()).rate_limit(None).page_cache(256 << 20).build();
    let asked = Asked { api, caller, network };

    let (few, without_layout) = (ROUNDS.1, "&layout=false");
    let first = asked.get("", None).await?;
    let tag = first.headers().get(header::ETAG).ok_or("no tag")?.to_str()?.to_owned();
    let mut times = Vec::new();
    for _ in 0..ROUNDS.0 {
        let start = Instant::now();
        let response = asked.get("", Some(&tag)).await?;
        times.push(start.elapsed());
        assert_eq!(response.status(), StatusCode::NOT_MODIFIED);
    }
    let unchanged = median(&mut times);
    // The second request fills the cache.
    let size = asked.time("").await?.1;
    let mut times = Vec::new();
    for _ in 0..100 {
        times.push(asked.time("").await?.0);
    }
    let cached = median(&mut times);
    let file = vec![b'x'; size];
    let mut times = Vec::new();
    for _ in 0..100 {
        let start = Instant::now();
        std::hint::black_box(std::hint::black_box(&file).clone());
        times.push(start.elapsed());
    }
    let copied = median(&mut times);
    let mut changed = [Vec::new(), Vec::new()];
    for round in 0..few {
        for (times, query) in changed.iter_mut().zip([without_layout, ""]) {
            let mut host = host(network, hosts / 2, hosts);
            host.description = Some(format!("{query} {round}"));
            inventory.hosts().put(&Caller::system(organization), host).await?;
            times.push(asked.time(query).await?.0);
        }
    }
    let [changed, placed] = &mut changed;
    println!(
        "| {hosts} | {:.2} | {:.2} | {:.1} | {:.1} | {:.1} | {:.1} |",
        size as f64 / 1e6,
        microseconds(unchanged),
        microseconds(cached),
        microseconds(copied),
        microseconds(median(changed)) / 1e3,
        microseconds(median(placed)) / 1e3,
    );
    Ok(())
}

/// Returns a switch of a tree. Each switch but the first is connected to a port of another one.
pub(crate) fn host(network: NetworkId, number: u32, hosts: u32) -> Host {
    let mut host = Host::with_id(id(number), network, format!("sw-{number}"));
    host.sys_name = Some(format!("sw-{number}"));
    host.chassis_id = Some(chassis(number));
    let down = (2..=PORTS).map(|port| (port, number * (PORTS - 1) + port - 1, 1));
    let down = down.filter(|(_, other, _)| *other < hosts);
    let up = number.checked_sub(1).map(|before| (1, before / (PORTS - 1), before % (PORTS - 1) + 2));
    host.if_entries =
        up.into_iter().chain(down).map(|(port, other, remote)| entry(&host, port, other, remote)).collect();
    host
}

fn entry(host: &Host, port: u32, other: u32, remote: u32) -> IfEntry {
    let value = format!("Gi1/0/{remote}");
    IfEntry {
        id: IfEntryId::from_u128(host.id.as_u128() << 64 | u128::from(port)),
        if_name: Some(format!("Gi1/0/{port}")),
        if_descr: format!("GigabitEthernet1/0/{port}"),
        if_type: Some(6),
        speed_bps: Some(1_000_000_000),
        lldp_chassis_id: Some(chassis(other)),
        lldp_sys_name: Some(format!("sw-{other}")),
        lldp_port_id: Some(LldpPortId { subtype: LldpPortIdSubtype::InterfaceName, value }),
        ..IfEntry::new(host, i64::from(port))
    }
}

fn id(number: u32) -> HostId {
    HostId::from_u128(u128::from(number) + 2)
}

fn chassis(number: u32) -> LldpChassisId {
    LldpChassisId { subtype: LldpChassisIdSubtype::LocallyAssigned, value: format!("chassis-{number}") }
}

pub(crate) fn median(times: &mut [Duration]) -> Duration {
    times.sort_unstable();
    times.get(times.len() / 2).copied().unwrap_or_default()
}

fn microseconds(time: Duration) -> f64 {
    time.as_secs_f64() * 1e6
}
