//! Links to devices that are switched off or removed, through reports of several days.

use std::collections::BTreeMap;

use toposcope::access::{Caller, Scope};
use toposcope::discovery::report::{
    AddressRow, ArpRow, CdpRow, Device, FdbRow, FdbStatus, IfEntryRow, LldpRow, Report, Reporter, Table,
};
use toposcope::inventory::{DiscoverOptions, Inventory};
use toposcope::model::{
    LldpChassisId, LldpChassisIdSubtype, LldpPortId, LldpPortIdSubtype, NetworkId, NodeId, OperStatus,
    Permission, Timestamp, TopologyView, UserId,
};
use toposcope::store::MemoryStore;
use toposcope::topology::Topologies;
use toposcope::topology::graph::{Graph, GraphOptions};
use toposcope::topology::links::LinkState;

use super::support::{chassis, mac};

/// A network whose devices report day by day.
struct Network {
    inventory: Inventory,
    topologies: Topologies,
    caller: Caller,
    id: NetworkId,
}

/// The tables of a switch with four ports.
#[derive(Default)]
struct Tables<'t> {
    /// Own port, neighbor, port of the neighbor.
    lldp: Option<&'t [(i64, u8, i64)]>,
    /// Own port, last byte of the address.
    fdb: Option<&'t [(i64, u8)]>,
    /// Last bytes of the IP and MAC addresses.
    arp: Option<&'t [(u8, u8)]>,
}

impl Network {
    async fn new() -> Self {
        let inventory = Inventory::new(MemoryStore::new());
        let organization = inventory.organizations().create("Example").await.unwrap();
        let network = inventory
            .networks()
            .create(&Caller::system(organization.id), toposcope::model::Network::new("Office"))
            .await
            .unwrap();
        let caller = Caller::new(organization.id, UserId::nil(), Permission::Member, Scope::all());
        Self { topologies: Topologies::new(inventory.clone()), inventory, caller, id: network.id }
    }

    async fn report(&self, day: u8, device: Device) {
        self.report_at(at(day), device).await;
    }

    async fn report_at(&self, time: Timestamp, device: Device) {
        let mut report = Report::new(Reporter::new("test"), time);
        report.devices.push(device);
        let outcome =
            self.inventory.discovery().reconcile(&self.caller, &report, DiscoverOptions::new(self.id)).await;
        assert_eq!(outcome.unwrap().hosts.len(), 1);
    }

    /// Imports complete tables of a switch.
    async fn switch(&self, day: u8, number: u8, tables: Tables<'_>) {
        self.report(day, switch(number, &tables)).await;
    }

    /// Imports a host with an address, and with a MAC address if `has_mac`.
    async fn host(&self, day: u8, number: u8, has_mac: bool) {
        self.report(day, host(number, has_mac)).await;
    }

    /// Returns the graph. It follows from the records alone, and not from the graphs that were drawn before.
    async fn graph(&self) -> Graph {
        let options = || GraphOptions::new(TopologyView::L2);
        let graph = self.topologies.graph(&self.caller, self.id, options()).await.unwrap();
        let fresh = Topologies::new(self.inventory.clone());
        assert_eq!(graph, fresh.graph(&self.caller, self.id, options()).await.unwrap());
        graph
    }

    /// Returns the edges as text, with a mark for stale edges and nodes.
    async fn edges(&self) -> Vec<String> {
        described(&self.graph().await)
    }
}

fn described(graph: &Graph) -> Vec<String> {
    let mark = |stale: bool| if stale { "~" } else { "" };
    let nodes: BTreeMap<NodeId, String> =
        graph.nodes.iter().map(|node| (node.id, format!("{}{}", mark(node.stale), node.label))).collect();
    let lines = graph.edges.iter().map(|edge| {
        let port = |port: &Option<toposcope::topology::links::PortRef>| {
            port.as_ref().map(|port| format!(" {}", port.name)).unwrap_or_default()
        };
        let mut ends = [
            format!("{}{}", nodes[&edge.source], port(&edge.source_port)),
            format!("{}{}", nodes[&edge.target], port(&edge.target_port)),
        ];
        ends.sort_by_key(|end| end.trim_start_matches('~').to_owned());
        format!("{}{}", mark(edge.stale), ends.join(" -- "))
    });
    let mut lines: Vec<String> = lines.collect();
    lines.sort();
    lines
}

fn host(number: u8, has_mac: bool) -> Device {
    let mut device = Device::default();
    let mut row = AddressRow::new(format!("192.0.2.{number}").parse().unwrap());
    row.mac_address = has_mac.then(|| mac(number));
    device.hostname = Some(format!("host{number}"));
    device.tables.addresses = Some(Table::complete(vec![row]));
    device
}

fn switch(number: u8, tables: &Tables<'_>) -> Device {
    let mut device = Device::default();
    device.sys_name = Some(format!("sw{number}"));
    device.sys_descr = Some("Ethernet switch".to_owned());
    device.chassis_id = Some(Box::new(chassis(number)));
    let entries = (1..=4).map(|index| {
        let mut row = IfEntryRow::new(index);
        row.if_name = Some(format!("Gi0/{index}"));
        row
    });
    device.tables.if_entries = Some(Table::complete(entries.collect()));
    let lldp = |(port, neighbor, remote): &(i64, u8, i64)| {
        let id =
            LldpChassisId { subtype: LldpChassisIdSubtype::MacAddress, value: mac(*neighbor).to_string() };
        let mut row = LldpRow::new(id);
        row.if_index = Some(*port);
        row.sys_name = Some(format!("sw{neighbor}"));
        row.port_id =
            Some(LldpPortId { subtype: LldpPortIdSubtype::InterfaceName, value: format!("Gi0/{remote}") });
        row
    };
    let fdb = |(port, address): &(i64, u8)| {
        let mut row = FdbRow::new(mac(*address));
        row.if_index = Some(*port);
        row.status = Some(FdbStatus::Learned);
        row
    };
    let arp = |(ip, address): &(u8, u8)| ArpRow::new(format!("192.0.2.{ip}").parse().unwrap(), mac(*address));
    device.tables.lldp = tables.lldp.map(|rows| Table::complete(rows.iter().map(lldp).collect()));
    device.tables.fdb = tables.fdb.map(|rows| Table::complete(rows.iter().map(fdb).collect()));
    device.tables.arp = tables.arp.map(|rows| Table::complete(rows.iter().map(arp).collect()));
    device
}

fn lldp<'t>(rows: &'t [(i64, u8, i64)]) -> Tables<'t> {
    Tables { lldp: Some(rows), ..Tables::default() }
}

fn fdb<'t>(rows: &'t [(i64, u8)]) -> Tables<'t> {
    Tables { fdb: Some(rows), ..Tables::default() }
}

fn at(day: u8) -> Timestamp {
    format!("2026-11-{day:02}T12:00:00Z").parse().unwrap()
}

#[tokio::test]
async fn switch_that_is_off_fades_with_its_link_until_it_is_back() {
    let network = Network::new().await;
    network.switch(1, 1, lldp(&[(1, 2, 3)])).await;
    network.switch(1, 2, lldp(&[(3, 1, 1)])).await;
    assert_eq!(network.edges().await, ["sw1 Gi0/1 -- sw2 Gi0/3"]);
    // The first switch is scanned, and the second one is off.
    for day in 2..12 {
        network.switch(day, 1, lldp(&[])).await;
        assert_eq!(network.edges().await, ["~sw1 Gi0/1 -- ~sw2 Gi0/3"], "day {day}");
    }
    network.switch(12, 1, lldp(&[(1, 2, 3)])).await;
    network.switch(12, 2, lldp(&[(3, 1, 1)])).await;
    assert_eq!(network.edges().await, ["sw1 Gi0/1 -- sw2 Gi0/3"]);
    let graph = network.graph().await;
    assert!(graph.edges[0].evidence.iter().all(|evidence| evidence.missing_since.is_none()));
}

#[tokio::test]
async fn link_of_two_switches_that_are_on_ends_after_three_scans() {
    let network = Network::new().await;
    network.switch(1, 1, lldp(&[(1, 2, 3)])).await;
    network.switch(1, 2, lldp(&[(3, 1, 1)])).await;
    for day in 2..4 {
        network.switch(day, 1, lldp(&[])).await;
        network.switch(day, 2, lldp(&[])).await;
        assert_eq!(network.edges().await, ["~sw1 Gi0/1 -- sw2 Gi0/3"], "day {day}");
    }
    network.switch(4, 1, lldp(&[])).await;
    network.switch(4, 2, lldp(&[])).await;
    assert_eq!(network.edges().await, [""; 0]);
}

#[tokio::test]
async fn cable_that_moved_leaves_nothing_behind() {
    let network = Network::new().await;
    network.switch(1, 1, lldp(&[(1, 2, 3), (2, 3, 1)])).await;
    network.switch(1, 2, lldp(&[(3, 1, 1)])).await;
    network.switch(1, 3, lldp(&[(1, 1, 2)])).await;
    // To another port of the same switch.
    network.switch(2, 1, lldp(&[(4, 2, 3), (2, 3, 1)])).await;
    network.switch(2, 2, lldp(&[(3, 1, 4)])).await;
    network.switch(2, 3, lldp(&[(1, 1, 2)])).await;
    assert_eq!(network.edges().await, ["sw1 Gi0/2 -- sw3 Gi0/1", "sw1 Gi0/4 -- sw2 Gi0/3"]);
    // To another switch.
    network.switch(3, 1, lldp(&[(2, 3, 1)])).await;
    network.switch(3, 2, lldp(&[(3, 3, 4)])).await;
    network.switch(3, 3, lldp(&[(1, 1, 2), (4, 2, 3)])).await;
    assert_eq!(network.edges().await, ["sw1 Gi0/2 -- sw3 Gi0/1", "sw2 Gi0/3 -- sw3 Gi0/4"]);
}

#[tokio::test]
async fn port_that_sees_another_neighbor_has_no_stale_link() {
    let network = Network::new().await;
    network.switch(1, 1, lldp(&[(1, 2, 3)])).await;
    network.switch(1, 2, lldp(&[(3, 1, 1)])).await;
    network.switch(2, 1, lldp(&[(1, 3, 1)])).await;
    network.switch(2, 3, lldp(&[(1, 1, 1)])).await;
    assert_eq!(network.edges().await, ["sw1 Gi0/1 -- sw3 Gi0/1"]);
    // The new neighbor goes as well. The former one does not come back.
    network.switch(3, 1, lldp(&[])).await;
    assert_eq!(network.edges().await, ["~sw1 Gi0/1 -- ~sw3 Gi0/1"]);
}

#[tokio::test]
async fn device_that_was_never_scanned_fades_for_less_than_three_scans() {
    let network = Network::new().await;
    network.switch(1, 1, lldp(&[(1, 9, 1)])).await;
    assert_eq!(network.edges().await, ["sw1 Gi0/1 -- sw9 Gi0/1"]);
    for day in 2..4 {
        network.switch(day, 1, lldp(&[])).await;
        assert_eq!(network.edges().await, ["~sw1 Gi0/1 -- ~sw9 Gi0/1"], "day {day}");
    }
    network.switch(4, 1, lldp(&[])).await;
    assert_eq!(network.edges().await, [""; 0]);
}

#[tokio::test]
async fn host_entered_by_a_user_keeps_its_link() {
    let network = Network::new().await;
    let mut entered = toposcope::model::Host::new(network.id, "sw2");
    entered.chassis_id = Some(chassis(2));
    network.inventory.hosts().put(&Caller::system(network.caller.organization_id()), entered).await.unwrap();
    network.switch(1, 1, lldp(&[(1, 2, 3)])).await;
    for day in 2..8 {
        network.switch(day, 1, lldp(&[])).await;
    }
    assert_eq!(network.edges().await, ["~sw1 Gi0/1 -- sw2"]);
}

/// Returns a switch without neighbors, with a port down.
fn with_port_down(number: u8, port: usize) -> Device {
    let mut device = switch(number, &lldp(&[]));
    device.tables.if_entries.as_mut().unwrap().rows[port - 1].oper_status = Some(OperStatus::Down);
    device
}

/// Returns a switch without neighbors, with its first port down.
fn with_first_port_down(number: u8) -> Device {
    with_port_down(number, 1)
}

#[tokio::test]
async fn link_that_goes_down_stays_until_its_port_names_another_neighbor() {
    let network = Network::new().await;
    network.switch(1, 1, lldp(&[(1, 9, 3)])).await;
    for day in 2..9 {
        network.report(day, with_first_port_down(1)).await;
        let graph = network.graph().await;
        assert_eq!(described(&graph), ["sw1 Gi0/1 -- sw9 Gi0/3"], "day {day}");
        assert_eq!((graph.edges[0].state, graph.edges[0].since), (LinkState::Down, Some(at(2))));
        assert!(graph.nodes.iter().all(|node| node.state == LinkState::Down));
    }
    network.switch(9, 1, lldp(&[(1, 8, 1)])).await;
    assert_eq!(network.edges().await, ["sw1 Gi0/1 -- sw8 Gi0/1"]);
}

#[tokio::test]
async fn link_that_is_down_at_the_far_end_stays() {
    let network = Network::new().await;
    network.switch(1, 1, lldp(&[(3, 2, 1)])).await;
    network.switch(1, 2, lldp(&[(1, 1, 3)])).await;
    for day in 2..8 {
        network.switch(day, 1, lldp(&[])).await;
        network.report(day, with_first_port_down(2)).await;
        assert_eq!(network.edges().await, ["sw1 Gi0/3 -- sw2 Gi0/1"], "day {day}");
    }
    // Its port is no longer down, and names no neighbor.
    network.switch(8, 2, lldp(&[])).await;
    assert_eq!(network.edges().await, [""; 0]);
}

#[tokio::test]
async fn device_that_moved_leaves_no_link_that_is_down_behind() {
    let network = Network::new().await;
    network.switch(1, 1, lldp(&[(1, 9, 3)])).await;
    network.report(2, with_first_port_down(1)).await;
    network.switch(2, 2, lldp(&[(4, 9, 3)])).await;
    assert_eq!(network.edges().await, ["sw2 Gi0/4 -- sw9 Gi0/3"]);
    // A link that is not drawn does not set the state of the device at its other end either.
    let graph = network.graph().await;
    assert!(graph.nodes.iter().all(|node| node.state == LinkState::Unknown), "{:?}", graph.nodes);
}

#[tokio::test]
async fn link_is_down_since_its_port_is_and_not_since_a_protocol_was_turned_off() {
    let network = Network::new().await;
    let with_cdp = |mut device: Device, rows: Vec<CdpRow>| {
        device.tables.cdp = Some(Table::complete(rows));
        device
    };
    let mut row = CdpRow::new("sw9");
    (row.if_index, row.port_id) = (Some(1), Some("GigabitEthernet0/3".to_owned()));
    let up = || switch(1, &lldp(&[(1, 9, 3)]));
    network.report(1, with_cdp(up(), vec![row])).await;
    for day in 2..6 {
        network.report(day, with_cdp(up(), Vec::new())).await;
    }
    for day in 6..10 {
        network.report(day, with_cdp(with_first_port_down(1), Vec::new())).await;
        let graph = network.graph().await;
        assert_eq!(described(&graph), ["sw1 Gi0/1 -- sw9 Gi0/3"], "day {day}");
        assert_eq!(graph.edges[0].since, Some(at(6)), "day {day}");
        assert_eq!(graph.edges[0].evidence.len(), 1, "day {day}");
    }
}

#[tokio::test]
async fn port_that_is_down_has_its_last_neighbor_and_not_a_former_one() {
    let network = Network::new().await;
    network.switch(1, 1, lldp(&[(1, 9, 1), (2, 8, 1)])).await;
    for day in 2..6 {
        network.switch(day, 1, lldp(&[(2, 8, 1)])).await;
    }
    // The other neighbor takes the place of the former one, and is unplugged.
    network.switch(6, 1, lldp(&[(1, 8, 1)])).await;
    for day in 7..12 {
        network.report(day, with_first_port_down(1)).await;
        assert_eq!(network.edges().await, ["sw1 Gi0/1 -- sw8 Gi0/1"], "day {day}");
    }
}

#[tokio::test]
async fn cable_whose_ends_number_their_ports_differently_is_one_link_when_it_is_down() {
    let network = Network::new().await;
    network.switch(1, 1, lldp(&[(1, 2, 4)])).await;
    network.switch(1, 2, lldp(&[(3, 1, 2)])).await;
    assert_eq!(network.edges().await, ["sw1 Gi0/2 -- sw2 Gi0/4"]);
    for day in 2..8 {
        network.report(day, with_port_down(1, 2)).await;
        network.report(day, with_port_down(2, 4)).await;
        let graph = network.graph().await;
        assert_eq!(described(&graph), ["sw1 Gi0/2 -- sw2 Gi0/4"], "day {day}");
        assert_eq!((graph.edges[0].state, graph.edges[0].since), (LinkState::Down, Some(at(2))));
    }
}

#[tokio::test]
async fn truncated_table_lacks_nothing() {
    let network = Network::new().await;
    network.switch(1, 1, lldp(&[(1, 9, 1)])).await;
    let mut cut = switch(1, &lldp(&[]));
    cut.tables.lldp = Some(Table::truncated(Vec::new()));
    network.report(2, cut).await;
    assert_eq!(network.edges().await, ["sw1 Gi0/1 -- sw9 Gi0/1"]);
}

#[tokio::test]
async fn host_whose_address_is_no_longer_learned_fades_with_its_link() {
    let network = Network::new().await;
    network.host(1, 2, true).await;
    network.switch(1, 1, fdb(&[(3, 2)])).await;
    assert_eq!(network.edges().await, ["host2 -- sw1 Gi0/3"]);
    for day in 2..12 {
        network.switch(day, 1, fdb(&[])).await;
        assert_eq!(network.edges().await, ["~~host2 -- sw1 Gi0/3"], "day {day}");
    }
    // It is back at another port.
    network.host(12, 2, true).await;
    network.switch(12, 1, fdb(&[(4, 2)])).await;
    assert_eq!(network.edges().await, ["host2 -- sw1 Gi0/4"]);
}

#[tokio::test]
async fn host_that_the_same_scan_shows_before_the_switch_is_not_stale() {
    let network = Network::new().await;
    let earlier = |day: u8| at(day).plus_micros(-600_000_000);
    for (day, expected) in [(1, vec!["host2 -- sw1 Gi0/3"]), (2, vec!["~host2 -- sw1 Gi0/3"]), (5, vec![])] {
        network.report_at(earlier(day), host(2, true)).await;
        let learned: &[(i64, u8)] = if day == 1 { &[(3, 2)] } else { &[] };
        network.switch(day, 1, fdb(learned)).await;
        if day == 5 {
            network.switch(6, 1, fdb(learned)).await;
        }
        assert_eq!(network.edges().await, expected, "day {day}");
    }
}

#[tokio::test]
async fn host_that_another_switch_learned_since_has_one_link() {
    let network = Network::new().await;
    network.host(1, 3, true).await;
    network.switch(1, 1, fdb(&[(3, 3)])).await;
    network.switch(2, 1, fdb(&[])).await;
    network.switch(2, 2, fdb(&[(1, 3)])).await;
    assert_eq!(network.edges().await, ["host3 -- sw2 Gi0/1"]);
}

#[tokio::test]
async fn port_that_learned_another_address_since_has_no_stale_link() {
    let network = Network::new().await;
    network.host(1, 3, true).await;
    network.host(1, 4, true).await;
    network.switch(1, 1, fdb(&[(3, 3)])).await;
    network.switch(2, 1, fdb(&[(3, 4)])).await;
    assert_eq!(network.edges().await, ["host4 -- sw1 Gi0/3"]);
}

#[tokio::test]
async fn host_beside_another_one_fades_alone() {
    let network = Network::new().await;
    network.host(1, 3, true).await;
    network.host(1, 4, true).await;
    network.switch(1, 1, fdb(&[(3, 3), (3, 4)])).await;
    network.host(2, 4, true).await;
    network.switch(2, 1, fdb(&[(3, 4)])).await;
    assert_eq!(
        network.edges().await,
        ["Unmanaged switch -- host4", "Unmanaged switch -- sw1 Gi0/3", "~Unmanaged switch -- ~host3"]
    );
}

#[tokio::test]
async fn host_known_by_its_address_fades_with_its_link() {
    let network = Network::new().await;
    network.host(1, 7, false).await;
    let tables = |fdb, arp| Tables { fdb: Some(fdb), arp: Some(arp), lldp: None };
    network.switch(1, 1, tables(&[(3, 0x27)], &[(7, 0x27)])).await;
    assert_eq!(network.edges().await, ["host7 -- sw1 Gi0/3"]);
    network.switch(2, 1, tables(&[(3, 0x27)], &[])).await;
    assert_eq!(network.edges().await, ["host7 -- sw1 Gi0/3"]);
    network.switch(3, 1, tables(&[], &[])).await;
    assert_eq!(network.edges().await, ["~~host7 -- sw1 Gi0/3"]);
    // Another device has the address by now.
    network.switch(4, 1, tables(&[], &[(7, 0x28)])).await;
    assert_eq!(network.edges().await, [""; 0]);
}

#[tokio::test]
async fn stale_links_can_be_left_out() {
    let network = Network::new().await;
    network.switch(1, 1, lldp(&[(1, 2, 3), (2, 3, 1)])).await;
    network.switch(1, 2, lldp(&[(3, 1, 1)])).await;
    network.switch(1, 3, lldp(&[(1, 1, 2)])).await;
    network.switch(2, 1, lldp(&[(2, 3, 1)])).await;
    network.switch(2, 2, lldp(&[])).await;
    network.switch(2, 3, lldp(&[(1, 1, 2)])).await;
    assert_eq!(network.edges().await, ["sw1 Gi0/2 -- sw3 Gi0/1", "~sw1 Gi0/1 -- sw2 Gi0/3"]);
    let mut options = GraphOptions::new(TopologyView::L2);
    options.show_stale = false;
    let graph = network.topologies.graph(&network.caller, network.id, options).await.unwrap();
    assert_eq!(described(&graph), ["sw1 Gi0/2 -- sw3 Gi0/1"]);
}

#[tokio::test]
async fn deleted_host_takes_its_stale_link_with_it() {
    let network = Network::new().await;
    network.host(1, 2, true).await;
    network.switch(1, 1, fdb(&[(3, 2)])).await;
    network.switch(2, 1, fdb(&[])).await;
    let graph = network.graph().await;
    let host = graph.nodes.iter().find(|node| node.label == "host2").unwrap();
    assert!(host.stale);
    network.inventory.hosts().delete(&network.caller, host.id.uuid().into()).await.unwrap();
    assert_eq!(network.edges().await, [""; 0]);
}

#[tokio::test]
async fn claims_show_the_rows_that_are_missing() {
    let network = Network::new().await;
    network.switch(1, 1, lldp(&[(1, 9, 1), (2, 8, 1)])).await;
    network.switch(2, 1, lldp(&[(2, 8, 1)])).await;
    network.switch(3, 1, lldp(&[])).await;
    let graph = network.graph().await;
    let host = graph.nodes.iter().find(|node| node.label == "sw1").unwrap().id;
    let kind = toposcope::discovery::report::TableKind::Lldp;
    let claims =
        network.inventory.discovery().claims(&network.caller, host.uuid().into(), Some(kind)).await.unwrap();
    let missing: Vec<_> = claims[0]
        .missing
        .iter()
        .map(|group| (group.last_seen_at, group.missing_since, group.missed_scans, group.rows.len()))
        .collect();
    assert_eq!(missing, [(at(2), at(3), 1, 1), (at(1), at(2), 2, 1)]);
    // The same report again changes nothing.
    network.switch(3, 1, lldp(&[])).await;
    let again =
        network.inventory.discovery().claims(&network.caller, host.uuid().into(), Some(kind)).await.unwrap();
    assert_eq!(again, claims);
}

#[tokio::test]
async fn number_of_missing_rows_is_bounded() {
    let network = Network::new().await;
    let many = |day: u8| {
        let mut device = switch(1, &Tables::default());
        let row = |number: u32| {
            let [_, _, high, low] = number.to_be_bytes();
            let mut row = FdbRow::new(toposcope::model::MacAddress::new([2, day, 0, 0, high, low]));
            row.if_index = Some(i64::from(number % 4) + 1);
            row
        };
        device.tables.fdb = Some(Table::complete((0..3_000).map(row).collect()));
        device
    };
    network.report(1, many(1)).await;
    network.switch(2, 1, fdb(&[])).await;
    let graph = network.graph().await;
    let host = graph.nodes.iter().find(|node| node.label == "sw1").unwrap().id;
    let kind = toposcope::discovery::report::TableKind::Fdb;
    let claims =
        network.inventory.discovery().claims(&network.caller, host.uuid().into(), Some(kind)).await.unwrap();
    assert_eq!(claims[0].missing.iter().map(|group| group.rows.len()).sum::<usize>(), 1_000);
}
