//! Physical links of the same aggregation group as one link.

use std::collections::BTreeMap;
use std::num::NonZeroU32;

use super::contest::JoinedCandidates;
use super::contest::candidate::{DeviceKey, HostPort, Spot};
use super::device::ports::Aggregate;
use super::devices::Devices;

/// The physical links of two devices that are one link.
#[derive(Debug)]
pub(super) struct AggregateLinks<'c> {
    /// The aggregates at the ends; `None` where there is none, or it is unknown.
    pub(super) ends: [Spot; 2],
    pub(super) links: Vec<JoinedCandidates<'c>>,
}

/// The devices and the aggregates at both ends.
type Group = ([DeviceKey; 2], [Option<Aggregate>; 2]);

/// Returns the aggregates of which the ports at the ends of a link are members.
///
/// The device itself knows better than the neighbor to which it announces a number.
pub(super) fn aggregates(
    ends: &[Spot; 2],
    announced: &[Option<NonZeroU32>; 2],
    devices: &Devices,
) -> [Option<Aggregate>; 2] {
    let [source, target] = ends;
    let [of_source, of_target] = announced;
    [(source, of_source), (target, of_target)].map(|(end, number)| {
        let device = end.device.host().and_then(|host| devices.get(host));
        let own = device.and_then(|device| device.aggregate(end.port.as_ref()?)).map(Aggregate::Port);
        own.or_else(|| match device {
            Some(device) => device.announced_aggregate((*number)?, end.port.as_ref()),
            None => number.map(Aggregate::Number),
        })
    })
}

/// Returns the ports of hosts that are the aggregates at the ends of a link.
pub(super) fn aggregate_ports(
    ends: &[Spot; 2],
    announced: &[Option<NonZeroU32>; 2],
    devices: &Devices,
) -> impl Iterator<Item = HostPort> {
    let hosts = ends.each_ref().map(|end| end.device.host());
    hosts.into_iter().zip(aggregates(ends, announced, devices)).filter_map(|(host, aggregate)| {
        match aggregate? {
            Aggregate::Port(port) => Some((host?, port)),
            Aggregate::Number(_) => None,
        }
    })
}

/// Groups links by the aggregates of their ports. A link without an aggregate is a group of its own.
///
/// Many devices do not report their aggregates: where one end has none, the other end's decides.
pub(super) fn bundles<'c>(
    proposals: Vec<JoinedCandidates<'c>>,
    devices: &Devices,
) -> Vec<AggregateLinks<'c>> {
    let mut groups: BTreeMap<Group, Vec<JoinedCandidates<'c>>> = BTreeMap::new();
    let mut bundles = Vec::new();
    for proposal in proposals {
        let [source, target] = &proposal.ends;
        let aggregates = announced_aggregates(&proposal, devices);
        if aggregates == [None, None] {
            bundles.push(AggregateLinks { ends: proposal.ends.clone(), links: vec![proposal] });
        } else {
            groups.entry(([source.device, target.device], aggregates)).or_default().push(proposal);
        }
    }
    for group in half_known(&groups) {
        if let Some(whole) = whole(&groups, &group)
            && let Some(links) = groups.remove(&group)
        {
            groups.entry(whole).or_default().extend(links);
        }
    }
    for ((devices, aggregates), links) in groups {
        let ends = match links.as_slice() {
            [single] => single.ends.clone(),
            _ => {
                let [source, target] = aggregates.map(|aggregate| match aggregate? {
                    Aggregate::Port(port) => Some(port),
                    Aggregate::Number(_) => None,
                });
                [Spot::new(devices[0], source), Spot::new(devices[1], target)]
            }
        };
        bundles.push(AggregateLinks { ends, links });
    }
    bundles
}

/// Returns the aggregates at the ends of a link. A neighbor may announce the aggregate in place of its member.
fn announced_aggregates(link: &JoinedCandidates<'_>, devices: &Devices) -> [Option<Aggregate>; 2] {
    let [source, target] = aggregates(&link.ends, &link.announced, devices);
    let [source_end, target_end] = &link.ends;
    [(source, source_end), (target, target_end)].map(|(aggregate, end)| {
        aggregate.or_else(|| {
            let (host, port) = end.host_port().filter(|_| link.rule.is_announced())?;
            devices.get(host)?.port(&port).filter(|port| port.is_aggregate)?;
            Some(Aggregate::Port(port))
        })
    })
}

fn half_known(groups: &BTreeMap<Group, Vec<JoinedCandidates<'_>>>) -> Vec<Group> {
    let is_half = |group: &&Group| group.1.iter().flatten().count() == 1;
    groups.keys().filter(is_half).cloned().collect()
}

/// Returns the only group that completes a group. It has the group's aggregate, and another one at the other end.
fn whole(groups: &BTreeMap<Group, Vec<JoinedCandidates<'_>>>, half: &Group) -> Option<Group> {
    let is_whole = |group: &&Group| {
        let mut ends = group.1.iter().zip(&half.1);
        group.0 == half.0 && *group != half && ends.all(|(one, other)| other.is_none() || one == other)
    };
    let mut wholes = groups.keys().filter(is_whole);
    wholes.next().filter(|_| wholes.next().is_none()).cloned()
}
