use std::collections::{BTreeMap, BTreeSet};

use serde::{Deserialize, Serialize};
use uuid::Uuid;

use super::GraphInput;
use super::context::Context;
use super::l2::stub_label;
use super::shape::Node;
use crate::discovery::report::Capability;
use crate::topology::links::{Confidence, End, Link, PortRef, Stub};

/// A device or a port that a scan would reveal more about.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(schemars::JsonSchema))]
#[non_exhaustive]
pub struct BlindSpot {
    /// Why a scan is worthwhile.
    pub reason: BlindSpotReason,
    /// The node that stands for the device or the segment.
    pub node_id: Uuid,
    /// The host to scan, or the host that has the port; `None` for a device that is no host yet.
    pub host_id: Option<Uuid>,
    /// The name of the device or of the host that has the port.
    pub label: String,
    /// The port in question; `None` when it is about the whole device.
    pub port: Option<PortRef>,
    /// The addresses at which the device may be reached, as strings.
    pub addresses: Vec<String>,
    /// The number of links or devices that the scan would explain.
    pub count: usize,
    /// The worth of the scan, by which the list is sorted: at least 1, comparable within a list only.
    pub weight: usize,
}

/// Why a scan is worthwhile.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum BlindSpotReason {
    /// Hosts name the device as a neighbor, and it is no host yet.
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
    let context = Context::new(input);
    let mut spots = unknown_devices(&context);
    spots.extend(crowded_ports(&context));
    spots.extend(hosts(&context, BlindSpotReason::OneSidedLinks, one_sided(input)));
    spots.extend(hosts(&context, BlindSpotReason::ConflictingLinks, conflicting(input)));
    spots.sort_by(|a, b| {
        b.weight.cmp(&a.weight).then_with(|| (a.reason, a.node_id).cmp(&(b.reason, b.node_id)))
    });
    spots
}

fn unknown_devices(context: &Context<'_>) -> Vec<BlindSpot> {
    let mut named: BTreeMap<Uuid, usize> = BTreeMap::new();
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
        // A device without an address cannot be scanned before somebody finds it.
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

/// Returns a spot for each segment: its port is the one that sees the devices.
fn crowded_ports(context: &Context<'_>) -> Vec<BlindSpot> {
    let mut on_segment: BTreeMap<Uuid, Vec<&End>> = BTreeMap::new();
    for link in &context.input.links {
        match (&link.source, &link.target) {
            (End::Segment { id }, other) | (other, End::Segment { id }) => {
                on_segment.entry(*id).or_default().push(other);
            }
            _ => {}
        }
    }
    let spot = |(segment, ends): (Uuid, Vec<&End>)| {
        // The end whose port is known is the switch; the others are the devices behind it.
        let with_port = ends.iter().find_map(|end| match end {
            End::Host { host_id, port: Some(port) } => Some((*host_id, port.clone())),
            _ => None,
        });
        let (host, port) = with_port?;
        let node = context.hosts.get(&host)?.node();
        let count = ends.len().saturating_sub(1);
        let weight = count.saturating_mul(4).max(1);
        let reason = BlindSpotReason::CrowdedPort;
        Some(spot_of_host(reason, segment, node, Some(port), Vec::new(), count, weight))
    };
    on_segment.into_iter().filter_map(spot).collect()
}

/// Returns the number of links to each host that only its neighbors report.
fn one_sided(input: &GraphInput<'_>) -> BTreeMap<Uuid, usize> {
    let mut hosts = BTreeMap::new();
    for link in &input.links {
        if link.confidence != Confidence::Reported {
            continue;
        }
        let reporters: BTreeSet<Uuid> =
            link.evidence.iter().filter_map(|evidence| evidence.reporter_host_id).collect();
        for host in ends(link).filter(|host| !reporters.contains(host)) {
            let count: &mut usize = hosts.entry(host).or_default();
            *count = count.saturating_add(1);
        }
    }
    hosts
}

fn conflicting(input: &GraphInput<'_>) -> BTreeMap<Uuid, usize> {
    let mut hosts = BTreeMap::new();
    for link in input.links.iter().filter(|link| link.confidence == Confidence::Conflicting) {
        for host in ends(link) {
            let count: &mut usize = hosts.entry(host).or_default();
            *count = count.saturating_add(1);
        }
    }
    hosts
}

fn ends(link: &Link) -> impl Iterator<Item = Uuid> + '_ {
    [&link.source, &link.target].into_iter().filter_map(|end| match end {
        End::Host { host_id, .. } => Some(*host_id),
        _ => None,
    })
}

fn hosts(context: &Context<'_>, reason: BlindSpotReason, counts: BTreeMap<Uuid, usize>) -> Vec<BlindSpot> {
    let spot = |(host, count): (Uuid, usize)| {
        let facts = context.hosts.get(&host)?;
        let addresses = facts.summary.address().map(|address| address.to_string()).into_iter().collect();
        Some(spot_of_host(reason, host, facts.node(), None, addresses, count, count.saturating_mul(6)))
    };
    counts.into_iter().filter_map(spot).collect()
}

fn spot_of_host(
    reason: BlindSpotReason,
    node_id: Uuid,
    host: Node,
    port: Option<PortRef>,
    addresses: Vec<String>,
    count: usize,
    weight: usize,
) -> BlindSpot {
    BlindSpot { reason, node_id, host_id: Some(host.id), label: host.label, port, addresses, count, weight }
}
