//! The next router of a packet: tables against subnets, routers that are looked up again, and routers that are not known.

use toposcope::model::HostId;
use toposcope::topology::paths::{Paths, UnknownReason};

use super::networks::connect;
use super::routing::{Change, Row, names, route};

/// Returns the answer about the path to the server after a change of the row.
fn after(change: Change) -> Paths {
    let mut row = Row::with_routes();
    change(&mut row);
    row.ask(row.computer, row.server)
}

fn all_names(answer: &Paths) -> Vec<Vec<&str>> {
    answer.paths.iter().map(names).collect()
}

/// Adds a computer in the first subnet, with a cable to the first one, and one to the router.
fn add_neighbor(row: &mut Row) -> HostId {
    let net = row.network.subnets[0].id;
    let other = row.network.host("pc2", "Windows workstation", &[("192.0.2.10", net)]);
    for device in [row.computer, row.routers[0]] {
        connect(&mut row.network, device, other);
    }
    other
}

#[test]
fn next_router_in_no_subnet_of_the_device_is_looked_up_again() {
    let answer = after(|row| {
        row.network.routes[1].1[2].next_hop = Some("203.0.113.1".parse().unwrap());
        row.network.routes[1].1.push(route("203.0.113.1/32", Some("203.0.113.2")));
        row.network.routes[1].1.push(route("203.0.113.0/24", Some("192.0.2.66")));
    });
    assert!(answer.complete, "{:?}", answer.unknown);
    assert_eq!(all_names(&answer), [["pc", "near", "far", "srv"]]);
    // Routes that lead to each other end where the last one was found.
    let answer = after(|row| {
        row.network.routes[1].1[2].next_hop = Some("203.0.113.1".parse().unwrap());
        row.network.routes[1].1.push(route("0.0.0.0/0", Some("203.0.113.2")));
    });
    assert_eq!(all_names(&answer), [["pc", "near", "203.0.113.2"]]);
    assert_eq!((answer.complete, answer.unknown), (false, vec![UnknownReason::NextHop]));
}

#[test]
fn each_of_several_next_routers_makes_a_path_also_if_it_is_no_host() {
    let answer = after(|row| row.network.routes[1].1.push(route("192.0.2.128/25", Some("192.0.2.67"))));
    assert_eq!(all_names(&answer), [vec!["pc", "near", "far", "srv"], vec!["pc", "near", "192.0.2.67"]]);
    assert_eq!((answer.complete, answer.unknown), (false, vec![UnknownReason::NextHop]));
}

#[test]
fn route_to_a_port_without_a_subnet_leads_through_no_other_router() {
    let answer = after(|row| row.network.routes[1].1[2].next_hop = None);
    assert_eq!(all_names(&answer), [["srv"; 0]; 0]);
    assert_eq!(answer.unknown, [UnknownReason::Links, UnknownReason::Routing]);
}

#[test]
fn link_local_address_of_the_next_router_may_be_that_of_another_one() {
    let mut row = Row::with_routes();
    let nets = ["2001:db8::/64", "2001:db8:1::/64"].map(|cidr| row.network.subnet("ipv6", cidr));
    let local = row.network.subnet("local", "fe80::/64");
    row.network.interface(row.computer, "2001:db8::9", nets[0]);
    for (address, net) in [("2001:db8::1", nets[0]), ("fe80::1", local), ("2001:db8:1::1", nets[1])] {
        row.network.interface(row.routers[0], address, net);
    }
    let server = row.network.host("srv6", "Windows server", &[("2001:db8:1::9", nets[1])]);
    connect(&mut row.network, row.routers[0], server);
    row.network.routes[0].1.extend([route("::/0", Some("fe80::1")), route("2001:db8::/64", None)]);
    row.network.routes[1].1.extend(["2001:db8::/64", "2001:db8:1::/64"].map(|net| route(net, None)));
    let answer = row.ask(row.computer, server);
    assert_eq!(all_names(&answer), [["pc", "near", "srv6"]]);
    assert_eq!((answer.complete, answer.unknown), (false, vec![UnknownReason::Routing]));
}

#[test]
fn table_of_the_sender_decides_also_about_its_own_subnet() {
    let mut row = Row::with_routes();
    let other = add_neighbor(&mut row);
    let direct = row.ask(row.computer, other);
    assert_eq!((direct.complete, names(&direct.paths[0])), (true, vec!["pc", "pc2"]));
    row.network.routes[0].1.push(route("192.0.2.10/32", Some("192.0.2.1")));
    let routed = row.ask(row.computer, other);
    assert_eq!((routed.complete, names(&routed.paths[0])), (true, vec!["pc", "near", "pc2"]));
    row.network.routes[0].1[2].discards = true;
    let discarded = row.ask(row.computer, other);
    assert_eq!(discarded.unknown, [UnknownReason::NoRoute]);
}

#[test]
fn table_without_the_subnets_of_its_device_decides_about_smaller_ones_only() {
    let mut row = Row::with_routes();
    let other = add_neighbor(&mut row);
    row.network.routes[0].1.truncate(1);
    let direct = row.ask(row.computer, other);
    assert_eq!((direct.complete, names(&direct.paths[0])), (true, vec!["pc", "pc2"]));
    row.network.routes[0].1.push(route("192.0.2.10/32", Some("192.0.2.1")));
    assert_eq!(names(&row.ask(row.computer, other).paths[0]), ["pc", "near", "pc2"]);
    // The last router has a default route alone.
    row.network.routes[2].1 = vec![route("0.0.0.0/0", Some("192.0.2.65"))];
    let answer = row.ask(row.computer, row.server);
    assert_eq!((answer.complete, names(&answer.paths[0])), (true, vec!["pc", "near", "far", "srv"]));
}

#[test]
fn device_that_is_its_own_next_router_delivers_in_its_subnet() {
    let answer = after(|row| {
        row.network.routes[0].1[1].next_hop = Some("192.0.2.9".parse().unwrap());
        row.network.routes[2].1[0].next_hop = Some("192.0.2.129".parse().unwrap());
    });
    assert_eq!((answer.complete, names(&answer.paths[0])), (true, vec!["pc", "near", "far", "srv"]));
}

#[test]
fn default_router_is_one_that_end_devices_name_for_addresses_of_the_same_family() {
    let mut row = Row::with_routes();
    let other = add_neighbor(&mut row);
    let net = row.network.subnet("ipv6", "2001:db8::/64");
    row.network.interface(row.computer, "2001:db8::9", net);
    row.network.interface(other, "2001:db8::10", net);
    row.network.routes[0] =
        (other, vec![route("::/0", Some("2001:db8::1")), route("0.0.0.0/0", Some("192.0.2.1"))]);
    // A router leads packets elsewhere.
    row.network.routes[1].1.push(route("0.0.0.0/0", Some("192.0.2.10")));
    let answer = row.ask(row.computer, row.server);
    assert_eq!(all_names(&answer), [["pc", "near", "far", "srv"]]);
    assert!(answer.complete, "{:?}", answer.unknown);
}
