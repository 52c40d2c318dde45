//! The decision between the candidates for a port.

pub(super) mod candidate;
pub(super) mod components;
mod port_facts;
pub(super) mod settle;

use std::collections::{BTreeMap, BTreeSet};
use std::num::NonZeroU32;

use self::candidate::{Claimed, HostPort, LinkCandidate, Spot};
use super::devices::Devices;
use super::key::PortKey;
use super::lag::aggregate_ports;
use super::{Method, RejectedClaim, Rule};
use crate::fair_threads::yield_turn;

/// Candidates with the same ends, merged: a link with the claims of all of them.
#[derive(Clone, Debug)]
pub(super) struct JoinedCandidates<'c> {
    pub(super) ends: [Spot; 2],
    /// The numbers of the aggregates at the ends, as neighbors announce them.
    pub(super) announced: [Option<NonZeroU32>; 2],
    /// The strongest rule.
    pub(super) rule: Rule,
    pub(super) claims: Vec<&'c Claimed>,
    pub(super) rejected: Vec<RejectedClaim>,
    /// Whether the latest reports no longer show the link.
    pub(super) is_stale: bool,
    pub(super) is_crowded: bool,
    pub(super) is_conflicting: bool,
    /// Whether the devices number their ports differently.
    pub(super) is_mismatch: bool,
}

/// The links that remain, and the ports that several of them share.
#[derive(Debug, Default)]
pub(super) struct AdmittedLinks<'c> {
    pub(super) proposals: Vec<JoinedCandidates<'c>>,
    pub(super) shared_ports: BTreeSet<HostPort>,
}

/// Decides between the candidates for each port.
pub(super) fn contest<'c>(mut candidates: Vec<&'c LinkCandidate>, devices: &Devices) -> AdmittedLinks<'c> {
    ignore_aggregates(&mut candidates, devices);
    candidates.sort_by(|one, other| {
        let by_ends = (one.is_stale, one.rule, &one.ends).cmp(&(other.is_stale, other.rule, &other.ends));
        by_ends.then_with(|| order(one).cmp(order(other)))
    });
    let mut admitted = AdmittedLinks::default();
    let mut occupied = Occupied::default();
    for proposal in merged(candidates) {
        yield_turn();
        admit(proposal, &mut admitted, &mut occupied, devices);
    }
    admitted
}

/// Maximum number of links that list a rejected weaker claim.
const MAX_WINNERS: usize = 16;

/// Maximum number of weaker claims that are kept of a link.
pub(in crate::topology) const MAX_REJECTED: usize = 256;

/// Maximum number of links between two devices that a candidate is compared with.
const MAX_COMPARED: usize = 1_024;

/// The links at each port, as their places.
#[derive(Default)]
struct Occupied {
    by_port: BTreeMap<HostPort, BTreeMap<Competition, Occupants>>,
    /// The links at the members of an aggregate. They win over all claims about the aggregate itself.
    by_aggregate: BTreeMap<HostPort, Vec<usize>>,
}

/// The properties of a link that decide whether it competes with others for a port.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
struct Competition {
    is_stale: bool,
    rule: Rule,
    /// Whether the port itself made a claim by the rule's method.
    is_reported: bool,
}

/// The links at a port that compete with the same others.
#[derive(Default)]
struct Occupants {
    places: Vec<usize>,
    /// The number of links, from the first one on, that are known to conflict with others.
    conflicting: usize,
}

fn order(candidate: &LinkCandidate) -> impl Iterator<Item = (Option<&HostPort>, &str)> {
    candidate.claims.iter().map(|claim| (claim.at.as_ref(), &*claim.names))
}

/// Removes claims about an aggregate where the same two devices claim links of its members.
///
/// Many devices do not report which ports are members. Where neighbors name each other on physical ports, claims by
/// spanning tree and forwarding databases about an aggregate between them are assumed to mean these links.
fn ignore_aggregates(candidates: &mut Vec<&LinkCandidate>, devices: &Devices) {
    if candidates.len() < 2 {
        return;
    }
    let is_aggregate = |end: &Spot| {
        let port = end.host_port();
        port.and_then(|(host, port)| Some(devices.get(host)?.port(&port)?.is_aggregate)).unwrap_or(false)
    };
    let mut of_members = BTreeSet::new();
    let mut pairs = BTreeSet::new();
    for candidate in candidates.iter() {
        let [one, other] = &candidate.ends;
        for aggregate in aggregate_ports(&candidate.ends, &candidate.announced, devices) {
            let far = if one.device.host() == Some(aggregate.0) { other } else { one };
            of_members.insert((aggregate, far.device));
        }
        if candidate.rule <= Rule::StoredNeighbor && !is_aggregate(one) && !is_aggregate(other) {
            pairs.insert([one.device, other.device]);
        }
    }
    candidates.retain(|candidate| {
        let [one, other] = &candidate.ends;
        let is_of_members = [(one, other), (other, one)].into_iter().any(|(end, other)| {
            end.host_port().is_some_and(|port| of_members.contains(&(port, other.device)))
        });
        let is_taken = candidate.rule >= Rule::StpDesignated
            && (is_aggregate(one) || is_aggregate(other))
            && pairs.contains(&[one.device, other.device]);
        candidate.rule == Rule::Manual || !(is_of_members || is_taken)
    });
}

/// Joins candidates between the same ports. A candidate without a port belongs to each link that it does not
/// contradict.
fn merged(candidates: Vec<&LinkCandidate>) -> Vec<JoinedCandidates<'_>> {
    let mut proposals: Vec<JoinedCandidates<'_>> = Vec::new();
    let mut by_pair: BTreeMap<[_; 2], Vec<usize>> = BTreeMap::new();
    for candidate in candidates {
        yield_turn();
        let pair = by_pair.entry([candidate.ends[0].device, candidate.ends[1].device]).or_default();
        let mut is_known = false;
        for place in pair.iter().take(MAX_COMPARED) {
            if let Some(proposal) = proposals.get_mut(*place).filter(|it| is_same_link(it, candidate)) {
                proposal.add(candidate);
                is_known = true;
            }
        }
        if !is_known {
            pair.push(proposals.len());
            proposals.push(JoinedCandidates::new(candidate));
        }
    }
    proposals.sort_by(|one, other| (one.rank(), &one.ends).cmp(&(other.rank(), &other.ends)));
    proposals
}

fn is_same_link(proposal: &JoinedCandidates<'_>, candidate: &LinkCandidate) -> bool {
    let mut ends = proposal.ends.iter().zip(&candidate.ends);
    ends.all(|(one, other)| match (&one.port, &other.port) {
        (None, _) | (_, None) => true,
        (Some(one), Some(other)) if one == other => true,
        // Protocols name the ports of unknown devices differently.
        (Some(PortKey::Named(_)), Some(PortKey::Named(_))) => {
            !proposal.claims.iter().any(|claim| is_of_method(claim, candidate))
        }
        _ => false,
    })
}

fn is_of_method(claim: &Claimed, candidate: &LinkCandidate) -> bool {
    candidate.claims.iter().any(|other| claim.evidence.method == other.evidence.method)
}

impl<'c> JoinedCandidates<'c> {
    fn new(candidate: &'c LinkCandidate) -> Self {
        Self {
            ends: candidate.ends.clone(),
            announced: candidate.announced,
            rule: candidate.rule,
            claims: candidate.claims.iter().collect(),
            rejected: Vec::new(),
            is_stale: candidate.is_stale,
            is_crowded: candidate.is_crowded,
            is_conflicting: false,
            is_mismatch: candidate.is_mismatch,
        }
    }

    fn add(&mut self, candidate: &'c LinkCandidate) {
        for (end, other) in self.ends.iter_mut().zip(&candidate.ends) {
            if end.port.is_none() {
                end.port.clone_from(&other.port);
            }
        }
        for (announced, other) in self.announced.iter_mut().zip(&candidate.announced) {
            *announced = announced.or(*other);
        }
        self.is_crowded |= candidate.is_crowded && (self.rule.is_access() || self.rule == candidate.rule);
        self.is_mismatch |= candidate.is_mismatch;
        self.claims.extend(&candidate.claims);
    }

    /// Returns the rank among the links for a port, the strongest first. A present link wins over a former one.
    const fn rank(&self) -> (bool, Rule) {
        (self.is_stale, self.rule)
    }

    fn standpoint(&self, port: &HostPort) -> Competition {
        let own = method(self.rule);
        let mut at = self.claims.iter().filter(|claim| claim.at.as_ref() == Some(port));
        let is_reported = at.any(|claim| Some(claim.evidence.method) == own);
        Competition { is_stale: self.is_stale, rule: self.rule, is_reported }
    }

    /// Keeps a weaker claim, unless there are many.
    fn reject(&mut self, claim: &Claimed) {
        if self.rejected.len() < MAX_REJECTED {
            let beaten_by = self.rule;
            let (evidence, names) = (claim.evidence.clone(), claim.names.to_string());
            self.rejected.push(RejectedClaim { evidence, names, beaten_by });
        }
    }
}

impl Competition {
    /// Returns whether both may be on a port at the same time. Several devices share such a port.
    fn shares(self, other: Self) -> bool {
        let is_inferred = |rule: Rule| matches!(rule, Rule::MutualFdb | Rule::SharedFdb);
        if is_inferred(self.rule) && is_inferred(other.rule) {
            return true;
        }
        let is_designated = self.rule == Rule::StpDesignated && other.rule == Rule::StpDesignated;
        if self.is_stale != other.is_stale && !(self.rule.is_access() && other.rule.is_access()) {
            return false;
        }
        if method(self.rule) != method(other.rule) {
            return false;
        }
        // No method: users entered the link.
        (self.is_reported && other.is_reported && method(self.rule).is_some()) || is_designated
    }

    const fn rank(self) -> (bool, Rule) {
        (self.is_stale, self.rule)
    }
}

const fn method(rule: Rule) -> Option<Method> {
    match rule {
        Rule::MutualLldp | Rule::OneSidedLldp => Some(Method::Lldp),
        Rule::MutualCdp | Rule::OneSidedCdp => Some(Method::Cdp),
        Rule::StoredNeighbor => Some(Method::Stored),
        Rule::StpDesignated => Some(Method::Stp),
        Rule::MutualFdb | Rule::SharedFdb | Rule::SingleSidedFdb | Rule::ArpFdb => Some(Method::Fdb),
        Rule::Manual => None,
    }
}

/// Returns whether a port is an aggregate, and all links at it are between the same two devices as a proposal. Neighbors
/// may name the aggregate on each of its members.
fn is_aggregate_of_both(
    proposal: &JoinedCandidates<'_>,
    port: &HostPort,
    (admitted, occupied): (&AdmittedLinks<'_>, &Occupied),
    devices: &Devices,
) -> bool {
    let is_aggregate =
        devices.get(port.0).and_then(|device| device.port(&port.1)).is_some_and(|port| port.is_aggregate);
    let between = |ends: &[Spot; 2]| [ends[0].device, ends[1].device];
    is_aggregate && !occupied.by_aggregate.contains_key(port) && {
        let places = occupied.by_port.get(port).into_iter().flatten().flat_map(|(_, at)| &at.places);
        let mut links = places.take(MAX_COMPARED).filter_map(|place| admitted.proposals.get(*place));
        links.all(|link| link.rule.is_announced() && between(&link.ends) == between(&proposal.ends))
            && proposal.rule.is_announced()
    }
}

/// Lets a proposal occupy its ports, unless a stronger one does already.
fn admit<'c>(
    mut proposal: JoinedCandidates<'c>,
    admitted: &mut AdmittedLinks<'c>,
    occupied: &mut Occupied,
    devices: &Devices,
) {
    let ports: Vec<HostPort> = proposal.ends.iter().filter_map(Spot::host_port).collect();
    let mut winners: Vec<usize> = Vec::new();
    let mut rivals = Vec::new();
    let mut shared = Vec::new();
    for port in &ports {
        let own = proposal.standpoint(port);
        if is_aggregate_of_both(&proposal, port, (admitted, occupied), devices) {
            continue;
        }
        for (standpoint, occupants) in occupied.by_port.get(port).into_iter().flatten() {
            if standpoint.shares(own) {
                shared.push(port.clone());
            } else if standpoint.rank() < own.rank() {
                winners.extend(occupants.places.iter().take(MAX_WINNERS));
            } else {
                rivals.push((port.clone(), *standpoint));
            }
        }
        winners.extend(occupied.by_aggregate.get(port).into_iter().flatten().take(MAX_WINNERS));
    }
    if !winners.is_empty() {
        winners.sort_unstable();
        winners.dedup();
        for place in winners.into_iter().take(MAX_WINNERS) {
            if let Some(winner) = admitted.proposals.get_mut(place) {
                proposal.claims.iter().for_each(|claim| winner.reject(claim));
            }
        }
        return;
    }
    proposal.is_conflicting = !rivals.is_empty();
    for (port, standpoint) in rivals {
        let occupants = occupied.by_port.get_mut(&port).and_then(|at| at.get_mut(&standpoint));
        let Some(occupants) = occupants else { continue };
        for place in occupants.places.iter().skip(occupants.conflicting) {
            if let Some(rival) = admitted.proposals.get_mut(*place) {
                rival.is_conflicting = true;
            }
        }
        occupants.conflicting = occupants.places.len();
    }
    admitted.shared_ports.extend(shared);
    if proposal.is_crowded {
        let reporters = proposal.claims.iter().filter(|claim| claim.evidence.rule.is_access());
        admitted.shared_ports.extend(reporters.filter_map(|claim| claim.at.clone()));
    }
    let place = admitted.proposals.len();
    for port in ports {
        let standpoint = proposal.standpoint(&port);
        occupied.by_port.entry(port).or_default().entry(standpoint).or_default().places.push(place);
    }
    for aggregate in aggregate_ports(&proposal.ends, &proposal.announced, devices) {
        occupied.by_aggregate.entry(aggregate).or_default().push(place);
    }
    admitted.proposals.push(proposal);
}
