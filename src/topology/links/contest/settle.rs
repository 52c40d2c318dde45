//! Conversion of candidates that compete with each other to links.

use std::borrow::Cow;

use super::candidate::{Claimed, DeviceKey, LinkCandidate, Spot};
use super::port_facts::PortFacts;
use super::{JoinedCandidates, contest};
use crate::fair_threads::yield_turn;
use crate::model::{LinkId, NodeId, derived_id};
use crate::topology::links::devices::Devices;
use crate::topology::links::hub::{Hub, Member, hubs};
use crate::topology::links::key::PortKey;
use crate::topology::links::lag::{AggregateLinks, bundles};
use crate::topology::links::missing::is_stale;
use crate::topology::links::{
    Confidence, End, Evidence, Link, LinkMember, LinkState, Method, PortRef, RejectedClaim, Rule, Segment,
    Stub,
};

/// The result of candidates that compete with each other.
#[derive(Clone, Debug, Default)]
pub(in crate::topology::links) struct Settled {
    pub(in crate::topology::links) links: Vec<Link>,
    pub(in crate::topology::links) segments: Vec<Segment>,
    /// The switches that announce nothing.
    pub(in crate::topology::links) stubs: Vec<Stub>,
}

/// Decides between candidates, and makes links of those that remain.
pub(in crate::topology::links) fn settle(candidates: Vec<&LinkCandidate>, devices: &Devices) -> Settled {
    let mut admitted = contest(candidates, devices);
    let mut settled = Settled::default();
    for hub in hubs(&mut admitted, devices) {
        let Hub { end, segment, stub, members } = hub;
        let links = members.into_iter().map(|(spot, member)| hub_link(&spot, member, &end, devices));
        settled.links.extend(links);
        settled.segments.extend(segment);
        settled.stubs.extend(stub);
    }
    let links = bundles(admitted.proposals, devices);
    let links = links.into_iter().map(|bundle| {
        yield_turn();
        bundle_link(bundle, devices)
    });
    settled.links.extend(links);
    settled
}

fn hub_link(spot: &Spot, member: Member<'_>, hub: &End, devices: &Devices) -> Link {
    let Member { rule, claims, rejected, is_conflicting, .. } = member;
    let PortFacts { state, vlans, untagged_vlan, blocked } = PortFacts::of(spot, devices);
    let stale = is_stale(claims.iter().map(|claim| &claim.evidence)) && !state.is_out();
    let own = end(spot, devices);
    // At a hub, the device itself and another one have to claim the connection.
    let is_by_own = claims.iter().any(|claim| claim.evidence.reporter_host_id == spot.device.host());
    let confidence = match confidence(rule, &claims, is_conflicting) {
        Confidence::Confirmed if !is_by_own => Confidence::Reported,
        confidence => confidence,
    };
    let (source, target) = if id_of(&own) <= id_of(hub) { (own, hub.clone()) } else { (hub.clone(), own) };
    Link {
        id: link_id(&source, &target),
        source,
        target,
        speed_bps: speed(spot, devices),
        members: Vec::new(),
        confidence,
        evidence: evidence(&claims),
        rejected: sorted(rejected),
        stale,
        port_mismatch: false,
        state,
        vlans,
        untagged_vlan,
        blocked,
    }
}

fn bundle_link(bundle: AggregateLinks<'_>, devices: &Devices) -> Link {
    let AggregateLinks { ends: spots, links } = bundle;
    let [one, other] = spots.each_ref().map(|spot| end(spot, devices));
    let is_swapped = id_of(&one) > id_of(&other);
    let (source, target) = if is_swapped { (other, one) } else { (one, other) };
    let mut members: Vec<LinkMember> = Vec::new();
    let mut total_speed: Option<u64> = None;
    let mut states = Vec::with_capacity(links.len());
    let mut of_members: Option<PortFacts> = None;
    for proposal in &links {
        let [one, other] = &proposal.ends;
        let (source, target) = if is_swapped { (other, one) } else { (one, other) };
        let facts = PortFacts::of_ends(PortFacts::of(source, devices), PortFacts::of(target, devices));
        let (state, blocked) = (facts.state, facts.blocked);
        states.push(state);
        of_members = Some(match of_members {
            Some(others) => others.joined(facts),
            None => facts,
        });
        if links.len() > 1 {
            let (source_port, target_port) = (port(source, devices), port(target, devices));
            members.push(LinkMember { source_port, target_port, state, blocked });
        }
        let speed = speed(source, devices).into_iter().chain(speed(target, devices)).min();
        total_speed = total_speed.into_iter().chain(speed).reduce(u64::saturating_add);
    }
    members.sort_by(|one, other| key(one).cmp(&key(other)));
    let rule = links.iter().map(|proposal| proposal.rule).min().unwrap_or(Rule::SingleSidedFdb);
    let is_conflicting = links.iter().any(|proposal| proposal.is_conflicting);
    let port_mismatch = links.iter().any(|proposal| proposal.is_mismatch);
    let weakest = links.iter().map(|link| confidence(link.rule, &link.claims, is_conflicting)).min();
    let of_members =
        PortFacts { state: LinkState::of_all(states.into_iter()), ..of_members.unwrap_or_default() };
    let [one, other] = spots.each_ref().map(|spot| PortFacts::of(spot, devices));
    let PortFacts { state, vlans, untagged_vlan, blocked } = PortFacts::of_ends(one, other).or(of_members);
    let claims: Vec<&Claimed> = links.iter().flat_map(|link| &link.claims).copied().collect();
    let rejected = links.into_iter().flat_map(|JoinedCandidates { rejected, .. }| rejected).collect();
    Link {
        id: link_id(&source, &target),
        source,
        target,
        speed_bps: total_speed,
        members,
        confidence: weakest.unwrap_or_else(|| confidence(rule, &claims, is_conflicting)),
        port_mismatch,
        stale: is_stale(claims.iter().map(|claim| &claim.evidence)) && !state.is_out(),
        state,
        vlans,
        untagged_vlan,
        blocked,
        evidence: evidence(&claims),
        rejected: sorted(rejected),
    }
}

fn key(member: &LinkMember) -> (&Option<PortRef>, &Option<PortRef>) {
    (&member.source_port, &member.target_port)
}

/// Returns the certainty of a link that a rule made of claims.
fn confidence(rule: Rule, claims: &[&Claimed], is_conflicting: bool) -> Confidence {
    let is_named = |evidence: &&Evidence| {
        matches!(evidence.method, Method::Lldp | Method::Cdp | Method::Stored | Method::Stp)
    };
    let named = claims.iter().map(|claim| &claim.evidence).filter(is_named);
    let mut reporters = named.map(|evidence| evidence.reporter_host_id);
    let is_of_several = reporters.next().is_some_and(|first| reporters.any(|other| other != first));
    match rule {
        Rule::Manual => Confidence::Confirmed,
        _ if is_conflicting => Confidence::Conflicting,
        Rule::MutualFdb | Rule::SharedFdb | Rule::SingleSidedFdb | Rule::ArpFdb => Confidence::Inferred,
        _ if is_of_several => Confidence::Confirmed,
        _ => Confidence::Reported,
    }
}

fn end(spot: &Spot, devices: &Devices) -> End {
    let port = port(spot, devices);
    match spot.device {
        DeviceKey::Host(host_id) => End::Host { host_id, port },
        DeviceKey::Stub(id) => End::Stub { id, port },
    }
}

fn port(spot: &Spot, devices: &Devices) -> Option<PortRef> {
    let key = spot.port.as_ref()?;
    let device = spot.device.host().and_then(|host| devices.get(host));
    match (device, key) {
        (Some(device), _) => Some(device.port_ref(key)),
        (None, PortKey::Named(name)) => Some(PortRef { if_entry_id: None, name: name.to_string() }),
        (None, PortKey::Known(_)) => None,
    }
}

fn speed(spot: &Spot, devices: &Devices) -> Option<u64> {
    devices.get(spot.device.host()?)?.port(spot.port.as_ref()?)?.speed_bps
}

/// Returns the id of the node at an end.
pub(in crate::topology::links) const fn id_of(end: &End) -> NodeId {
    end.node_id()
}

/// Returns the id of the link between two ends.
fn link_id(source: &End, target: &End) -> LinkId {
    let (source_id, target_id) = (id_of(source), id_of(target));
    let (source_port, target_port) = (port_bytes(source), port_bytes(target));
    derived_id("link", &[source_id.as_bytes(), &source_port, target_id.as_bytes(), &target_port])
}

/// Returns bytes that distinguish the port at an end from the other ports of the
/// device.
fn port_bytes(end: &End) -> Cow<'_, [u8]> {
    match end {
        End::Host { port: Some(port), .. } | End::Stub { port: Some(port), .. } => match port {
            PortRef { if_entry_id: Some(id), .. } => Cow::Borrowed(id.as_bytes()),
            PortRef { name, .. } => Cow::Owned([b"name ", name.as_bytes()].concat()),
        },
        End::Host { port: None, .. } | End::Stub { port: None, .. } | End::Segment { .. } => {
            Cow::Borrowed(&[])
        }
    }
}

/// Returns the evidence of claims, the strongest first, each once.
fn evidence(claims: &[&Claimed]) -> Vec<Evidence> {
    let mut evidence: Vec<Evidence> = claims.iter().map(|claim| claim.evidence.clone()).collect();
    evidence.sort_by_key(order);
    evidence.dedup();
    evidence
}

fn order(evidence: &Evidence) -> impl Ord + use<> {
    let Evidence { method, rule, reporter_host_id, if_entry_id, first_seen, last_seen, missing_since } =
        evidence;
    (*rule, *method, *reporter_host_id, *if_entry_id, *first_seen, *last_seen, *missing_since)
}

fn sorted(mut rejected: Vec<RejectedClaim>) -> Vec<RejectedClaim> {
    rejected.sort_by(|one, other| {
        let evidence = order(&one.evidence).cmp(&order(&other.evidence));
        evidence.then_with(|| (&one.names, one.beaten_by).cmp(&(&other.names, other.beaten_by)))
    });
    rejected.dedup();
    rejected
}
