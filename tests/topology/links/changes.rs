//! The same hosts and claims have the same links, regardless of earlier
//! changes.

use std::collections::BTreeMap;
use std::net::IpAddr;

use fastrand::Rng;
use toposcope::discovery::report::ArpRow;
use toposcope::inventory::{ClaimRows, MissingRows};
use toposcope::model::{HostId, Interface, Neighbor, Timestamp};
use toposcope::topology::links::{Device, Links, ManualLink};

use super::support::{Node, chassis, end, links, mac, manual, node, time, whole};

/// Numbers of the nodes of a random network.
const NODES: u8 = 9;
const PORTS: i64 = 5;

/// Returns a node with random claims, some of which contradict those of others.
fn random_node(random: &mut Rng, number: u8) -> Node {
    let mut node = node(number, PORTS);
    if random.u8(..8) == 0 {
        node.host.chassis_id = Some(chassis(random.u8(1..=NODES)));
    }
    if random.u8(..4) == 0 {
        node.host.if_entries[0].mac_address = Some(mac(random.u8(0x80..0x90)));
    }
    let rows = |random: &mut Rng| -> Vec<(i64, u8, i64)> {
        let row = |random: &mut Rng| (random.i64(0..=PORTS), random.u8(1..NODES + 3), random.i64(0..=PORTS));
        (0..random.usize(..6)).map(|_| row(random)).collect()
    };
    if random.bool() {
        node = node.lldp(&rows(random));
    }
    if random.u8(..3) == 0 {
        node = node.cdp(&rows(random));
    }
    if random.bool() {
        let rows: Vec<(i64, u8)> =
            (0..random.usize(..8)).map(|_| (random.i64(1..=PORTS), random_address(random))).collect();
        node = node.fdb(&rows);
    }
    if random.u8(..3) == 0 {
        let row = |random: &mut Rng| (random.i64(1..=PORTS), random.u8(1..NODES + 3), random.u16(1..5));
        node = node.stp(&[row(random), row(random)]);
    }
    if random.u8(..3) == 0 {
        node = node.lag(&[(1, 5), (2, 5)]);
    }
    if random.u8(..4) == 0 {
        let other = super::support::node(random.u8(1..=NODES), PORTS);
        let port = other.port(random.i64(1..=PORTS));
        node.host.if_entries[2].neighbor = Some(Neighbor::IfEntry(port));
    }
    if random.u8(..3) == 0 {
        let rows =
            (0..random.usize(..5)).map(|_| ArpRow::new(random_ip(random), mac(random_address(random))));
        node = node.with(ClaimRows::Arp(rows.collect()));
    }
    if random.u8(..3) == 0 {
        // Such a host is known by its addresses alone.
        let addresses: Vec<_> = (0..random.usize(1..3)).map(|_| random_ip(random)).collect();
        node = node.change(|host| {
            (host.chassis_id, host.sys_name) = (None, None);
            host.interfaces = addresses.iter().map(|address| Interface::new(host, *address)).collect();
        });
    }
    lose_rows(random, &mut node);
    node.host.last_seen_at = random.bool().then(|| days_ago(random.i64(0..4)));
    node
}

fn random_ip(random: &mut Rng) -> IpAddr {
    IpAddr::from([192, 0, 2, random.u8(1..=NODES)])
}

fn days_ago(days: i64) -> Timestamp {
    time().plus_micros(-days * 24 * 3_600_000_000)
}

/// Lets complete tables lack the rows of some claims.
fn lose_rows(random: &mut Rng, node: &mut Node) {
    for claim in &mut node.claims {
        let empty = match &claim.rows {
            ClaimRows::Lldp(_) => ClaimRows::Lldp(Vec::new()),
            ClaimRows::Cdp(_) => ClaimRows::Cdp(Vec::new()),
            ClaimRows::Fdb(_) => ClaimRows::Fdb(Vec::new()),
            ClaimRows::Arp(_) => ClaimRows::Arp(Vec::new()),
            _ => continue,
        };
        if random.u8(..4) == 0 {
            let lost = std::mem::replace(&mut claim.rows, empty);
            let mut missing = MissingRows::new(lost, days_ago(random.i64(2..4)), days_ago(1));
            missing.missed_scans = random.u32(1..5);
            claim.missing.push(missing);
        }
    }
}

fn random_address(random: &mut Rng) -> u8 {
    if random.bool() { random.u8(1..=NODES) } else { random.u8(0x80..0x98) }
}

fn random_manual(random: &mut Rng) -> Vec<ManualLink> {
    let link = |random: &mut Rng| {
        let mut some_end = || end(&node(random.u8(1..=NODES), PORTS), random.i64(0..=PORTS));
        let link = ManualLink::new(some_end(), some_end());
        if random.bool() { link.suppressed() } else { link }
    };
    (0..random.usize(..3)).map(|_| link(random)).collect()
}

#[test]
fn changes_lead_to_the_links_of_a_new_computation() {
    for seed in 0..20 {
        let mut random = Rng::with_seed(seed);
        let mut nodes: BTreeMap<u8, Node> = BTreeMap::new();
        let mut entered = Vec::new();
        let mut changing = Links::default();
        for step in 0..25 {
            let number = random.u8(1..=NODES);
            match random.u8(..8) {
                0 => {
                    if let Some(node) = nodes.remove(&number) {
                        changing.remove(node.host.id);
                    }
                }
                1 => {
                    entered = random_manual(&mut random);
                    changing.set_manual(&entered);
                }
                _ => {
                    let node = random_node(&mut random, number);
                    changing.set(node.device());
                    nodes.insert(number, node);
                }
            }
            let new = manual(&nodes.values().cloned().collect::<Vec<_>>(), &entered);
            assert_eq!(whole(&changing), whole(&new), "seed {seed}, step {step}");
        }
    }
}

#[test]
fn changes_of_several_devices_lead_to_the_links_of_a_new_computation() {
    for seed in 0..40 {
        let mut random = Rng::with_seed(seed);
        let mut nodes: BTreeMap<u8, Node> = BTreeMap::new();
        let (mut entered, mut changing) = (random_manual(&mut random), Links::default());
        changing.set_manual(&entered);
        for step in 0..12 {
            let numbers: Vec<u8> = (0..random.u8(..=NODES)).map(|_| random.u8(1..=NODES)).collect();
            match random.u8(..6) {
                0 => {
                    let removed: Vec<HostId> =
                        numbers.iter().filter_map(|number| Some(nodes.remove(number)?.host.id)).collect();
                    changing.remove_all(removed);
                }
                1 => {
                    entered = random_manual(&mut random);
                    changing.set_manual(&entered);
                }
                _ => {
                    // Some numbers are repeated, so that the last device of each host counts.
                    let set: Vec<Node> =
                        numbers.iter().map(|number| random_node(&mut random, *number)).collect();
                    changing.set_all(set.iter().map(Node::device).collect::<Vec<Device>>());
                    nodes.extend(numbers.into_iter().zip(set));
                }
            }
            let new = manual(&nodes.values().cloned().collect::<Vec<_>>(), &entered);
            assert_eq!(whole(&changing), whole(&new), "seed {seed}, step {step}");
        }
    }
}

#[test]
fn order_of_devices_does_not_matter() {
    for seed in 0..20 {
        let mut random = Rng::with_seed(seed);
        let mut nodes: Vec<Node> = (1..=NODES).map(|number| random_node(&mut random, number)).collect();
        let expected = whole(&links(&nodes));
        random.shuffle(&mut nodes);
        assert_eq!(whole(&links(&nodes)), expected, "seed {seed}");
    }
}

#[test]
fn order_of_claims_does_not_matter() {
    for seed in 0..20 {
        let mut random = Rng::with_seed(seed);
        let mut nodes: Vec<Node> = (1..=NODES).map(|number| random_node(&mut random, number)).collect();
        let expected = whole(&links(&nodes));
        nodes.iter_mut().for_each(|node| random.shuffle(&mut node.claims));
        assert_eq!(whole(&links(&nodes)), expected, "seed {seed}");
    }
}

#[test]
fn ends_of_links_exist_and_ids_are_in_order() {
    for seed in 0..20 {
        let mut random = Rng::with_seed(seed);
        let nodes: Vec<Node> = (1..=NODES).map(|number| random_node(&mut random, number)).collect();
        let links = links(&nodes);
        let ids: Vec<_> = links.links().map(|link| link.id).collect();
        assert!(ids.is_sorted());
        assert!(ids.iter().all(|id| links.get(*id).is_some_and(|link| link.id == *id)));
        assert!(links.stubs().map(|stub| stub.id).is_sorted());
        // The text of an end panics without its stub or segment.
        super::support::describe(&links);
        for stub in links.stubs() {
            let text = format!("{:?}", stub.id);
            assert!(links.links().any(|link| format!("{link:?}").contains(&text)), "seed {seed}");
        }
    }
}
