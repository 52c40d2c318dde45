//! Access switches behind a core that no report describes: each learned the addresses of all others on its uplink.

use std::error::Error;
use std::hint::black_box;
use std::time::{Duration, Instant};

use toposcope::discovery::report::{FdbRow, FdbStatus, Reporter};
use toposcope::inventory::{Claim, ClaimRows};
use toposcope::model::{
    Host, HostId, IfEntry, LldpChassisId, LldpChassisIdSubtype, MacAddress, NetworkId, Timestamp,
    TopologyView,
};
use toposcope::topology::graph::{GraphInput, GraphOptions, HostSummary, Positions, build, lay_out};
use toposcope::topology::links::{Device, Links};

/// Numbers of switches of the networks.
const SIZES: [u32; 3] = [100, 400, 2_000];

/// Number of changes whose median is printed.
const CHANGES: u32 = 20;

/// Number of ports of a switch; the first leads to the core.
const PORTS: i64 = 24;

/// Measures the graph of a network from scratch, and after the change of one switch.
pub(crate) fn measure() -> Result<(), Box<dyn Error>> {
    println!(
        "| switches | rows | devices, ms | links, ms | graph, ms | nodes | graph, MB | unfolded, ms | unfolded, MB | change, ms | slowest, ms |"
    );
    println!("|---|---|---|---|---|---|---|---|---|---|---|");
    for switches in SIZES {
        measure_network(switches)?;
    }
    println!();
    Ok(())
}

fn measure_network(switches: u32) -> Result<(), Box<dyn Error>> {
    let network = NetworkId::from_u128(1);
    let mut digest = Duration::ZERO;
    let (mut devices, mut summaries) = (Vec::new(), Vec::new());
    for number in 0..switches {
        // The claims of one switch at a time: those of all take more memory than all that is measured.
        let (host, claim) = switch(network, number, switches, 0);
        let start = Instant::now();
        devices.push(Device::of(&host, std::slice::from_ref(&claim)));
        summaries.push(HostSummary::of(&host, std::slice::from_ref(&claim)));
        digest += start.elapsed();
    }
    let start = Instant::now();
    let mut links = Links::new(devices, &[]);
    let found = start.elapsed();
    let (drawn, nodes, size) = draw(network, &links, &summaries, true)?;
    let (unfolded, _, unfolded_size) = draw(network, &links, &summaries, false)?;
    let mut times = Vec::new();
    for change in 0..CHANGES {
        let number = change * (switches / CHANGES);
        let (host, claim) = switch(network, number, switches, change + 1);
        let start = Instant::now();
        links.set(Device::of(black_box(&host), std::slice::from_ref(&claim)));
        let changed = start.elapsed();
        times.push(changed + draw(network, &links, &summaries, true)?.0);
    }
    times.sort_unstable();
    let median = times.get(times.len() / 2).copied().unwrap_or_default();
    let slowest = times.last().copied().unwrap_or_default();
    println!(
        "| {switches} | {} | {:.0} | {:.0} | {:.1} | {nodes} | {:.2} | {:.1} | {:.2} | {:.1} | {:.1} |",
        u64::from(switches) * u64::from(switches),
        milliseconds(digest),
        milliseconds(found),
        milliseconds(drawn),
        size as f64 / 1e6,
        milliseconds(unfolded),
        unfolded_size as f64 / 1e6,
        milliseconds(median),
        milliseconds(slowest),
    );
    Ok(())
}

/// Returns the time to draw a graph and encode it, the number of its nodes and the size of its JSON.
fn draw(
    network: NetworkId,
    links: &Links,
    summaries: &[HostSummary],
    collapse: bool,
) -> Result<(Duration, usize, usize), Box<dyn Error>> {
    let start = Instant::now();
    let mut options = GraphOptions::new(TopologyView::L2);
    options.collapse = collapse;
    let mut input = GraphInput::new(network, &options);
    input.hosts = summaries.iter().collect();
    input.links = links.links().collect();
    input.stubs = links.stubs().collect();
    input.segments = links.segments().collect();
    input.warnings = links.warnings();
    input.crowded_ports = links.crowded_ports().collect();
    input.capabilities = links.capabilities();
    let mut graph = build(&input);
    lay_out(&mut graph, &Positions::default());
    let size = serde_json::to_vec(&graph)?.len();
    Ok((start.elapsed(), graph.nodes.len(), size))
}

/// Returns a switch and its forwarding database. Each round adds a station.
fn switch(network: NetworkId, number: u32, switches: u32, round: u32) -> (Host, Claim) {
    let mut host = Host::with_id(HostId::from_u128(u128::from(number) + 2), network, format!("sw-{number}"));
    host.sys_name = Some(format!("sw-{number}.example.net"));
    host.chassis_id = Some(LldpChassisId {
        subtype: LldpChassisIdSubtype::MacAddress,
        value: address(0, number).to_string(),
    });
    host.if_entries = (1..=PORTS)
        .map(|index| IfEntry {
            if_name: Some(format!("Gi1/0/{index}")),
            if_descr: format!("GigabitEthernet1/0/{index}"),
            if_type: Some(6),
            speed_bps: Some(1_000_000_000),
            ..IfEntry::new(&host, index)
        })
        .collect();
    let row = |port, mac_address| {
        let mut row = FdbRow::new(mac_address);
        row.if_index = Some(port);
        row.status = Some(FdbStatus::Learned);
        row
    };
    let others = (0..switches).filter(|other| *other != number).map(|other| row(1, address(0, other)));
    let stations =
        (0..=round).map(|station| row(2 + i64::from(station) % 20, address(2, number * 64 + station)));
    let rows = others.chain(stations).collect();
    let claim = Claim::new(&host, Reporter::new("bench"), Timestamp::UNIX_EPOCH, ClaimRows::Fdb(rows));
    (host, claim)
}

const fn address(kind: u8, number: u32) -> MacAddress {
    let [a, b, c, d] = number.to_be_bytes();
    MacAddress::new([0x00, 0x10 + kind, a, b, c, d])
}

fn milliseconds(time: Duration) -> f64 {
    time.as_secs_f64() * 1e3
}
