//! Link aggregation groups.

use toposcope::inventory::ClaimRows;
use toposcope::topology::links::Rule;

use super::support::{Node, describe, described, links, lldp, mac, node};

#[test]
fn members_of_an_aggregate_are_one_link() {
    let nodes = [
        node(1, 5).lldp(&[(1, 2, 3), (2, 2, 4)]).lag(&[(1, 5), (2, 5)]),
        node(2, 5).lldp(&[(3, 1, 1), (4, 1, 2)]).lag(&[(3, 5), (4, 5)]),
    ];
    assert_eq!(
        described(&nodes),
        ["sw1 Gi0/5 -- sw2 Gi0/5: Confirmed MutualLldp [Gi0/1=Gi0/3] [Gi0/2=Gi0/4]"]
    );
    assert_eq!(links(&nodes).links().next().unwrap().speed_bps, Some(2_000_000_000));
}

#[test]
fn aggregate_that_only_one_end_reports_joins_the_members() {
    let nodes = [
        node(1, 5).lldp(&[(1, 2, 3), (2, 2, 4)]).lag(&[(1, 5), (2, 5)]),
        node(2, 5).lldp(&[(3, 1, 1), (4, 1, 2)]),
    ];
    assert_eq!(described(&nodes), ["sw1 Gi0/5 -- sw2: Confirmed MutualLldp [Gi0/1=Gi0/3] [Gi0/2=Gi0/4]"]);
}

#[test]
fn members_to_different_devices_are_different_links() {
    let nodes = [node(1, 5).lldp(&[(1, 2, 1), (2, 3, 1)]).lag(&[(1, 5), (2, 5)]), node(2, 2), node(3, 2)];
    assert_eq!(
        described(&nodes),
        ["sw1 Gi0/1 -- sw2 Gi0/1: Reported OneSidedLldp", "sw1 Gi0/2 -- sw3 Gi0/1: Reported OneSidedLldp"]
    );
}

#[test]
fn aggregates_between_the_same_devices_are_different_links() {
    let lag = &[(1, 5), (2, 5), (3, 6), (4, 6)];
    let rows = |other| [(1, other, 1), (2, other, 2), (3, other, 3), (4, other, 4)];
    let nodes = [node(1, 6).lldp(&rows(2)).lag(lag), node(2, 6).lldp(&rows(1)).lag(lag)];
    assert_eq!(
        described(&nodes),
        [
            "sw1 Gi0/5 -- sw2 Gi0/5: Confirmed MutualLldp [Gi0/1=Gi0/1] [Gi0/2=Gi0/2]",
            "sw1 Gi0/6 -- sw2 Gi0/6: Confirmed MutualLldp [Gi0/3=Gi0/3] [Gi0/4=Gi0/4]",
        ]
    );
}

#[test]
fn claims_of_the_aggregate_are_ignored_once_members_are_known() {
    let claims =
        |number, other| node(number, 5).cdp(&[(5, other, 5)]).lldp(&[(1, other, 1)]).lag(&[(1, 5), (2, 5)]);
    let links = links(&[claims(1, 2), claims(2, 1)]);
    assert_eq!(describe(&links), ["sw1 Gi0/1 -- sw2 Gi0/1: Confirmed MutualLldp"]);
    assert_eq!(links.links().next().unwrap().evidence.len(), 2);
}

#[test]
fn claims_of_the_aggregate_count_while_no_member_is_known() {
    let claims = |number, other| node(number, 5).cdp(&[(5, other, 5)]).lag(&[(1, 5), (2, 5)]);
    assert_eq!(described(&[claims(1, 2), claims(2, 1)]), ["sw1 Gi0/5 -- sw2 Gi0/5: Confirmed MutualCdp"]);
}

#[test]
fn addresses_learned_on_an_aggregate_lose_against_its_members() {
    let nodes = [
        node(1, 5).lldp(&[(1, 2, 1), (2, 2, 2)]).lag(&[(1, 5), (2, 5)]).fdb(&[(5, 3)]),
        node(2, 5).lldp(&[(1, 1, 1), (2, 1, 2)]).lag(&[(1, 5), (2, 5)]),
        node(3, 1),
    ];
    assert_eq!(
        described(&nodes),
        ["sw1 Gi0/5 -- sw2 Gi0/5: Confirmed MutualLldp [Gi0/1=Gi0/1] [Gi0/2=Gi0/2]"]
    );
}

#[test]
fn spanning_tree_of_an_aggregate_is_ignored_where_its_members_are_not_reported() {
    let port_channel = |number, other| {
        let named = node(number, 5).change(|host| {
            host.if_entries[4].if_name = Some("Po1".to_owned());
            host.if_entries[4].if_type = Some(53);
        });
        named.cdp(&[(1, other, 1), (2, other, 2)]).stp(&[(5, 1, 5)])
    };
    assert_eq!(
        described(&[port_channel(1, 2), port_channel(2, 1)]),
        ["sw1 Gi0/1 -- sw2 Gi0/1: Confirmed MutualCdp", "sw1 Gi0/2 -- sw2 Gi0/2: Confirmed MutualCdp"]
    );
}

/// Names the last port as vendors name aggregates, and gives it a type.
fn with_aggregate(node: Node, name: &str, if_type: Option<i64>) -> Node {
    node.change(|host| {
        let entry = host.if_entries.last_mut().unwrap();
        entry.if_name = Some(name.to_owned());
        entry.if_type = if_type;
        entry.speed_bps = None;
    })
}

/// Adds neighbors by LLDP that announce the aggregate of their port: own port, neighbor, its port, its aggregate.
fn announcing(node: Node, rows: &[(i64, u8, i64, i64)]) -> Node {
    let row = |(port, neighbor, remote, aggregate): &(i64, u8, i64, i64)| {
        let mut row = lldp(*port, *neighbor, *remote);
        row.lag_id = Some(*aggregate);
        row
    };
    node.with(ClaimRows::Lldp(rows.iter().map(row).collect()))
}

#[test]
fn parallel_links_to_one_announced_aggregate_are_one_link() {
    // The number that the neighbor announces. It is the index of the aggregate if the neighbor has such a port.
    let cases = [
        // lldpd on Linux: the index of bond0, to which net-snmp gives the type of Ethernet.
        ("Linux bond0", "bond0", Some(6), 5, " bond0"),
        ("team of Linux", "team0", Some(6), 5, " team0"),
        ("Cisco Port-channel", "Po1", Some(53), 5, " Po1"),
        ("Arista Port-Channel", "Port-Channel1", Some(161), 5, " Port-Channel1"),
        ("Juniper ae", "ae0", Some(161), 5, " ae0"),
        ("HP trunk", "Trk1", Some(54), 5, " Trk1"),
        ("Comware", "Bridge-Aggregation1", Some(161), 5, " Bridge-Aggregation1"),
        ("RouterOS bonding", "bonding1", Some(6), 5, " bonding1"),
        ("Nokia LAG", "lag-1", Some(53), 5, " lag-1"),
        ("FreeBSD lagg", "lagg0", Some(6), 5, " lagg0"),
        // The number is no index: the port with this index is an ordinary one, or there is none.
        ("number of a physical port", "bond0", Some(6), 3, ""),
        ("number of no port", "bond0", Some(6), 1_000, ""),
    ];
    for (case, name, if_type, number, shown) in cases {
        let far = with_aggregate(node(2, 5), name, if_type);
        let nodes = [announcing(node(1, 2), &[(1, 2, 1, number), (2, 2, 2, number)]), far];
        let expected = format!("sw1 -- sw2{shown}: Reported OneSidedLldp [Gi0/1=Gi0/1] [Gi0/2=Gi0/2]");
        assert_eq!(described(&nodes), [expected], "{case}");
    }
}

#[test]
fn parallel_links_to_an_unscanned_device_are_one_link_if_it_announces_one_aggregate() {
    let nodes = [announcing(node(1, 3), &[(1, 9, 1, 7), (2, 9, 2, 7), (3, 9, 3, 8)])];
    assert_eq!(
        described(&nodes),
        [
            "(sw9) -- sw1: Reported OneSidedLldp [Gi0/1=Gi0/1] [Gi0/2=Gi0/2]",
            "(sw9) Gi0/3 -- sw1 Gi0/3: Reported OneSidedLldp",
        ]
    );
}

#[test]
fn parallel_links_without_an_announced_aggregate_stay_two() {
    let rows = [(1, 2, 1, 0), (2, 2, 2, 0)];
    let of = |numbers: [i64; 2]| {
        let rows = [0, 1].map(|place| (rows[place].0, rows[place].1, rows[place].2, numbers[place]));
        links(&[announcing(node(1, 2), &rows), node(2, 6)]).links().count()
    };
    assert_eq!(of([0, 0]), 2);
    // Each port announces itself, as some devices do for ports that are no members.
    assert_eq!(of([1, 2]), 2);
    assert_eq!(of([-1, i64::MAX]), 2);
}

#[test]
fn members_of_one_bond_at_two_switches_stay_two_links() {
    // A server with a bond of two pairs, at two switches that act as one.
    let server = with_aggregate(node(3, 5), "bond0", Some(6));
    let server = announcing(server, &[(1, 1, 1, 20), (2, 1, 2, 20), (3, 2, 1, 20), (4, 2, 2, 20)]);
    let switch = |number| {
        announcing(
            node(number, 2),
            &[(1, 3, if number == 1 { 1 } else { 3 }, 5), (2, 3, if number == 1 { 2 } else { 4 }, 5)],
        )
    };
    assert_eq!(
        described(&[switch(1), switch(2), server]),
        [
            "sw1 -- sw3 bond0: Confirmed MutualLldp [Gi0/1=Gi0/1] [Gi0/2=Gi0/2]",
            "sw2 -- sw3 bond0: Confirmed MutualLldp [Gi0/1=Gi0/3] [Gi0/2=Gi0/4]",
        ]
    );
}

#[test]
fn both_cables_of_an_active_backup_bond_are_drawn() {
    // Both ports have the address of the bond. Only the first forwards, so that one switch alone learned the address.
    let server = with_aggregate(node(3, 3), "bond0", Some(6)).change(|host| {
        host.if_entries.iter_mut().for_each(|entry| entry.mac_address = Some(mac(3)));
    });
    let nodes = [
        announcing(node(1, 4), &[(1, 3, 1, 3)]).fdb(&[(1, 3)]),
        announcing(node(2, 4), &[(1, 3, 2, 3)]).fdb(&[(4, 3)]),
        server.lldp(&[(1, 1, 1), (2, 2, 1)]),
    ];
    assert_eq!(
        described(&nodes),
        ["sw1 Gi0/1 -- sw3 Gi0/1: Confirmed MutualLldp", "sw2 Gi0/1 -- sw3 Gi0/2: Confirmed MutualLldp"]
    );
}

/// Returns two bridges with bonds that only the address of the bond reveals. Routers are behind the second one.
fn bonded_bridges(name: &str) -> [Node; 4] {
    let bridge = |number: u8, other: u8, learned: &[(i64, u8)]| {
        let bridge = with_aggregate(node(number, 6), name, Some(6)).change(|host| {
            // Bridges and VLANs have the address of the bond as well.
            for place in [0, 1, 4, 5] {
                host.if_entries[place].mac_address = Some(mac(number));
            }
        });
        bridge.lldp(&[(1, other, 1), (2, other, 2)]).fdb(learned)
    };
    let router = |number: u8, port: i64| {
        let router = node(number, 3).lldp(&[(1, 2, port)]);
        router.change(|host| {
            // VLANs on the port have its address.
            host.if_entries.iter_mut().for_each(|entry| entry.mac_address = Some(mac(number)));
        })
    };
    let core = bridge(2, 1, &[(6, 1), (3, 3), (4, 4)]);
    let core = core.change(|host| host.if_entries[2].mac_address = Some(mac(0x42)));
    [bridge(1, 2, &[(6, 3), (6, 4), (6, 2)]), core, router(3, 3), router(4, 4)]
}

#[test]
fn bond_is_one_link_and_no_segment_with_the_routers_behind_it() {
    for name in ["bond0", "team1"] {
        let nodes = bonded_bridges(name);
        let links = links(&nodes);
        assert_eq!(
            describe(&links),
            [
                format!("sw1 {name} -- sw2 {name}: Confirmed MutualLldp [Gi0/1=Gi0/1] [Gi0/2=Gi0/2]"),
                "sw2 Gi0/3 -- sw3 Gi0/1: Reported OneSidedLldp".to_owned(),
                "sw2 Gi0/4 -- sw4 Gi0/1: Reported OneSidedLldp".to_owned(),
            ]
        );
        assert_eq!((links.segments().count(), links.stubs().count()), (0, 0));
    }
}

#[test]
fn routers_behind_an_aggregate_without_reported_members_are_not_at_its_port() {
    let switch = |number, other: u8| {
        let switch = with_aggregate(node(number, 5), "Po1", Some(161));
        switch.lldp(&[(1, other, 1), (2, other, 2)])
    };
    // Only the first switch learned anything, and the second one is no known bridge.
    let routers = [node(3, 0), node(4, 0)];
    let nodes = [switch(1, 2).fdb(&[(5, 3), (5, 4)]), switch(2, 1)];
    let links = links(&nodes.into_iter().chain(routers).collect::<Vec<_>>());
    assert_eq!(
        describe(&links),
        ["sw1 Gi0/1 -- sw2 Gi0/1: Confirmed MutualLldp", "sw1 Gi0/2 -- sw2 Gi0/2: Confirmed MutualLldp"]
    );
}

#[test]
fn server_behind_an_aggregate_without_reported_members_is_linked_if_nothing_else_explains_it() {
    let switch = with_aggregate(node(1, 5), "Po1", Some(161)).lldp(&[(1, 2, 1)]).fdb(&[(5, 3)]);
    assert_eq!(
        described(&[switch, node(2, 2), node(3, 0)]),
        ["sw1 Gi0/1 -- sw2 Gi0/1: Reported OneSidedLldp", "sw1 Po1 -- sw3: Inferred SingleSidedFdb"]
    );
}

#[test]
fn device_with_a_neighbor_of_its_own_is_not_at_a_port_that_learned_its_address() {
    // The addresses of the VLANs of a router are those of its port, which is at another switch.
    let router = node(3, 3).lldp(&[(1, 2, 7)]).change(|host| {
        host.if_entries.iter_mut().for_each(|entry| entry.mac_address = Some(mac(3)));
    });
    let nodes = [node(1, 4).fdb(&[(1, 3)]), node(2, 8), router];
    let links = links(&nodes);
    assert_eq!(describe(&links), ["sw2 Gi0/7 -- sw3 Gi0/1: Reported OneSidedLldp"]);
    let rejected = &links.links().next().unwrap().rejected;
    assert_eq!((rejected.len(), rejected[0].evidence.rule), (1, Rule::SingleSidedFdb));
}

#[test]
fn aggregate_that_the_device_reports_wins_over_an_announced_one() {
    let nodes = [
        announcing(node(1, 6), &[(1, 2, 1, 6), (2, 2, 2, 6)]),
        node(2, 6).lldp(&[(1, 1, 1), (2, 1, 2)]).lag(&[(1, 5), (2, 5)]),
    ];
    assert_eq!(described(&nodes), ["sw1 -- sw2 Gi0/5: Confirmed MutualLldp [Gi0/1=Gi0/1] [Gi0/2=Gi0/2]"]);
}
