//! Links that users enter and suppress.

use serde::{Deserialize, Serialize};

use crate::model::{HostId, IfEntryId, LinkEnd, TopologyLink};
use crate::topology::links::contest::candidate::{CandidateSource, Claimed, DeviceKey, LinkCandidate, Spot};
use crate::topology::links::devices::Devices;
use crate::topology::links::key::PortKey;
use crate::topology::links::{Evidence, Method, Rule};

/// A link that a user entered, or suppressed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(schemars::JsonSchema))]
#[non_exhaustive]
pub struct ManualLink {
    /// One end.
    pub source: ManualEnd,
    /// The other end.
    pub target: ManualEnd,
    /// Whether the link is left out instead. Without ports, all links between the hosts are left out.
    #[serde(default)]
    pub suppressed: bool,
}

impl ManualLink {
    /// Creates a link.
    #[must_use]
    pub const fn new(source: ManualEnd, target: ManualEnd) -> Self {
        Self { source, target, suppressed: false }
    }

    /// Leaves out the links between these ends instead.
    #[must_use]
    pub const fn suppressed(self) -> Self {
        Self { suppressed: true, ..self }
    }

    pub(in crate::topology::links) fn pair(&self) -> CandidateSource {
        CandidateSource::pair(DeviceKey::Host(self.source.host_id), DeviceKey::Host(self.target.host_id))
    }
}

impl From<&TopologyLink> for ManualLink {
    fn from(link: &TopologyLink) -> Self {
        let end = |end: LinkEnd| ManualEnd::new(end.host_id, end.if_entry_id);
        let manual = Self::new(end(link.source), end(link.target));
        if link.suppressed { manual.suppressed() } else { manual }
    }
}

/// An end of a link that a user entered.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(schemars::JsonSchema))]
#[non_exhaustive]
pub struct ManualEnd {
    /// The host.
    pub host_id: HostId,
    /// The host's interface entry; `None`: any port, or an unknown one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub if_entry_id: Option<IfEntryId>,
}

impl ManualEnd {
    /// Creates an end.
    #[must_use]
    pub const fn new(host_id: HostId, if_entry_id: Option<IfEntryId>) -> Self {
        Self { host_id, if_entry_id }
    }
}

/// Proposes the links that users entered between two hosts, and removes those that they suppressed.
pub(in crate::topology::links) fn manual(
    links: &[ManualLink],
    devices: &Devices,
    candidates: &mut Vec<LinkCandidate>,
) {
    for link in links.iter().filter(|link| link.suppressed) {
        if let Some((source, target)) = spots(link, devices) {
            candidates.retain(|candidate| !is_between(candidate, &source, &target));
        }
    }
    for link in links.iter().filter(|link| !link.suppressed) {
        if let Some((source, target)) = spots(link, devices) {
            let evidence = Evidence {
                method: Method::Manual,
                rule: Rule::Manual,
                reporter_host_id: None,
                if_entry_id: None,
                first_seen: None,
                last_seen: None,
                missing_since: None,
            };
            let claimed = Claimed { evidence, at: None, names: "".into() };
            candidates.push(LinkCandidate::new(source, target, Rule::Manual, vec![claimed]));
        }
    }
}

/// Returns the ends of a link; `None` if a host no longer exists. A link outlives its port, but a suppression ends
/// with its port.
fn spots(link: &ManualLink, devices: &Devices) -> Option<(Spot, Spot)> {
    let spot = |end: &ManualEnd| {
        let device = devices.get(end.host_id)?;
        let port = match end.if_entry_id {
            None => None,
            Some(id) => {
                let found = device.ports.iter().zip(0..).find(|(port, _)| port.id == id);
                match found {
                    Some((_, place)) => Some(PortKey::Known(place)),
                    None if link.suppressed => return None,
                    None => None,
                }
            }
        };
        Some(Spot::new(DeviceKey::Host(end.host_id), port))
    };
    let (source, target) = (spot(&link.source)?, spot(&link.target)?);
    (source.device != target.device).then_some((source, target))
}

/// Returns whether a candidate is between two ends. An end without a port is any port.
fn is_between(candidate: &LinkCandidate, one: &Spot, other: &Spot) -> bool {
    let is_at =
        |spot: &Spot, end: &Spot| spot.device == end.device && (end.port.is_none() || spot.port == end.port);
    let [source, target] = &candidate.ends;
    (is_at(source, one) && is_at(target, other)) || (is_at(source, other) && is_at(target, one))
}
