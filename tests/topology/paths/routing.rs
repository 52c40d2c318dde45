//! Paths through routers: routing tables, default routers and virtual routers.

use std::collections::BTreeMap;

use toposcope::discovery::report::{AddressRow, ArpRow, RouteRow};
use toposcope::inventory::ClaimRows;
use toposcope::model::{HostId, Interface, LinkId, MacAddress, NodeId, TopologyView};
use toposcope::topology::graph::GraphOptions;
use toposcope::topology::links::Link;
use toposcope::topology::paths::{
    LocateTarget, NetworkPath, PathIndex, PathLayer, PathQuery, Paths, UnknownReason,
};

use super::networks::{connect, index};
use crate::graph::support::{Fixture, with_devices};
use crate::links::support::{Node, links, mac, node};

/// A change of a row of routers.
pub(super) type Change = fn(&mut Row);

/// A computer, two routers in a row, and a server, each pair with a subnet of its own.
pub(super) struct Row {
    pub(super) network: Fixture,
    pub(super) computer: HostId,
    pub(super) routers: [HostId; 2],
    pub(super) server: HostId,
}

pub(super) fn route(destination: &str, next_hop: Option<&str>) -> RouteRow {
    let mut row = RouteRow::new(destination.parse().unwrap());
    row.next_hop = next_hop.map(|address| address.parse().unwrap());
    row
}

impl Row {
    fn new() -> Self {
        let mut network = Fixture::default();
        let nets =
            ["192.0.2.0/26", "192.0.2.64/26", "192.0.2.128/26"].map(|cidr| network.subnet("net", cidr));
        let computer = network.host("pc", "Windows workstation", &[("192.0.2.9", nets[0])]);
        let near = [("192.0.2.1", nets[0]), ("192.0.2.65", nets[1])];
        let far = [("192.0.2.66", nets[1]), ("192.0.2.129", nets[2])];
        let routers = [("near", near), ("far", far)]
            .map(|(name, addresses)| network.host(name, "Cisco IOS router", &addresses));
        let server = network.host("srv", "Windows server", &[("192.0.2.150", nets[2])]);
        for (one, other) in [(computer, routers[0]), (routers[0], routers[1]), (routers[1], server)] {
            connect(&mut network, one, other);
        }
        Self { network, computer, routers, server }
    }

    /// Gives both routers and the computer the routes that lead to the server.
    pub(super) fn with_routes() -> Self {
        let mut row = Self::new();
        let [near, far] = row.routers;
        let connected = [["192.0.2.0/26", "192.0.2.64/26"], ["192.0.2.128/26", "192.0.2.64/26"]];
        let connected = connected.map(|nets| nets.map(|net| route(net, None)).to_vec());
        row.network.routes = vec![
            (row.computer, vec![route("0.0.0.0/0", Some("192.0.2.1")), route("192.0.2.0/26", None)]),
            (near, [connected[0].clone(), vec![route("192.0.2.128/25", Some("192.0.2.66"))]].concat()),
            (far, [connected[1].clone(), vec![route("192.0.2.0/24", Some("192.0.2.65"))]].concat()),
        ];
        row
    }

    pub(super) fn ask(&self, from: HostId, to: HostId) -> Paths {
        ask(&self.network, &PathQuery::new(from.into(), to.into()))
    }
}

fn ask(network: &Fixture, query: &PathQuery) -> Paths {
    let links: BTreeMap<LinkId, &Link> = network.links.iter().map(|link| (link.id, link)).collect();
    index(network).paths(query, |id| links.get(&id).copied()).unwrap()
}

pub(super) fn names(path: &NetworkPath) -> Vec<&str> {
    path.hops.iter().map(|hop| hop.name.as_str()).collect()
}

#[test]
fn packets_follow_the_routing_tables_of_all_routers() {
    let row = Row::with_routes();
    let answer = row.ask(row.computer, row.server);
    assert!(answer.complete, "{:?}", answer.unknown);
    assert_eq!(answer.paths.len(), 1);
    assert_eq!(names(&answer.paths[0]), ["pc", "near", "far", "srv"]);
    let gateways: Vec<_> = answer.paths[0].hops.iter().map(|hop| (hop.layer, hop.gateway)).collect();
    let via = |address: &str| (PathLayer::L3, Some(address.parse().unwrap()));
    let end = (PathLayer::L2, None);
    assert_eq!(gateways, [end, via("192.0.2.1"), via("192.0.2.66"), end]);
    let back = row.ask(row.server, row.computer);
    assert_eq!(names(&back.paths[0]), ["srv", "far", "near", "pc"]);
}

#[test]
fn host_without_routes_uses_the_default_router_that_its_neighbors_name() {
    let mut row = Row::with_routes();
    row.network.routes.remove(0);
    let net = row.network.subnets[0].id;
    let other = row.network.host("pc2", "Windows workstation", &[("192.0.2.10", net)]);
    row.network.routes.push((other, vec![route("0.0.0.0/0", Some("192.0.2.1"))]));
    let answer = row.ask(row.computer, row.server);
    assert_eq!((answer.complete, names(&answer.paths[0])), (true, vec!["pc", "near", "far", "srv"]));
}

#[test]
fn longest_prefix_decides_and_the_least_metric_of_several() {
    let mut row = Row::with_routes();
    let mut worse = route("192.0.2.128/25", Some("192.0.2.1"));
    worse.metric = Some(20);
    row.network.routes[1].1.extend([worse, route("192.0.0.0/16", Some("192.0.2.99"))]);
    let answer = row.ask(row.computer, row.server);
    assert_eq!((answer.complete, names(&answer.paths[0])), (true, vec!["pc", "near", "far", "srv"]));
}

#[test]
fn small_table_that_is_not_stated_to_be_complete_is_followed_with_a_reason() {
    let mut row = Row::with_routes();
    row.network.has_incomplete_routes = true;
    let answer = row.ask(row.computer, row.server);
    assert_eq!((answer.complete, answer.unknown), (false, vec![UnknownReason::Routes]));
    assert_eq!(names(&answer.paths[0]), ["pc", "near", "far", "srv"]);
    row.network.routes[1].1.truncate(2);
    let answer = row.ask(row.computer, row.server);
    assert_eq!(answer.unknown, [UnknownReason::Routes]);
    assert_eq!(names(&answer.paths[0]), ["pc", "near", "unknown"]);
}

#[test]
fn packets_to_an_address_are_routed_to_its_subnet_also_if_the_devices_share_another_one() {
    let mut row = Row::with_routes();
    let management = row.network.subnet("management", "198.51.100.0/24");
    row.network.interface(row.computer, "198.51.100.9", management);
    row.network.interface(row.server, "198.51.100.150", management);
    connect(&mut row.network, row.computer, row.server);
    row.network.routes[0].1.push(route("198.51.100.0/24", None));
    let mut query = PathQuery::new(row.computer.into(), row.server.into());
    let direct = ["pc", "srv"];
    let routed = ["pc", "near", "far", "srv"];
    for (address, expected) in [
        (None, &direct[..]),
        (Some("198.51.100.150"), &direct),
        (Some("192.0.2.150"), &routed),
        (Some("203.0.113.1"), &direct),
    ] {
        query.to_address = address.map(|address| address.parse().unwrap());
        let answer = ask(&row.network, &query);
        assert_eq!((answer.complete, names(&answer.paths[0])), (true, expected.to_vec()), "{address:?}");
    }
}

#[test]
fn far_address_of_a_router_is_reached_at_the_near_one() {
    let row = Row::new();
    let mut query = PathQuery::new(row.computer.into(), row.routers[0].into());
    query.to_address = Some("192.0.2.65".parse().unwrap());
    let answer = ask(&row.network, &query);
    assert_eq!((answer.complete, names(&answer.paths[0])), (true, vec!["pc", "near"]));
}

#[test]
fn other_links_to_the_same_router_are_stated() {
    let mut row = Row::with_routes();
    assert!(!row.ask(row.computer, row.server).more);
    connect(&mut row.network, row.computer, row.routers[0]);
    let answer = row.ask(row.computer, row.server);
    assert_eq!((answer.more, answer.unknown), (true, vec![UnknownReason::SpanningTree]));
}

#[test]
fn nearest_of_several_routers_comes_first_also_if_one_path_is_asked_for() {
    let mut network = Fixture::default();
    let nets = ["192.0.2.0/25", "192.0.2.128/25"].map(|cidr| network.subnet("net", cidr));
    let addresses = |number: u8| [format!("192.0.2.{number}"), format!("192.0.2.{}", 128 + number)];
    let mut routers = Vec::new();
    for number in 1..=5 {
        let [one, other] = addresses(number);
        let held = [(one.as_str(), nets[0]), (other.as_str(), nets[1])];
        routers.push(network.host(&format!("r{number}"), "Cisco IOS router", &held));
    }
    let computer = network.host("pc", "Windows workstation", &[("192.0.2.9", nets[0])]);
    let server = network.host("srv", "Windows server", &[("192.0.2.150", nets[1])]);
    let [near, far] = ["near", "far"].map(|name| network.host(name, "Cisco Catalyst 2960 switch", &[]));
    connect(&mut network, computer, near);
    connect(&mut network, near, far);
    // All routers but the fourth are a switch farther away.
    for (place, router) in routers.iter().enumerate() {
        connect(&mut network, if place == 3 { near } else { far }, *router);
    }
    connect(&mut network, near, server);
    let links: BTreeMap<LinkId, &Link> = network.links.iter().map(|link| (link.id, link)).collect();
    for k in [1, 3] {
        let mut query = PathQuery::new(computer.into(), server.into());
        query.k = k;
        let answer = index(&network).paths(&query, |id| links.get(&id).copied()).unwrap();
        assert_eq!(names(&answer.paths[0]), ["pc", "near", "r4", "near", "srv"]);
        assert_eq!((answer.paths.len(), answer.more), (k, true));
        assert!(answer.unknown.contains(&UnknownReason::Routing), "which router hosts use is not known");
    }
}

#[test]
fn path_ends_unknown_where_a_router_does_not_show_the_next_one() {
    let cases: [(&str, UnknownReason, Change); 5] = [
        ("192.0.2.99", UnknownReason::NextHop, |row| {
            row.network.routes[1].1 = vec![route("0.0.0.0/0", Some("192.0.2.99"))];
        }),
        ("unknown", UnknownReason::NoRoute, |row| row.network.routes[1].1.truncate(2)),
        ("unknown", UnknownReason::Routes, |row| row.network.routes[1].1.truncate(1)),
        ("unknown", UnknownReason::NoRoute, |row| {
            let mut discarded = route("192.0.2.150/32", None);
            discarded.discards = true;
            row.network.routes[1].1.push(discarded);
        }),
        ("192.0.2.1", UnknownReason::RoutingLoop, |row| {
            row.network.routes[2].1 = vec![route("192.0.2.150/32", Some("192.0.2.65"))];
        }),
    ];
    for (name, reason, change) in cases {
        let mut row = Row::with_routes();
        change(&mut row);
        let answer = row.ask(row.computer, row.server);
        assert_eq!((answer.complete, &answer.unknown), (false, &vec![reason]));
        let last = answer.paths[0].hops.last().unwrap();
        let expected = if reason == UnknownReason::RoutingLoop { "192.0.2.65" } else { name };
        assert_eq!((last.name.as_str(), last.unknown, last.host_id), (expected, Some(reason), None));
        assert_eq!(answer.paths[0].length, answer.paths[0].hops.len() - 2);
    }
}

#[test]
fn table_of_too_many_routes_leads_to_connected_devices_only() {
    let mut row = Row::with_routes();
    let many = (0..20_000_u32).map(|number| {
        let [_, _, high, low] = number.to_be_bytes();
        route(&format!("10.{high}.{low}.0/24"), Some("192.0.2.66"))
    });
    row.network.routes[1].1.extend(many);
    let answer = row.ask(row.computer, row.server);
    assert_eq!(answer.unknown, [UnknownReason::Routes]);
    assert_eq!(names(&answer.paths[0]), ["pc", "near", "unknown"]);
    let near = row.ask(row.routers[1], row.computer);
    assert!(near.complete, "{:?}", near.unknown);
}

/// Returns rows that state a prefix of 24 bits for each address.
fn prefixes(addresses: &[&str]) -> ClaimRows {
    let row = |address: &&str| {
        let mut row = AddressRow::new(address.parse().unwrap());
        row.prefix_length = Some(24);
        row
    };
    ClaimRows::Addresses(addresses.iter().map(row).collect())
}

/// Two routers with a virtual address, of which the first has it now, and a computer.
fn redundant_routers() -> [Node; 3] {
    let shared = MacAddress::new([0, 0, 0x5E, 0, 1, 10]);
    let with = |node: Node, addresses: &[(&str, usize)]| {
        node.change(|host| {
            host.sys_descr = Some("Cisco IOS router".to_owned());
            host.if_entries[2].mac_address = Some(shared);
            for (address, place) in addresses {
                let interface = Interface::new(host, address.parse().unwrap());
                host.if_entries[*place].interface_id = Some(interface.id);
                host.interfaces.push(interface);
            }
        })
        .with(prefixes(&addresses.iter().map(|(address, _)| *address).collect::<Vec<_>>()))
    };
    let computer = node(3, 1).with(ClaimRows::Arp(vec![ArpRow::new("192.0.2.1".parse().unwrap(), shared)]));
    [with(node(1, 3), &[("192.0.2.2", 0), ("192.0.2.1", 2)]), with(node(2, 3), &[("192.0.2.3", 0)]), computer]
}

#[test]
fn virtual_address_is_a_group_of_routers_and_no_conflict() {
    let nodes = redundant_routers();
    let found = links(&nodes);
    let shared = MacAddress::new([0, 0, 0x5E, 0, 1, 10]);
    for target in [LocateTarget::Ip("192.0.2.1".parse().unwrap()), LocateTarget::Mac(shared)] {
        let location = with_devices(&nodes, &GraphOptions::new(TopologyView::L2), |input| {
            PathIndex::new(input).locate(&found, &target).unwrap()
        });
        assert_eq!(location.conflicts, [], "{target:?}");
        let group = &location.gateways[0];
        let hosts = [1, 2].map(HostId::from_u128);
        assert_eq!((group.host_ids.as_slice(), group.active_host_id), (&hosts[..], Some(hosts[0])));
        assert_eq!(group.mac_addresses, [shared]);
    }
}

#[test]
fn foreign_device_with_a_virtual_address_is_a_conflict() {
    let [first, second, computer] = redundant_routers();
    let second = second.with(ClaimRows::Arp(vec![ArpRow::new("192.0.2.1".parse().unwrap(), mac(77))]));
    let nodes = [first, second, computer];
    let found = links(&nodes);
    let location = with_devices(&nodes, &GraphOptions::new(TopologyView::L2), |input| {
        PathIndex::new(input).locate(&found, &LocateTarget::Ip("192.0.2.1".parse().unwrap())).unwrap()
    });
    assert_eq!(location.conflicts[0].mac_addresses, [mac(77)]);
}

#[test]
fn path_leads_through_the_router_that_has_the_virtual_address() {
    let nodes = redundant_routers();
    let with = |node: Node, address: &str| {
        node.change(|host| {
            host.sys_descr.get_or_insert("Windows workstation".to_owned());
            let interface = Interface::new(host, address.parse().unwrap());
            host.interfaces.push(interface);
        })
        .with(prefixes(&[address]))
    };
    let [first, second, computer] = nodes;
    let nodes = [
        with(first, "198.51.100.2"),
        with(second, "198.51.100.3"),
        with(computer, "192.0.2.9"),
        with(node(4, 1), "198.51.100.9"),
    ];
    let query = PathQuery::new(NodeId::from_u128(3), NodeId::from_u128(4));
    let mut network = Fixture::default();
    let hosts = [1, 2, 3, 4].map(HostId::from_u128);
    for router in &hosts[..2] {
        connect(&mut network, hosts[2], *router);
        connect(&mut network, *router, hosts[3]);
    }
    let answer = with_devices(&nodes, &GraphOptions::new(TopologyView::L2), |input| {
        let mut input = input.clone();
        input.links = network.links.iter().collect();
        PathIndex::new(&input).paths(&query, |_| None).unwrap()
    });
    assert!(answer.complete, "{:?}", answer.unknown);
    assert_eq!(names(&answer.paths[0]), ["sw3", "sw1", "sw4"]);
    assert_eq!(answer.paths[0].hops[1].gateway, Some("192.0.2.1".parse().unwrap()));
}
