//! Link aggregation groups.

use super::support::{described, links, node};

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
    assert_eq!(super::support::describe(&links), ["sw1 Gi0/1 -- sw2 Gi0/1: Confirmed MutualLldp"]);
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
