//! Generated networks of many kinds and sizes. Each device names its neighbors by LLDP.

use std::collections::BTreeMap;

use serde_json::{Value, json};

use super::read::Scene;

const GIGABIT: u64 = 1_000_000_000;

/// Returns small networks, one of each kind.
pub(crate) fn small() -> Vec<Scene> {
    vec![
        fabric(2, 6, 3),
        clos(2, 2, 3),
        three_tier("three tiers 2-4-8, 3 PCs", [2, 4, 8], 3, 2),
        collapsed_core(2, 5, 4),
        hub_and_spoke(5, 1),
        ring_of_rings(4, 4),
        chain(9, 2),
        stretched_pairs(2, 3),
        tree(3, 2),
        parallel(6),
        small_office(),
    ]
}

/// Returns networks as large as real ones.
pub(crate) fn large() -> Vec<Scene> {
    vec![
        fabric(2, 4, 24),
        fabric(4, 32, 10),
        fabric(8, 64, 0),
        fabric(8, 64, 8),
        clos(4, 4, 8),
        clos(8, 2, 4),
        three_tier("three tiers 2-4-16, 10 PCs", [2, 4, 16], 10, 2),
        three_tier("three tiers 2-8-40, 20 PCs", [2, 8, 40], 20, 2),
        three_tier("three tiers 1-5-20, single links, 4 PCs", [1, 5, 20], 4, 1),
        collapsed_core(2, 12, 6),
        collapsed_core(1, 8, 8),
        collapsed_core(2, 40, 0),
        hub_and_spoke(12, 1),
        hub_and_spoke(30, 2),
        ring_of_rings(3, 6),
        ring_of_rings(6, 8),
        ring(24, 2),
        ring(8, 0),
        chain(12, 1),
        chain(60, 0),
        stretched_pairs(2, 8),
        stretched_pairs(3, 12),
        tree(3, 3),
        tree(2, 5),
        parallel(24),
        mixed(),
        small_office(),
    ]
}

/// A network under construction.
pub(crate) struct Network {
    name: String,
    kind: &'static str,
    devices: Vec<Device>,
}

/// A device and its entries of the interface table.
struct Device {
    name: String,
    role: &'static str,
    tier: Option<usize>,
    ports: Vec<Value>,
}

impl Network {
    pub(crate) fn new(name: impl Into<String>, kind: &'static str) -> Self {
        Self { name: name.into(), kind, devices: Vec::new() }
    }

    pub(crate) fn device(
        &mut self,
        name: impl Into<String>,
        role: &'static str,
        tier: impl Into<Option<usize>>,
    ) -> usize {
        self.devices.push(Device { name: name.into(), role, tier: tier.into(), ports: Vec::new() });
        self.devices.len() - 1
    }

    pub(crate) fn row(
        &mut self,
        name: &str,
        role: &'static str,
        tier: impl Into<Option<usize>>,
        count: usize,
    ) -> Vec<usize> {
        let tier = tier.into();
        (1..=count).map(|number| self.device(format!("{name}{number:02}"), role, tier)).collect()
    }

    pub(crate) fn link(&mut self, one: usize, other: usize, gigabits: u64) {
        let names = [self.port(one, gigabits), self.port(other, gigabits)];
        for ((device, other), [own, far]) in [(one, other), (other, one)]
            .into_iter()
            .zip([[0, 1], [1, 0]].map(|ends| ends.map(|end| &names[end])))
        {
            let entry = json!({
                "if_index": self.devices[device].ports.len() + 1, "if_name": own, "if_type": 6,
                "speed_bps": gigabits * GIGABIT, "lldp_sys_name": self.devices[other].name,
                "lldp_chassis_id": {"subtype": "MacAddress", "value": mac(other)},
                "lldp_port_id": {"subtype": "InterfaceName", "value": far},
            });
            self.devices[device].ports.push(entry);
        }
    }

    /// Returns the name of the next port of a device.
    fn port(&self, device: usize, gigabits: u64) -> String {
        let Device { role, ports, .. } = &self.devices[device];
        let number = ports.len() + 1;
        match (*role, gigabits) {
            ("switch" | "router" | "firewall", 0..=1) => format!("GigabitEthernet1/0/{number}"),
            ("switch" | "router" | "firewall", 2..=10) => format!("TenGigabitEthernet1/0/{number}"),
            ("switch" | "router" | "firewall", _) => format!("Ethernet{number}"),
            _ => format!("eth{}", number - 1),
        }
    }

    pub(crate) fn links(&mut self, upper: &[usize], lower: &[usize], gigabits: u64) {
        for one in upper {
            for other in lower {
                self.link(*one, *other, gigabits);
            }
        }
    }

    /// Adds end devices to switches.
    pub(crate) fn leaves(
        &mut self,
        switches: &[usize],
        each: usize,
        role: &'static str,
        tier: impl Into<Option<usize>>,
    ) {
        let tier = tier.into();
        for switch in switches {
            for number in 1..=each {
                let name = format!("{}-pc{number}", self.devices[*switch].name);
                let device = self.device(name, role, tier);
                self.link(*switch, device, 1);
            }
        }
    }

    pub(crate) fn scene(self) -> Scene {
        let tiers: BTreeMap<String, usize> =
            self.devices.iter().filter_map(|device| Some((device.name.clone(), device.tier?))).collect();
        let host = |(index, device): (usize, &Device)| {
            json!({
                "name": device.name, "hostname": device.name, "sys_name": device.name, "role": device.role,
                "chassis_id": {"subtype": "MacAddress", "value": mac(index)},
                "interfaces": [{"ip_address": format!("10.{}.{}.1", index / 250, index % 250)}],
                "if_entries": device.ports,
            })
        };
        let hosts = self.devices.iter().enumerate().map(host).collect();
        Scene::new(self.name, self.kind, hosts, tiers)
    }
}

fn mac(index: usize) -> String {
    format!("00:1B:21:{:02X}:{:02X}:{:02X}", index >> 16 & 255, index >> 8 & 255, index & 255)
}

/// Spines, leaves and servers.
pub(crate) fn fabric(spines: usize, leaves: usize, servers: usize) -> Scene {
    let mut network = Network::new(format!("generated fabric {spines}x{leaves}x{servers}"), "fabric");
    let upper = network.row("spine", "switch", 0, spines);
    let lower = network.row("leaf", "switch", 1, leaves);
    network.links(&upper, &lower, 100);
    network.leaves(&lower, servers, "server", 2);
    network.scene()
}

/// Pods of aggregation and top-of-rack switches below a row of spines.
pub(crate) fn clos(pods: usize, spines: usize, racks: usize) -> Scene {
    let mut network = Network::new(format!("generated pods {pods}x{spines}x{racks}"), "fabric");
    let top = network.row("spine", "switch", 0, spines * 2);
    for pod in 1..=pods {
        let upper = network.row(&format!("pod{pod}-agg"), "switch", 1, spines);
        let lower = network.row(&format!("pod{pod}-tor"), "switch", 2, racks);
        network.links(&top, &upper, 400);
        network.links(&upper, &lower, 100);
    }
    network.scene()
}

/// Core, pairs of distribution switches, access switches and workstations.
pub(crate) fn three_tier(
    name: &str,
    [core, distribution, access]: [usize; 3],
    each: usize,
    homes: usize,
) -> Scene {
    let mut network = Network::new(format!("generated {name}"), "campus");
    let firewall = network.device("fw", "firewall", 0);
    let top = network.row("core", "switch", 1, core);
    network.links(&[firewall], &top, 10);
    if let [one, other] = *top.as_slice() {
        network.link(one, other, 100);
    }
    let middle = network.row("dist", "switch", 2, distribution);
    network.links(&top, &middle, 40);
    let bottom = network.row("acc", "switch", 3, access);
    let blocks = distribution / homes;
    for (number, switch) in bottom.iter().enumerate() {
        let block = number * blocks / access;
        network.links(&middle[block * homes..(block + 1) * homes], &[*switch], 10);
    }
    network.leaves(&bottom, each, "workstation", 4);
    network.scene()
}

/// A core to which all access switches are connected.
pub(crate) fn collapsed_core(core: usize, access: usize, each: usize) -> Scene {
    let mut network = Network::new(format!("generated collapsed core {core}-{access}, {each} PCs"), "campus");
    let router = network.device("edge", "router", 0);
    let top = network.row("core", "switch", 1, core);
    network.links(&[router], &top, 10);
    if let [one, other] = *top.as_slice() {
        network.link(one, other, 40);
        network.link(one, other, 40);
    }
    let bottom = network.row("acc", "switch", 2, access);
    network.links(&top, &bottom, 10);
    network.leaves(&bottom, each, "workstation", 3);
    network.scene()
}

/// Sites with a router and a switch each, connected with all hubs.
pub(crate) fn hub_and_spoke(sites: usize, hubs: usize) -> Scene {
    let mut network = Network::new(format!("generated {sites} spokes of {hubs} hubs"), "wan");
    let top = network.row("hub", "router", 0, hubs);
    let routers = network.row("spoke", "router", 1, sites);
    network.links(&top, &routers, 1);
    for (number, router) in routers.iter().enumerate() {
        let switch = network.device(format!("site{:02}-sw", number + 1), "switch", 2);
        network.link(*router, switch, 1);
        network.leaves(&[switch], 4, "workstation", 3);
    }
    network.scene()
}

/// A ring of routers, each of which closes a ring of switches.
pub(crate) fn ring_of_rings(rings: usize, each: usize) -> Scene {
    let mut network = Network::new(format!("generated ring of {rings} rings of {each}"), "rings");
    let inner = network.row("p", "router", None, rings);
    for (number, router) in inner.iter().enumerate() {
        network.link(*router, inner[(number + 1) % rings], 100);
        let ring = network.row(&format!("r{}-sw", number + 1), "switch", None, each);
        ring.windows(2).for_each(|pair| network.link(pair[0], pair[1], 10));
        network.link(*router, ring[0], 10);
        network.link(*router, ring[each - 1], 10);
    }
    network.scene()
}

pub(crate) fn ring(count: usize, each: usize) -> Scene {
    let mut network = Network::new(format!("generated ring of {count}, {each} PCs"), "ring");
    let ring = network.row("sw", "switch", None, count);
    for (number, switch) in ring.iter().enumerate() {
        network.link(*switch, ring[(number + 1) % count], 10);
    }
    network.leaves(&ring, each, "workstation", None);
    network.scene()
}

pub(crate) fn chain(count: usize, each: usize) -> Scene {
    let mut network = Network::new(format!("generated chain of {count}, {each} devices"), "chain");
    let chain = network.row("sw", "switch", None, count);
    chain.windows(2).for_each(|pair| network.link(pair[0], pair[1], 1));
    network.leaves(&chain, each, "camera", None);
    network.scene()
}

/// Data centers with a pair of cores each, which are connected in a square, and access switches at both.
pub(crate) fn stretched_pairs(centers: usize, access: usize) -> Scene {
    let mut network = Network::new(format!("generated {centers} stretched pairs, {access} access"), "campus");
    let mut cores = Vec::new();
    for center in 1..=centers {
        let pair = network.row(&format!("dc{center}-core"), "switch", 0, 2);
        network.link(pair[0], pair[1], 100);
        cores.push(pair);
    }
    for pair in cores.windows(2) {
        network.link(pair[0][0], pair[1][0], 100);
        network.link(pair[0][1], pair[1][1], 100);
    }
    for (number, pair) in cores.iter().enumerate() {
        let row = network.row(&format!("dc{}-acc", number + 1), "switch", 1, access);
        network.links(pair, &row, 25);
        network.leaves(&row, 3, "server", 2);
    }
    network.scene()
}

pub(crate) fn tree(branches: usize, depth: usize) -> Scene {
    let mut network = Network::new(format!("generated tree of {branches}, {depth} deep"), "tree");
    let mut row = vec![network.device("root", "switch", 0)];
    for tier in 1..=depth {
        let mut next = Vec::new();
        for parent in row {
            for _ in 0..branches {
                let switch = network.device(format!("sw{tier}-{:02}", next.len() + 1), "switch", tier);
                network.link(parent, switch, 10);
                next.push(switch);
            }
        }
        row = next;
    }
    network.scene()
}

/// Two switches with many links that are no aggregation group.
pub(crate) fn parallel(links: usize) -> Scene {
    let mut network = Network::new(format!("generated {links} parallel links"), "parallel");
    let pair = network.row("sw", "switch", None, 2);
    (0..links).for_each(|_| network.link(pair[0], pair[1], 10));
    network.scene()
}

/// A fabric, a building with tiers and a ring, below one pair of cores.
fn mixed() -> Scene {
    let mut network = Network::new("generated fabric, building and ring", "mixed");
    let router = network.device("edge", "router", None);
    let core = network.row("core", "switch", None, 2);
    network.links(&[router], &core, 10);
    network.link(core[0], core[1], 100);
    let spines = network.row("spine", "switch", None, 2);
    let leaves = network.row("leaf", "switch", None, 8);
    network.links(&core, &spines, 100);
    network.links(&spines, &leaves, 100);
    network.leaves(&leaves, 6, "server", None);
    let distribution = network.row("dist", "switch", None, 2);
    let access = network.row("acc", "switch", None, 6);
    network.links(&core, &distribution, 40);
    network.links(&distribution, &access, 10);
    network.leaves(&access, 5, "workstation", None);
    let ring = network.row("ring", "switch", None, 6);
    ring.windows(2).for_each(|pair| network.link(pair[0], pair[1], 1));
    network.link(core[0], ring[0], 10);
    network.link(core[1], ring[5], 10);
    network.leaves(&ring, 2, "camera", None);
    network.scene()
}

fn small_office() -> Scene {
    let mut network = Network::new("generated small office", "office");
    let router = network.device("modem", "router", 0);
    let firewall = network.device("fw", "firewall", 1);
    let switch = network.device("sw", "switch", 2);
    network.link(router, firewall, 1);
    network.link(firewall, switch, 1);
    let devices = [("nas", "storage"), ("printer", "printer"), ("ap", "access_point"), ("pc", "workstation")];
    for (name, role) in devices {
        let device = network.device(name, role, 3);
        network.link(switch, device, 1);
    }
    network.scene()
}
