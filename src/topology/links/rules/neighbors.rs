//! Rules about neighbors that devices name: LLDP, CDP, stored neighbors and the spanning tree. Claims of two devices about
//! each other that mean the same link are paired.

use std::num::NonZeroU32;

use crate::topology::links::contest::candidate::{Claimed, DeviceKey, LinkCandidate, Spot};
use crate::topology::links::device::Device;
use crate::topology::links::device::sighting::RemotePort;
use crate::topology::links::devices::Devices;
use crate::topology::links::key::PortKey;
use crate::topology::links::resolve::ResolvedSighting;
use crate::topology::links::{Evidence, Method, Rule};

/// The claims of two devices about each other.
#[derive(Debug)]
pub(in crate::topology::links) struct MutualClaims {
    our_key: DeviceKey,
    their_key: DeviceKey,
    dialogs: StatementPairs,
}

/// The claims by protocol.
#[derive(Debug, Default)]
struct StatementPairs {
    lldp: StatementPair,
    cdp: StatementPair,
    stored: StatementPair,
    stp: StatementPair,
}

impl StatementPairs {
    const fn get_mut(&mut self, method: Method) -> Option<&mut StatementPair> {
        match method {
            Method::Lldp => Some(&mut self.lldp),
            Method::Cdp => Some(&mut self.cdp),
            Method::Stored => Some(&mut self.stored),
            Method::Stp => Some(&mut self.stp),
            Method::Manual | Method::Fdb | Method::Arp => None,
        }
    }
}

impl MutualClaims {
    /// Collects the claims. `ours` and `theirs` are all sightings of the two devices; a stub has none.
    pub(in crate::topology::links) fn new(
        (our_key, ours): (DeviceKey, Option<(&Device, &[ResolvedSighting])>),
        (their_key, theirs): (DeviceKey, Option<(&Device, &[ResolvedSighting])>),
    ) -> Self {
        let mut dialogs = StatementPairs::default();
        for (method, statement) in statements(ours, their_key) {
            if let Some(dialog) = dialogs.get_mut(method) {
                dialog.ours.push(statement);
            }
        }
        for (method, statement) in statements(theirs, our_key) {
            if let Some(dialog) = dialogs.get_mut(method) {
                dialog.theirs.push(statement);
            }
        }
        let devices = ours.zip(theirs).map(|((our_device, _), (their_device, _))| [our_device, their_device]);
        if let Some(devices) = devices {
            for method in [Method::Lldp, Method::Cdp] {
                if let Some(dialog) = dialogs.get_mut(method) {
                    dialog.are_alone = dialog.is_mismatch(method, devices);
                }
            }
        }
        Self { our_key, their_key, dialogs }
    }

    /// Returns the candidates of all rules. Each claim is used once, by the strongest.
    pub(in crate::topology::links) fn candidates(mut self) -> Vec<LinkCandidate> {
        let rules = [mutual_lldp, mutual_cdp, one_sided_lldp, one_sided_cdp, stored_neighbor, stp_designated];
        let mut candidates = Vec::new();
        for found in rules.into_iter().map(|rule| rule(&mut self)) {
            if candidates.is_empty() {
                // Most devices have one link. Its vector is kept, because it has no spare capacity.
                candidates = found;
            } else {
                candidates.extend(found);
            }
        }
        candidates
    }

    fn mutual(&mut self, method: Method, rule: Rule) -> Vec<LinkCandidate> {
        let Some(dialog) = self.dialogs.get_mut(method) else { return Vec::new() };
        let (our_key, their_key) = (self.our_key, self.their_key);
        let mut agreements = dialog.take_agreements();
        agreements.extend(dialog.take_mismatch());
        let agreements = agreements.into_iter().map(|agreement| {
            let (ours, theirs) = (agreement.our_port, agreement.their_port);
            LinkCandidate::new(Spot::new(our_key, ours), Spot::new(their_key, theirs), rule, agreement.claims)
                .with_aggregate(our_key, agreement.our_aggregate)
                .with_aggregate(their_key, agreement.their_aggregate)
                .with_mismatch(agreement.is_mismatch)
        });
        agreements.collect()
    }

    fn one_sided(&mut self, method: Method, rule: Rule) -> Vec<LinkCandidate> {
        let Some(dialog) = self.dialogs.get_mut(method) else { return Vec::new() };
        let StatementPair { ours, theirs, .. } = std::mem::take(dialog);
        let candidate = |reporter: DeviceKey, other: DeviceKey, statement: NeighborStatement| {
            let ends = (Spot::new(reporter, statement.port), Spot::new(other, statement.remote));
            LinkCandidate::new(ends.0, ends.1, rule, vec![statement.claimed])
                .with_aggregate(other, statement.remote_aggregate)
        };
        let ours = ours.into_iter().map(|statement| candidate(self.our_key, self.their_key, statement));
        let theirs = theirs.into_iter().map(|statement| candidate(self.their_key, self.our_key, statement));
        ours.chain(theirs).collect()
    }
}

/// Each of two hosts names the other by LLDP.
fn mutual_lldp(between: &mut MutualClaims) -> Vec<LinkCandidate> {
    between.mutual(Method::Lldp, Rule::MutualLldp)
}

/// Each of two hosts names the other by CDP.
fn mutual_cdp(between: &mut MutualClaims) -> Vec<LinkCandidate> {
    between.mutual(Method::Cdp, Rule::MutualCdp)
}

/// One device names the other by LLDP. The other may be unknown.
fn one_sided_lldp(between: &mut MutualClaims) -> Vec<LinkCandidate> {
    between.one_sided(Method::Lldp, Rule::OneSidedLldp)
}

/// One device names the other by CDP. The other may be unknown.
fn one_sided_cdp(between: &mut MutualClaims) -> Vec<LinkCandidate> {
    between.one_sided(Method::Cdp, Rule::OneSidedCdp)
}

/// An interface entry has the other host, or a port of it, as its neighbor.
fn stored_neighbor(between: &mut MutualClaims) -> Vec<LinkCandidate> {
    between.one_sided(Method::Stored, Rule::StoredNeighbor)
}

/// The designated bridge of a port is the other device.
fn stp_designated(between: &mut MutualClaims) -> Vec<LinkCandidate> {
    between.one_sided(Method::Stp, Rule::StpDesignated)
}

/// Returns whether one device alone claims a link, and the port at the other end has seen another neighbor since. That
/// neighbor is missing as well, so that no other claim contradicts the older one.
pub(in crate::topology::links) fn is_superseded(candidate: &LinkCandidate, devices: &Devices) -> bool {
    if !matches!(candidate.rule, Rule::OneSidedLldp | Rule::OneSidedCdp) {
        return false;
    }
    let Some(evidence) = candidate.claims.first().map(|claim| &claim.evidence) else { return false };
    let mut ends = candidate.ends.iter().filter(|end| end.device.host() != evidence.reporter_host_id);
    let far = ends.next().and_then(|end| Some((devices.get(end.device.host()?)?, end.port.as_ref()?)));
    far.is_some_and(|(device, port)| {
        device.sightings.iter().any(|sighting| {
            let seen = sighting.missing.as_ref().map(|missing| missing.last_seen);
            seen > evidence.last_seen && sighting.port.as_ref() == Some(port)
        })
    })
}

/// Returns the claims of a device about another one.
fn statements<'s>(
    reporter: Option<(&'s Device, &'s [ResolvedSighting])>,
    other: DeviceKey,
) -> impl Iterator<Item = (Method, NeighborStatement)> + 's {
    let found = reporter.into_iter().flat_map(move |(device, seen)| {
        let start = seen.partition_point(|seen| seen.device < other);
        let about = seen.iter().skip(start).take_while(move |seen| seen.device == other);
        about.map(move |seen| (device, seen))
    });
    found.filter_map(|(device, seen)| {
        let sighting = device.sightings.get(seen.sighting)?;
        let entry = seen.port.as_ref().and_then(|port| device.port(port));
        let evidence = Evidence {
            method: seen.method,
            // The rule that takes the claim sets its own.
            rule: Rule::SingleSidedFdb,
            reporter_host_id: Some(device.id),
            if_entry_id: entry.map(|port| port.id),
            first_seen: None,
            last_seen: sighting.last_seen,
            missing_since: sighting.missing.as_ref().map(|missing| missing.since),
        };
        let at = seen.port.clone().map(|port| (device.id, port));
        let claimed = Claimed { evidence, at, names: sighting.about.label.clone() };
        let remote_aggregate = match sighting.remote {
            RemotePort::Lldp { aggregate, .. } => aggregate,
            RemotePort::Unknown | RemotePort::Cdp(_) | RemotePort::Bridge { .. } => None,
        };
        let (port, remote) = (seen.port.clone(), seen.remote.clone());
        Some((seen.method, NeighborStatement { port, remote, remote_aggregate, claimed }))
    })
}

/// Maximum number of pairs of claims that are compared. The claims of two devices with more of them stay one-sided.
const MAX_COMPARED: usize = 1 << 18;

/// A claim of one device about another.
#[derive(Clone, Debug)]
pub(super) struct NeighborStatement {
    /// The port of the device that makes the claim.
    pub(super) port: Option<PortKey>,
    /// The port of the device that it names.
    pub(super) remote: Option<PortKey>,
    /// The number of the aggregate of which that port is a member.
    pub(super) remote_aggregate: Option<NonZeroU32>,
    pub(super) claimed: Claimed,
}

/// The claims of two devices about each other by one protocol.
#[derive(Clone, Debug, Default)]
pub(super) struct StatementPair {
    pub(super) ours: Vec<NeighborStatement>,
    pub(super) theirs: Vec<NeighborStatement>,
    /// Whether the only claims of both contradict each other in the numbers of ports, on which there are no other
    /// claims.
    are_alone: bool,
}

/// The ports of a link that both devices claim, and the numbers of their aggregates; `None` where they are unknown.
#[derive(Clone, Debug)]
pub(super) struct Agreement {
    pub(super) our_port: Option<PortKey>,
    pub(super) our_aggregate: Option<NonZeroU32>,
    pub(super) their_port: Option<PortKey>,
    pub(super) their_aggregate: Option<NonZeroU32>,
    pub(super) claims: Vec<Claimed>,
    /// Whether the devices number their ports differently.
    pub(super) is_mismatch: bool,
}

impl StatementPair {
    /// Removes the claims that agree, and returns the links that they mean.
    ///
    /// Claims that agree on both ports come first, then claims that agree on one, and finally claims where each device
    /// names the other once. Claims that remain on both sides without a port at the other end are one link between the
    /// devices.
    pub(super) fn take_agreements(&mut self) -> Vec<Agreement> {
        let mut agreements = Vec::new();
        if self.ours.len().saturating_mul(self.theirs.len()) > MAX_COMPARED {
            return agreements;
        }
        for equal_ports in [2, 1, 0] {
            self.take_pairs(equal_ports, &mut agreements);
        }
        agreements.extend(self.take_device_level());
        agreements
    }

    fn take_pairs(&mut self, equal_ports: usize, agreements: &mut Vec<Agreement>) {
        let mut place = 0;
        while let Some(ours) = self.ours.get(place) {
            let agrees = |other: &&NeighborStatement| agreement(ours, other) == Some(equal_ports);
            let mut partners = self.theirs.iter().enumerate().filter(|(_, theirs)| agrees(theirs));
            let partner = partners.next().filter(|_| equal_ports == 2 || partners.next().is_none());
            let is_mutual = |(_, theirs): &(usize, &NeighborStatement)| {
                let rivals = self.ours.iter().filter(|other| agreement(other, theirs) == Some(equal_ports));
                equal_ports == 2 || rivals.take(2).count() == 1
            };
            let Some(partner) = partner.filter(is_mutual).map(|(partner, _)| partner) else {
                place += 1;
                continue;
            };
            let (ours, theirs) = (self.ours.remove(place), self.theirs.remove(partner));
            agreements.push(Agreement {
                our_port: better(ours.port, theirs.remote),
                our_aggregate: theirs.remote_aggregate,
                their_port: better(theirs.port, ours.remote),
                their_aggregate: ours.remote_aggregate,
                claims: vec![ours.claimed, theirs.claimed],
                is_mismatch: false,
            });
        }
    }

    fn take_device_level(&mut self) -> Option<Agreement> {
        let is_loose = |statement: &NeighborStatement| statement.remote.is_none();
        if !self.ours.iter().any(is_loose) || !self.theirs.iter().any(is_loose) {
            return None;
        }
        let loose = |side: &mut Vec<NeighborStatement>| {
            let (taken, rest) = std::mem::take(side).into_iter().partition::<Vec<_>, _>(is_loose);
            *side = rest;
            taken
        };
        let taken = loose(&mut self.ours).into_iter().chain(loose(&mut self.theirs));
        let claims = taken.map(|statement| statement.claimed).collect();
        Some(Agreement {
            our_port: None,
            our_aggregate: None,
            their_port: None,
            their_aggregate: None,
            claims,
            is_mismatch: false,
        })
    }

    /// Returns whether the only claims of two devices contradict each other in the numbers of ports, on which there are
    /// no other claims. Where the link is down, both claims are missing.
    fn is_mismatch(&self, method: Method, [here, there]: [&Device; 2]) -> bool {
        let ([ours], [theirs]) = (self.ours.as_slice(), self.theirs.as_slice()) else { return false };
        let is_current = |statement: &NeighborStatement| statement.claimed.evidence.missing_since.is_none();
        let claims = usize::from(is_current(ours));
        let ports = known_ports(&ours.port, &theirs.remote).zip(known_ports(&theirs.port, &ours.remote));
        let are_alone = |(of_here, of_there)| {
            are_alone(here, method, of_here, claims) && are_alone(there, method, of_there, claims)
        };
        agreement(ours, theirs).is_none()
            && is_current(ours) == is_current(theirs)
            && ports.is_some_and(are_alone)
    }

    /// Removes the only claims of both devices if they contradict each other in the numbers of ports. There must be no
    /// other claim on these ports. Returns the link that the claims mean.
    ///
    /// Some devices count the ports of their neighbors' table differently from those of their own. Each end is right about the
    /// other one, which announces its port itself.
    pub(super) fn take_mismatch(&mut self) -> Option<Agreement> {
        if !self.are_alone || self.ours.len() != 1 || self.theirs.len() != 1 {
            return None;
        }
        let (ours, theirs) = (self.ours.pop()?, self.theirs.pop()?);
        Some(Agreement {
            our_port: theirs.remote,
            our_aggregate: theirs.remote_aggregate,
            their_port: ours.remote,
            their_aggregate: ours.remote_aggregate,
            claims: vec![ours.claimed, theirs.claimed],
            is_mismatch: true,
        })
    }
}

/// Returns both ports if they are ports of a host.
fn known_ports<'p>(one: &'p Option<PortKey>, other: &'p Option<PortKey>) -> Option<[&'p PortKey; 2]> {
    match (one, other) {
        (Some(one @ PortKey::Known(_)), Some(other @ PortKey::Known(_))) => Some([one, other]),
        _ => None,
    }
}

/// Returns whether two ports of a device have no other neighbors by a protocol than those of this number of claims. One
/// of the ports may be the other.
fn are_alone(device: &Device, method: Method, [own, named]: [&PortKey; 2], claims: usize) -> bool {
    let count = |port: &PortKey| device.neighbor_count(port, method);
    count(own) == claims && (own == named || count(named) == 0)
}

/// Returns how many ports two claims agree on; `None` if they contradict each other.
fn agreement(ours: &NeighborStatement, theirs: &NeighborStatement) -> Option<usize> {
    let ports = [(&ours.port, &theirs.remote), (&ours.remote, &theirs.port)];
    let mut equal = 0;
    for (one, other) in ports {
        match (one, other) {
            (Some(one), Some(other)) if one == other => equal += 1,
            (Some(PortKey::Known(_)), Some(PortKey::Known(_))) => return None,
            _ => {}
        }
    }
    Some(equal)
}

/// Returns the port that is known better.
fn better(one: Option<PortKey>, other: Option<PortKey>) -> Option<PortKey> {
    match (&one, &other) {
        (None, _) | (Some(PortKey::Named(_)), Some(PortKey::Known(_))) => other,
        _ => one,
    }
}
