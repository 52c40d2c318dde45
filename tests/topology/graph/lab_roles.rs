//! Roles of the devices of real networks.

use toposcope::model::{HostRole, NodeId, TopologyView};
use toposcope::topology::graph::{GraphInput, GraphOptions, HostSummary, build};

use crate::links::labs::{Lab, labs};

/// Beginnings of names that tell the role.
const NAMES: &[(&str, HostRole)] = &[
    ("Router", HostRole::Router),
    ("router-", HostRole::Router),
    ("ZHBGO1Zsr", HostRole::Router),
    ("Switch", HostRole::Switch),
    ("sw", HostRole::Switch),
    ("SW_", HostRole::Switch),
    ("ciscoswitch", HostRole::Switch),
    ("asw", HostRole::Switch),
    ("samasw", HostRole::Switch),
    ("stcasw", HostRole::Switch),
];

#[test]
fn devices_of_labs_have_the_roles_that_their_names_tell() {
    for lab in labs() {
        for (device, role, reason) in roles(&lab) {
            println!("{}: {device} is {role:?}: {reason}", lab.name);
            let expected = NAMES.iter().find(|(beginning, _)| device.starts_with(beginning));
            if let Some((_, expected)) = expected {
                assert_eq!(role, *expected, "{}: {device}: {reason}", lab.name);
            }
        }
    }
}

fn roles(lab: &Lab) -> Vec<(String, HostRole, String)> {
    let links = lab.links();
    let mut options = GraphOptions::new(TopologyView::L2);
    options.collapse = false;
    let hosts: Vec<(&String, HostSummary)> =
        lab.hosts.iter().map(|(name, (host, claims))| (name, HostSummary::of(host, claims))).collect();
    let network = lab.hosts.values().next().unwrap().0.network_id;
    let mut input = GraphInput::new(network, &options);
    input.hosts = hosts.iter().map(|(_, summary)| summary).collect();
    input.links = links.links().collect();
    input.capabilities = links.capabilities();
    let graph = build(&input);
    let role = |(name, summary): (&String, HostSummary)| {
        let node = graph.nodes.iter().find(|node| node.id == NodeId::from(summary.id));
        let role = node.map_or(summary.role, |node| node.role);
        let reason = node.map_or(&summary.role_reason, |node| &node.role_reason);
        let reason = reason.as_ref().map(|reason| format!("{:?} {}", reason.source, reason.value));
        (name.clone(), role, reason.unwrap_or_default())
    };
    hosts.iter().cloned().map(role).collect()
}
