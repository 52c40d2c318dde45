//! Precedence of claims that contradict each other.

use toposcope::model::Neighbor;
use toposcope::topology::links::{ManualLink, Rule};

use super::support::{Node, describe, described, end, links, manual, node};

/// Returns three nodes, of which the first has two contradictory claims for its first port. The claims follow from two
/// rules, and lead to the second and the third node.
fn rivals(strong: &str, weak: &str) -> Vec<Node> {
    let mut nodes = vec![node(1, 4), node(2, 4), node(3, 4)];
    for (rule, other) in [(strong, 1), (weak, 2)] {
        let remote = u8::try_from(other + 1).unwrap();
        let port = nodes[other].port(1);
        let own = nodes[0].clone();
        nodes[0] = match rule {
            "lldp" | "mutual lldp" => own.lldp(&[(1, remote, 1)]),
            "cdp" | "mutual cdp" => own.cdp(&[(1, remote, 1)]),
            "stored" => own.change(|host| host.if_entries[0].neighbor = Some(Neighbor::IfEntry(port))),
            "stp" => own.stp(&[(1, remote, 1)]),
            "mutual fdb" | "single fdb" => own.fdb(&[(1, remote)]),
            _ => own,
        };
        let other_node = nodes[other].clone();
        nodes[other] = match rule {
            "mutual lldp" => other_node.lldp(&[(1, 1, 1)]),
            "mutual cdp" => other_node.cdp(&[(1, 1, 1)]),
            "stp" => other_node.stp(&[(1, remote, 1)]),
            "mutual fdb" => other_node.fdb(&[(1, 1)]),
            _ => other_node,
        };
    }
    nodes
}

#[test]
fn stronger_rule_wins_the_port_and_keeps_the_claims_it_won_over() {
    for (strong, weak, rule) in [
        ("mutual lldp", "mutual cdp", Rule::MutualLldp),
        ("lldp", "cdp", Rule::OneSidedLldp),
        ("lldp", "stp", Rule::OneSidedLldp),
        ("mutual cdp", "lldp", Rule::MutualCdp),
        ("cdp", "stp", Rule::OneSidedCdp),
        ("cdp", "mutual fdb", Rule::OneSidedCdp),
        ("stored", "stp", Rule::StoredNeighbor),
        ("stored", "mutual fdb", Rule::StoredNeighbor),
        ("stp", "mutual fdb", Rule::StpDesignated),
        ("stp", "single fdb", Rule::StpDesignated),
    ] {
        let nodes = rivals(strong, weak);
        let links = links(&nodes);
        let lines = describe(&links);
        assert_eq!(lines.len(), 1, "{strong} and {weak}: {lines:?}");
        assert!(lines[0].starts_with("sw1 Gi0/1 -- sw2 Gi0/1"), "{strong} and {weak}: {lines:?}");
        let link = links.links().next().unwrap();
        assert_eq!(link.evidence[0].rule, rule, "{strong} and {weak}");
        if weak != "single fdb" {
            assert!(!link.rejected.is_empty(), "{strong} and {weak}");
        }
        for rejected in &link.rejected {
            assert_eq!(rejected.beaten_by, rule, "{strong} and {weak}");
            assert!(rejected.evidence.rule > rule, "{strong} and {weak}");
        }
    }
}

#[test]
fn rejected_claim_tells_which_device_it_names() {
    let links = links(&rivals("lldp", "cdp"));
    let link = links.links().next().unwrap();
    assert_eq!(link.rejected[0].names, "sw3");
    assert_eq!(link.rejected[0].beaten_by, Rule::OneSidedLldp);
}

#[test]
fn claims_of_equal_rank_for_one_port_conflict() {
    let nodes = [node(1, 4), node(2, 4).lldp(&[(1, 1, 1)]), node(3, 4).lldp(&[(1, 1, 1)])];
    assert_eq!(
        described(&nodes),
        [
            "sw1 Gi0/1 -- sw2 Gi0/1: Conflicting OneSidedLldp",
            "sw1 Gi0/1 -- sw3 Gi0/1: Conflicting OneSidedLldp",
        ]
    );
}

#[test]
fn ends_that_name_different_ports_conflict() {
    // Another neighbor is on the other port, so these are not two numbers of one port.
    let nodes = [node(1, 4).lldp(&[(1, 2, 1), (2, 9, 1)]), node(2, 4).lldp(&[(1, 1, 2)])];
    assert_eq!(
        described(&nodes),
        [
            "(sw9) Gi0/1 -- sw1 Gi0/2: Conflicting OneSidedLldp",
            "sw1 Gi0/1 -- sw2 Gi0/1: Conflicting OneSidedLldp",
            "sw1 Gi0/2 -- sw2 Gi0/1: Conflicting OneSidedLldp",
        ]
    );
}

#[test]
fn claim_that_lost_does_not_occupy_its_other_port() {
    // CDP for the port of LLDP loses, so that the spanning tree has the third device's port to itself.
    let nodes = [
        node(1, 4).lldp(&[(1, 2, 1)]).cdp(&[(1, 3, 1)]),
        node(2, 4).lldp(&[(1, 1, 1)]),
        node(3, 4).stp(&[(1, 4, 1)]),
        node(4, 4).stp(&[(1, 4, 1)]),
    ];
    assert_eq!(
        described(&nodes),
        ["sw1 Gi0/1 -- sw2 Gi0/1: Confirmed MutualLldp", "sw3 Gi0/1 -- sw4 Gi0/1: Reported StpDesignated"]
    );
}

#[test]
fn link_of_a_user_wins_over_all_claims() {
    let nodes = rivals("mutual lldp", "cdp");
    let link = ManualLink::new(end(&nodes[0], 1), end(&nodes[2], 4));
    let links = manual(&nodes, &[link]);
    assert_eq!(describe(&links), ["sw1 Gi0/1 -- sw3 Gi0/4: Confirmed Manual"]);
    let rejected = &links.links().next().unwrap().rejected;
    assert!(rejected.iter().all(|claim| claim.beaten_by == Rule::Manual));
    assert!(!rejected.is_empty());
}
