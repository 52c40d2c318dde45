//! Which devices and links have a VLAN.

use std::collections::{BTreeMap, BTreeSet, HashMap};

use serde::{Deserialize, Serialize};

use super::index::{PathIndex, PathLink};
use super::{DEFAULT_LIMIT, UnknownReason};
use crate::fair_threads::yield_turn;
use crate::model::{HostId, IfEntryId, LinkId};
use crate::topology::links::{End, Link, LinkMember, Links, PortRef, PortVlans, VlanRange, vlans};
use crate::union_find::UnionFind;

/// Maximum number of pairs of a VLAN and a port or a link, and of ranges of VLANs at the ends of links, that are looked at.
const MAX_WORK: usize = 2_000_000;

/// A question about VLANs.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub struct VlanQuery {
    /// The only VLAN to list; `None`: all.
    pub vlan: Option<u16>,
    /// Maximum number of VLANs, and of items of each list.
    pub limit: usize,
}

impl VlanQuery {
    /// Creates a query for all VLANs.
    #[must_use]
    pub const fn new() -> Self {
        Self { vlan: None, limit: DEFAULT_LIMIT }
    }
}

impl Default for VlanQuery {
    fn default() -> Self {
        Self::new()
    }
}

/// The VLANs of a network.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(schemars::JsonSchema))]
#[non_exhaustive]
pub struct VlanList {
    /// Whether nothing is missing that may matter.
    pub complete: bool,
    /// The reasons for which it is not complete.
    pub unknown: Vec<UnknownReason>,
    /// The VLANs, in ascending order.
    pub vlans: Vec<VlanSummary>,
    /// The number of VLANs.
    pub vlans_total: usize,
}

/// A VLAN of a network.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(schemars::JsonSchema))]
#[non_exhaustive]
pub struct VlanSummary {
    /// The number of the VLAN.
    pub vlan: u16,
    /// The name; `None` when unknown.
    pub name: Option<String>,
    /// The hosts with a port in the VLAN, by id.
    pub hosts: Vec<VlanHost>,
    /// The number of hosts with a port in the VLAN.
    pub hosts_total: usize,
    /// The parts of the VLAN that working links do not connect with each other; one if it is whole. The largest first. A host that
    /// forwards no frames is in each part that one of its links leads to.
    pub islands: Vec<Vec<HostId>>,
    /// The number of parts.
    pub islands_total: usize,
    /// The links of which only one end carries the VLAN, by id.
    pub one_sided: Vec<LinkId>,
    /// The links whose ends differ in the VLAN of frames without a tag, and one of these is this VLAN, by id.
    pub native_mismatch: Vec<LinkId>,
}

/// A host with ports in a VLAN.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(schemars::JsonSchema))]
#[non_exhaustive]
pub struct VlanHost {
    /// The host's id.
    pub host_id: HostId,
    /// The ports that carry this VLAN only, by id.
    pub access: Vec<IfEntryId>,
    /// The links that carry this VLAN and others, by id.
    pub trunks: Vec<LinkId>,
}

/// The facts that are collected about a VLAN.
#[derive(Debug, Default)]
struct VlanDraft {
    hosts: BTreeMap<HostId, (Vec<IfEntryId>, Vec<LinkId>)>,
    /// The numbers of working links that may carry the VLAN, as far as their VLANs are known.
    links: Vec<u32>,
    one_sided: Vec<LinkId>,
    native_mismatch: BTreeSet<LinkId>,
}

/// The work of collecting, and its limit.
struct VlanSurvey<'i> {
    index: &'i PathIndex,
    query: VlanQuery,
    drafts: BTreeMap<u16, VlanDraft>,
    work: usize,
}

impl PathIndex {
    /// Returns the VLANs that ports have, with their faults. `links` are the links that the index was made of.
    #[must_use]
    pub fn vlans(&self, links: &Links, query: &VlanQuery) -> VlanList {
        let mut survey = VlanSurvey { index: self, query: *query, drafts: BTreeMap::new(), work: 0 };
        let mut ports: HashMap<IfEntryId, PortVlans<'_>> = HashMap::new();
        for port in links.vlan_ports() {
            ports.insert(port.port, port);
            survey.add_port(&port);
        }
        let mut has_unknown = false;
        for (number, known) in (0..).zip(&self.links) {
            let Some(link) = links.get(known.id).filter(|link| !link.stale) else { continue };
            has_unknown |= link.vlans.is_none();
            let ends = [true, false].map(|is_source| vlans_at(link, is_source, &ports));
            survey.add_link(number, link, ends);
        }
        let is_cut = survey.work > MAX_WORK;
        let vlans_total = survey.drafts.len();
        let mut vlans = survey.finish();
        if is_cut {
            // Links that were not reached would join them.
            for vlan in &mut vlans {
                vlan.islands.clear();
                vlan.islands_total = 0;
            }
        }
        let mut unknown = Vec::new();
        unknown.extend(self.unknown_links());
        unknown.extend(has_unknown.then_some(UnknownReason::Vlan));
        unknown.extend(is_cut.then_some(UnknownReason::WorkLimit));
        VlanList { complete: unknown.is_empty(), unknown, vlans, vlans_total }
    }
}

/// Returns the VLANs of the port at an end of a link. Members state VLANs that their aggregate does not state.
fn vlans_at<'p>(
    link: &Link,
    is_source: bool,
    ports: &HashMap<IfEntryId, PortVlans<'p>>,
) -> Option<PortVlans<'p>> {
    let End::Host { port, .. } = (if is_source { &link.source } else { &link.target }) else { return None };
    let of_member = |member: &LinkMember| {
        let port = if is_source { member.source_port.as_ref() } else { member.target_port.as_ref() };
        port.and_then(|port| port.if_entry_id)
    };
    let own = port.as_ref().and_then(|port: &PortRef| port.if_entry_id);
    own.into_iter().chain(link.members.iter().filter_map(of_member)).find_map(|id| ports.get(&id).copied())
}

impl VlanSurvey<'_> {
    /// Returns the numbers of VLANs that are listed, as long as the work is not too much. The ranges are in ascending order.
    fn listed(&mut self, ranges: &[VlanRange]) -> Vec<u16> {
        yield_turn();
        if let Some(vlan) = self.query.vlan {
            self.work += 1;
            let has_room = self.work <= MAX_WORK;
            return vlans::find(ranges, vlan).filter(|_| has_room).map(|_| vlan).into_iter().collect();
        }
        let mut listed = Vec::new();
        for range in ranges {
            if self.work > MAX_WORK {
                break;
            }
            self.work += usize::from(range.last.saturating_sub(range.first)) + 1;
            listed.extend(range.first..=range.last);
        }
        listed
    }

    /// Returns the numbers of listed VLANs that one end of a link has and the other one lacks.
    fn lacking(&mut self, near: &[VlanRange], far: &[VlanRange]) -> Vec<u16> {
        if let Some(vlan) = self.query.vlan {
            let found = self.listed(near);
            return found.into_iter().filter(|_| vlans::find(far, vlan).is_none()).collect();
        }
        self.work += near.len() + far.len();
        if self.work > MAX_WORK {
            return Vec::new();
        }
        self.listed(&vlans::without(near, far))
    }

    fn add_port(&mut self, port: &PortVlans<'_>) {
        let is_access = is_single(port.vlans);
        for vlan in self.listed(port.vlans) {
            let (access, _) = self.drafts.entry(vlan).or_default().hosts.entry(port.host).or_default();
            if is_access {
                access.push(port.port);
            }
        }
    }

    fn add_link(&mut self, number: u32, link: &Link, ends: [Option<PortVlans<'_>>; 2]) {
        if let Some(vlans) = &link.vlans {
            let is_trunk = !is_single(vlans) || ends.iter().flatten().any(|end| !is_single(end.vlans));
            for vlan in self.listed(vlans) {
                let draft = self.drafts.entry(vlan).or_default();
                if self.index.link(number).is_working() {
                    draft.links.push(number);
                }
                for end in [&link.source, &link.target] {
                    if let End::Host { host_id, .. } = end
                        && is_trunk
                    {
                        draft.hosts.entry(*host_id).or_default().1.push(link.id);
                    }
                }
            }
        }
        let [Some(one), Some(other)] = ends else { return };
        for (near, far) in [(&one, &other), (&other, &one)] {
            for vlan in self.lacking(near.vlans, far.vlans) {
                self.drafts.entry(vlan).or_default().one_sided.push(link.id);
            }
        }
        if let (Some(one), Some(other)) = (one.untagged_vlan, other.untagged_vlan)
            && one != other
        {
            for vlan in
                [one, other].into_iter().filter(|vlan| self.query.vlan.is_none_or(|only| only == *vlan))
            {
                self.drafts.entry(vlan).or_default().native_mismatch.insert(link.id);
            }
        }
    }

    fn finish(self) -> Vec<VlanSummary> {
        let Self { index, query, drafts, .. } = self;
        let mut parts = UnionFind::new(index.nodes.len());
        let may_carry =
            |link: &&PathLink| link.is_working() && !link.has_known_vlans() && is_bridged(index, link);
        for link in index.links.iter().filter(may_carry) {
            parts.join(link.source as usize, link.target as usize);
        }
        let summary = |(vlan, draft): (u16, VlanDraft)| summary(index, query.limit, &mut parts, vlan, draft);
        drafts.into_iter().take(query.limit).map(summary).collect()
    }
}

fn is_single(ranges: &[VlanRange]) -> bool {
    matches!(ranges, [VlanRange { first, last }] if first == last)
}

fn summary(
    index: &PathIndex,
    limit: usize,
    parts: &mut UnionFind,
    vlan: u16,
    draft: VlanDraft,
) -> VlanSummary {
    let islands = islands(index, parts, &draft);
    let hosts_total = draft.hosts.len();
    let hosts = draft.hosts.into_iter().take(limit).map(|(host_id, (mut access, mut trunks))| {
        access.sort_unstable();
        trunks.sort_unstable();
        access.truncate(limit);
        trunks.truncate(limit);
        VlanHost { host_id, access, trunks }
    });
    let cut = |hosts: &Vec<HostId>| hosts.iter().copied().take(limit).collect();
    let mut one_sided = draft.one_sided;
    one_sided.sort_unstable();
    one_sided.truncate(limit);
    VlanSummary {
        vlan,
        name: None,
        hosts: hosts.collect(),
        hosts_total,
        islands: islands.iter().take(limit).map(cut).collect(),
        islands_total: islands.len(),
        one_sided,
        native_mismatch: draft.native_mismatch.into_iter().take(limit).collect(),
    }
}

/// Returns the hosts of a VLAN by the part that they are in. Links whose VLANs are not known may carry it. A host that forwards no
/// frames is at the end of its links, in each part that one of them leads to.
fn islands(index: &PathIndex, parts: &mut UnionFind, draft: &VlanDraft) -> Vec<Vec<HostId>> {
    let mut places = Places::default();
    let (mut pairs, mut ends) = (Vec::new(), Vec::new());
    for link in &draft.links {
        let nodes = [index.link(*link).source, index.link(*link).target];
        let [one, other] = nodes.map(|node| {
            let part = index.node(node).may_bridge.then(|| parts.find(node as usize));
            part.map(|part| places.of_part(part))
        });
        let Some(place) = one.or(other) else {
            let place = places.next();
            ends.extend(nodes.map(|node| (node, place)));
            continue;
        };
        match (one, other) {
            (Some(one), Some(other)) => pairs.push([one, other]),
            (None, _) => ends.push((nodes[0], place)),
            (_, None) => ends.push((nodes[1], place)),
        }
    }
    ends.sort_unstable();
    let mut placed = Vec::with_capacity(draft.hosts.len());
    for host in draft.hosts.keys() {
        let Some(node) = index.number((*host).into()) else { continue };
        let first = ends.partition_point(|(end, _)| *end < node);
        let of_links = ends[first..].iter().take_while(|(end, _)| *end == node);
        let before = placed.len();
        placed.extend(of_links.map(|(_, place)| (*host, *place)));
        if placed.len() == before {
            placed.push((*host, places.of_part(parts.find(node as usize))));
        }
    }
    let mut joined = UnionFind::new(places.count);
    pairs.into_iter().for_each(|[one, other]| joined.join(one, other));
    let mut islands: BTreeMap<usize, Vec<HostId>> = BTreeMap::new();
    for (host, place) in placed {
        islands.entry(joined.find(place)).or_default().push(host);
    }
    let mut islands: Vec<Vec<HostId>> = islands.into_values().collect();
    islands.iter_mut().for_each(Vec::dedup);
    islands.sort_by_key(|hosts| (std::cmp::Reverse(hosts.len()), hosts.first().copied()));
    islands
}

/// The numbers of parts of a VLAN, as they are found.
#[derive(Debug, Default)]
struct Places {
    by_part: HashMap<usize, usize>,
    count: usize,
}

impl Places {
    fn next(&mut self) -> usize {
        self.count += 1;
        self.count - 1
    }

    fn of_part(&mut self, part: usize) -> usize {
        if let Some(place) = self.by_part.get(&part) {
            return *place;
        }
        let place = self.next();
        self.by_part.insert(part, place);
        place
    }
}

/// Returns whether both ends of a link forward frames.
fn is_bridged(index: &PathIndex, link: &PathLink) -> bool {
    [link.source, link.target].iter().all(|end| index.node(*end).may_bridge)
}
