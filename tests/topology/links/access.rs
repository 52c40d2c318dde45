//! The hosts at ports of bridges.

use toposcope::discovery::report::{ArpRow, BridgeId, Capability, CdpRow, FdbRow, StpRow};
use toposcope::inventory::{ClaimRows, MissingRows};
use toposcope::model::{Interface, LldpPortId, LldpPortIdSubtype};
use toposcope::topology::links::{CrowdedPort, Links, Method};

use super::support::{Node, chassis, describe, described, links, mac, node, time, whole};

/// Returns a host that is no bridge.
fn station(number: u8) -> Node {
    node(number, 0)
}

#[test]
fn only_host_at_a_port_is_linked() {
    assert_eq!(
        described(&[node(1, 4).fdb(&[(1, 2)]), station(2)]),
        ["sw1 Gi0/1 -- sw2: Inferred SingleSidedFdb"]
    );
}

#[test]
fn host_is_linked_by_the_port_that_has_the_address() {
    let host = node(2, 2).change(|host| host.if_entries[1].mac_address = Some(mac(0x22)));
    assert_eq!(
        described(&[node(1, 4).fdb(&[(1, 0x22)]), host]),
        ["sw1 Gi0/1 -- sw2 Gi0/2: Inferred SingleSidedFdb"]
    );
}

#[test]
fn several_devices_at_a_port_are_behind_an_unmanaged_switch() {
    let nodes = [node(1, 4).fdb(&[(1, 2), (1, 3), (1, 0xF0)]), station(2), station(3)];
    assert_eq!(
        described(&nodes),
        [
            "(unmanaged) -- sw1 Gi0/1: Inferred SingleSidedFdb",
            "(unmanaged) -- sw2: Inferred SingleSidedFdb",
            "(unmanaged) -- sw3: Inferred SingleSidedFdb",
        ]
    );
    let links = links(&nodes);
    let crowded: Vec<CrowdedPort> = links.crowded_ports().collect();
    assert_eq!((crowded.len(), crowded[0].devices), (1, 3));
    assert_eq!(crowded[0].port.if_entry_id, Some(nodes[0].port(1)));
}

#[test]
fn unknown_devices_at_a_port_are_counted_only() {
    let links = links(&[node(1, 4).fdb(&[(1, 0xF0), (1, 0xF1)])]);
    assert_eq!(links.links().count() + links.stubs().count(), 0);
    assert_eq!(links.crowded_ports().count(), 1);
}

#[test]
fn host_behind_another_bridge_is_linked_to_that_bridge_only() {
    let nodes = [node(1, 4).fdb(&[(1, 2), (1, 3)]), node(2, 4).fdb(&[(4, 1), (2, 3)]), station(3)];
    assert_eq!(
        described(&nodes),
        ["sw1 Gi0/1 -- sw2 Gi0/4: Inferred MutualFdb", "sw2 Gi0/2 -- sw3: Inferred SingleSidedFdb"]
    );
}

#[test]
fn port_with_the_fewest_devices_has_the_host() {
    // The bridges know nothing of each other; the first sees the host through the second.
    let nodes = [node(1, 4).fdb(&[(1, 3), (1, 0xF0)]), node(2, 4).fdb(&[(2, 3)]), station(3)];
    assert_eq!(described(&nodes), ["sw2 Gi0/2 -- sw3: Inferred SingleSidedFdb"]);
}

#[test]
fn hosts_at_a_port_with_a_neighbor_are_behind_the_neighbor() {
    let nodes = [node(1, 4).lldp(&[(1, 9, 1)]).fdb(&[(1, 2), (1, 3)]), station(2), station(3)];
    assert_eq!(described(&nodes), ["(sw9) Gi0/1 -- sw1 Gi0/1: Reported OneSidedLldp"]);
}

#[test]
fn address_of_several_hosts_links_none() {
    let twin = station(3).change(|host| host.chassis_id = Some(chassis(2)));
    assert_eq!(described(&[node(1, 4).fdb(&[(1, 2)]), station(2), twin]), [""; 0]);
}

/// Returns a host that is known by its addresses only.
fn addressed(number: u8, addresses: &[&str]) -> Node {
    node(number, 0).change(|host| {
        host.chassis_id = None;
        host.sys_name = None;
        let interfaces = addresses.iter().map(|address| Interface::new(host, address.parse().unwrap()));
        host.interfaces = interfaces.collect();
    })
}

/// Adds a neighbor cache: addresses, and the last byte of the MAC address.
fn arp(node: Node, rows: &[(&str, u8)]) -> Node {
    let row = |(address, number): &(&str, u8)| {
        let mut row = ArpRow::new(address.parse().unwrap(), mac(*number));
        row.if_name = Some("Gi0/1".to_owned());
        row
    };
    node.with(ClaimRows::Arp(rows.iter().map(row).collect()))
}

#[test]
fn neighbor_cache_alone_links_nothing() {
    assert_eq!(described(&[arp(node(1, 4), &[("192.0.2.2", 2)]), station(2)]), [""; 0]);
}

#[test]
fn host_known_by_its_address_is_at_the_port_that_learned_its_mac_address() {
    let nodes =
        [node(1, 4).fdb(&[(2, 0x22)]), arp(node(2, 1), &[("192.0.2.3", 0x22)]), addressed(3, &["192.0.2.3"])];
    let links = links(&nodes);
    assert_eq!(describe(&links), ["sw1 Gi0/2 -- sw3: Inferred ArpFdb"]);
    let evidence = &links.links().next().unwrap().evidence;
    let facts: Vec<_> = evidence.iter().map(|it| (it.method, it.reporter_host_id, it.if_entry_id)).collect();
    assert_eq!(
        facts,
        [
            (Method::Fdb, Some(nodes[0].host.id), Some(nodes[0].port(2))),
            (Method::Arp, Some(nodes[1].host.id), Some(nodes[1].port(1))),
        ]
    );
}

#[test]
fn mac_address_that_may_belong_to_several_hosts_joins_none() {
    let switch = || node(1, 4).fdb(&[(2, 0x22)]);
    let router = |number, rows: &[(&str, u8)]| arp(node(number, 1), rows);
    let pc = || addressed(3, &["192.0.2.3"]);
    let many: Vec<String> = (1..60).map(|last| format!("203.0.113.{last}")).collect();
    let many: Vec<(&str, u8)> = many.iter().map(|address| (address.as_str(), 0x22)).collect();
    let cases: [(&str, Vec<Node>); 5] = [
        ("one address on two hosts", vec![router(2, &[("192.0.2.3", 0x22)]), addressed(4, &["192.0.2.3"])]),
        (
            "two MAC addresses of one address",
            vec![router(2, &[("192.0.2.3", 0x22)]), router(4, &[("192.0.2.3", 0x23)])],
        ),
        (
            "one MAC address of two hosts",
            vec![router(2, &[("192.0.2.3", 0x22), ("192.0.2.4", 0x22)]), addressed(4, &["192.0.2.4"])],
        ),
        (
            "gateway that answers for many",
            vec![router(2, &[&[("192.0.2.3", 0x22)], many.as_slice()].concat())],
        ),
        ("address of no host", vec![router(2, &[("192.0.2.9", 0x22)])]),
    ];
    for (case, others) in cases {
        let nodes: Vec<Node> = [switch(), pc()].into_iter().chain(others).collect();
        assert_eq!(described(&nodes), [""; 0], "{case}");
    }
}

#[test]
fn host_that_has_the_mac_address_is_linked_and_not_the_one_with_the_ip_address() {
    let router = arp(node(2, 1), &[("192.0.2.3", 4)]);
    let nodes = [node(1, 4).fdb(&[(2, 4)]), router, addressed(3, &["192.0.2.3"]), station(4)];
    assert_eq!(described(&nodes), ["sw1 Gi0/2 -- sw4: Inferred SingleSidedFdb"]);
}

#[test]
fn host_with_two_addresses_on_one_mac_address_is_joined() {
    let nodes = [
        node(1, 4).fdb(&[(2, 0x22)]),
        arp(node(2, 1), &[("192.0.2.3", 0x22)]),
        arp(node(4, 1), &[("2001:db8::3", 0x22), ("192.0.2.3", 0x22)]),
        addressed(3, &["192.0.2.3", "2001:db8::3"]),
    ];
    assert_eq!(described(&nodes), ["sw1 Gi0/2 -- sw3: Inferred ArpFdb"]);
}

#[test]
fn joined_links_do_not_depend_on_the_order_of_changes() {
    let nodes = [
        node(1, 4).fdb(&[(2, 0x22), (3, 0x23)]),
        arp(node(2, 1), &[("192.0.2.3", 0x22), ("192.0.2.4", 0x23)]),
        addressed(3, &["192.0.2.3"]),
        addressed(4, &["192.0.2.4"]),
        arp(node(5, 1), &[("192.0.2.4", 0x24)]),
    ];
    let expected = whole(&links(&nodes));
    let mut changing = Links::default();
    for node in nodes.iter().chain(nodes.iter().rev()) {
        changing.set(node.device());
    }
    assert_eq!(whole(&changing), expected);
    for node in &nodes {
        changing.remove(node.host.id);
        let others: Vec<Node> = nodes.iter().filter(|other| other.host.id != node.host.id).cloned().collect();
        assert_eq!(whole(&changing), whole(&links(&others)), "{}", node.host.name);
        changing.set(node.device());
        assert_eq!(whole(&changing), expected, "{}", node.host.name);
    }
}

/// Adds learned addresses by the name of the interface only, as `bridge fdb` prints them.
fn fdb_by_name(node: Node, rows: &[(&str, u8)]) -> Node {
    let row = |(name, address): &(&str, u8)| {
        let mut row = FdbRow::new(mac(*address));
        row.if_name = Some((*name).to_owned());
        row.vlan = Some(10);
        row
    };
    node.with(ClaimRows::Fdb(rows.iter().map(row).collect()))
}

#[test]
fn forwarding_entries_are_found_by_the_name_of_the_interface() {
    let nodes = [
        fdb_by_name(node(1, 4), &[("Gi0/2", 2), ("GigabitEthernet0/3", 3), ("Gi0/9", 4)]),
        station(2),
        station(3),
        station(4),
    ];
    assert_eq!(
        described(&nodes),
        ["sw1 Gi0/2 -- sw2: Inferred SingleSidedFdb", "sw1 Gi0/3 -- sw3: Inferred SingleSidedFdb"]
    );
}

#[test]
fn bridges_that_name_interfaces_are_adjacent() {
    let nodes = [fdb_by_name(node(1, 4), &[("Gi0/1", 2)]), fdb_by_name(node(2, 4), &[("Gi0/4", 1)])];
    assert_eq!(described(&nodes), ["sw1 Gi0/1 -- sw2 Gi0/4: Inferred MutualFdb"]);
}

#[test]
fn bridge_port_is_found_by_the_name_of_its_interface() {
    // The forwarding table names the interface of the bridge port; the spanning tree has only its number.
    let named = |mut row: FdbRow| {
        row.bridge_port = Some(9);
        row
    };
    let mut row = named(FdbRow::new(mac(0xF0)));
    row.if_name = Some("Gi0/3".to_owned());
    let mut stp = StpRow::new(9);
    stp.designated_bridge = Some(BridgeId { priority: 0x8000, mac_address: mac(2) });
    let nodes = [node(1, 4).with(ClaimRows::Fdb(vec![row])).with(ClaimRows::Stp(vec![stp])), node(2, 2)];
    assert_eq!(described(&nodes), ["sw1 Gi0/3 -- sw2: Reported StpDesignated"]);
}

/// Returns a switch with a telephone on its first port, and the addresses that it learned there.
fn switch_with_telephone(learned: &[u8]) -> Node {
    let mut row = super::support::lldp(1, 9, 1);
    row.capabilities = vec![Capability::Bridge, Capability::Telephone];
    row.port_id = Some(LldpPortId { subtype: LldpPortIdSubtype::MacAddress, value: mac(9).to_string() });
    let learned: Vec<(i64, u8)> = learned.iter().map(|last| (1, *last)).collect();
    node(1, 4).with(ClaimRows::Lldp(vec![row])).fdb(&learned)
}

#[test]
fn computer_behind_a_telephone_is_linked_to_it() {
    let computer = "(sw9) -- sw2: Inferred SingleSidedFdb";
    let nodes = [switch_with_telephone(&[2, 9]), station(2)];
    let described = described(&nodes);
    assert!(described.iter().any(|line| line == computer), "{described:?}");
    assert_eq!(described.len(), 2, "{described:?}");
    assert_eq!(links(&nodes).crowded_ports().count(), 0);
    let known = [switch_with_telephone(&[2, 9]), station(2), station(9)];
    let described = super::support::described(&known);
    assert!(described.iter().any(|line| line == "sw2 -- sw9: Inferred SingleSidedFdb"), "{described:?}");
    // Hosts may be set in any order.
    let mut later = links(&nodes);
    later.set(known[2].device());
    assert_eq!(whole(&later), whole(&links(&known)));
    later.remove(known[2].host.id);
    assert_eq!(whole(&later), whole(&links(&nodes)));
}

#[test]
fn several_devices_besides_a_telephone_are_behind_something_else() {
    for learned in [&[2, 3, 9][..], &[2, 9, 0xF0]] {
        let nodes = [switch_with_telephone(learned), station(2), station(3)];
        let described = described(&nodes);
        assert_eq!(described.len(), 1, "{described:?}");
    }
}

/// Adds an address that a port no longer has.
fn without_address(node: Node, port: i64, address: u8) -> Node {
    let rows = node.clone().fdb(&[(port, address)]).claims.pop().unwrap().rows;
    let mut node = node.fdb(&[]);
    node.claims.last_mut().unwrap().missing.push(MissingRows::new(rows, time(), time()));
    node
}

#[test]
fn computer_moves_behind_a_telephone_and_back_in_any_order() {
    let former = without_address(node(4, 4), 1, 2);
    let telephones = [switch_with_telephone(&[]), switch_with_telephone(&[2, 9])];
    let networks = telephones.map(|switch| [former.clone(), switch, station(2)]);
    let [before, after] = [links(&networks[0]), links(&networks[1])];
    assert_ne!(whole(&before), whole(&after));
    for (mut changed, to, expected) in [(before.clone(), 1, &after), (after.clone(), 0, &before)] {
        changed.set(networks[to][1].device());
        assert_eq!(whole(&changed), whole(expected));
    }
    for (mut changed, to, expected) in [(before.clone(), 1, &after), (after.clone(), 0, &before)] {
        changed.remove(networks[to][1].host.id);
        changed.set(networks[to][1].device());
        assert_eq!(whole(&changed), whole(expected));
    }
}

#[test]
fn former_neighbors_and_bridges_are_no_telephones() {
    let computer = "(sw9) -- sw2: Inferred SingleSidedFdb";
    for other in [5, 6, 7, 8] {
        let mut former = switch_with_telephone(&[2, 9]);
        let rows = ClaimRows::Lldp(vec![super::support::lldp(1, other, 1)]);
        former.claims[0].missing.push(MissingRows::new(rows, time(), time()));
        let bridge = switch_with_telephone(&[2, 9]).stp(&[(1, other, 1)]);
        for switch in [former, bridge] {
            for is_known in [false, true] {
                let mut nodes = vec![switch.clone(), station(2)];
                nodes.extend(is_known.then(|| node(other, 4)));
                let described = described(&nodes);
                assert!(described.iter().any(|line| line == computer), "{other} {is_known}: {described:?}");
            }
        }
    }
    let mut second = CdpRow::new("SEP00005E005308".to_owned());
    second.if_index = Some(1);
    second.capabilities = vec![Capability::Telephone];
    let nodes = [switch_with_telephone(&[2, 9]).with(ClaimRows::Cdp(vec![second])), station(2)];
    let described = described(&nodes);
    assert!(described.iter().all(|line| !line.contains("sw2")), "{described:?}");
}
