//! Ports that several devices share: segments, and switches that announce nothing.

use std::collections::{BTreeMap, BTreeSet};

use super::contest::candidate::{Claimed, DeviceKey, HostPort, Spot};
use super::contest::{AdmittedLinks, JoinedCandidates, MAX_REJECTED};
use super::devices::Devices;
use super::stub::{port_bytes, unmanaged_switch};
use super::{End, RejectedClaim, Rule, Segment, Stub};
use crate::model::derived_id;
use crate::union_find::UnionFind;

/// A segment or an unmanaged switch, and the devices connected to it.
#[derive(Debug)]
pub(super) struct Hub<'c> {
    pub(super) end: End,
    pub(super) segment: Option<Segment>,
    pub(super) stub: Option<Stub>,
    pub(super) members: BTreeMap<Spot, Member<'c>>,
}

/// A device at a hub.
#[derive(Debug)]
pub(super) struct Member<'c> {
    pub(super) rule: Rule,
    pub(super) claims: Vec<&'c Claimed>,
    /// The number of claims that other devices made.
    of_others: usize,
    pub(super) rejected: Vec<RejectedClaim>,
    pub(super) is_conflicting: bool,
}

/// Maximum number of stored claims of others about a member, without those of forwarding databases. At a segment, each
/// member would have the claims of all others.
const MAX_CLAIMS_OF_OTHERS: usize = 16;

impl<'c> Member<'c> {
    const fn new(rule: Rule) -> Self {
        Self { rule, claims: Vec::new(), of_others: 0, rejected: Vec::new(), is_conflicting: false }
    }

    fn add(&mut self, spot: &Spot, proposal: &JoinedCandidates<'c>) {
        self.rule = self.rule.min(proposal.rule);
        let most_of_others =
            if matches!(proposal.rule, Rule::MutualFdb | Rule::SharedFdb) { 0 } else { MAX_CLAIMS_OF_OTHERS };
        let own = spot.device.host();
        for claim in &proposal.claims {
            if own.is_some() && claim.evidence.reporter_host_id == own {
                self.claims.push(claim);
            } else if self.of_others < most_of_others {
                self.of_others = self.of_others.saturating_add(1);
                self.claims.push(claim);
            }
        }
        let room = MAX_REJECTED.saturating_sub(self.rejected.len());
        self.rejected.extend(proposal.rejected.iter().take(room).cloned());
        self.is_conflicting |= proposal.is_conflicting;
    }

    fn absorb(&mut self, other: Self) {
        self.rule = self.rule.min(other.rule);
        self.claims.extend(other.claims);
        self.rejected.extend(other.rejected);
        self.is_conflicting |= other.is_conflicting;
    }
}

/// Removes the links at shared ports, and returns the hubs that replace them.
///
/// Shared ports that see each other are on one hub.
pub(super) fn hubs<'c>(admitted: &mut AdmittedLinks<'c>, devices: &Devices) -> Vec<Hub<'c>> {
    if admitted.shared_ports.is_empty() {
        return Vec::new();
    }
    let shared = std::mem::take(&mut admitted.shared_ports);
    let is_at_hub = |spot: &Spot| spot.host_port().is_some_and(|port| shared.contains(&port));
    let (at_hubs, others): (Vec<JoinedCandidates<'_>>, Vec<JoinedCandidates<'_>>) =
        std::mem::take(&mut admitted.proposals)
            .into_iter()
            .partition(|proposal| proposal.ends.iter().any(is_at_hub));
    admitted.proposals = others;
    let ports: Vec<&HostPort> = shared.iter().collect();
    // The number of a port in their order, so that the smallest port of a hub represents it.
    let number = |spot: &Spot| ports.binary_search(&&spot.host_port()?).ok();
    let mut sets = UnionFind::new(ports.len());
    for proposal in &at_hubs {
        sets.join_all(proposal.ends.iter().filter_map(number));
    }
    let mut by_set: BTreeMap<usize, Vec<JoinedCandidates<'_>>> = BTreeMap::new();
    for proposal in at_hubs {
        if let Some(port) = proposal.ends.iter().find_map(number) {
            by_set.entry(sets.find(port)).or_default().push(proposal);
        }
    }
    let joined = |(first, proposals): (usize, Vec<JoinedCandidates<'c>>)| {
        hub(ports.get(first).copied()?, &proposals, &shared, devices)
    };
    by_set.into_iter().filter_map(joined).collect()
}

/// Makes a hub of the links at its ports, the smallest of which is `first`.
fn hub<'c>(
    first: &HostPort,
    proposals: &[JoinedCandidates<'c>],
    shared: &BTreeSet<HostPort>,
    devices: &Devices,
) -> Option<Hub<'c>> {
    let device = devices.get(first.0)?;
    let mut members: BTreeMap<Spot, Member<'c>> = BTreeMap::new();
    for proposal in proposals {
        for end in &proposal.ends {
            let member = members.entry(end.clone()).or_insert_with(|| Member::new(proposal.rule));
            member.add(end, proposal);
        }
    }
    join_unknown_ports(&mut members);
    join_stubs(&mut members);
    let is_unmanaged = proposals.iter().all(|proposal| proposal.rule.is_access())
        && members.keys().filter_map(Spot::host_port).filter(|port| shared.contains(port)).count() == 1;
    if is_unmanaged {
        let stub = unmanaged_switch(device, &first.1);
        let end = End::Stub { id: stub.id, port: None };
        return Some(Hub { end, segment: None, stub: Some(stub), members });
    }
    let id = derived_id("segment", &[device.id.as_bytes(), &port_bytes(device, &first.1)]);
    let segment = Segment { id, label: device.port_ref(&first.1).name };
    Some(Hub { end: End::Segment { id }, segment: Some(segment), stub: None, members })
}

/// Joins a device's member without a port with its only member that has one.
fn join_unknown_ports(members: &mut BTreeMap<Spot, Member<'_>>) {
    let mut known: BTreeMap<DeviceKey, Vec<Spot>> = BTreeMap::new();
    for spot in members.keys().filter(|spot| spot.port.is_some()) {
        known.entry(spot.device).or_default().push(spot.clone());
    }
    for (device, known) in known {
        if let [only] = known.as_slice()
            && let Some(member) = members.remove(&Spot::new(device, None))
            && let Some(known) = members.get_mut(only)
        {
            known.absorb(member);
        }
    }
}

/// Joins the members of each unknown device, whose ports the others name differently.
fn join_stubs(members: &mut BTreeMap<Spot, Member<'_>>) {
    let is_stub = |spot: &Spot| matches!(spot.device, DeviceKey::Stub(_));
    let mut spots: BTreeMap<DeviceKey, Vec<Spot>> = BTreeMap::new();
    for spot in members.keys().filter(|spot| is_stub(spot)) {
        spots.entry(spot.device).or_default().push(spot.clone());
    }
    for (device, spots) in spots.into_iter().filter(|(_, spots)| spots.len() > 1) {
        let mut joined = spots.iter().filter_map(|spot| members.remove(spot));
        if let Some(mut first) = joined.next() {
            joined.for_each(|member| first.absorb(member));
            members.insert(Spot::new(device, None), first);
        }
    }
}
