//! Forwarding databases that name bridges.

use super::support::{described, node};

#[test]
fn bridges_that_learned_each_other_on_one_port_are_linked() {
    let nodes = [node(1, 4).fdb(&[(1, 2)]), node(2, 4).fdb(&[(3, 1)])];
    assert_eq!(described(&nodes), ["sw1 Gi0/1 -- sw2 Gi0/3: Inferred MutualFdb"]);
}

#[test]
fn bridges_in_a_row_are_linked_to_the_next_ones_only() {
    let nodes = [
        node(1, 4).fdb(&[(2, 2), (2, 3), (2, 4)]),
        node(2, 4).fdb(&[(1, 1), (2, 3), (2, 4)]),
        node(3, 4).fdb(&[(1, 1), (1, 2), (2, 4)]),
        node(4, 4).fdb(&[(1, 1), (1, 2), (1, 3)]),
    ];
    assert_eq!(
        described(&nodes),
        [
            "sw1 Gi0/2 -- sw2 Gi0/1: Inferred MutualFdb",
            "sw2 Gi0/2 -- sw3 Gi0/1: Inferred MutualFdb",
            "sw3 Gi0/2 -- sw4 Gi0/1: Inferred MutualFdb",
        ]
    );
}

#[test]
fn bridges_around_a_core_are_linked_to_the_core_only() {
    let access = |number: u8, others: [u8; 2]| node(number, 4).fdb(&[(4, 1), (4, others[0]), (4, others[1])]);
    let nodes =
        [node(1, 4).fdb(&[(1, 2), (2, 3), (3, 4)]), access(2, [3, 4]), access(3, [2, 4]), access(4, [2, 3])];
    assert_eq!(
        described(&nodes),
        [
            "sw1 Gi0/1 -- sw2 Gi0/4: Inferred MutualFdb",
            "sw1 Gi0/2 -- sw3 Gi0/4: Inferred MutualFdb",
            "sw1 Gi0/3 -- sw4 Gi0/4: Inferred MutualFdb",
        ]
    );
}

#[test]
fn bridges_without_a_known_bridge_between_them_share_a_segment() {
    let nodes = [
        node(1, 4).fdb(&[(1, 2), (1, 3)]),
        node(2, 4).fdb(&[(2, 1), (2, 3)]),
        node(3, 4).fdb(&[(3, 1), (3, 2)]),
    ];
    assert_eq!(
        described(&nodes),
        [
            "<Gi0/1> -- sw1 Gi0/1: Inferred MutualFdb",
            "<Gi0/1> -- sw2 Gi0/2: Inferred MutualFdb",
            "<Gi0/1> -- sw3 Gi0/3: Inferred MutualFdb",
        ]
    );
}

#[test]
fn bridge_that_was_learned_on_several_ports_is_linked_to_none() {
    let nodes = [
        node(1, 4).fdb(&[(1, 2), (2, 0x20)]),
        node(2, 4).fdb(&[(3, 1)]).change(|host| {
            host.if_entries[3].mac_address = Some(super::support::mac(0x20));
        }),
    ];
    // The second learned the first on one port, which is all that is left.
    assert_eq!(described(&nodes), ["sw1 -- sw2 Gi0/3: Inferred SingleSidedFdb"]);
}

#[test]
fn shared_addresses_show_the_ports_of_bridges_that_learned_nothing_of_each_other() {
    // 0xA0 is between them; 0xA1 is behind the first, 0xA2 behind the second.
    let nodes = [
        node(1, 4).fdb(&[(1, 0xA0), (2, 0xA1), (1, 0xA2)]),
        node(2, 4).fdb(&[(3, 0xA0), (3, 0xA1), (4, 0xA2)]),
    ];
    assert_eq!(described(&nodes), ["sw1 Gi0/1 -- sw2 Gi0/3: Inferred SharedFdb"]);
}

#[test]
fn two_shared_addresses_show_nothing() {
    let nodes = [node(1, 4).fdb(&[(2, 0xA1), (1, 0xA2)]), node(2, 4).fdb(&[(3, 0xA1), (4, 0xA2)])];
    assert_eq!(described(&nodes), [""; 0]);
}

#[test]
fn addresses_of_redundancy_protocols_and_groups_show_nothing() {
    use toposcope::discovery::report::FdbRow;
    use toposcope::inventory::ClaimRows;
    use toposcope::model::MacAddress;
    let rows = |port| {
        let octets = [[0, 0, 0x5E, 0, 1, 7], [0, 0, 0x0C, 7, 0xAC, 1], [1, 0, 0x5E, 0, 0, 1], [0; 6]];
        let rows = octets.map(|octets| {
            let mut row = FdbRow::new(MacAddress::new(octets));
            row.if_index = Some(port);
            row
        });
        ClaimRows::Fdb(rows.into())
    };
    assert_eq!(described(&[node(1, 4).with(rows(1)), node(2, 4).with(rows(2))]), [""; 0]);
}
