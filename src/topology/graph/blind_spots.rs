use std::collections::{BTreeMap, BTreeSet};

use serde::{Deserialize, Serialize};

use super::GraphInput;
use super::context::{GraphContext, HostFacts};
use super::views::l2::stub_label;
use crate::discovery::report::Capability;
use crate::model::{HostId, NodeId};
use crate::topology::links::{Confidence, CrowdedPort, End, Link, PortRef, Stub};

/// A device or a port that a scan would reveal more about.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(schemars::JsonSchema))]
#[non_exhaustive]
pub struct BlindSpot {
    /// The reason why a scan is worthwhile.
    pub reason: BlindSpotReason,
    /// The node that stands for the device, the segment, or the port's host.
    pub node_id: NodeId,
    /// The host to scan, or the host that has the port. `None` for a device that is not a host yet.
    pub host_id: Option<HostId>,
    /// The name of the device or of the host that has the port.
    pub label: String,
    /// The port in question; `None` when it is about the whole device.
    pub port: Option<PortRef>,
    /// The addresses at which the device may be reached, as strings.
    pub addresses: Vec<String>,
    /// The number of links or devices that the scan would explain.
    pub count: usize,
    /// The worth of the scan, by which the list is sorted. It is at least 1, and comparable within a list only.
    pub weight: usize,
}

/// The reason why a scan is worthwhile.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum BlindSpotReason {
    /// Hosts name the device as a neighbor, and it is not a host yet.
    UnknownNeighbor,
    /// Neighbors report links to the host, and the host itself does not report them.
    OneSidedLinks,
    /// Several devices are behind one port: the switch between them is unknown.
    CrowdedPort,
    /// Forwarding tables imply a switch that announces nothing.
    UnmanagedSwitch,
    /// Claims about the host's links contradict each other.
    ConflictingLinks,
}

/// Returns what to scan next, the most worthwhile first. Options other than tags and stale hosts do not matter.
#[must_use]
pub fn blind_spots(input: &GraphInput<'_>) -> Vec<BlindSpot> {
    let context = GraphContext::new(input);
    let mut spots = unknown_devices(&context);
    spots.extend(crowded_ports(&context));
    spots.extend(hosts(&context, BlindSpotReason::OneSidedLinks, one_sided(input)));
    spots.extend(hosts(&context, BlindSpotReason::ConflictingLinks, conflicting(input)));
    spots.sort_by(|a, b| {
        b.weight.cmp(&a.weight).then_with(|| (a.reason, a.node_id).cmp(&(b.reason, b.node_id)))
    });
    spots
}

fn unknown_devices(context: &GraphContext<'_>) -> Vec<BlindSpot> {
    let mut named: BTreeMap<NodeId, usize> = BTreeMap::new();
    for link in &context.input.links {
        for end in [&link.source, &link.target] {
            if let End::Stub { id, .. } = end {
                let count = named.entry(*id).or_default();
                *count = count.saturating_add(1);
            }
        }
    }
    let spot = |stub: &&Stub| {
        let count = *named.get(&stub.id)?;
        let reason = if stub.is_unmanaged_switch {
            BlindSpotReason::UnmanagedSwitch
        } else {
            BlindSpotReason::UnknownNeighbor
        };
        let connects = [Capability::Bridge, Capability::Router, Capability::WlanAccessPoint];
        let bonus =
            if connects.iter().any(|capability| stub.capabilities.contains(capability)) { 20 } else { 0 };
        // A device without an address must be found before it can be scanned.
        let reachable = if stub.addresses.is_empty() { 0 } else { 5 };
        let per_link = if stub.is_unmanaged_switch { 3 } else { 10 };
        Some(BlindSpot {
            reason,
            node_id: stub.id,
            host_id: None,
            label: stub_label(stub).0,
            port: None,
            addresses: stub.addresses.clone(),
            count,
            weight: count.saturating_mul(per_link).saturating_add(bonus).saturating_add(reachable),
        })
    };
    context.input.stubs.iter().filter_map(spot).collect()
}

/// Returns a spot for each port behind which there are several devices. Ports that an unmanaged switch explains are
/// left out.
fn crowded_ports(context: &GraphContext<'_>) -> Vec<BlindSpot> {
    let unmanaged: BTreeSet<NodeId> =
        context.input.stubs.iter().filter(|stub| stub.is_unmanaged_switch).map(|stub| stub.id).collect();
    let mut on_segment: BTreeMap<NodeId, Vec<&End>> = BTreeMap::new();
    let mut explained: BTreeSet<(HostId, &PortRef)> = BTreeSet::new();
    for link in &context.input.links {
        for (end, other) in [(&link.source, &link.target), (&link.target, &link.source)] {
            match end {
                End::Segment { id } => on_segment.entry(*id).or_default().push(other),
                End::Stub { id, .. } if unmanaged.contains(id) => explained.extend(port_of(other)),
                End::Stub { .. } | End::Host { .. } => {}
            }
        }
    }
    explained.extend(on_segment.values().flatten().filter_map(|end| port_of(end)));
    let learned = context.input.crowded_ports.iter();
    let learned = learned.filter(|crowded| !explained.contains(&(crowded.host_id, &crowded.port)));
    let learned = learned.filter_map(|CrowdedPort { host_id, port, devices }| {
        let host = context.hosts.get(host_id)?;
        Some(crowded_port((*host_id).into(), host, port.clone(), *devices))
    });
    segments(context, on_segment).into_iter().chain(learned).collect()
}

fn port_of(end: &End) -> Option<(HostId, &PortRef)> {
    match end {
        End::Host { host_id, port } => Some((*host_id, port.as_ref()?)),
        End::Stub { .. } | End::Segment { .. } => None,
    }
}

/// Returns a spot for each segment: its port is the one that sees the devices.
fn segments(context: &GraphContext<'_>, on_segment: BTreeMap<NodeId, Vec<&End>>) -> Vec<BlindSpot> {
    let spot = |(segment, ends): (NodeId, Vec<&End>)| {
        // The end whose port is known is the switch; the others are the devices behind it.
        let (host, port) = ends.iter().find_map(|end| port_of(end))?;
        let host = context.hosts.get(&host)?;
        Some(crowded_port(segment, host, port.clone(), ends.len().saturating_sub(1)))
    };
    on_segment.into_iter().filter_map(spot).collect()
}

fn crowded_port(node_id: NodeId, host: &HostFacts<'_>, port: PortRef, count: usize) -> BlindSpot {
    let weight = count.saturating_mul(4).max(1);
    spot_of_host(BlindSpotReason::CrowdedPort, node_id, host, Some(port), Vec::new(), count, weight)
}

/// Returns the number of links to each host that only its neighbors report.
fn one_sided(input: &GraphInput<'_>) -> BTreeMap<HostId, usize> {
    let mut hosts = BTreeMap::new();
    for link in &input.links {
        if link.confidence != Confidence::Reported {
            continue;
        }
        let reporters: BTreeSet<HostId> =
            link.evidence.iter().filter_map(|evidence| evidence.reporter_host_id).collect();
        for host in ends(link).filter(|host| !reporters.contains(host)) {
            let count: &mut usize = hosts.entry(host).or_default();
            *count = count.saturating_add(1);
        }
    }
    hosts
}

fn conflicting(input: &GraphInput<'_>) -> BTreeMap<HostId, usize> {
    let mut hosts = BTreeMap::new();
    for link in input.links.iter().filter(|link| link.confidence == Confidence::Conflicting) {
        for host in ends(link) {
            let count: &mut usize = hosts.entry(host).or_default();
            *count = count.saturating_add(1);
        }
    }
    hosts
}

fn ends(link: &Link) -> impl Iterator<Item = HostId> + '_ {
    [&link.source, &link.target].into_iter().filter_map(|end| match end {
        End::Host { host_id, .. } => Some(*host_id),
        End::Stub { .. } | End::Segment { .. } => None,
    })
}

fn hosts(
    context: &GraphContext<'_>,
    reason: BlindSpotReason,
    counts: BTreeMap<HostId, usize>,
) -> Vec<BlindSpot> {
    let spot = |(host, count): (HostId, usize)| {
        let facts = context.hosts.get(&host)?;
        let addresses = facts.summary.address().map(|address| address.to_string()).into_iter().collect();
        Some(spot_of_host(reason, host.into(), facts, None, addresses, count, count.saturating_mul(6)))
    };
    counts.into_iter().filter_map(spot).collect()
}

fn spot_of_host(
    reason: BlindSpotReason,
    node_id: NodeId,
    host: &HostFacts<'_>,
    port: Option<PortRef>,
    addresses: Vec<String>,
    count: usize,
    weight: usize,
) -> BlindSpot {
    let (host_id, label) = (Some(host.summary.id), host.node().label);
    BlindSpot { reason, node_id, host_id, label, port, addresses, count, weight }
}
