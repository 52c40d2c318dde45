//! Roles of the devices of real networks.

use toposcope::model::{HostRole, NodeId, TopologyView};
use toposcope::topology::graph::{GraphInput, GraphOptions, HostSummary, build};

use crate::links::labs::{Lab, labs};

/// Prefixes of names that determine the
/// role.
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

#[test]
fn roles_of_labs_are_known_where_devices_announce_what_they_are() {
    let (mut told, mut unknown) = (0, Vec::new());
    for lab in labs() {
        let links = lab.links();
        let mut options = GraphOptions::new(TopologyView::L2);
        options.collapse = false;
        let summaries: Vec<HostSummary> =
            lab.hosts.values().map(|(host, claims)| HostSummary::of(host, claims)).collect();
        let network = lab.hosts.values().next().unwrap().0.network_id;
        let mut input = GraphInput::new(network, &options);
        input.hosts = summaries.iter().collect();
        input.links = links.links().collect();
        input.stubs = links.stubs().collect();
        input.segments = links.segments().collect();
        input.capabilities = links.capabilities();
        input.descriptions = links.descriptions();
        let graph = build(&input);
        for stub in links.stubs() {
            let node = graph.nodes.iter().find(|node| node.id == stub.id);
            let is_told = !stub.capabilities.is_empty() || stub.description.is_some();
            if let Some(node) = node.filter(|_| is_told) {
                told += 1;
                if node.role == HostRole::Unknown {
                    unknown.push(format!("{}: {stub:?}", lab.name));
                }
            }
        }
        for node in graph.nodes.iter().filter(|node| node.entity_id.is_some()) {
            told += 1;
            if node.role == HostRole::Unknown {
                unknown.push(format!("{}: {}", lab.name, node.label));
            }
        }
    }
    println!("{} of {told} devices of labs have an unknown role: {unknown:#?}", unknown.len());
    assert!(unknown.len() * 20 <= told, "{unknown:#?}");
}
