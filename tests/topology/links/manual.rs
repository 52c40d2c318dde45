//! Links that users enter and suppress.

use toposcope::model::{HostId, IfEntryId};
use toposcope::topology::links::{ManualEnd, ManualLink, Method};

use super::support::{describe, end, links, manual, node};

#[test]
fn entered_link_is_confirmed() {
    let nodes = [node(1, 4), node(2, 4)];
    let at_ports = [ManualLink::new(end(&nodes[0], 1), end(&nodes[1], 2))];
    assert_eq!(describe(&manual(&nodes, &at_ports)), ["sw1 Gi0/1 -- sw2 Gi0/2: Confirmed Manual"]);
    let at_hosts = [ManualLink::new(end(&nodes[0], 0), end(&nodes[1], 0))];
    assert_eq!(describe(&manual(&nodes, &at_hosts)), ["sw1 -- sw2: Confirmed Manual"]);
}

#[test]
fn entered_link_is_evidence_of_the_link_that_claims_show() {
    let nodes = [node(1, 4).lldp(&[(1, 2, 3)]), node(2, 4)];
    let links = manual(&nodes, &[ManualLink::new(end(&nodes[0], 0), end(&nodes[1], 0))]);
    assert_eq!(describe(&links), ["sw1 Gi0/1 -- sw2 Gi0/3: Confirmed Manual"]);
    let methods: Vec<Method> =
        links.links().next().unwrap().evidence.iter().map(|evidence| evidence.method).collect();
    assert_eq!(methods, [Method::Manual, Method::Lldp]);
}

#[test]
fn suppressed_link_is_left_out() {
    let claim = |number, other| node(number, 4).lldp(&[(1, other, 1), (2, other, 2)]);
    let nodes = [claim(1, 2), claim(2, 1)];
    let one = ManualLink::new(end(&nodes[1], 0), end(&nodes[0], 1)).suppressed();
    assert_eq!(describe(&manual(&nodes, &[one])), ["sw1 Gi0/2 -- sw2 Gi0/2: Confirmed MutualLldp"]);
    let all = ManualLink::new(end(&nodes[0], 0), end(&nodes[1], 0)).suppressed();
    assert_eq!(describe(&manual(&nodes, &[all])), [""; 0]);
}

#[test]
fn weaker_claim_takes_the_port_of_a_suppressed_link() {
    let nodes = [node(1, 4).lldp(&[(1, 2, 1)]).cdp(&[(1, 3, 1)]), node(2, 4), node(3, 4)];
    let suppressed = ManualLink::new(end(&nodes[0], 1), end(&nodes[1], 1)).suppressed();
    assert_eq!(describe(&manual(&nodes, &[suppressed])), ["sw1 Gi0/1 -- sw3 Gi0/1: Reported OneSidedCdp"]);
}

#[test]
fn entered_link_to_a_host_that_is_gone_or_to_itself_is_left_out() {
    let nodes = [node(1, 4), node(2, 4)];
    for target in [ManualEnd::new(HostId::from_u128(99), None), end(&nodes[0], 2)] {
        assert_eq!(describe(&manual(&nodes, &[ManualLink::new(end(&nodes[0], 1), target)])), [""; 0]);
    }
}

#[test]
fn entered_link_stays_without_its_port_when_the_port_is_gone() {
    let nodes = [node(1, 4), node(2, 4)];
    let no_port = ManualEnd::new(nodes[1].host.id, Some(IfEntryId::from_u128(99)));
    let links = manual(&nodes, &[ManualLink::new(end(&nodes[0], 1), no_port)]);
    assert_eq!(describe(&links), ["sw1 Gi0/1 -- sw2: Confirmed Manual"]);
}

#[test]
fn suppression_at_a_port_that_is_gone_leaves_other_links() {
    let nodes = [node(1, 4).lldp(&[(1, 2, 1)]), node(2, 4)];
    let no_port = ManualEnd::new(nodes[1].host.id, Some(IfEntryId::from_u128(99)));
    let links = manual(&nodes, &[ManualLink::new(end(&nodes[0], 0), no_port).suppressed()]);
    assert_eq!(describe(&links), ["sw1 Gi0/1 -- sw2 Gi0/1: Reported OneSidedLldp"]);
}

#[test]
fn links_of_users_can_be_replaced() {
    let nodes = [node(1, 4).lldp(&[(1, 2, 1)]), node(2, 4), node(3, 4)];
    let mut links = links(&nodes);
    links.set_manual(&[ManualLink::new(end(&nodes[0], 1), end(&nodes[2], 1))]);
    assert_eq!(describe(&links), ["sw1 Gi0/1 -- sw3 Gi0/1: Confirmed Manual"]);
    links.set_manual(&[]);
    assert_eq!(describe(&links), ["sw1 Gi0/1 -- sw2 Gi0/1: Reported OneSidedLldp"]);
}
