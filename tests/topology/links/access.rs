//! The hosts at ports of bridges.

use toposcope::topology::links::CrowdedPort;

use super::support::{Node, described, links, node};

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
    let host = node(2, 2).change(|host| host.if_entries[1].mac_address = Some(super::support::mac(0x22)));
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
    let twin = station(3).change(|host| host.chassis_id = Some(super::support::chassis(2)));
    assert_eq!(described(&[node(1, 4).fdb(&[(1, 2)]), station(2), twin]), [""; 0]);
}

#[test]
fn arp_claims_link_nothing() {
    use toposcope::discovery::report::ArpRow;
    use toposcope::inventory::ClaimRows;
    let row = ArpRow::new("192.0.2.2".parse().unwrap(), super::support::mac(2));
    assert_eq!(described(&[node(1, 4).with(ClaimRows::Arp(vec![row])), station(2)]), [""; 0]);
}
