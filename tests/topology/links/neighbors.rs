//! Rules about neighbors that devices name.

use toposcope::discovery::report::{CdpRow, LldpRow};
use toposcope::inventory::ClaimRows;
use toposcope::model::{LldpChassisId, LldpChassisIdSubtype, LldpPortId, LldpPortIdSubtype, Neighbor};
use toposcope::topology::links::LinkWarning;

use super::support::{describe, described, links, lldp, node};

#[test]
fn ports_that_name_each_other_by_lldp_are_a_confirmed_link() {
    let nodes = [node(1, 4).lldp(&[(1, 2, 3)]), node(2, 4).lldp(&[(3, 1, 1)])];
    assert_eq!(described(&nodes), ["sw1 Gi0/1 -- sw2 Gi0/3: Confirmed MutualLldp"]);
}

#[test]
fn ports_that_name_each_other_by_cdp_are_a_confirmed_link() {
    let nodes = [node(1, 4).cdp(&[(1, 2, 3)]), node(2, 4).cdp(&[(3, 1, 1)])];
    assert_eq!(described(&nodes), ["sw1 Gi0/1 -- sw2 Gi0/3: Confirmed MutualCdp"]);
}

#[test]
fn claim_of_one_end_is_a_reported_link() {
    let by_lldp = [node(1, 4).lldp(&[(1, 2, 3)]), node(2, 4)];
    assert_eq!(described(&by_lldp), ["sw1 Gi0/1 -- sw2 Gi0/3: Reported OneSidedLldp"]);
    let by_cdp = [node(1, 4).cdp(&[(1, 2, 3)]), node(2, 4)];
    assert_eq!(described(&by_cdp), ["sw1 Gi0/1 -- sw2 Gi0/3: Reported OneSidedCdp"]);
}

#[test]
fn lldp_of_one_end_and_cdp_of_the_other_confirm_a_link() {
    let nodes = [node(1, 4).lldp(&[(1, 2, 3)]), node(2, 4).cdp(&[(3, 1, 1)])];
    assert_eq!(described(&nodes), ["sw1 Gi0/1 -- sw2 Gi0/3: Confirmed OneSidedLldp"]);
}

#[test]
fn lldp_and_cdp_of_one_link_are_evidence_of_it() {
    let both = |number, other| node(number, 4).lldp(&[(1, other, 1)]).cdp(&[(1, other, 1)]);
    let links = links(&[both(1, 2), both(2, 1)]);
    let link = links.links().next().unwrap();
    assert_eq!(link.evidence.len(), 4);
    assert_eq!(links.links().count(), 1);
    assert!(link.rejected.is_empty());
}

#[test]
fn claims_that_agree_on_one_port_are_paired() {
    // The first does not know the neighbor's port, the second not its own.
    let nodes = [node(1, 4).lldp(&[(1, 2, 0), (2, 2, 4)]), node(2, 4).lldp(&[(3, 1, 1), (0, 1, 2)])];
    assert_eq!(
        described(&nodes),
        ["sw1 Gi0/1 -- sw2 Gi0/3: Confirmed MutualLldp", "sw1 Gi0/2 -- sw2 Gi0/4: Confirmed MutualLldp"]
    );
}

#[test]
fn only_claims_of_two_hosts_about_each_other_are_bound_without_remote_ports() {
    let nodes = [node(1, 4).lldp(&[(1, 2, 0)]), node(2, 4).lldp(&[(3, 1, 0)])];
    assert_eq!(described(&nodes), ["sw1 Gi0/1 -- sw2 Gi0/3: Confirmed MutualLldp"]);
}

#[test]
fn several_claims_without_remote_ports_are_one_link_between_devices() {
    let nodes = [node(1, 4).lldp(&[(1, 2, 0), (2, 2, 0)]), node(2, 4).lldp(&[(3, 1, 0), (4, 1, 0)])];
    assert_eq!(described(&nodes), ["sw1 -- sw2: Confirmed MutualLldp"]);
}

#[test]
fn parallel_links_stay_apart() {
    let nodes = [node(1, 4).lldp(&[(1, 2, 1), (2, 2, 2)]), node(2, 4).lldp(&[(1, 1, 1), (2, 1, 2)])];
    assert_eq!(
        described(&nodes),
        ["sw1 Gi0/1 -- sw2 Gi0/1: Confirmed MutualLldp", "sw1 Gi0/2 -- sw2 Gi0/2: Confirmed MutualLldp"]
    );
}

#[test]
fn link_of_a_device_to_itself_is_left_out() {
    assert_eq!(described(&[node(1, 4).lldp(&[(1, 1, 2), (2, 1, 1)])]), [""; 0]);
}

#[test]
fn unknown_neighbor_is_a_stub_with_what_it_announces() {
    let mut row = lldp(1, 9, 7);
    row.mgmt_addrs = vec!["192.0.2.9".to_owned()];
    let links = links(&[node(1, 4).with(ClaimRows::Lldp(vec![row]))]);
    assert_eq!(describe(&links), ["(sw9) Gi0/7 -- sw1 Gi0/1: Reported OneSidedLldp"]);
    let stub = links.stubs().next().unwrap();
    assert_eq!(stub.addresses, ["192.0.2.9"]);
    assert_eq!(stub.chassis_id.as_ref().unwrap().value, "00:00:5E:00:53:09");
}

#[test]
fn unknown_neighbor_of_several_hosts_is_one_stub() {
    let links = links(&[node(1, 4).lldp(&[(1, 9, 1)]), node(2, 4).lldp(&[(1, 9, 2)])]);
    assert_eq!((links.stubs().count(), links.links().count()), (1, 2));
}

#[test]
fn unknown_neighbor_by_lldp_and_cdp_on_one_port_is_one_stub() {
    let nodes = [node(1, 4).lldp(&[(1, 9, 7)]).cdp(&[(1, 9, 7)])];
    assert_eq!(described(&nodes), ["(sw9) Gi0/7 -- sw1 Gi0/1: Reported OneSidedLldp"]);
}

#[test]
fn stub_becomes_the_host_when_it_is_known() {
    let nodes = [node(1, 4).lldp(&[(1, 9, 3)])];
    let mut links = links(&nodes);
    assert_eq!(links.stubs().count(), 1);
    links.set(node(9, 4).device());
    assert_eq!(describe(&links), ["sw1 Gi0/1 -- sw9 Gi0/3: Reported OneSidedLldp"]);
    assert_eq!(links.stubs().count(), 0);
}

#[test]
fn several_neighbors_on_one_port_share_a_segment() {
    let nodes = [node(1, 4).lldp(&[(1, 2, 1), (1, 3, 1), (1, 9, 1)]), node(2, 4), node(3, 4)];
    assert_eq!(
        described(&nodes),
        [
            "(sw9) Gi0/1 -- <Gi0/1>: Reported OneSidedLldp",
            "<Gi0/1> -- sw1 Gi0/1: Reported OneSidedLldp",
            "<Gi0/1> -- sw2 Gi0/1: Reported OneSidedLldp",
            "<Gi0/1> -- sw3 Gi0/1: Reported OneSidedLldp",
        ]
    );
}

#[test]
fn ports_that_all_see_each_other_share_one_segment() {
    let nodes = [
        node(1, 1).lldp(&[(1, 2, 1), (1, 3, 1)]),
        node(2, 1).lldp(&[(1, 1, 1), (1, 3, 1)]),
        node(3, 1).lldp(&[(1, 1, 1), (1, 2, 1)]),
    ];
    let links = links(&nodes);
    assert_eq!(links.segments().count(), 1);
    assert_eq!(links.links().count(), 3, "{:?}", describe(&links));
}

#[test]
fn unknown_device_on_a_segment_is_one_member_whatever_its_port_is_called() {
    let nodes = [node(1, 1).lldp(&[(1, 2, 1), (1, 9, 1)]), node(2, 1).lldp(&[(1, 1, 1), (1, 9, 2)])];
    assert_eq!(
        described(&nodes),
        [
            "(sw9) -- <Gi0/1>: Reported OneSidedLldp",
            "<Gi0/1> -- sw1 Gi0/1: Confirmed MutualLldp",
            "<Gi0/1> -- sw2 Gi0/1: Confirmed MutualLldp",
        ]
    );
}

#[test]
fn stored_neighbor_of_a_host_without_claims_is_a_link() {
    let remote = node(2, 4);
    let port = remote.port(3);
    let own = node(1, 4).change(|host| host.if_entries[0].neighbor = Some(Neighbor::IfEntry(port)));
    assert_eq!(described(&[own, remote.clone()]), ["sw1 Gi0/1 -- sw2 Gi0/3: Reported StoredNeighbor"]);
    let own = node(1, 4).change(|host| host.if_entries[0].neighbor = Some(Neighbor::Host(remote.host.id)));
    assert_eq!(described(&[own, remote]), ["sw1 Gi0/1 -- sw2: Reported StoredNeighbor"]);
}

#[test]
fn stored_neighbor_that_is_gone_is_no_link() {
    let gone = node(2, 4).port(3);
    let own = node(1, 4).change(|host| host.if_entries[0].neighbor = Some(Neighbor::IfEntry(gone)));
    assert_eq!(described(&[own]), [""; 0]);
}

#[test]
fn lldp_and_cdp_fields_of_interface_entries_count_without_claims() {
    let fields = |mut host: toposcope::model::Host| {
        host.if_entries[0].lldp_chassis_id = Some(super::support::chassis(2));
        host.if_entries[1].cdp_device_id = Some("sw2".to_owned());
        host.if_entries[1].cdp_port_id = Some("GigabitEthernet0/4".to_owned());
        host
    };
    let own = node(1, 4).change(|host| *host = fields(host.clone()));
    assert_eq!(
        described(&[own.clone(), node(2, 4)]),
        ["sw1 Gi0/1 -- sw2: Reported OneSidedLldp", "sw1 Gi0/2 -- sw2 Gi0/4: Reported OneSidedCdp"]
    );
    let claimed = own.lldp(&[]).cdp(&[]);
    assert_eq!(described(&[claimed, node(2, 4)]), [""; 0]);
}

#[test]
fn designated_bridge_of_a_port_is_a_link() {
    let nodes = [node(1, 4).stp(&[(2, 2, 3)]), node(2, 4).stp(&[(3, 2, 3)])];
    assert_eq!(described(&nodes), ["sw1 Gi0/2 -- sw2 Gi0/3: Reported StpDesignated"]);
}

#[test]
fn designated_bridge_that_is_the_device_itself_is_left_out() {
    // The device's own address as a bridge is not one of its known ones.
    assert_eq!(described(&[node(1, 4).stp(&[(1, 77, 1), (2, 77, 2)])]), [""; 0]);
}

#[test]
fn bridges_with_one_designated_port_share_a_segment() {
    let nodes = [node(1, 4).stp(&[(2, 3, 1)]), node(2, 4).stp(&[(3, 3, 1)]), node(3, 4).stp(&[(1, 3, 1)])];
    assert_eq!(
        described(&nodes),
        [
            "<Gi0/1> -- sw1 Gi0/2: Reported StpDesignated",
            "<Gi0/1> -- sw2 Gi0/3: Reported StpDesignated",
            "<Gi0/1> -- sw3 Gi0/1: Reported StpDesignated",
        ]
    );
}

#[test]
fn device_id_of_cdp_may_have_a_domain_a_serial_number_and_control_characters() {
    for id in ["sw2", "SW2.example.net", "sw2(FOC0000X000)", "\u{0}sw2\u{1}"] {
        let mut row = CdpRow::new(id);
        row.if_index = Some(1);
        row.port_id = Some("gigabitethernet0/3".to_owned());
        let nodes = [node(1, 4).with(ClaimRows::Cdp(vec![row])), node(2, 4)];
        assert_eq!(described(&nodes), ["sw1 Gi0/1 -- sw2 Gi0/3: Reported OneSidedCdp"], "{id}");
    }
}

#[test]
fn local_port_that_is_no_interface_entry_is_known_by_name() {
    let mut row = LldpRow::new(LldpChassisId {
        subtype: LldpChassisIdSubtype::LocallyAssigned,
        value: "printer-7".to_owned(),
    });
    row.if_name = Some("eth7".to_owned());
    let nodes = [node(1, 4).with(ClaimRows::Lldp(vec![row]))];
    assert_eq!(described(&nodes), ["(printer-7) -- sw1 eth7: Reported OneSidedLldp"]);
}

#[test]
fn claims_that_contradict_each_other_in_a_port_number_each_are_one_cable() {
    // The devices count the ports of their neighbors' tables from 0: each is right about the other's port.
    let nodes = [node(1, 9).lldp(&[(4, 2, 6)]), node(2, 9).lldp(&[(5, 1, 5)])];
    let found = links(&nodes);
    assert_eq!(describe(&found), ["sw1 Gi0/5 -- sw2 Gi0/6: Confirmed MutualLldp"]);
    assert!(found.links().all(|link| link.port_mismatch));
    let [LinkWarning::PortIndexMismatch { host_id, neighbor_id }] = found.warnings()[..] else {
        panic!("{:?}", found.warnings())
    };
    assert_eq!([host_id, neighbor_id], [nodes[0].host.id, nodes[1].host.id]);
}

#[test]
fn claims_that_contradict_each_other_stay_apart_where_something_else_is_on_a_port() {
    let nodes = [node(1, 9).lldp(&[(4, 2, 6), (5, 3, 1)]), node(2, 9).lldp(&[(5, 1, 5)]), node(3, 2)];
    let found = links(&nodes);
    assert!(found.links().all(|link| !link.port_mismatch), "{:?}", describe(&found));
    // Two cables between two devices, each claimed by one of them.
    let nodes = [node(1, 9).lldp(&[(1, 2, 1), (4, 2, 6)]), node(2, 9).lldp(&[(5, 1, 5), (7, 1, 7)])];
    assert!(links(&nodes).links().all(|link| !link.port_mismatch));
}

#[test]
fn number_that_an_unknown_device_gives_to_its_port_gives_way_to_the_description() {
    let of = |value: &str, description: Option<&str>| {
        let mut row = lldp(1, 2, 1);
        row.port_id =
            Some(LldpPortId { subtype: LldpPortIdSubtype::LocallyAssigned, value: value.to_owned() });
        row.port_desc = description.map(str::to_owned);
        described(&[node(1, 2).with(ClaimRows::Lldp(vec![row]))])
    };
    assert_eq!(of("36044800", Some("1/2/2")), ["(sw2) 1/2/2 -- sw1 Gi0/1: Reported OneSidedLldp"]);
    assert_eq!(of("36044800", None), ["(sw2) 36044800 -- sw1 Gi0/1: Reported OneSidedLldp"]);
    assert_eq!(of("uplink", Some("1/2/2")), ["(sw2) uplink -- sw1 Gi0/1: Reported OneSidedLldp"]);
}

#[test]
fn name_that_was_not_received_and_address_of_no_vendor_name_nobody() {
    let mut rows = Vec::new();
    for (port, address) in [(1, "00 00 00 00 00 21"), (2, "00:00:00:00:00:15")] {
        let mut row = LldpRow::new(LldpChassisId {
            subtype: LldpChassisIdSubtype::MacAddress,
            value: address.to_owned(),
        });
        row.if_index = Some(port);
        row.sys_name = Some("router".to_owned());
        rows.push(row);
    }
    let mut unnamed = lldp(3, 9, 1);
    unnamed.sys_name = Some("Not received".to_owned());
    rows.push(unnamed);
    let found = links(&[node(1, 3).with(ClaimRows::Lldp(rows))]);
    let labels: Vec<&str> = found.stubs().map(|stub| stub.label.as_str()).collect();
    assert_eq!(labels.len(), 2, "{labels:?}");
    assert!(labels.contains(&"router") && labels.contains(&"00:00:5E:00:53:09"), "{labels:?}");
}
