//! Questions about networks of up to 100,000 devices, 300,000 links and 1,000,000 learned addresses.

use std::error::Error;
use std::hint::black_box;
use std::time::{Duration, Instant};

use serde_json::json;
use toposcope::discovery::report::{FdbRow, FdbStatus, Reporter};
use toposcope::inventory::{Claim, ClaimRows};
use toposcope::model::{
    Host, HostId, IfEntry, LinkId, MacAddress, NetworkId, NodeId, Timestamp, TopologyView,
};
use toposcope::topology::graph::{GraphInput, GraphOptions, HostSummary};
use toposcope::topology::links::{Device, Link, Links};
use toposcope::topology::paths::{FragileQuery, ImpactQuery, LocateTarget, PathIndex, PathQuery};

const NETWORK: NetworkId = NetworkId::from_u128(1);
/// Numbers of devices of the networks. There are three times as many links, and ten times as many learned addresses.
const SIZES: [u128; 3] = [1_000, 10_000, 100_000];
/// The number of addresses that each switch has learned.
const ADDRESSES: u64 = 1_000;
/// The number of times that a question is asked.
const QUESTIONS: u128 = 50;

/// Prints the time of each question, and the memory of a link.
pub(super) fn measure() -> Result<(), Box<dyn Error>> {
    for devices in SIZES {
        println!("{devices} devices");
        measure_links(devices)?;
        locate(devices / 100);
    }
    super::changes::measure()
}

fn measure_links(devices: u128) -> Result<(), Box<dyn Error>> {
    let hosts: Vec<Host> = (0..devices)
        .map(|number| Host::with_id(HostId::from_u128(number + 1), NETWORK, format!("device-{number}")))
        .collect();
    let summaries: Vec<HostSummary> = hosts.iter().map(|host| HostSummary::of(host, &[])).collect();
    let links = (0..devices * 3).map(|number| link(number, devices)).collect::<Result<Vec<Link>, _>>()?;
    let options = GraphOptions::new(TopologyView::L2);
    let mut input = GraphInput::new(NETWORK, &options);
    input.hosts = summaries.iter().collect();
    input.links = links.iter().collect();
    let start = Instant::now();
    let index = PathIndex::new(&input);
    println!("index: {:?}, {} bytes a link", start.elapsed(), index.link_bytes() / index.link_count());
    let start = Instant::now();
    black_box(index.fragile(&FragileQuery::new()));
    println!("fragile from scratch: {:?}", start.elapsed());
    print("fragile, cached", |_| drop(black_box(index.fragile(&FragileQuery::new()))));
    let device = |number: u128| NodeId::from_u128(number % devices + 1);
    print("impact of a node", |number| {
        let mut query = ImpactQuery::new();
        query.nodes.insert(device(number * 1_999));
        drop(black_box(index.impact(&query)));
    });
    print("path, k = 1", |number| {
        let mut query = PathQuery::new(device(number * 7), device(devices * 11 - 1 - number * 11));
        query.k = 1;
        drop(black_box(index.paths(&query, |_| None)));
    });
    Ok(())
}

/// Returns a link: each device has one to a device nearer to the first one, and two to others at random.
fn link(number: u128, devices: u128) -> Result<Link, serde_json::Error> {
    let mixed = number.wrapping_mul(0x9E37_79B9_7F4A_7C15_F39C_C060_5CED_C835) >> 64;
    let one = number % (devices - 1) + 1;
    let other = if number < devices { one / 20 } else { mixed % devices };
    let end = |number: u128| json!({"type": "host", "host_id": HostId::from_u128(number + 1), "port": null});
    serde_json::from_value(json!({
        "id": LinkId::from_u128(number + 1), "source": end(one), "target": end(other), "speed_bps": null, "members": [],
        "confidence": "Confirmed", "evidence": [], "rejected": [],
    }))
}

fn address(switch: u128, number: u64) -> MacAddress {
    let [.., a, b] = switch.to_be_bytes();
    let [.., c, d] = number.to_be_bytes();
    MacAddress::new([0x00, 0x1B, a, b, c, d])
}

/// Prints the time to locate an address in the tables of all switches.
fn locate(switches: u128) {
    let (mut devices, mut summaries) = (Vec::new(), Vec::new());
    for switch in 0..switches {
        let mut host = Host::with_id(HostId::from_u128(switch + 1), NETWORK, format!("switch-{switch}"));
        host.if_entries = (1..=48).map(|index| IfEntry::new(&host, index)).collect();
        let row = |number: u64| {
            let mut row = FdbRow::new(address(switch, number));
            row.if_index = Some(i64::try_from(number % 48).unwrap_or_default() + 1);
            row.status = Some(FdbStatus::Learned);
            row
        };
        let rows = ClaimRows::Fdb((0..ADDRESSES).map(row).collect());
        let claims = [Claim::new(&host, Reporter::new("bench"), Timestamp::now(), rows)];
        devices.push(Device::of(&host, &claims));
        summaries.push(HostSummary::of(&host, &claims));
    }
    let links = Links::new(devices, &[]);
    let options = GraphOptions::new(TopologyView::L2);
    let mut input = GraphInput::new(NETWORK, &options);
    input.hosts = summaries.iter().collect();
    input.links = links.links().collect();
    let index = PathIndex::new(&input);
    print("locate", |number| {
        let target = LocateTarget::Mac(address(number * 17 % switches, 500));
        drop(black_box(index.locate(&links, &target)));
    });
}

/// Prints the median and the slowest time of a question.
fn print(name: &str, ask: impl Fn(u128)) {
    let time = |number| {
        let start = Instant::now();
        ask(number);
        start.elapsed()
    };
    let mut times: Vec<Duration> = (0..QUESTIONS).map(time).collect();
    times.sort_unstable();
    let median = times.get(times.len() / 2).copied().unwrap_or_default();
    println!("{name}: median {median:?}, slowest {:?}", times.last().copied().unwrap_or_default());
}
