//! Rules about neighbors that devices name: LLDP, CDP, stored neighbors and the spanning tree.

use super::pairing::{Dialog, Statement};
use crate::topology::links::contest::candidate::{Candidate, Claimed, DeviceKey, Spot};
use crate::topology::links::device::Device;
use crate::topology::links::device::sighting::RemotePort;
use crate::topology::links::devices::Devices;
use crate::topology::links::resolve::Seen;
use crate::topology::links::{Evidence, Method, Rule};

/// The claims of two devices about each other.
#[derive(Debug)]
pub(in crate::topology::links) struct Between {
    our_key: DeviceKey,
    their_key: DeviceKey,
    dialogs: Dialogs,
}

/// The claims by protocol.
#[derive(Debug, Default)]
struct Dialogs {
    lldp: Dialog,
    cdp: Dialog,
    stored: Dialog,
    stp: Dialog,
}

impl Dialogs {
    const fn get_mut(&mut self, method: Method) -> Option<&mut Dialog> {
        match method {
            Method::Lldp => Some(&mut self.lldp),
            Method::Cdp => Some(&mut self.cdp),
            Method::Stored => Some(&mut self.stored),
            Method::Stp => Some(&mut self.stp),
            Method::Manual | Method::Fdb | Method::Arp => None,
        }
    }
}

impl Between {
    /// Collects the claims. `ours` and `theirs` are all sightings of the two devices; a stub has none.
    pub(in crate::topology::links) fn new(
        (our_key, ours): (DeviceKey, Option<(&Device, &[Seen])>),
        (their_key, theirs): (DeviceKey, Option<(&Device, &[Seen])>),
    ) -> Self {
        let mut dialogs = Dialogs::default();
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
        Self { our_key, their_key, dialogs }
    }

    /// Returns the candidates of all rules. Each claim is used once, by the strongest.
    pub(in crate::topology::links) fn candidates(mut self) -> Vec<Candidate> {
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

    fn mutual(&mut self, method: Method, rule: Rule) -> Vec<Candidate> {
        let Some(dialog) = self.dialogs.get_mut(method) else { return Vec::new() };
        let (our_key, their_key) = (self.our_key, self.their_key);
        let agreements = dialog.take_agreements().into_iter().map(|agreement| {
            let (ours, theirs) = (agreement.our_port, agreement.their_port);
            Candidate::new(Spot::new(our_key, ours), Spot::new(their_key, theirs), rule, agreement.claims)
                .with_aggregate(our_key, agreement.our_aggregate)
                .with_aggregate(their_key, agreement.their_aggregate)
        });
        agreements.collect()
    }

    fn one_sided(&mut self, method: Method, rule: Rule) -> Vec<Candidate> {
        let Some(dialog) = self.dialogs.get_mut(method) else { return Vec::new() };
        let Dialog { ours, theirs } = std::mem::take(dialog);
        let candidate = |reporter: DeviceKey, other: DeviceKey, statement: Statement| {
            let ends = (Spot::new(reporter, statement.port), Spot::new(other, statement.remote));
            Candidate::new(ends.0, ends.1, rule, vec![statement.claimed])
                .with_aggregate(other, statement.remote_aggregate)
        };
        let ours = ours.into_iter().map(|statement| candidate(self.our_key, self.their_key, statement));
        let theirs = theirs.into_iter().map(|statement| candidate(self.their_key, self.our_key, statement));
        ours.chain(theirs).collect()
    }
}

/// Each of two hosts names the other by LLDP.
fn mutual_lldp(between: &mut Between) -> Vec<Candidate> {
    between.mutual(Method::Lldp, Rule::MutualLldp)
}

/// Each of two hosts names the other by CDP.
fn mutual_cdp(between: &mut Between) -> Vec<Candidate> {
    between.mutual(Method::Cdp, Rule::MutualCdp)
}

/// One device names the other by LLDP. The other may be unknown.
fn one_sided_lldp(between: &mut Between) -> Vec<Candidate> {
    between.one_sided(Method::Lldp, Rule::OneSidedLldp)
}

/// One device names the other by CDP. The other may be unknown.
fn one_sided_cdp(between: &mut Between) -> Vec<Candidate> {
    between.one_sided(Method::Cdp, Rule::OneSidedCdp)
}

/// An interface entry has the other host, or a port of it, as its neighbor.
fn stored_neighbor(between: &mut Between) -> Vec<Candidate> {
    between.one_sided(Method::Stored, Rule::StoredNeighbor)
}

/// The designated bridge of a port is the other device.
fn stp_designated(between: &mut Between) -> Vec<Candidate> {
    between.one_sided(Method::Stp, Rule::StpDesignated)
}

/// Returns whether one device alone claims a link, and the port at the other end has seen another neighbor since. That
/// neighbor is gone as well, so that nothing else contradicts the older claim.
pub(in crate::topology::links) fn is_superseded(candidate: &Candidate, devices: &Devices) -> bool {
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
    reporter: Option<(&'s Device, &'s [Seen])>,
    other: DeviceKey,
) -> impl Iterator<Item = (Method, Statement)> + 's {
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
        Some((seen.method, Statement { port, remote, remote_aggregate, claimed }))
    })
}
