//! Links that rules propose, before they compete for ports.

use std::num::NonZeroU32;
use std::sync::Arc;

use crate::model::{HostId, NodeId};

use crate::topology::links::key::PortKey;
use crate::topology::links::missing::is_stale;
use crate::topology::links::{Evidence, Rule};

/// A host, or a device that is not a host yet.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(in crate::topology::links) enum DeviceKey {
    Host(HostId),
    Stub(NodeId),
}

impl DeviceKey {
    pub(in crate::topology::links) const fn host(self) -> Option<HostId> {
        match self {
            Self::Host(id) => Some(id),
            Self::Stub(_) => None,
        }
    }

    pub(in crate::topology::links) fn node_id(self) -> NodeId {
        match self {
            Self::Host(id) => id.into(),
            Self::Stub(id) => id,
        }
    }
}

/// An end of a proposed link.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(in crate::topology::links) struct Spot {
    pub(in crate::topology::links) device: DeviceKey,
    pub(in crate::topology::links) port: Option<PortKey>,
}

impl Spot {
    pub(in crate::topology::links) const fn new(device: DeviceKey, port: Option<PortKey>) -> Self {
        Self { device, port }
    }

    /// Returns the port of a host, which several links may compete for.
    pub(in crate::topology::links) fn host_port(&self) -> Option<HostPort> {
        Some((self.device.host()?, self.port.clone()?))
    }
}

/// A port of a host.
pub(in crate::topology::links) type HostPort = (HostId, PortKey);

/// A claim that supports a link.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(in crate::topology::links) struct Claimed {
    pub(in crate::topology::links) evidence: Evidence,
    /// The port on which the claim was made.
    pub(in crate::topology::links) at: Option<HostPort>,
    /// The device that the claim names, as the reporter knows it.
    pub(in crate::topology::links) names: Arc<str>,
}

/// A link that a rule proposes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(in crate::topology::links) struct LinkCandidate {
    /// The ends, in the order of their devices.
    pub(in crate::topology::links) ends: [Spot; 2],
    /// The numbers of the aggregates of which the ports at the ends are members, as neighbors announce them.
    pub(in crate::topology::links) announced: [Option<NonZeroU32>; 2],
    pub(in crate::topology::links) rule: Rule,
    pub(in crate::topology::links) claims: Vec<Claimed>,
    /// Whether the latest reports no longer show the link.
    pub(in crate::topology::links) is_stale: bool,
    /// Whether other devices are on the port as well, behind a switch that announces nothing.
    pub(in crate::topology::links) is_crowded: bool,
    /// Whether the devices number their ports differently.
    pub(in crate::topology::links) is_mismatch: bool,
}

impl LinkCandidate {
    pub(in crate::topology::links) fn new(
        one: Spot,
        other: Spot,
        rule: Rule,
        mut claims: Vec<Claimed>,
    ) -> Self {
        claims.iter_mut().for_each(|claim| claim.evidence.rule = rule);
        let ends = if one.device <= other.device { [one, other] } else { [other, one] };
        let is_stale = is_stale(claims.iter().map(|claim| &claim.evidence));
        Self { ends, announced: [None; 2], rule, claims, is_stale, is_crowded: false, is_mismatch: false }
    }

    pub(in crate::topology::links) const fn with_mismatch(mut self, is_mismatch: bool) -> Self {
        self.is_mismatch = is_mismatch;
        self
    }

    /// Adds the number of the aggregate at the end of a device.
    pub(in crate::topology::links) fn with_aggregate(
        mut self,
        device: DeviceKey,
        number: Option<NonZeroU32>,
    ) -> Self {
        for (end, announced) in self.ends.iter().zip(&mut self.announced) {
            if end.device == device {
                *announced = announced.or(number);
            }
        }
        self
    }
}

/// The source of a candidate. All candidates of one source are computed together.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(in crate::topology::links) enum CandidateSource {
    /// The claims of two devices about each other. The devices are in the order of their keys.
    Pair(DeviceKey, DeviceKey),
    /// The addresses that a host learned on one of its ports.
    Access(HostId, u32),
}

impl CandidateSource {
    pub(in crate::topology::links) fn pair(one: DeviceKey, other: DeviceKey) -> Self {
        if one <= other { Self::Pair(one, other) } else { Self::Pair(other, one) }
    }
}
