//! Links that rules propose, before they compete for ports.

use std::sync::Arc;

use uuid::Uuid;

use super::port_key::PortKey;
use super::{Evidence, Rule};

/// A host, or a device that is no host yet.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(super) enum DeviceKey {
    Host(Uuid),
    Stub(Uuid),
}

impl DeviceKey {
    pub(super) const fn host(self) -> Option<Uuid> {
        match self {
            Self::Host(id) => Some(id),
            Self::Stub(_) => None,
        }
    }
}

/// An end of a proposed link.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(super) struct Spot {
    pub(super) device: DeviceKey,
    pub(super) port: Option<PortKey>,
}

impl Spot {
    pub(super) const fn new(device: DeviceKey, port: Option<PortKey>) -> Self {
        Self { device, port }
    }

    /// Returns the port of a host, which several links may compete for.
    pub(super) fn host_port(&self) -> Option<HostPort> {
        Some((self.device.host()?, self.port.clone()?))
    }
}

/// A port of a host.
pub(super) type HostPort = (Uuid, PortKey);

/// A claim that supports a link.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Claimed {
    pub(super) evidence: Evidence,
    /// The port on which the claim was made.
    pub(super) at: Option<HostPort>,
    /// The device that the claim names, as the reporter knows it.
    pub(super) names: Arc<str>,
}

/// A link that a rule proposes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Candidate {
    /// The ends, in the order of their devices.
    pub(super) ends: [Spot; 2],
    pub(super) rule: Rule,
    pub(super) claims: Vec<Claimed>,
    /// Whether other devices are on the port as well, behind a switch that announces nothing.
    pub(super) is_crowded: bool,
}

impl Candidate {
    pub(super) fn new(one: Spot, other: Spot, rule: Rule, mut claims: Vec<Claimed>) -> Self {
        claims.iter_mut().for_each(|claim| claim.evidence.rule = rule);
        let ends = if one.device <= other.device { [one, other] } else { [other, one] };
        Self { ends, rule, claims, is_crowded: false }
    }
}

/// The source of a candidate. All candidates of one source are computed together.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(super) enum Source {
    /// The claims of two devices about each other. The devices are in the order of their keys.
    Pair(DeviceKey, DeviceKey),
    /// The addresses that a host learned on one of its ports.
    Access(Uuid, u32),
}

impl Source {
    pub(super) fn pair(one: DeviceKey, other: DeviceKey) -> Self {
        if one <= other { Self::Pair(one, other) } else { Self::Pair(other, one) }
    }
}
