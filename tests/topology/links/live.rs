//! A scan of a network of Linux machines, in the folder `live/s1` of the test data.
//!
//! The test data is in `TOPOSCOPE_DISCOVERY_DATA`, or in `../shared/data` beside the crate. `links.tsv` lists all cables,
//! and the `truth.*` files are output of the machines themselves. Four machines are no bridges, and two of all machines
//! send no LLDP frames: only forwarding tables show their cables.

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use toposcope::access::{Caller, Scope};
use toposcope::discovery::report::{Device, FdbRow, FdbStatus, Report, Reporter, Table};
use toposcope::discovery::{Format, ParseOptions, parse};
use toposcope::inventory::{DiscoverOptions, DiscoveryOutcome, HostQuery, Inventory};
use toposcope::model::{Host, HostId, Network, NetworkId, NodeId, Permission, TopologyView, UserId};
use toposcope::store::MemoryStore;
use toposcope::topology::Topologies;
use toposcope::topology::graph::GraphOptions;
use toposcope::topology::links::{Device as LinkDevice, End, Link, Links, PortRef};
use toposcope::topology::paths::{PathLayer, PathQuery};

use super::support::time;
use crate::graph::nothing_vanishes::assert_nothing_vanishes;

/// Number of orders of the files that are tried beside those that are written below.
const SHUFFLED_ORDERS: u64 = 40;

/// The kinds of files, in an order in which each device is described before others name it.
const KINDS: [Kind; 5] = [Kind::Walk, Kind::Lldp, Kind::Nmap, Kind::Neighbors, Kind::Forwarding];

/// The machines without LLDP.
const SILENT: [&str; 2] = ["nas1", "pc1"];

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Kind {
    Walk,
    Lldp,
    Nmap,
    Neighbors,
    Forwarding,
}

/// A file of the scan, as a report.
#[derive(Clone, Debug)]
struct Input {
    kind: Kind,
    /// The machine that the file is of.
    machine: String,
    report: Report,
}

#[test]
fn lldp_alone_shows_the_cables_of_all_machines_that_send_it() {
    let Some(scan) = scan() else { return };
    let kinds = [Kind::Walk, Kind::Lldp, Kind::Nmap, Kind::Neighbors];
    let found = cables(&scan, &scan.inputs_of(&kinds));
    let is_silent = |cable: &String| SILENT.iter().any(|machine| cable.contains(machine));
    let expected: BTreeSet<String> = scan.cables.iter().filter(|cable| !is_silent(cable)).cloned().collect();
    assert_eq!(found.cables, expected, "{:#?}", found.lines);
}

#[test]
fn every_cable_is_found_once_tables_show_it_and_nothing_else_is() {
    let Some(scan) = scan() else { return };
    let found = cables(&scan, &scan.inputs_of(&KINDS));
    assert_eq!(found.cables, scan.cables, "{:#?}", found.lines);
    assert_eq!((found.segments, found.stubs), (0, 0), "{:#?}", found.lines);
}

#[test]
fn order_of_the_files_does_not_change_the_links() {
    let Some(scan) = scan() else { return };
    let inputs = scan.inputs_of(&KINDS);
    let expected = cables(&scan, &inputs);
    let mut orders: Vec<Vec<Input>> = Vec::new();
    // Files of one kind in the opposite order.
    let reversed = KINDS.iter().flat_map(|kind| {
        let mut files = scan.inputs_of(&[*kind]);
        files.reverse();
        files
    });
    orders.push(reversed.collect());
    // Forwarding tables before the tables that explain their addresses.
    orders.push(scan.inputs_of(&[Kind::Walk, Kind::Forwarding, Kind::Neighbors, Kind::Lldp, Kind::Nmap]));
    orders.extend((0..SHUFFLED_ORDERS).map(|seed| shuffled(inputs.clone(), seed + 1)));
    for order in orders {
        let files: Vec<String> =
            order.iter().map(|input| format!("{:?} {}", input.kind, input.machine)).collect();
        let found = cables(&scan, &order);
        assert_eq!(found, expected, "{files:?}");
    }
}

#[test]
fn hosts_of_the_scan_are_drawn_folded_or_noted() {
    let Some(scan) = scan() else { return };
    let imported = runtime().block_on(imported(&scan.inputs_of(&KINDS)));
    let topologies = Topologies::new(imported.inventory.clone());
    let draw = |options: GraphOptions| {
        let graph = topologies.graph(&imported.caller, imported.network, options);
        runtime().block_on(graph).unwrap()
    };
    let (_, hosts) = runtime().block_on(imported.links());
    assert_nothing_vanishes("live", hosts.len(), &draw);
}

#[test]
fn masks_of_addresses_alone_give_the_layer_3_view() {
    let Some(scan) = scan() else { return };
    let graph = runtime().block_on(async {
        let imported = imported(&scan.inputs_of(&[Kind::Walk, Kind::Lldp, Kind::Nmap])).await;
        let topologies = Topologies::new(imported.inventory);
        topologies
            .graph(&imported.caller, imported.network, GraphOptions::new(TopologyView::L3))
            .await
            .unwrap()
    });
    let label = |id: NodeId| graph.nodes.iter().find(|node| node.id == id).unwrap().label.clone();
    let inside: BTreeSet<String> = graph
        .nodes
        .iter()
        .filter_map(|node| Some(format!("{} in {}", node.label, label(node.parent_id?))))
        .collect();
    let expected = [
        "203.0.113.50 in 203.0.113.0/24",
        "acc1 in 198.51.100.0/24",
        "acc2 in 198.51.100.0/24",
        "core1 in 198.51.100.0/24",
        "mon in 198.51.100.0/24",
        "nas1 in 192.0.2.0/24",
        "srv1 in 192.0.2.0/24",
        "srv2 in 192.0.2.0/24",
    ];
    assert_eq!(inside, expected.map(str::to_owned).into());
    let edges = graph.edges.iter().map(|edge| {
        let mut ends = [label(edge.source), label(edge.target)];
        ends.sort();
        format!("{:?} {}", edge.kind, ends.join(" -- "))
    });
    let expected = [
        "Member 192.0.2.0/24 -- fw1",
        "Member 192.0.2.0/24 -- rtr2",
        "Member 198.51.100.0/24 -- fw1",
        "Member 198.51.100.0/24 -- rtr2",
        "Member 203.0.113.0/24 -- fw1",
        "Member 203.0.113.0/24 -- rtr2",
        "Routed fw1 -- rtr2",
    ];
    assert_eq!(edges.collect::<BTreeSet<String>>(), expected.map(str::to_owned).into());
}

#[test]
fn paths_within_a_subnet_follow_the_cables_through_the_switches() {
    let Some(scan) = scan() else { return };
    let imported = runtime().block_on(imported(&scan.inputs_of(&KINDS)));
    let topologies = Topologies::new(imported.inventory.clone());
    let mut compared = 0;
    for subnet in SUBNETS {
        for (one, from) in subnet {
            for (other, to) in subnet.iter().filter(|(other, _)| other != one) {
                let answer = runtime().block_on(async {
                    let texts = [("from", from), ("to", to)].map(|(field, text)| (field, (*text).to_owned()));
                    let ends = topologies
                        .find_nodes(&imported.caller, imported.network, texts.into())
                        .await
                        .unwrap();
                    let query = PathQuery::new(ends[0], ends[1]);
                    topologies.paths(&imported.caller, imported.network, query).await.unwrap()
                });
                let names: Vec<&str> = answer.paths[0].hops.iter().map(|hop| hop.name.as_str()).collect();
                assert_eq!(names.len(), hops(&scan, one, other), "{one} to {other}: {names:?}");
                assert!(names.windows(2).all(|pair| scan.connects(pair[0], pair[1])), "{names:?}");
                assert!(names.iter().skip(1).rev().skip(1).all(|name| SWITCHES.contains(name)), "{names:?}");
                compared += 1;
            }
        }
    }
    println!("{compared} paths compared");
}

/// Returns the name of the router that has an address, by the files of the machines themselves.
fn holder(address: &str) -> Option<&'static str> {
    let beside = || PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../shared/data");
    let data = std::env::var_os("TOPOSCOPE_DISCOVERY_DATA").map_or_else(beside, PathBuf::from);
    ["fw1", "rtr2"].into_iter().find(|machine| {
        let path = data.join(format!("live/s1/truth.{machine}.addr.json"));
        let entries: serde_json::Value = serde_json::from_slice(&read(&path)).unwrap();
        let addresses = entries.as_array().unwrap().iter().flat_map(|entry| entry["addr_info"].as_array());
        addresses.flatten().any(|known| known["local"] == address)
    })
}

#[test]
fn paths_between_subnets_lead_through_the_router_that_has_the_shared_address() {
    let Some(scan) = scan() else { return };
    let imported = runtime().block_on(imported(&scan.inputs_of(&KINDS)));
    let topologies = Topologies::new(imported.inventory.clone());
    let gateways = ["192.0.2.1", "198.51.100.1"];
    let mut compared = 0;
    for (place, gateway) in gateways.into_iter().enumerate() {
        let router = holder(gateway).unwrap();
        for (one, from) in SUBNETS[place] {
            for (other, to) in SUBNETS[1 - place] {
                let answer = runtime().block_on(async {
                    let texts = [("from", from), ("to", to)].map(|(field, text)| (field, (*text).to_owned()));
                    let ends = topologies
                        .find_nodes(&imported.caller, imported.network, texts.into())
                        .await
                        .unwrap();
                    let query = PathQuery::new(ends[0], ends[1]);
                    topologies.paths(&imported.caller, imported.network, query).await.unwrap()
                });
                let hops = &answer.paths[0].hops;
                let names: Vec<&str> = hops.iter().map(|hop| hop.name.as_str()).collect();
                let routers: Vec<_> = hops.iter().filter(|hop| hop.layer == PathLayer::L3).collect();
                assert_eq!(routers.len(), 1, "{one} to {other}: {names:?}");
                assert_eq!((routers[0].name.as_str(), routers[0].gateway), (router, gateway.parse().ok()));
                assert!(names.windows(2).all(|pair| scan.connects(pair[0], pair[1])), "{names:?}");
                let expected = self::hops(&scan, one, router) + self::hops(&scan, router, other) - 1;
                assert_eq!(names.len(), expected, "{one} to {other}: {names:?}");
                compared += 1;
            }
        }
    }
    println!("{compared} routed paths compared");
}

/// The machines that forward frames.
const SWITCHES: [&str; 3] = ["acc1", "acc2", "core1"];

/// Machines and their addresses in one VLAN, by VLAN.
const SUBNETS: [&[(&str, &str)]; 2] = [
    &[("srv1", "192.0.2.21"), ("srv2", "192.0.2.22"), ("nas1", "192.0.2.30")],
    &[
        ("acc1", "198.51.100.12"),
        ("acc2", "198.51.100.13"),
        ("core1", "198.51.100.11"),
        ("mon", "198.51.100.100"),
    ],
];

/// Returns the least number of machines on a way over cables and switches, the ends included.
fn hops(scan: &Scan, one: &str, other: &str) -> usize {
    let mut reached = BTreeSet::from([one]);
    let mut count = 2;
    loop {
        let may_pass = |machine: &&&str| **machine == one || SWITCHES.contains(*machine);
        let passed: Vec<&str> = reached.iter().filter(may_pass).copied().collect();
        if passed.iter().any(|machine| scan.connects(machine, other)) {
            return count;
        }
        let next =
            SWITCHES.into_iter().filter(|next| passed.iter().any(|machine| scan.connects(machine, next)));
        reached.extend(next);
        count += 1;
        assert!(count <= SWITCHES.len() + 3, "{one} and {other} are connected");
    }
}

/// The scan, and the cables of the network.
struct Scan {
    inputs: Vec<Input>,
    /// Each cable as its ends in order, such as `acc1 swp1 -- core1 swp3`.
    cables: BTreeSet<String>,
}

impl Scan {
    /// Returns whether a cable connects two machines.
    fn connects(&self, one: &str, other: &str) -> bool {
        let is_between = |cable: &String| {
            let mut ends = cable.split(" -- ");
            let ends = [ends.next().unwrap_or_default(), ends.next().unwrap_or_default()];
            (is_at(ends[0], one) && is_at(ends[1], other)) || (is_at(ends[0], other) && is_at(ends[1], one))
        };
        self.cables.iter().any(is_between)
    }

    fn inputs_of(&self, kinds: &[Kind]) -> Vec<Input> {
        let of_kind = |kind: &Kind| {
            let kind = *kind;
            self.inputs.iter().filter(move |input| input.kind == kind).cloned()
        };
        kinds.iter().flat_map(of_kind).collect()
    }
}

/// Returns the scan. If the folder is missing, it prints a message and returns `None`.
fn scan() -> Option<Scan> {
    let beside = || PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../shared/data");
    let data = std::env::var_os("TOPOSCOPE_DISCOVERY_DATA").map_or_else(beside, PathBuf::from);
    let folder = data.join("live/s1");
    let Ok(cables) = fs::read_to_string(folder.join("links.tsv")) else {
        println!(
            "skipped: no scan at {}; TOPOSCOPE_DISCOVERY_DATA may name another folder",
            folder.display()
        );
        return None;
    };
    let cables = cables.lines().map(|line| {
        let fields: Vec<&str> = line.split_whitespace().collect();
        cable(&format!("{} {}", fields[0], fields[1]), &format!("{} {}", fields[2], fields[3]))
    });
    let mut inputs = Vec::new();
    for (kind, directory, format, suffix) in [
        (Kind::Walk, "walk", Format::Snmpwalk, ".walk.gz"),
        (Kind::Lldp, "lldp", Format::Lldpctl, ".json"),
        (Kind::Nmap, "nmap", Format::Nmap, ".xml"),
        (Kind::Neighbors, "neigh", Format::Arp, ".arp"),
    ] {
        for (machine, path) in files(&folder.join(directory), suffix) {
            let options =
                ParseOptions::new(time()).with_reporter(machine.as_str().into()).with_complete_tables();
            let report = parse(format, read(&path).as_slice(), &options).unwrap();
            inputs.push(Input { kind, machine, report });
        }
    }
    for (file, path) in files(&folder, ".fdb") {
        let machine = file.trim_start_matches("truth.").to_owned();
        let text = String::from_utf8(read(&path)).unwrap();
        inputs.push(Input { kind: Kind::Forwarding, report: forwarding_table(&machine, &text), machine });
    }
    Some(Scan { inputs, cables: cables.collect() })
}

fn read(path: &Path) -> Vec<u8> {
    if path.extension().is_some_and(|extension| extension == "gz") {
        return Command::new("gzip").arg("-dc").arg(path).output().unwrap().stdout;
    }
    fs::read(path).unwrap()
}

/// Returns the files of a folder with a suffix, by the name before the suffix.
fn files(folder: &Path, suffix: &str) -> Vec<(String, PathBuf)> {
    let paths = fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path());
    let named = paths.filter_map(|path| {
        let name = path.file_name()?.to_str()?.strip_suffix(suffix)?.to_owned();
        Some((name, path))
    });
    let mut files: Vec<(String, PathBuf)> = named.collect();
    files.sort();
    files
}

/// Reads the output of `bridge fdb`, which names interfaces and has no indexes.
fn forwarding_table(machine: &str, text: &str) -> Report {
    let row = |line: &str| {
        let words: Vec<&str> = line.split_whitespace().collect();
        let after = |key: &str| words.iter().skip_while(|word| **word != key).nth(1).copied();
        after("master")?;
        let mut row = FdbRow::new(words[0].parse().unwrap());
        row.if_name = after("dev").map(str::to_owned);
        row.vlan = after("vlan").map(|vlan| vlan.parse().unwrap());
        let is_own = words.contains(&"permanent");
        row.status = Some(if is_own { FdbStatus::SelfAddress } else { FdbStatus::Learned });
        Some(row)
    };
    let mut device = Device::default();
    device.sys_name = Some(machine.to_owned());
    device.tables.fdb = Some(Table::complete(text.lines().filter_map(row).collect()));
    let mut report = Report::new(Reporter::new("bridge"), time());
    report.devices.push(device);
    report
}

/// The links of a network as text.
#[derive(Debug, PartialEq, Eq)]
struct Found {
    cables: BTreeSet<String>,
    lines: Vec<String>,
    segments: usize,
    stubs: usize,
}

/// Imports files into an inventory, and returns the cables that its links are.
fn cables(scan: &Scan, inputs: &[Input]) -> Found {
    let (links, hosts) = runtime().block_on(async { imported(inputs).await.links().await });
    let name = |id: HostId| {
        let host = hosts.iter().find(|host| host.id == id).unwrap();
        let address = || host.interfaces.first().map(|part| part.ip_address.to_string()).unwrap_or_default();
        let name = host.sys_name.clone().unwrap_or_else(address);
        // Only the address of this machine is known.
        if name == "203.0.113.50" { "pc1".to_owned() } else { name }
    };
    let mut found = Found {
        cables: BTreeSet::new(),
        lines: Vec::new(),
        segments: links.segments().count(),
        stubs: links.stubs().count(),
    };
    for link in links.links() {
        let ends = [(&link.source, true), (&link.target, false)];
        let [source, target] = ends.map(|(end, _)| match end {
            End::Host { host_id, .. } => name(*host_id),
            End::Stub { .. } => "stub".to_owned(),
            End::Segment { .. } => "segment".to_owned(),
        });
        let known = |machine: &str, port: Option<&PortRef>, other: &str| match port {
            Some(port) => format!("{machine} {}", port.name),
            // Only the other end knows the cable. The list has the port of a machine with a single one.
            None => only_port(scan, machine, other).unwrap_or_else(|| machine.to_owned()),
        };
        for (one, other) in port_pairs(link) {
            let [one_end, other_end] = [(&source, one, &target), (&target, other, &source)]
                .map(|(it, port, far)| known(it, port, far));
            found.cables.insert(cable(&one_end, &other_end));
        }
        let rule = link.evidence.first().map(|evidence| evidence.rule);
        let end = |machine: &str, end: &End| match port_of(end) {
            Some(port) => format!("{machine} {}", port.name),
            None => machine.to_owned(),
        };
        let ends = cable(&end(&source, &link.source), &end(&target, &link.target));
        let members = link.members.len();
        found.lines.push(format!("{ends}: {:?} {rule:?}, {members} members", link.confidence));
    }
    found.lines.sort();
    found
}

/// Returns the only end of a machine in the list of cables, if it leads to the other machine.
fn only_port(scan: &Scan, machine: &str, other: &str) -> Option<String> {
    let at = scan.cables.iter().filter(|cable| cable.split(" -- ").any(|end| is_at(end, machine)));
    let at: Vec<&String> = at.collect();
    let [only] = at.as_slice() else { return None };
    only.split(" -- ").any(|end| is_at(end, other)).then_some(())?;
    only.split(" -- ").find(|end| is_at(end, machine)).map(str::to_owned)
}

fn is_at(end: &str, machine: &str) -> bool {
    end.split(' ').next() == Some(machine)
}

/// Returns the ports at both ends of each cable of a link.
fn port_pairs(link: &Link) -> Vec<(Option<&PortRef>, Option<&PortRef>)> {
    if link.members.is_empty() {
        return vec![(port_of(&link.source), port_of(&link.target))];
    }
    link.members.iter().map(|member| (member.source_port.as_ref(), member.target_port.as_ref())).collect()
}

const fn port_of(end: &End) -> Option<&PortRef> {
    match end {
        End::Host { port, .. } | End::Stub { port, .. } => port.as_ref(),
        End::Segment { .. } => None,
    }
}

fn cable(one: &str, other: &str) -> String {
    if one <= other { format!("{one} -- {other}") } else { format!("{other} -- {one}") }
}

fn runtime() -> tokio::runtime::Runtime {
    tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap()
}

/// An inventory into which files were imported.
struct Imported {
    inventory: Inventory,
    caller: Caller,
    network: NetworkId,
}

async fn imported(inputs: &[Input]) -> Imported {
    let inventory = Inventory::new(MemoryStore::new());
    let organization = inventory.organizations().create("Example").await.unwrap();
    let network = inventory
        .networks()
        .create(&Caller::system(organization.id), Network::new("Office"))
        .await
        .unwrap()
        .id;
    let caller = Caller::new(organization.id, UserId::nil(), Permission::Member, Scope::all());
    let discover = async |report| {
        let answer =
            inventory.discovery().reconcile(&caller, report, DiscoverOptions::new(network)).await.unwrap();
        answer.hosts.iter().any(|host| host.outcome == DiscoveryOutcome::Ignored)
    };
    let mut ignored = Vec::new();
    for input in inputs {
        if discover(&input.report).await {
            ignored.push(&input.report);
        }
    }
    // Tables about others are ignored as long as their host is unknown, and offered again.
    for report in ignored {
        discover(report).await;
    }
    Imported { inventory, caller, network }
}

impl Imported {
    /// Returns the links, and the hosts.
    async fn links(&self) -> (Links, Vec<Host>) {
        let page = self.inventory.hosts().list(&self.caller, &HostQuery::default()).await.unwrap();
        let hosts: Vec<Host> =
            page.documents.iter().map(|document| serde_json::from_slice(document).unwrap()).collect();
        let mut devices = Vec::new();
        for host in &hosts {
            let claims = self.inventory.discovery().claims(&self.caller, host.id, None).await.unwrap();
            devices.push(LinkDevice::of(host, &claims));
        }
        (Links::new(devices, &[]), hosts)
    }
}

/// Returns the files in an order that depends on the seed only.
fn shuffled(mut inputs: Vec<Input>, seed: u64) -> Vec<Input> {
    let mut state = seed.wrapping_mul(0x9E37_79B9_7F4A_7C15);
    for place in (1..inputs.len()).rev() {
        state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        let other = usize::try_from(state >> 33).unwrap() % (place + 1);
        inputs.swap(place, other);
    }
    inputs
}
