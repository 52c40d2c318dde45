//! Paths as legs: the links of frames within a subnet, from one router to the next.

use std::collections::HashMap;
use std::net::IpAddr;

use super::index::{PathIndex, PathStep};
use super::routing::{DeadEnd, RoutedPath, RoutedPaths};
use super::search::{Found, LinkRoute, Passage, shortest};
use super::{MAX_PATHS, PathQuery, UnknownReason};

/// Links within a subnet.
#[derive(Clone, Debug)]
pub(super) struct Leg {
    pub(super) route: LinkRoute,
    /// The number of the subnet; `None` when unknown.
    pub(super) net: Option<u32>,
    pub(super) vlan: Option<u16>,
    /// The address of the last node as a gateway; `None` for a receiver, and when unknown.
    pub(super) gateway: Option<IpAddr>,
}

/// A path under construction.
#[derive(Debug, Default)]
pub(super) struct PathDraft {
    pub(super) legs: Vec<Leg>,
    /// The place behind the last leg where the path is not known any further.
    pub(super) end: Option<DeadEnd>,
}

impl PathDraft {
    /// Returns the number of links.
    pub(super) fn length(&self) -> usize {
        self.legs.iter().map(|leg| leg.route.len()).sum()
    }
}

/// An answer under construction.
#[derive(Debug, Default)]
pub(super) struct Draft {
    pub(super) paths: Vec<PathDraft>,
    pub(super) unknown: Vec<UnknownReason>,
    pub(super) has_more: bool,
    /// The VLAN that links had to carry, of frames within a subnet: the one asked for, or else that of the access ports.
    pub(super) decisive_vlan: Option<u16>,
}

impl Draft {
    pub(super) fn of(index: &PathIndex, ends: [u32; 2], query: &PathQuery) -> Self {
        let (vlan, count) = (query.vlan, query.k.clamp(1, MAX_PATHS));
        let is_of_receiver =
            |address: &IpAddr| index.has_address(ends[1], *address) && !index.addresses.is_local(*address);
        let address = query.to_address.filter(is_of_receiver);
        let nets = index.nets_of(ends[0]);
        let of_receiver = match address.and_then(|address| index.net_with(ends[1], address)) {
            Some(net) => vec![net],
            None => index.nets_of(ends[1]),
        };
        let shared = nets.iter().copied().find(|net| of_receiver.binary_search(net).is_ok());
        let shared = shared.filter(|net| index.delivers_in(ends, *net, address));
        let has_table = index.routers.tables.contains_key(&ends[0]);
        let is_known = (has_table || !nets.is_empty()) && !index.addresses.of_node(ends[1]).is_empty();
        if vlan.is_some() || shared.is_some() || !is_known {
            return Self::physical(index, ends, shared, vlan, count);
        }
        // All routers are compared: the nearest need not be the first.
        let found = index.routed(ends, address, MAX_PATHS);
        let is_nowhere = |path: &RoutedPath| {
            path.stages.is_empty() && path.end.is_some_and(|end| end.reason == UnknownReason::Routing)
        };
        if found.paths.iter().all(is_nowhere) {
            return Self::physical(index, ends, None, None, count);
        }
        let mut draft = Self::default();
        draft.add_routed(index, ends[0], found, count);
        draft
    }

    /// Returns the paths of frames. Without a subnet, they are those of cables.
    fn physical(
        index: &PathIndex,
        ends: [u32; 2],
        net: Option<u32>,
        vlan: Option<u16>,
        count: usize,
    ) -> Self {
        let mut draft = Self::default();
        draft.add_direct(index, ends, (net, vlan), net.is_some() || vlan.is_some(), count);
        draft.unknown.extend(net.is_none().then_some(UnknownReason::Routing));
        draft
    }

    /// Adds the paths through routers, as far as links lead from one to the next.
    fn add_routed(&mut self, index: &PathIndex, source: u32, found: RoutedPaths, count: usize) {
        self.unknown.extend(found.doubts.is_unsure.then_some(UnknownReason::Routing));
        self.unknown.extend(found.doubts.lacks_routes.then_some(UnknownReason::Routes));
        let mut known = KnownLegs::new();
        let mut drafts: Vec<(PathDraft, Vec<UnknownReason>)> = Vec::new();
        for path in found.paths {
            let mut unknown: Vec<UnknownReason> = path.end.map(|end| end.reason).into_iter().collect();
            match legs(index, source, &path, &mut known, &mut unknown) {
                Some((legs, has_more)) => {
                    self.has_more |= has_more;
                    drafts.push((PathDraft { legs, end: path.end }, unknown));
                }
                None => self.unknown.append(&mut unknown),
            }
        }
        // A path to the receiver comes before one whose rest is not known.
        drafts.sort_by_key(|(path, _)| (path.end.is_some(), path.length()));
        self.has_more |= found.has_more || drafts.len() > count;
        for (path, mut unknown) in drafts.into_iter().take(count) {
            self.unknown.append(&mut unknown);
            self.paths.push(path);
        }
    }

    /// Adds the paths between two nodes, of frames in a subnet or a VLAN. Unless they are bridged, routers may be on them.
    fn add_direct(
        &mut self,
        index: &PathIndex,
        ends: [u32; 2],
        (net, vlan): (Option<u32>, Option<u16>),
        is_bridged: bool,
        count: usize,
    ) {
        // A router or a server on a trunk has tagged frames of the VLAN that the other end has without a tag.
        let likely = match ends.map(|end| index.access_vlan(end)) {
            [Some(one), Some(other)] if one != other => {
                // The ends are in one subnet, but not in one VLAN.
                self.unknown.extend((net.is_some() && vlan.is_none()).then_some(UnknownReason::Vlan));
                None
            }
            [one, other] => one.or(other).filter(|_| net.is_some()),
        };
        let find = |vlan| shortest(index, ends, Passage { vlan, is_relaxed: false, is_bridged }, count);
        let mut vlan = vlan.or(likely);
        let mut found = find(vlan);
        self.decisive_vlan = vlan;
        if found.routes.is_empty() && likely.is_some() && vlan == likely {
            // The ends are in one VLAN, but no links are known to carry it.
            self.unknown.push(UnknownReason::Vlan);
            (found, vlan) = (find(None), None);
        }
        let is_unsure = |step: &PathStep| !index.link(step.link).has_known_vlans();
        if vlan.is_some() && found.routes.iter().flatten().any(is_unsure) {
            self.unknown.push(UnknownReason::Vlan);
        }
        self.add_found(index, found, count, |route| Leg { route, net, vlan, gateway: None });
    }

    fn add_found(&mut self, index: &PathIndex, found: Found, count: usize, leg: impl Fn(LinkRoute) -> Leg) {
        if found.routes.is_empty() && !found.is_cut {
            self.unknown.push(UnknownReason::Links);
        }
        if found.is_cut && found.routes.len() < count {
            self.unknown.push(UnknownReason::WorkLimit);
        }
        let is_open = |step: &PathStep| index.link(step.link).blocked.is_none();
        let is_ambiguous = found.routes.len() > 1 || found.has_more;
        if is_ambiguous && found.routes.iter().flatten().any(is_open) {
            self.unknown.push(UnknownReason::SpanningTree);
        }
        self.has_more |= found.has_more || found.is_cut;
        let paths = found.routes.into_iter().map(|route| PathDraft { legs: vec![leg(route)], end: None });
        self.paths.extend(paths);
    }
}

/// The paths between two nodes in one subnet, at most one of them.
type KnownLegs = HashMap<(u32, u32, Option<u32>), Draft>;

/// Returns the links of a path through routers, and whether there are others of them; `None` if links do not lead from one router to
/// the next.
fn legs(
    index: &PathIndex,
    source: u32,
    path: &RoutedPath,
    known: &mut KnownLegs,
    unknown: &mut Vec<UnknownReason>,
) -> Option<(Vec<Leg>, bool)> {
    let mut from = source;
    let mut has_more = false;
    let mut legs = Vec::with_capacity(path.stages.len());
    for stage in &path.stages {
        let found = known.entry((from, stage.to, stage.net)).or_insert_with(|| {
            let mut found = Draft::default();
            found.add_direct(index, [from, stage.to], (stage.net, None), true, 1);
            found
        });
        unknown.extend(found.unknown.iter());
        let leg = found.paths.first()?.legs.first()?.clone();
        legs.push(Leg { gateway: stage.gateway, ..leg });
        has_more |= found.has_more;
        from = stage.to;
    }
    Some((legs, has_more))
}

impl PathIndex {
    /// Returns the VLAN that all working links of a node carry without a tag; `None` if they differ, carry further VLANs, or it is not
    /// known.
    fn access_vlan(&self, node: u32) -> Option<u16> {
        let mut vlans = self.steps(node).iter().filter_map(|step| {
            let link = self.link(step.link);
            let is_only = |vlan: &u16| !self.is_trunk(step.link) && self.carries(step.link, *vlan);
            link.is_working().then(|| link.untagged_vlan.filter(is_only))
        });
        let first = vlans.next()??;
        vlans.all(|vlan| vlan == Some(first)).then_some(first)
    }
}
