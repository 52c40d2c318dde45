//! Pairing of the claims of two devices about each other that mean the same link.

use std::num::NonZeroU32;

use crate::topology::links::contest::candidate::Claimed;
use crate::topology::links::port_key::PortKey;

/// Maximum number of pairs of claims that are compared. The claims of two devices with more of them stay one-sided.
const MAX_COMPARED: usize = 1 << 18;

/// A claim of one device about another.
#[derive(Clone, Debug)]
pub(super) struct Statement {
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
pub(super) struct Dialog {
    pub(super) ours: Vec<Statement>,
    pub(super) theirs: Vec<Statement>,
}

/// The ports of a link that both devices claim, and the numbers of their aggregates; `None` where they are unknown.
#[derive(Clone, Debug)]
pub(super) struct Agreement {
    pub(super) our_port: Option<PortKey>,
    pub(super) our_aggregate: Option<NonZeroU32>,
    pub(super) their_port: Option<PortKey>,
    pub(super) their_aggregate: Option<NonZeroU32>,
    pub(super) claims: Vec<Claimed>,
}

impl Dialog {
    /// Removes the claims that agree, and returns the links that they mean.
    ///
    /// Claims that agree on both ports come first, then claims that agree on one, and at last claims where each device
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
            let agrees = |other: &&Statement| agreement(ours, other) == Some(equal_ports);
            let mut partners = self.theirs.iter().enumerate().filter(|(_, theirs)| agrees(theirs));
            let partner = partners.next().filter(|_| equal_ports == 2 || partners.next().is_none());
            let is_mutual = |(_, theirs): &(usize, &Statement)| {
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
            });
        }
    }

    fn take_device_level(&mut self) -> Option<Agreement> {
        let is_loose = |statement: &Statement| statement.remote.is_none();
        if !self.ours.iter().any(is_loose) || !self.theirs.iter().any(is_loose) {
            return None;
        }
        let loose = |side: &mut Vec<Statement>| {
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
        })
    }
}

/// Returns how many ports two claims agree on; `None` if they contradict each other.
fn agreement(ours: &Statement, theirs: &Statement) -> Option<usize> {
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
