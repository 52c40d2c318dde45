//! Networks to ask about.

use std::fs;
use std::path::PathBuf;
use std::process::Command;

use fastrand::Rng;
use serde_json::json;
use toposcope::model::{HostId, LinkId, TopologyView};
use toposcope::topology::graph::GraphOptions;
use toposcope::topology::links::{Link, LinkMember, LinkState, VlanRange};
use toposcope::topology::paths::PathIndex;

use crate::graph::support::Fixture;
use crate::links::labs::{Lab, labs};

/// The descriptions of random hosts: they decide the roles.
const DESCRIPTIONS: [&str; 6] =
    ["", "", "Windows server", "Cisco Catalyst 2960 switch", "Cisco IOS router", "HP LaserJet printer"];

pub(super) fn index(network: &Fixture) -> PathIndex {
    network.with_input(&GraphOptions::new(TopologyView::L2), PathIndex::new)
}

/// Adds a link between two hosts.
pub(super) fn connect(network: &mut Fixture, source: HostId, target: HostId) -> LinkId {
    let end = |host: HostId| json!({"type": "host", "host_id": host, "port": null});
    network.link_of(&end(source), &end(target), "Confirmed")
}

/// Makes a random network of this many hosts, some of them without links, with links of all states.
pub(super) fn random(rng: &mut Rng, hosts: usize, links: usize) -> Fixture {
    let mut network = Fixture::default();
    let ids: Vec<HostId> = (0..hosts)
        .map(|number| network.host(&format!("h{number}"), rng.choice(DESCRIPTIONS).unwrap(), &[]))
        .collect();
    for _ in 0..links {
        connect(&mut network, *rng.choice(&ids).unwrap(), *rng.choice(&ids).unwrap());
        vary(rng, network.links.last_mut().unwrap());
    }
    network
}

fn vary(rng: &mut Rng, link: &mut Link) {
    link.state = match rng.u8(..12) {
        0 => LinkState::Down,
        1 => LinkState::Disabled,
        2 => LinkState::Testing,
        3 => LinkState::Unknown,
        4 => LinkState::Degraded,
        _ => LinkState::Up,
    };
    link.stale = rng.u8(..16) == 0;
    link.blocked = [None, Some(false), Some(false), Some(true)][rng.usize(..4)];
    link.vlans = match rng.u8(..4) {
        0 => None,
        1 => Some(vec![VlanRange { first: 10, last: 10 }]),
        2 => Some(vec![VlanRange { first: 20, last: 29 }]),
        _ => Some(vec![VlanRange { first: 1, last: 4_094 }]),
    };
    if rng.u8(..6) == 0 {
        let states = (0..rng.usize(1..4))
            .map(|_| [LinkState::Up, LinkState::Up, LinkState::Down, LinkState::Testing][rng.usize(..4)]);
        let member = |state| LinkMember { source_port: None, target_port: None, state, blocked: None };
        link.members = states.map(member).collect();
    }
}

/// Makes spines above leaves above servers.
pub(super) fn fabric(spines: usize, leaves: usize, servers: usize) -> Fixture {
    let mut network = Fixture::default();
    let spines = switches(&mut network, "spine", spines);
    let leaves = switches(&mut network, "leaf", leaves);
    connect_all(&mut network, &spines, &leaves);
    add_devices(&mut network, &leaves, servers);
    network
}

/// Makes two routers above a core, and buildings of two distribution and three access switches each.
pub(super) fn campus(buildings: usize, workstations: usize) -> Fixture {
    let mut network = Fixture::default();
    let routers = ["edge1", "edge2"].map(|name| network.host(name, "Cisco IOS router", &[]));
    let core = switches(&mut network, "core", 2);
    connect_all(&mut network, &routers, &core);
    connect(&mut network, core[0], core[1]);
    for building in 0..buildings {
        let distribution = switches(&mut network, &format!("distribution{building}-"), 2);
        let access = switches(&mut network, &format!("access{building}-"), 3);
        connect_all(&mut network, &core, &distribution);
        connect(&mut network, distribution[0], distribution[1]);
        connect_all(&mut network, &distribution, &access);
        add_devices(&mut network, &access, workstations);
    }
    network
}

fn switches(network: &mut Fixture, name: &str, count: usize) -> Vec<HostId> {
    (0..count).map(|number| network.host(&format!("{name}{number}"), DESCRIPTIONS[3], &[])).collect()
}

fn connect_all(network: &mut Fixture, upper: &[HostId], lower: &[HostId]) {
    for (one, other) in upper.iter().flat_map(|one| lower.iter().map(move |other| (*one, *other))) {
        connect(network, one, other);
    }
}

fn add_devices(network: &mut Fixture, switches: &[HostId], each: usize) {
    for switch in switches {
        for _ in 0..each {
            // The id of a host follows from its name.
            let name = format!("device{}", network.hosts.len());
            let device = network.host(&name, DESCRIPTIONS[5], &[]);
            connect(network, *switch, device);
        }
    }
}

/// Returns the networks of the labs of the test data, each with its name. Without the data, it prints a message and returns none.
pub(super) fn lab_networks() -> Vec<(String, Fixture)> {
    let network = |lab: Lab| {
        let links = lab.links();
        let mut network = Fixture::default();
        for (host, claims) in lab.hosts.values() {
            network.hosts.push(host.clone());
            network.claims.extend(claims.iter().cloned());
        }
        network.bridges = links.bridges().collect();
        let announced = links.capabilities().into_iter();
        network.capabilities =
            announced.flat_map(|(host, all)| all.into_iter().map(move |it| (host, it))).collect();
        network.links = links.links().cloned().collect();
        network.stubs = links.stubs().cloned().collect();
        network.segments = links.segments().cloned().collect();
        (lab.name, network)
    };
    labs().into_iter().map(network).collect()
}

/// Gives the links of a network random states, VLANs and members.
pub(super) fn varied(rng: &mut Rng, network: &Fixture) -> Fixture {
    let mut varied = Fixture {
        hosts: network.hosts.clone(),
        claims: network.claims.clone(),
        links: network.links.clone(),
        stubs: network.stubs.clone(),
        segments: network.segments.clone(),
        capabilities: network.capabilities.clone(),
        bridges: network.bridges.clone(),
        ..Fixture::default()
    };
    varied.bridges.extend(network.hosts.iter().filter(|_| rng.u8(..4) == 0).map(|host| host.id));
    for link in &mut varied.links {
        if rng.u8(..3) == 0 {
            vary(rng, link);
        }
    }
    varied
}

/// Returns the graphs of the folder `graphs` of the test data as networks, each with its name. If the folder is missing, it
/// prints a message and returns none.
pub(super) fn zoo() -> Vec<(String, Fixture)> {
    let beside = || PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../shared/data");
    let data = std::env::var_os("TOPOSCOPE_DISCOVERY_DATA").map_or_else(beside, PathBuf::from);
    let path = data.join("graphs/zoo.jsonl.gz");
    if fs::metadata(&path).is_err() {
        println!(
            "skipped: no graphs at {}; TOPOSCOPE_DISCOVERY_DATA may name another folder",
            path.display()
        );
        return Vec::new();
    }
    let text = Command::new("gzip").arg("-dc").arg(path).output().unwrap().stdout;
    String::from_utf8(text).unwrap().lines().map(graph).collect()
}

fn graph(line: &str) -> (String, Fixture) {
    let document: serde_json::Value = serde_json::from_str(line).unwrap();
    let mut network = Fixture::default();
    let nodes = document["nodes"].as_array().unwrap();
    let ids: Vec<HostId> = (0..nodes.len()).map(|node| network.host(&format!("n{node}"), "", &[])).collect();
    for edge in document["edges"].as_array().unwrap() {
        let end = |place: usize| ids[usize::try_from(edge[place].as_u64().unwrap()).unwrap()];
        connect(&mut network, end(0), end(1));
    }
    (document["name"].as_str().unwrap().to_owned(), network)
}
